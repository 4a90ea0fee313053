/**
 * Llama 3.1 to 3.3, Llama 4 by its own template, and fine-tunes that keep Meta's JSON calls. Usually the whole answer is the call,
 * sometimes after a tag:
 *
 *     {"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {"timezone": "Europe/Paris"}}
 *
 *     <|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}
 */
import type { Json, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson, pythonJson } from "./print.ts";
import { joined, type Pieces, trimmed } from "./prompt.ts";
import { jsonCalls, OBJECT, release } from "./scan/json-calls.ts";
import { inLineOf, lineOf, namedOf, taggedOf } from "./scan/json-places.ts";
import type { Step } from "./scan/scan.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting, type TurnMarks } from "./tools.ts";
import {
  batched,
  type Content,
  callsOf,
  contentPieces,
  dialogue,
  leadingSystem,
  printedText,
  resultText,
  textOf,
  turnsOf,
  withJoinedTexts,
} from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";
import { LLAMA4, TOKENS as LLAMA4_TOKENS, t as t4 } from "./turns/llama4.ts";

const STOPS = ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"];
const STOPS_OF_4 = ["<|eot|>", "<|eom|>"];
const TAG = "<|python_tag|>";
const TAG_OF_4 = "<|python_start|>";
const CUSTOM = "<function=";

// ---- Scanning

const calls = jsonCalls({
  firstKeys: new Set(["name", "parameters", "arguments", "type", "id", "function"]),
  tags: [";", TAG, TAG_OF_4],
  marks: [TAG, CUSTOM, "</function>", "<think>", ...STOPS, ...LLAMA4_TOKENS],
});
const named = namedOf(calls);

/** `<function=f>{…}</function>`, which version 3.1 learned for custom tools: only a declared name makes it a call. */
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
    [TAG_OF_4]: taggedOf(calls),
    [CUSTOM]: (s) => {
      s.word = "";
      s.bound(release);
      return custom;
    },
  },
  closers: ["</function>", "<|python_end|>"],
  thinking: THINK_TAGS,
  stops: [...STOPS, ...STOPS_OF_4],
  control: ["<|start_header_id|>", "<|end_header_id|>", ...LLAMA4_TOKENS],
  callsInThinking: "promote-if-unclosed",
  line: lineOf(calls),
  inLine: { [OBJECT]: inLineOf(calls) },
});

// ---- Rendering

interface Variant extends TurnMarks {
  /** The system turn. `given`: the request's system text. */
  readonly system: (given: Content | undefined, hasTools: boolean, now: Date) => Pieces;
  /** The text before the tools, which precede the first user message. */
  readonly head: string;
  readonly other: (role: string, content: Content, declared: Pieces) => Pieces;
  readonly said: (said: readonly Part[], calls: Pieces[]) => Pieces;
  readonly separator: string;
  readonly result: (output: Json) => Pieces;
}

const ENVIRONMENT = "Environment: ipython\n";
const HEAD = `Given the following functions, please respond with a JSON for a function call with its proper arguments that best answers the given prompt.

Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.Do not use variables.

`;

/** `today`: the date as the template writes it. */
const three = (today: (now: Date) => string): Variant => ({
  ...LLAMA3,
  system: (given = [], hasTools, now) => {
    const dates = `Cutting Knowledge Date: December 2023\nToday Date: ${today(now)}\n\n`;
    return LLAMA3.turn("system", [hasTools && ENVIRONMENT, dates, printedText(given).trim()]);
  },
  head: HEAD,
  other: (role, content, declared) => LLAMA3.turn(role, [declared, printedText(content).trim()]),
  said: (said, calls) => LLAMA3.turn("assistant", joined([textOf(said).trim(), ...calls].filter(Boolean), "\n")),
  separator: "; ",
  // Even a string is printed as JSON: the models were trained on that.
  result: (output) => LLAMA3.turn("ipython", pythonJson(output)),
});

const shown = (content: Content): Pieces => contentPieces(content, { image: "<|image|>" });

