/**
 * Qwen3-Coder, Qwen3.5 and later, Nemotron 3 Nano, StepFun 3.5. Each parameter is wrapped in tags, with its value as raw text on lines of
 * its own:
 *
 *     <tool_call>
 *     <function=write_file>
 *     <parameter=path>
 *     src/a.py
 *     </parameter>
 *     </function>
 *     </tool_call>
 */
import { isObject } from "../core/json.ts";
import type { Effort, Json, JsonObject, Message, Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, entriesOf, itemsOf, pythonJson, pythonLiteral, pythonText, type Tree, tagName, valueText } from "./print.ts";
import { joined, type Pieces, trimmed } from "./prompt.ts";
import { json, PRESERVED, resultPieces, STOPS, scannerOfCalls, shownContent, t, thought, turnPieces } from "./qwen.ts";
import { ATTRIBUTES, element, type Head, NAME } from "./scan/heads.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, filled, functionTool, type Rendered, type Setting } from "./tools.ts";
import {
  type Content,
  dialogue,
  printedResult,
  resultContent,
  textOf,
  thinkingOf,
  thoughtAndText,
  turnsOf,
  writtenCalls,
} from "./transcript.ts";

// ---- Scanning

/** Models insert blanks into tags. */
const spaced = (tag: string): string[] => [tag, tag.replace("<", "< "), tag.replace("=", " ="), tag.replace("<", "< ").replace("=", " =")];

const spacedClosers = (tag: string) =>
  Object.fromEntries([tag.replace(">", " >"), tag.replace("/", "/ "), tag.replace("<", "< ")].map((spaced) => [spaced, tag]));

/** `<tag name="…">`, or `<tag …>`, as Step's models write it. */
const OTHER: Head = {
  ...ATTRIBUTES,
  read(text) {
    const { name, rest = "" } = ATTRIBUTES.read(text);
    return name === undefined && /^\S+$/.test(rest) ? { name: rest } : { name, rest };
  },
};

/** ZAYA1 wraps the same calls in a tag of its own. */
const ZYPHRA = "<zyphra_tool_call>";

const calls = tagCalls({
  open: ["<tool_call>", ZYPHRA],
  close: ["</tool_call>", "</zyphra_tool_call>"],
  calls: [
    ...spaced("<function=").map((open) => ({ open, head: NAME })),
    { open: "function=", head: NAME, slip: true },
    { open: "<function>", head: element("</function>", "<"), slip: true },
    { open: "<function ", head: OTHER, slip: true },
  ],
  callClose: "</function>",
  closeSlips: { ...spacedClosers("</parameter>"), ...spacedClosers("</function>"), "</function_invocation>": "</function>" },
  params: [
    ...spaced("<parameter=").map((open) => ({ open, head: NAME, close: "</parameter>" })),
    { open: "<parameter>", head: element("</parameter>", "<"), close: "</parameter>", slip: true },
    { open: "<parameter ", head: OTHER, close: "</parameter>", slip: true },
  ],
  stops: STOPS,
  bareNames: "declared",
  strips: true,
  ownTag: (key) => ({ begin: `<${key}>`, close: `</${key}>` }),
  wrappers: [],
  json: json.marked,
});

const createScanner = scannerOfCalls({ "<tool_call>": calls.block, [ZYPHRA]: calls.block, "<function=": calls.bare });

// ---- Rendering

interface Variant {
  readonly tools: (tools: readonly Tool[]) => Pieces;
  /** The system turn. `effort`: how much the model should think; `undefined` if it should not think. */
  readonly head: (system: string | undefined, declared: Pieces, effort: Effort | undefined) => Pieces;
  /** Prints arguments that are not strings. */
  readonly print: typeof valueText;
  /** The separator between two calls. */
  readonly between: "\n" | "";
  /** An assistant message. */
  readonly said: (said: readonly Part[], thinks: boolean, calls: readonly Pieces[]) => Pieces;
  readonly results: (results: readonly RenderableResult[]) => Pieces;
  /** The role of the turn that holds tool results. */
  readonly resultRole: string;
  /** The content of all other messages. */
  readonly content: (content: Content) => Pieces;
  /** The role of a system message after the first messages. */
  readonly lateSystem: "system" | "user";
  readonly thinks: boolean | "asked";
  /** How the prompt opens the answer if the model should not think. */
  readonly silence: Pieces;
  /** History keeps thinking unless the request says otherwise. */
  readonly keeps: boolean;
}

