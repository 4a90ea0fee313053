/**
 * Kimi K2. Calls are wrapped in a section; the header `functions.NAME:N` is the call's id, and N counts over the whole conversation:
 *
 *     <|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>
 */
import type { JsonObject, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { declareTools } from "./kimi-tools.ts";
import { argumentsText, pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import type { Scan, Step } from "./scan/scan.ts";
import { headerCut, sectionSteps } from "./scan/sections.ts";
import { broken, nameTooLong } from "./scan/steps.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import {
  allCalls,
  batched,
  type Content,
  callsOf,
  contentPieces,
  dialogue,
  leadingSystem,
  resultContent,
  textOf,
  thinkingOf,
  turnsOf,
} from "./transcript.ts";

const STOPS = ["<|im_end|>", "[EOS]"];
const TURNS = ["<|im_system|>", "<|im_user|>", "<|im_assistant|>", "<|im_middle|>"];
const ARGUMENTS_BEGIN = "<|tool_call_argument_begin|>";

// ---- Scanning

const header: Step = (s) => {
  const mark = s.readWord(HEADER_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (mark !== ARGUMENTS_BEGIN) return headerCut(s, mark);
  s.pos += mark.length;
  const id = s.word.trim();
  const name = nameIn(s, id);
  if (name === "") return broken(s, "no-name", "the header names no tool");
  return calls.object(s, FOREIGN_ID.test(name) && !s.declares(name) ? fitting : name, id);
};

/** Templates print the ids that clients send, and models imitate them: `functions_f_0` and `functionsf0` mean `f` if that is declared. */
function nameIn(s: Scan, id: string): string {
  const name = id
    .replace(/^functions\./, "")
    .replace(/:\d+$/, "")
    .trim();
  const meant = id.replace(/^functions?[._]?/, "").replace(/[._:]?\d+$/, "");
  return !s.declares(name) && s.declares(meant) ? meant : name;
}

/** Call ids as servers mint them, which name no tool: `0`, `call00003`, `call_9f8e7d6c`, `chatcmpl-tool-9f8e7d6c`. */
const FOREIGN_ID = /^(?:call[-_]?)?\d+$|^(?:call|toolu|chatcmpl-tool)[-_](?=\w*\d)\w{8,}$/;

/** A header with such an id means the one declared tool that has all these arguments. */
const fitting = (s: Scan, args: JsonObject): string | undefined => {
  const fits = ({ parameters }: Tool) => Object.keys(args).every((key) => Object.keys(parameters?.properties ?? {}).includes(key));
  const tools = s.tools.filter(fits);
  return tools.length === 1 ? tools[0]?.name : undefined;
};

/** Models also write `tool_call_section`, in the singular. */
const [BEGIN, END] = ["begin", "end"].map((edge) => [`<|tool_calls_section_${edge}|>`, `<|tool_call_section_${edge}|>`]) as [
  string[],
  string[],
];

const calls = sectionSteps(
  {
    begin: BEGIN,
    end: END,
    open: ["<|tool_call_begin|>"],
    close: ["<|tool_call_end|>"],
    stops: STOPS,
    noise: [ARGUMENTS_BEGIN],
  },
  (s) => header(s),
);
const HEADER_END = new Marks([ARGUMENTS_BEGIN, ...THINK_TAGS.close, ...calls.marks]);

const createScanner = scannerOf({
  calls: { ...each(BEGIN, calls.section), "<|tool_call_begin|>": calls.call },
  closers: ["<|tool_call_end|>", ...END],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: [...calls.marks, ARGUMENTS_BEGIN, ...TURNS],
  inCalls: [ARGUMENTS_BEGIN],
  callsInThinking: "promote",
});

// ---- Rendering

const MEDIA = ["<|media_start|>", "<|media_begin|>", "<|media_content|>", "<|media_pad|>", "<|media_end|>"];
const PRESERVED = [...calls.marks.filter((mark) => !mark.includes("call_section")), ARGUMENTS_BEGIN, "<think>", "</think>"];
const t = markup(["[BOS]", "[EOT]", ...TURNS, ...STOPS, ...PRESERVED, ...MEDIA]);

interface Variant {
  readonly thinks: boolean;
  /** The prompt opens thinking, and closes it at once if none is wanted. */
  readonly opens?: true;
  /** The system turn of a request that has none. */
  readonly system: Pieces;
  readonly tools: (tools: readonly Tool[]) => string;
  readonly media: Pieces;
  /** History keeps thinking only after the first or the last answer; an answer is an assistant message without calls. */
  readonly fresh: "findIndex" | "findLastIndex";
  /** History keeps all thinking, whatever the request says. */
  readonly keeps?: true;
}

const SYSTEM = t`<|im_system|>system<|im_middle|>You are Kimi, an AI assistant created by Moonshot AI.<|im_end|>`;
// The template claims to look for the last answer, backwards from the end, but does not stop when it has found one: it finds the first.
const V2: Variant = {
  thinks: true,
  system: SYSTEM,
  tools: (tools) => pythonJson(tools.map(functionTool)),
  media: t`<|media_start|>`,
  fresh: "findIndex",
};
const V25: Variant = { thinks: true, opens: true, system: [], tools: declareTools, media: t`<|media_begin|>`, fresh: "findLastIndex" };

const VARIANTS: Readonly<Record<string, Variant>> = {
  "kimi-k2-thinking": V2,
  "kimi-k2-instruct": { ...V2, thinks: false, system: [SYSTEM, "\n"] },
  "kimi-k2.5": V25,
  "kimi-k2.7-code": { ...V25, keeps: true },
};

function render(request: Request, variant: Variant, { declared, thinking }: Setting): Rendered {
  const silent = variant.opens && thinking === false;
  const { system, rest } = leadingSystem(request.messages);
  const ids = new Map(allCalls(rest).map((call, n) => [call, idOf(call, n)]));
  const keeps = variant.opens && (variant.keeps || request.thinking?.keep);
  const answered = keeps ? -1 : rest[variant.fresh]((message) => message.role === "assistant" && callsOf(message.content).length === 0);
  const fresh = new Set(rest.slice(answered + 1).map((message) => "content" in message && message.content));
  const said = (parts: readonly Part[]): Pieces => [
    variant.thinks && t`<think>${fresh.has(parts as Part[]) && !silent ? thinkingOf(parts) : ""}</think>`,
    textOf(parts),
    batched(parts, (calls) => callPieces(calls, (call) => ids.get(call) ?? call.name)),
  ];
  return {
    messages: [
      declared && t`<|im_system|>tool_declare<|im_middle|>${declared}<|im_end|>`,
      system ? turnPieces("system", textOf(system)) : variant.system,
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, contentOf(content, variant)),
        said: (parts) => turnPieces("assistant", said(parts)),
        results: (results) => resultPieces(results, variant, ({ call, id, name }) => (call ? ids.get(call) : id) || name),
      }),
    ],
    open: t`<|im_assistant|>assistant<|im_middle|>${silent ? t`<think></think>` : variant.opens && t`<think>`}`,
  };
}

