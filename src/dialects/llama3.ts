/**
 * Llama 3.1, 3.2, 3.3 and fine-tunes that keep Meta's JSON calls. Usually the whole answer is the call, sometimes behind a tag:
 *
 *     {"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {"timezone": "Europe/Paris"}}
 *
 *     <|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}
 */
import type { Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson, pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { inLineOf, jsonCalls, lineOf, namedOf, OBJECT, release, taggedOf } from "./scan/json-calls.ts";
import type { Step } from "./scan/scan.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, printedText, textOf, textThenBatch, turnsOf, withJoinedTexts } from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"];
const TAG = "<|python_tag|>";
const CUSTOM = "<function=";

// ---- Scanning

const calls = jsonCalls({
  firstKeys: new Set(["name", "parameters", "arguments", "type", "id", "function"]),
  tags: [";", TAG],
  marks: [TAG, CUSTOM, "</function>", "<think>", ...STOPS],
});
const named = namedOf(calls);

/** `<function=f>{…}</function>`, as version 3.1 learned it for custom tools: only a declared name makes it a call. */
const NAME_END = new Marks([">", "<", " ", "\n"]);
const custom: Step = (s) => {
  const mark = s.readWord(NAME_END);
  if (mark === undefined) return undefined;
  if (mark !== ">" || !s.declares(s.word)) return release;
  s.pos++;
  return named(s, s.word);
};

const createScanner = scannerOf({
  calls: {
    [TAG]: taggedOf(calls),
    [CUSTOM]: (s) => {
      s.word = "";
      s.bound(release);
      return custom;
    },
  },
  closers: ["</function>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
  callsInThinking: "promote-if-unclosed",
  line: lineOf(calls),
  inLine: { [OBJECT]: inLineOf(calls) },
});

// ---- Rendering

/** Today, as the templates tell it. */
const VARIANTS: Readonly<Record<string, (now: Date) => string>> = {
  "llama-3.1-8b-instruct": () => "26 Jul 2024",
  "llama-3.2-3b-instruct": (now) => now.toDateString().replace(/^\w+ (\w+) (\w+)/, "$2 $1"),
};

function render(request: Request, today: (now: Date) => string, { now = new Date(), declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const turns = turnsOf(rest);
  if (declared && !turns.some((turn) => turn.side === "user")) turns.push({ side: "user", content: [] });
  const first = turns.findIndex((turn) => turn.side === "user");
  return {
    ...LLAMA3,
    messages: [
      LLAMA3.turn("system", [
        declared && "Environment: ipython\n",
        `Cutting Knowledge Date: December 2023\nToday Date: ${today(now)}\n\n`,
        printedText(system ?? []).trim(),
      ]),
      dialogue(turns, {
        other: (role, content, n) => LLAMA3.turn(role, [n === first && declared, printedText(content).trim()]),
        said: (said) => LLAMA3.turn("assistant", textThenBatch(said, callPieces, textOf(said).trim())),
        results: resultPieces,
      }),
    ],
  };
}

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  joined(
    calls.map((call) => callObject(call, "parameters")),
    "; ",
  );
/** Also a string is printed as JSON: so the models were trained. */
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => LLAMA3.turn("ipython", pythonJson(output)));

const toolPieces = (tools: readonly Tool[]): Pieces => [
  "Given the following functions, please respond with a JSON for a function call with its proper arguments that best answers the given prompt.\n\n",
  'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.Do not use variables.\n\n',
  tools.map((tool) => `${prettyJson(functionTool(tool))}\n\n`),
];

export const llama3 = dialectOf({
  id: "llama3",
  title: "Llama 3",
  models: ["Llama-3.1", "Llama-3.2", "Llama-3.3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<|python_tag|>"],
  createScanner,
  adapt: withJoinedTexts,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
