/**
 * Inkling by Thinking Machines. Every message has a kind; a call is a message that begins with its name. The prompt opens the first one:
 *
 *     <|content_thinking|>I need the weather.<|end_message|><|message_model|>get_weather<|content_invoke_tool_json|>{"name":"get_weather","args":{"city":"Paris"}}<|end_message|><|content_model_end_sampling|>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsTree, canonicalJson, compactJson } from "./print.ts";
import { markup, mediaPiece, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import type { Step } from "./scan/scan.ts";
import { control, speak, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { type Content, dialogue, resultText, textOf, thinkingOf, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|content_model_end_sampling|>"];
const SPEAKER = "<|message_model|>";
const CALL = "<|content_invoke_tool_json|>";
const THINKING = "<|content_thinking|>";
const TEXT = "<|content_text|>";
const END = "<|end_message|>";
/** The kinds of messages. Calls of tools that take text (`invoke_tool_text`) are shown as text. */
const KINDS = [TEXT, THINKING, CALL, "<|content_invoke_tool_text|>", "<|content_tool_error|>"];
const OTHERS = [
  ...["<|message_user|>", "<|message_system|>", "<|message_tool|>", "<|content_xml|>", "<|endoftext|>"],
  ...["<|content_image|>", "<|content_audio_input|>", "<|audio_end|>"],
];

// ---- Scanning

const calls = jsonCalls({ marks: [CALL, SPEAKER, END, ...STOPS] });

/** The name in a call's header goes into the raw of the call, whose object repeats it. If no message follows the name, it is text. */
const HEADER_ENDS = new Marks([...KINDS, SPEAKER, END, ...STOPS, ...OTHERS, " ", "\n"]);
const inHeader: Step = (s) => {
  const mark = s.readWord(HEADER_ENDS);
  if (mark === undefined) return undefined;
  if (mark === CALL && !s.thinking) {
    s.pos += mark.length;
    return calls.marked;
  }
  if (mark && KINDS.includes(mark)) return control;
  s.sayRaw();
  return speak;
};
const header: Step = (s) => {
  s.keepMarks();
  s.word = "";
  return inHeader;
};

const createScanner = scannerOf({
  calls: { [CALL]: calls.marked },
  closers: [END],
  thinking: { open: { [THINKING]: think }, close: [END, TEXT], stray: "control" },
  stops: STOPS,
  control: [...KINDS.filter((mark) => mark !== CALL), END, ...OTHERS],
  headers: { [SPEAKER]: header },
  inLine: { [SPEAKER]: header },
  callsInThinking: "promote",
  start: header,
});

// ---- Rendering

const t = markup([SPEAKER, END, ...KINDS, ...STOPS, ...OTHERS]);

/** The default effort. */
const VARIANTS = { inkling: "high" } as const;
const EFFORTS = { minimal: "0.1", low: "0.2", medium: "0.7", high: "0.9", xhigh: "0.99", max: "0.99" } as const;

function render({ messages, thinking }: Request, most: keyof typeof EFFORTS, options: Setting): Rendered {
  const effort = options.thinking === false ? "0.0" : EFFORTS[thinking?.effort ?? most];
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const rules = first < 0 ? messages.length : first;
  const turns = (from: number, to?: number): Pieces =>
    dialogue(turnsOf(messages.slice(from, to)), { other: contentMessages, said: saidMessages, results: resultMessages });
  return {
    messages: [
      options.declared,
      turns(0, rules),
      t`<|message_system|><|content_text|>Thinking effort level: ${effort}<|end_message|>`,
      turns(rules),
    ],
    open: t`<|message_model|>`,
  };
}

const ROLES = { system: t`<|message_system|>`, user: t`<|message_user|>` };

/** Each part is a message of its own. */
const contentMessages = (role: keyof typeof ROLES, content: Content): Pieces =>
  content.map((part) => {
    if (part.type === "text") return part.text === "" ? [] : t`${ROLES[role]}<|content_text|>${part.text}<|end_message|>`;
    const shown = mediaPiece(part, { image: "<|content_image|>", audio: "<|content_audio_input|>" });
    if (!shown.control) return shown;
    return t`${ROLES[role]}${shown}${shown.text === "<|content_audio_input|>" && t`<|audio_end|>`}<|end_message|>`;
  });

function saidMessages(said: readonly Part[]): Pieces {
  const thinking = thinkingOf(said);
  const text = textOf(said);
  return [
    thinking && thought(thinking),
    text && t`<|message_model|><|content_text|>${text}<|end_message|>`,
    writtenCalls(said, callMessage),
    said.length > 0 && t`<|content_model_end_sampling|>`,
  ];
}

const thought = (text: string): Pieces => t`<|message_model|><|content_thinking|>${text}<|end_message|>`;

const callMessage = (call: RenderableCall): Pieces =>
  t`<|message_model|>${call.name}<|content_invoke_tool_json|>{"name":${compactJson(call.name)},"args":${canonicalJson(argumentsTree(call))}}<|end_message|>`;

const resultMessages = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ name, output }) => t`<|message_tool|>${name}<|content_text|>${resultText(output)}<|end_message|>`);

const toolPieces = (tools: readonly Tool[]): Pieces =>
  t`<|message_system|>tool_declare<|content_xml|>${canonicalJson(
    tools.map(({ name, description = "", parameters = {} }) => ({ description, name, parameters, type: "function" })),
  )}<|end_message|>`;

export const inkling = dialectOf({
  id: "inkling",
  title: "Inkling",
  models: ["Inkling", "Inkling-Small"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [SPEAKER, END, ...KINDS],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => calls.map(callMessage),
  results: resultMessages,
  thinking: thought,
});