const CODER: Variant = {
  tools: (tools) => toolPieces(tools.map((tool) => toolLines(tool))),
  head: (system, declared) => (declared ? [system ?? DEFAULT_SYSTEM, "\n\n", declared] : system),
  print: valueText,
  between: "\n",
  said: (said, _, calls) => textAndCalls(textOf(said), calls),
  results: (results) => results.map(({ output }) => t`<tool_response>\n${printedResult(output)}\n</tool_response>\n`),
  resultRole: "user",
  content: (content) => textOf(content),
  lateSystem: "system",
  thinks: false,
  silence: t`<think>\n\n</think>\n\n`,
  keeps: false,
};

/** Qwen's own templates say "functions"; llama.cpp's copy says "tools". */
const functions = (lines?: Lines, words?: Words): Variant => ({
  ...CODER,
  tools: (tools) =>
    functionPieces(
      tools.map((tool) => toolLines(tool, lines)),
      words,
    ),
});

const QWEN35: Variant = {
  ...CODER,
  tools: (tools) => functionPieces(jsonLines(tools)),
  head: (system, declared) => (declared ? [declared, system?.trim() && `\n\n${system.trim()}`] : system?.trim()),
  said: (said, thinks, calls) => {
    const { thinking, text } = thoughtAndText(said);
    return [thinks && thought(thinking.trim()), textAndCalls(text.trim(), calls)];
  },
  results: (results) => resultPieces(results, (result) => trimmed(shownContent(resultContent(result)))),
  content: (content) => trimmed(shownContent(content)),
  lateSystem: "user",
  thinks: true,
};
const QWEN36: Variant = { ...QWEN35, print: pythonJson };

const NEMOTRON: Variant = {
  ...functions({ tool: requiredLast, order: choicesFirst }),
  head: (system = "", declared) => [system, system && declared && "\n\n", declared],
  said: nemotronSaid("\n"),
  thinks: true,
  silence: t`<think></think>`,
};

const VARIANTS: Readonly<Record<string, Variant>> = {
  "qwen3-coder": CODER,
  "qwen3-coder-30b-a3b-instruct": functions(),
  "qwen3-coder-next": {
    ...functions({ print: pythonJson }),
    print: pythonJson,
    results: (results) => resultPieces(results, ({ output }) => printedResult(output)),
  },
  // Qwen's templates of August and July 2025: a GGUF file has that of its time, and Unsloth's have kept the latter.
  "qwen3-coder-2508": { ...functions({ print: listText }, { title: "" }), print: listText },
  "unsloth-qwen3-coder": { ...functions({ tool: plain, order: filledOnly, print: tickedText }, { title: "" }), print: pythonLiteral },
  "qwen3.5-4b": QWEN35,
  "qwen3.6-35b-a3b": QWEN36,
  // Qwen3.5-0.8B and 2B think only on request.
  "qwen3.5-0.8b": { ...QWEN35, thinks: "asked" },
  "qwen3.8-27b": {
    ...QWEN36,
    head: (system = "", declared, effort) => {
      const parts = [effort && EFFORTS[effort], declared, system.trim()].filter(Boolean);
      return parts.length > 0 ? joined(parts, "\n\n") : undefined;
    },
    said: (said, thinks, calls) => [thinks && thought(thinkingOf(said).trim()), textAndCalls(textOf(said).trim(), calls)],
    keeps: true,
  },
  "nemotron-3-nano": NEMOTRON,
  "nemotron-3.5-nano": { ...NEMOTRON, said: nemotronSaid("") },
  "step-3.5-flash": {
    ...CODER,
    tools: (tools) => functionPieces(jsonLines(tools), { listed: " in JSONSchema format", inside: "\n...\n", advice: "" }),
    head: (system, declared) => (declared ? [system !== undefined && [system, "\n\n"], declared] : system),
    between: "",
    said: (said, thinks, calls) => {
      const { thinking, text } = thoughtAndText(said);
      return [thinks && t`<think>\n${thinking}\n</think>\n`, text, calls];
    },
    results: (results) => results.map((result) => t`<tool_response>${textOf(resultContent(result))}</tool_response>`),
    resultRole: "tool_response",
    thinks: true,
    silence: t`<think>\n\n</think>\n`,
  },
};

