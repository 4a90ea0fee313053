/**
 * Upstage's Solar Open. The output is a series of messages: thinking, an answer, or a section of calls with an id, a name and a JSON object.
 *
 *     <|think|>I need the weather.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Paris"}<|tool_call:end|><|calls|>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, isoDate, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import type { Step } from "./scan/scan.ts";
import { headerCut, sectionSteps } from "./scan/sections.ts";
import { broken, nameTooLong, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { batched, callsOf, dialogue, hoisted, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|flush|>", "<|calls|>"];
const CALL_NAME = "<|tool_call:name|>";
const CALL_ARGUMENTS = "<|tool_call:args|>";
const TURNS = ["<|begin|>", "<|end|>", "<|think|>", "<|content|>"];
const OTHERS = [
  ...["<|startoftext|>", "<|endoftext|>", "<|tools:begin|>", "<|tools:end|>", "<|tool:begin|>", "<|tool:end|>"],
  ...["<|tool_response|>", "<|tool_response:begin|>", "<|tool_response:id|>", "<|tool_response:name|>"],
  ...["<|tool_response:result|>", "<|tool_response:end|>"],
];

// ---- Scanning

/** The id, then the name. */
const header: Step = (s) => {
  const mark = s.readWord(HEADER_ENDS);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (mark !== CALL_NAME && mark !== CALL_ARGUMENTS) return headerCut(s, mark);
  s.pos += mark.length;
  const word = s.word.trim();
  s.word = "";
  if (mark === CALL_ARGUMENTS)
    return word === "" ? broken(s, "no-name", "the header names no tool") : calls.object(s, word, s.call?.nativeId);
  if (s.call) s.call.nativeId = word;
  return header;
};

const calls = sectionSteps(
  { begin: ["<|tool_calls|>"], end: ["<|calls|>"], open: ["<|tool_call:begin|>"], close: ["<|tool_call:end|>"], stops: STOPS },
  (s) => header(s),
);
const HEADER_ENDS = new Marks([CALL_NAME, CALL_ARGUMENTS, "<|end|>", ...calls.marks]);

/** For the first message this is part of the prompt. */
const SPEAKER = "<|begin|>assistant";

const createScanner = scannerOf({
  calls: { "<|tool_calls|>": calls.section, [`${SPEAKER}<|tool_calls|>`]: calls.section, "<|tool_call:begin|>": calls.call },
  closers: ["<|tool_call:end|>", "<|calls|>"],
  thinking: { open: { "<|think|>": think }, close: ["<|end|>", "<|content|>"], stray: "control" },
  stops: STOPS,
  control: [SPEAKER, ...TURNS, ...calls.marks, CALL_NAME, CALL_ARGUMENTS, ...OTHERS],
  inCalls: [CALL_NAME, CALL_ARGUMENTS],
  callsInThinking: "promote",
});

// ---- Rendering

const PRESERVED = [...TURNS, ...calls.marks, CALL_NAME, CALL_ARGUMENTS];
const t = markup([...PRESERVED, ...OTHERS]);

/** The model's name in the system message. */
const VARIANTS = { "solar-open-100b": "Solar Open 100B" };

function render(request: Request, name: string, options: Setting): Rendered {
  const { thinking, output } = request;
  const { system, rest } = hoisted(request);
  const silent = options.thinking === false || thinking?.effort === "low" || thinking?.effort === "minimal";
  const blocks = [
    `## Provider System Prompt\n\nYou are ${name}, a large language model trained by Upstage AI, a Korean startup. Your knowledge cutoff is 2025-07. The current date is ${isoDate(options.now)}.`,
    system && `## System Prompt\n\n${system}`,
    options.declared,
    output?.schema &&
      `## Output Format Constraint\n\nYour final response should follow the JSON schema: \n[Start of schema]${pythonJson(output.schema)}\n[End of schema]\nPlease ensure your answers adhere to this format and do not contain any unnecessary text.`,
  ];
  return {
    messages: [
      message("system", joined(blocks.filter(Boolean), "\n\n")),
      dialogue(turnsOf(rest), {
        other: (role, content) => message(role, textOf(content)),
        said: (said, current) => saidPieces(said, current || thinking?.keep === true),
        results: resultPieces,
      }),
    ],
    open: [silent && thought(""), t`<|begin|>assistant`],
  };
}

const message = (role: string, text: Pieces): Pieces => t`<|begin|>${role}<|content|>${text}<|end|>`;
const thought = (text: string): Pieces => t`<|begin|>assistant<|think|>${text}<|end|>`;

/** Text before calls is a message of its own. */
function saidPieces(said: readonly Part[], thinks: boolean): Pieces {
  const thinking = thinkingOf(said);
  const text = textOf(said);
  return [
    thinks && thinking && thought(thinking),
    (text !== "" || callsOf(said).length === 0) && message("assistant", text),
    batched(said, callPieces),
  ];
}

const idOf = ({ id }: { readonly id?: string }, n: number): string => id ?? `call_${n}`;

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<|begin|>assistant<|tool_calls|>${calls.map(
    (call, n) =>
      t`<|tool_call:begin|>${idOf(call, n)}<|tool_call:name|>${call.name}<|tool_call:args|>${argumentsText(call)}<|tool_call:end|>`,
  )}<|calls|>`;

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  t`<|begin|>tool<|tool_response|>${results.map(
    (result, n) =>
      t`<|tool_response:begin|>${idOf(result, n)}<|tool_response:name|>${result.name}<|tool_response:result|>${resultText(result.output)}<|tool_response:end|>`,
  )}<|end|>`;

const toolPieces = (tools: readonly Tool[]): Pieces => t`## Tools

### Tool Call Instruction
You may invoke one or more tools to assist with the user's query. Available tools are provided in JSON Schema format: <|tools:begin|><|tool:begin|><tools-json-object><|tool:end|>...<|tools:end|>

### Available Tools
<|tools:begin|>${tools.map((tool) => t`<|tool:begin|>${pythonJson(functionObject(tool))}<|tool:end|>`)}<|tools:end|>

### Tool Call Format
For each tool call, return a JSON object with the following structure, enclosed within <|tool_call:begin|> and <|tool_call:end|> tags: 
<|tool_call:begin|><tool-call-id><|tool_call:name|><tool-name><|tool_call:args|><args-json-object><|tool_call:end|>
- The <tool-call-id> must be a randomly generated string consisting of 10 lowercase letters (a-z) and/or digits (0-9) (e.g., a1b2c3d4e5)

### Tool Response Format
Each tool is responded by \`tool\` with the following structure:
<|tool_response:id|><tool-call-id><|tool_response:name|><tool-name><|tool_response:result|><results><|tool_response:end|>
- Ensure the <tool-call-id> matches the corresponding tool call`;

export const solarOpen = dialectOf({
  id: "solar-open",
  title: "Solar Open",
  models: ["Solar-Open-100B"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: thought,
});