const FOUR: Variant = {
  ...LLAMA4,
  system: (given, hasTools) => given && LLAMA4.turn("system", [hasTools && ENVIRONMENT, textOf(given).trim()]),
  head: HEAD,
  other: (role, content, declared) => LLAMA4.turn(role, declared ? [declared, trimmed(shown(content))] : shown(content)),
  // The template puts the text of a message with calls into Python's tags.
  said: (said, calls) =>
    LLAMA4.turn("assistant", callsOf(said).length > 0 ? [t4`<|python_start|>${textOf(said)}<|python_end|>`, calls] : [textOf(said), calls]),
  separator: "",
  result: (output) => LLAMA4.turn("ipython", pythonJson(output)),
};

/** The template adds newlines before the marks that end turns, and before some that begin them. */
const VLLM_FOUR: Variant = {
  ...FOUR,
  open: ["\n", LLAMA4.open],
  system: (given) => [LLAMA4.turn("system", [given ? textOf(given).trim() : VLLM_SYSTEM, "\n"]), "\n"],
  head: `Tools: You have access to the following tools. You might need to use one or more function/tool calls to fulfill the task. 
If none are needed, then proceed to the response.

Tool Call Syntax: You can call tools using the following syntax:
{"name": function name, "parameters": dictionary of argument name and its value}.
Separate multiple function calls by "; ". Do not use variables.
Do not include anything else when calling the tools with the syntax above.

Here is a list of functions in JSON format that you can invoke.
`,
  other: (role, content, declared) => LLAMA4.turn(role, [declared, trimmed(shown(content)), "\n"]),
  said: (said, calls) => [callsOf(said).length > 0 && "\n", LLAMA4.turn("assistant", [textOf(said).trim(), calls, "\n"])],
  result: (output) => t4`\n<|header_start|>ipython<|header_end|>\n\n${resultText(output).trim()}\n<|eom|>`,
};
const VLLM_SYSTEM =
  "You are a helpful assistant with tool calling capabilities. Only reply with a tool call if the function exists in the library provided by the user. If it doesn't exist, just reply directly in natural language. When you receive a tool call response, use the output to format an answer to the original user question.";

const VARIANTS: Readonly<Record<string, Variant>> = {
  "llama-3.1-8b-instruct": three(() => "26 Jul 2024"),
  "llama-3.2-3b-instruct": three((now) => now.toDateString().replace(/^\w+ (\w+) (\w+)/, "$2 $1")),
  "llama-4": FOUR,
  "vllm-llama4-json": VLLM_FOUR,
};

function render(request: Request, variant: Variant, { now = new Date(), declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const turns = turnsOf(rest);
  if (declared && !turns.some((turn) => turn.side === "user")) turns.push({ side: "user", content: [] });
  const first = turns.findIndex((turn) => turn.side === "user");
  return {
    ...variant,
    messages: [
      variant.system(system, declared !== undefined, now),
      dialogue(turns, {
        other: (role, content, n) => variant.other(role, content, n === first && declared),
        said: (said) =>
          variant.said(
            said,
            batched(said, (calls) => callPieces(calls, variant)),
          ),
        results: (results) => resultPieces(results, variant),
      }),
    ],
  };
}

const callPieces = (calls: readonly RenderableCall[], { separator }: Variant): Pieces =>
  joined(
    calls.map((call) => callObject(call, "parameters")),
    separator,
  );

const resultPieces = (results: readonly RenderableResult[], { result }: Variant): Pieces => results.map(({ output }) => result(output));

const toolPieces = (tools: readonly Tool[], { head }: Variant): Pieces => [
  head,
  tools.map((tool) => `${prettyJson(functionTool(tool))}\n\n`),
];

export const llama3 = dialectOf({
  id: "llama3",
  title: "Llama 3",
  models: ["Llama-3.1", "Llama-3.2", "Llama-3.3", "Llama-4"],
  variants: VARIANTS,
  stops: STOPS,
  variantStops: { "llama-4": STOPS_OF_4, "vllm-llama4-json": STOPS_OF_4 },
  preserved: [TAG, TAG_OF_4, "<|python_end|>"],
  createScanner,
  adapt: withJoinedTexts,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