/** Every message has a thinking block, even if empty. `newline`: what the template adds after thinking; without it, the model's own newlines stay. */
function nemotronSaid(newline: "\n" | ""): Variant["said"] {
  return (said, thinks, calls) => {
    const { thinking, text } = thoughtAndText(said);
    const isThought = thinking.trim() !== "";
    const isOpen = thinks || calls.length === 0;
    const words = isOpen ? text.trimEnd() : newline ? text.trim() : text;
    return [
      thinks && isThought ? t`<think>\n${newline ? thinking : thinkingOf(said) || thinking}${newline}</think>` : t`<think></think>`,
      words && isThought && isOpen && newline,
      words,
      calls.length > 0 && ["\n", calls.map((call) => [call, "\n"])],
    ];
  };
}

const DEFAULT_SYSTEM = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks.";

const LITTLE =
  "Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion without unnecessary elaboration.";
const MUCH =
  "Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.";
/** The template knows three efforts; the others are mapped as Qwen's own API maps them. */
const EFFORTS: Readonly<Record<Effort, string>> = { minimal: LITTLE, low: LITTLE, medium: "", high: MUCH, xhigh: MUCH, max: MUCH };

/** The leading system text. `whole`: the template allows no later system message, so all leading ones are joined. */
function frontOf(messages: readonly Message[], whole: boolean): { system?: string; rest: readonly Message[] } {
  const end = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const front = messages.slice(0, whole ? (end < 0 ? messages.length : end) : Number(end !== 0));
  const texts = front.map((message) => ("content" in message ? textOf(message.content) : ""));
  return { ...(texts.length > 0 && { system: texts.join("\n\n") }), rest: messages.slice(front.length) };
}

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { system, rest } = frontOf(request.messages, variant.lateSystem === "user");
  const silent = !(options.thinking ?? variant.thinks !== "asked");
  const { keep = variant.keeps, effort = "xhigh" } = request.thinking ?? {};
  const head = variant.head(system, options.declared, silent ? undefined : effort);
  const write = (call: RenderableCall) => callPieces(call, variant);
  return {
    messages: [
      head !== undefined && turnPieces("system", head),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role === "user" ? role : variant.lateSystem, variant.content(content)),
        said: (said, current) => turnPieces("assistant", variant.said(said, current || keep, writtenCalls(said, write))),
        results: (results) => turnPieces(variant.resultRole, variant.results(results)),
      }),
    ],
    open: t`<|im_start|>assistant\n${variant.thinks && (silent ? variant.silence : t`<think>\n`)}`,
  };
}

/** Text before calls is trimmed and followed by an empty line. */
const textAndCalls = (text: string, calls: readonly Pieces[]): Pieces =>
  calls.length > 0 ? [text.trim() && `${text.trim()}\n\n`, joined(calls, "\n")] : text;

const callPieces = (call: RenderableCall, { print }: Variant): Pieces => t`<tool_call>
<function=${tagName(call.name)}>
${argumentTexts(call, /<\/?(?:parameter|function)/, print).map(({ key, text }) => `<parameter=${tagName(key)}>\n${text}\n</parameter>\n`)}</function>
</tool_call>`;

// -- tools

/** How a tool is declared, where templates differ. */
interface Lines {
  readonly tool?: (tool: Tool) => Tool;
  /** The keywords of a parameter in their order. */
  readonly order?: (schema: JsonObject) => JsonObject;
  /** Prints values that are not strings. */
  readonly print?: (value: Tree, key: string) => string;
}

function requiredLast({ parameters: { required, ...others } = {}, ...tool }: Tool): Tool {
  return { ...tool, parameters: { ...others, ...(required !== undefined && { required }) } };
}

function choicesFirst({ enum: choices, ...others }: JsonObject): JsonObject {
  return choices === undefined ? others : { enum: choices, ...others };
}

function plain({ name, description = "", parameters: { properties = {}, required } = {} }: Tool): Tool {
  return { name, description, parameters: { properties, ...(filled(required) && { required }) } };
}

