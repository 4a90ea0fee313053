/**
 * Deep Cogito's models on Llama, and rnj-1: the turns of Llama 3, but other calls. Cogito's are a list that no mark announces, rnj-1's are
 * wrapped in Hermes' tags.
 *
 *     [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "call_0"}]
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, callObject, compactJson, prettyJson, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { lineOf } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting, type TurnMarks } from "./tools.ts";
import { batched, dialogue, leadingSystem, resultText, textOf, turnsOf } from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<|eot_id|>", "<|end_of_text|>"];

// ---- Scanning

const calls = jsonCalls({
  firstKeys: new Set(["name", "arguments", "id"]),
  needsArguments: true,
  marks: ["<tool_call>", "</tool_call>", "<think>", "</think>", ...STOPS],
});

const createScanner = scannerOf({
  calls: { "<tool_call>": calls.marked },
  closers: ["</tool_call>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
  callsInThinking: "promote-if-unclosed",
  line: lineOf(calls),
});

// ---- Rendering

const t = markup([
  ...["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", ...STOPS],
  ...["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"],
]);

interface Variant extends TurnMarks {
  /** The system turn. `given`: the request's system text. */
  readonly system: (given: string | undefined, declared: Pieces, thinks: boolean) => Pieces;
  readonly text: (text: string) => string;
  readonly tools: (tools: readonly Tool[]) => Pieces;
  /** The separator between text and calls. */
  readonly gap: string;
  readonly calls: (calls: readonly RenderableCall[]) => Pieces;
  readonly results: (results: readonly RenderableResult[]) => Pieces;
}

const turn: TurnMarks["turn"] = (role, text) => t`<|start_header_id|>${role}<|end_header_id|>\n${text}<|eot_id|>`;

const VARIANTS: Readonly<Record<string, Variant>> = {
  "cogito-v1-llama": {
    ...LLAMA3,
    system: (given = "", declared, thinks) => {
      const parts = [thinks && "Enable deep thinking subroutine.", given.trim(), declared].filter(Boolean);
      return parts.length > 0 && LLAMA3.turn("system", joined(parts, "\n\n"));
    },
    text: (text) => text.trim(),
    tools: (tools) => ["Available Tools:\n", tools.map((tool) => `${prettyJson(functionTool(tool))}\n\n`)],
    gap: "\n\n",
    calls: (calls) => `[${calls.map(listed).join(", ")}]`,
    results: (results) =>
      results.map(({ id, output }, i) =>
        LLAMA3.turn("ipython", `{"content": ${pythonJson(resultText(output))}, "call_id": ${idOf(id, i)}}`),
      ),
  },
  "rnj-1": {
    bos: t`<|begin_of_text|>`,
    turn,
    open: t`<|start_header_id|>assistant<|end_header_id|>\n`,
    system: (given, declared) =>
      turn("system", [RNJ, given !== undefined && ["\n", given], declared && [given === undefined ? "\n" : "\n\n", declared]]),
    text: (text) => text,
    tools: (tools) => t`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>${tools.map((tool) => `\n${pythonJson(functionTool(tool))}\n`)}</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`,
    gap: "",
    calls: (calls) =>
      joined(
        calls.map((call) => t`<tool_call>\n${callObject(call)}\n</tool_call>`),
        "\n",
      ),
    results: (results) =>
      turn(
        "user",
        joined(
          results.map(({ output }) => t`<tool_response>\n${resultText(output)}\n</tool_response>`),
          "\n",
        ),
      ),
  },
};

const RNJ = "You are rnj-1, a foundation model trained by Essential AI.\n";

const idOf = (id: string | undefined, i: number): string => compactJson(id || `call_${i}`);
const listed = (call: RenderableCall, i: number): string =>
  `{"name": ${compactJson(call.name)}, "arguments": ${argumentsText(call)}, "id": ${idOf(call.id, i)}}`;

function render({ messages }: Request, variant: Variant, { declared, thinking = false }: Setting): Rendered {
  const { system, rest } = leadingSystem(messages);
  return {
    ...variant,
    messages: [
      variant.system(system && textOf(system), declared, thinking),
      dialogue(turnsOf(rest), {
        other: (role, content) => variant.turn(role, variant.text(textOf(content))),
        said: (said) => {
          const text = variant.text(textOf(said));
          return variant.turn("assistant", joined([...(text ? [text] : []), ...batched(said, variant.calls)], variant.gap));
        },
        results: variant.results,
      }),
    ],
  };
}

export const cogito = dialectOf({
  id: "cogito",
  title: "Cogito",
  models: ["Cogito v1", "Cogito v2", "rnj-1"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<tool_call>", "</tool_call>"],
  createScanner,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: (calls, variant) => variant.calls(calls),
  results: (results, variant) => variant.results(results),
  thinking: (text) => `<think>${text}</think>`,
});
