/**
 * InternLM2, InternLM2.5 and InternLM3; Intern-S1 writes the same calls. A call is a JSON object between marks, after `<|plugin|>`, which
 * says who is to act:
 *
 *     I need the weather.<|action_start|><|plugin|>
 *     {"name": "get_weather", "parameters": {"city": "Paris"}}<|action_end|>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { perhaps } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { contentPieces, dialogue, leadingSystem, resultContent, textOf, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|im_end|>", "</s>"];
const ACTION = ["<|action_start|>", "<|action_end|>"] as const;
const PLUGIN = "<|plugin|>";
const TURNS = ["<s>", "<|im_start|>", PLUGIN, "<|interpreter|>"];

// ---- Scanning

const calls = jsonCalls({ marks: [...ACTION, ...STOPS, PLUGIN, "</think>"] });

const createScanner = scannerOf({
  calls: { [ACTION[0]]: perhaps([PLUGIN], calls.marked) },
  closers: [ACTION[1]],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: [...TURNS, ACTION[1]],
  inCalls: [PLUGIN],
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup([...TURNS, ...ACTION, ...STOPS, "<unk>", "<think>", "</think>"]);

const VARIANTS = { "vllm-internlm2": t`<s>` };

function render(request: Request, bos: Pieces, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    bos,
    messages: [
      system && turnPieces("system", textOf(system)),
      declared,
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, contentPieces(content, {})),
        said: (said) => turnPieces("assistant", [textOf(said), writtenCalls(said, callPieces)]),
        results: resultPieces,
      }),
    ],
    open: t`<|im_start|>assistant\n`,
  };
}

const turnPieces = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;
const pluginTurn = (role: string, text: Pieces): Pieces => t`<|im_start|>${role} name=<|plugin|>\n${text}<|im_end|>\n`;

const toolPieces = (tools: readonly Tool[]): Pieces => pluginTurn("system", pythonJson(tools.map(functionObject)));
const callPieces = (call: RenderableCall): Pieces => t`<|action_start|><|plugin|>\n${callObject(call)}<|action_end|>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map((result) => pluginTurn("environment", contentPieces(resultContent(result), {})));

export const internlm = dialectOf({
  id: "internlm",
  title: "InternLM",
  models: ["InternLM2", "InternLM2.5", "InternLM3", "Intern-S1"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [...ACTION, PLUGIN, "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => calls.map(callPieces),
  results: resultPieces,
  thinking: (text) => t`<think>${text}</think>`,
});