const contentOf = (content: Content, { media }: Variant): Pieces =>
  contentPieces(content, { image: "<|media_pad|>" }, (image) => [media, t`image<|media_content|>${image}<|media_end|>\n`]);

const OPEN = { system: t`<|im_system|>`, user: t`<|im_user|>`, assistant: t`<|im_assistant|>` };
const turnPieces = (role: keyof typeof OPEN, text: Pieces): Pieces => [OPEN[role], t`${role}<|im_middle|>${text}<|im_end|>`];

const idOf = (call: { name: string }, n: number): string => `functions.${call.name}:${n}`;

const callPieces = <T extends RenderableCall>(calls: readonly T[], id: (call: T, n: number) => string): Pieces =>
  t`<|tool_calls_section_begin|>${calls.map(
    (call, n) => t`<|tool_call_begin|>${id(call, n)}<|tool_call_argument_begin|>${argumentsText(call)}<|tool_call_end|>`,
  )}<|tool_calls_section_end|>`;

const resultPieces = <T extends RenderableResult>(results: readonly T[], variant: Variant, id: (result: T, n: number) => string): Pieces =>
  results.map((result, n) => {
    const content = contentOf(resultContent(result), variant);
    return t`<|im_system|>${result.name}<|im_middle|>## Return of ${id(result, n)}\n${content}<|im_end|>`;
  });

export const kimiK2 = dialectOf({
  id: "kimi-k2",
  title: "Kimi K2",
  models: ["Kimi-K2-Instruct", "Kimi-K2-Thinking", "Kimi-K2.5"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: (calls) => callPieces(calls, idOf),
  results: (results, variant) => resultPieces(results, variant, idOf),
  thinking: (text) => t`<think>${text}</think>`,
});
