/** Lists of models. Both OpenAI APIs share one format: `{"object": "list", "data": [{"id": "m", "object": "model", …}]}`. */
import type { JsonObject } from "../core/nouns.ts";
import { defined, isText, listOf, numberOf, objectOf, parsed, textOf } from "./read.ts";
import type { ModelInfo, Wire } from "./wire.ts";

type Read = { [K in keyof ModelInfo]: ModelInfo[K] | undefined };

/** The models that a body lists under this key. Entries without an id are skipped. */
export const readModels = (body: unknown, key: string, read: (model: JsonObject) => Read): ModelInfo[] =>
  listOf(objectOf(isText(body) ? parsed(body) : body)[key])
    .map((model) => defined<ModelInfo>(read(objectOf(model)) as ModelInfo))
    .filter(({ id }) => id);

/** Token counts for an API that answers with one number under this key. */
export const tokenCounts = (
  key: string,
  encodeTokenCountRequest: NonNullable<Wire["encodeTokenCountRequest"]>,
  more?: object,
): Pick<Wire, "encodeTokenCount" | "encodeTokenCountRequest" | "decodeTokenCount"> => ({
  encodeTokenCount: ({ tokens }) => ({ ...more, [key]: tokens }),
  encodeTokenCountRequest,
  decodeTokenCount: (body) => numberOf(objectOf(body)[key]) ?? 0,
});

/** The year 10000, in seconds: what is later was counted in smaller units, and is unknown. */
const TOO_LATE = 253_402_300_800;

export const dateOf = (seconds = 0): string => new Date(seconds > 0 && seconds < TOO_LATE ? seconds * 1000 : 0).toISOString();

/** Seconds since 1970; `undefined` for placeholders such as 1970-01-01 or Go's zero time. */
export function secondsOf(date: unknown): number | undefined {
  const seconds = Math.floor(Date.parse(textOf(date) ?? "") / 1000);
  return seconds > 0 ? seconds : undefined;
}

/** `supported_parameters`, an extension by OpenRouter: its clients (Zed, goose) offer tools and thinking only for models that list them. */
const TOOLS = ["tools", "tool_choice"];
const ABLE = ["reasoning", "response_format", "structured_outputs", "max_tokens", "temperature", "stop"];

export const openaiModels: Pick<Wire, "modelsPath" | "encodeModels" | "decodeModels"> = {
  modelsPath: "/v1/models",
  encodeModels: (models) => ({
    object: "list",
    data: models.map(({ id, created = 0, contextLength, tools = true }) =>
      defined<object>({
        ...{ id, object: "model", created, owned_by: "dragoman" },
        max_model_len: contextLength, // vLLM's name for it
        ...{ name: id, description: "", context_length: contextLength, supported_parameters: tools ? [...TOOLS, ...ABLE] : ABLE },
      }),
    ),
  }),
  decodeModels: (body) =>
    readModels(body, "data", ({ id, created, max_model_len, context_length, meta }) => ({
      id: textOf(id) ?? "",
      created: numberOf(created),
      contextLength: numberOf(max_model_len) ?? numberOf(context_length) ?? numberOf(objectOf(meta).n_ctx), // not `n_ctx_train`
    })),
};