function filledOnly({ enum: choices, required, ...others }: JsonObject): JsonObject {
  return { ...(filled(choices) && { enum: choices }), ...others, ...(filled(required) && { required }) };
}

function listText(value: Tree): string {
  return Array.isArray(value) ? pythonLiteral(value) : valueText(value);
}

function tickedText(value: Tree, key: string): string {
  if (!Array.isArray(value) || !/^(?:enum|required)$/.test(key)) return listText(value);
  return `[${itemsOf(value)
    .map((item) => (typeof item === "string" ? `\`${item}\`` : pythonLiteral(item)))
    .join(", ")}]`;
}

function toolLines(tool: Tool, { tool: changed = (same) => same, order = (schema) => schema, print = valueText }: Lines = {}): Pieces {
  const { name, description, parameters = {}, strict } = changed(tool);
  const { type: _, properties, ...others } = parameters;
  const line = (key: string, value: Tree | undefined): Pieces =>
    value !== undefined && `<${key}>${typeof value === "string" ? value : print(value, key)}</${key}>\n`;
  /** `schema`: where the keywords come from, and where their numbers are as they were written. */
  const lines = (keywords: JsonObject, schema: Json = {}): Pieces => {
    const written = new Map(entriesOf(schema));
    return Object.keys(keywords).map((key) => line(key, written.get(key)));
  };
  const parameter = ([name, schema]: [string, Json]): Pieces => {
    const { type, description, name: _, ...others } = isObject(schema) ? schema : {};
    return [
      `<parameter>\n<name>${name}</name>\n`,
      line("type", type === undefined ? type : pythonText(type)),
      typeof description === "string" && line("description", description.trim()),
      lines(order(others), schema),
      "</parameter>\n",
    ];
  };
  return [
    `<function>\n<name>${name}</name>\n`,
    line("description", description?.trim()),
    "<parameters>\n",
    isObject(properties) && Object.entries(properties).map(parameter),
    lines(others, tool.parameters),
    "</parameters>\n",
    line("strict", strict),
    "</function>\n",
  ];
}

const ADVICE = `
- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after
- If there is no function call available, answer the question like normal with your current knowledge and do not tell the user about function calls`;

/** What the templates say around the list of tools. `inside`: the placeholder for a block's content. */
interface Words {
  readonly title?: "";
  readonly listed?: string;
  readonly inside?: string;
  readonly advice?: "";
}

const explained = (word: "tool" | "function", tools: Pieces, value: string, rule: Pieces, words: Words = {}): Pieces =>
  t`${words.title ?? "# Tools\n\n"}You have access to the following ${word}s${words.listed}:

<tools>
${tools}</tools>

If you choose to call a ${word} ONLY reply in the following format with NO suffix:

<tool_call>
<function=example_function_name>
<parameter=example_parameter_1>
value_1
</parameter>
<parameter=example_parameter_2>
${value}
</parameter>
</function>
</tool_call>

<IMPORTANT>
Reminder:
- Function calls MUST follow the specified format: ${rule}
- Required parameters MUST be specified${words.advice ?? ADVICE}
</IMPORTANT>`;

function toolPieces(declared: Pieces): Pieces {
  const rule = t`the tool calling block MUST begin with an opening <tool_call> tag and end with a closing </tool_call> tag.`;
  return explained("tool", declared, "value_2", rule);
}

function functionPieces(declared: Pieces, words?: Words): Pieces {
  const value = "This is the value for the second parameter\nthat can span\nmultiple lines";
  const inside = words?.inside;
  const rule = t`an inner <function=...>${inside}</function> block must be nested within <tool_call>${inside}</tool_call> XML tags`;
  return explained("function", declared, value, rule, words);
}

const jsonLines = (tools: readonly Tool[]): Pieces => tools.map((tool) => `${pythonJson(functionTool(tool))}\n`);

export const qwen3Coder = dialectOf({
  id: "qwen3-coder",
  title: "Qwen3-Coder",
  models: ["Qwen3-Coder", "Qwen3.5", "Nemotron 3 Nano", "StepFun 3.5"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: (calls, variant) =>
    joined(
      calls.map((call) => callPieces(call, variant)),
      variant.between,
    ),
  results: (results, variant) => variant.results(results),
  thinking: thought,
});
