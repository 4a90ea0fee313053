/** Bodies for `beside.ts`: lists of models, and what Ollama's clients read before they chat. */
import { isObject } from "../core/json.ts";
import type { WireId } from "../core/nouns.ts";
import type { About } from "../engines/engine.ts";
import { listOf } from "../wires/read.ts";
import { getWire } from "../wires/registry.ts";
import type { ModelInfo } from "../wires/wire.ts";
import type { Modes } from "./modes.ts";

/** OpenAI's and Anthropic's SDKs request the same path, so the answer has the fields of both. */
export function encodeModelList(wire: WireId, models: readonly ModelInfo[]): unknown {
  if (wire === "gemini" || wire === "ollama") return getWire(wire).encodeModels(models);
  const [openai, anthropic] = (["openai-chat", "anthropic"] as const).map((id) => fieldsOf(getWire(id).encodeModels(models)));
  const entries = listOf(openai?.data).map((entry, i) => ({ ...fieldsOf(entry), ...fieldsOf(listOf(anthropic?.data)[i]) }));
  return { ...openai, ...anthropic, data: entries };
}

/** One model's entry in the list. */
export function encodeModel(wire: WireId, model: ModelInfo): unknown {
  const { data, models } = fieldsOf(encodeModelList(wire, [model]));
  return listOf(data ?? models)[0];
}

/** `POST /api/show`: its clients look for the model's capabilities and its context length. `theirs`: the answer of an Ollama upstream. */
export function encodeShow(
  model: ModelInfo,
  { tools, vision }: Pick<Modes, "tools"> & Pick<About, "vision">,
  theirs: Record<string, unknown> = {},
): unknown {
  const info = { "general.architecture": "dragoman", ...fieldsOf(theirs.model_info) };
  const context = model.contextLength === undefined ? {} : { [`${info["general.architecture"]}.context_length`]: model.contextLength };
  const able = Array.isArray(theirs.capabilities)
    ? theirs.capabilities
    : ["completion", "tools", "thinking", ...(vision ? ["vision"] : [])];
  const others = able.filter((word) => word !== "tools");
  return {
    ...fieldsOf(encodeModel("ollama", model)),
    modelfile: "",
    parameters: "",
    template: "",
    ...theirs,
    model_info: { ...info, ...context },
    capabilities: tools === "off" ? others : tools === "inband" ? [...others, "tools"] : able,
  };
}

/** The version of Ollama's API that we speak; codex asks for at least 0.13.4. */
export const OLLAMA_VERSION = "0.20.0";

const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? { ...value } : {});
