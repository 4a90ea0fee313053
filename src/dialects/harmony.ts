/**
 * Harmony: gpt-oss. The output is a series of messages, each with a header that gives the sender, the recipient and the channel:
 *
 *     <|channel|>analysis<|message|>Need the weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}<|call|>
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Part, Request, Tool } from "../core/nouns.ts";
import { MAX_NAME } from "../core/reader.ts";
import { Marks } from "../core/window.ts";
import type { Prompt, RenderableCall, RenderableResult, ScannerOptions } from "./dialect.ts";
import { argumentsText, isoDate, pythonJson, pythonText } from "./print.ts";
import { markup, type Pieces, plainText } from "./prompt.ts";
import type { Scan, Step } from "./scan/scan.ts";
import { broken, closingThen, control, cut, jsonArguments, nameTooLong, speak, tooLong } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, filled, type Rendered, type Setting } from "./tools.ts";
import { callsOf, dialogue, leadingSystem, textOf, thinkingOf, turnsOf, unreadable } from "./transcript.ts";

const STOPS = ["<|return|>", "<|call|>"];
const HEADERS = ["<|start|>", "<|channel|>"];
const EDGES = ["<|startoftext|>", "<|endoftext|>"];
const TOKENS = [...HEADERS, "<|message|>", "<|constrain|>", "<|end|>", ...STOPS];

// ---- Scanning

const MARKS = new Marks(TOKENS);
const STRIPPED_END = new Marks(["{", ...TOKENS]);
const RECIPIENT = new Marks([" to="]);
const FILLER = new Marks(HEADERS.map((mark) => `commentary${mark}`));

/** A word that slips in between a call and the next header. */
const filler: Step = (s) => {
  const mark = s.match(FILLER);
  if (mark === undefined) return undefined;
  if (mark === "") return speak;
  s.pos += "commentary".length;
  return control;
};
const closing = closingThen(filler);

/** The prompt ends in `<|start|>assistant`, so the output may begin inside a header. */
const start: Step = (s) => {
  const mark = s.match(RECIPIENT);
  if (mark === undefined) return undefined;
  return mark === "" ? speak : openHeader("");
};

const openHeader =
  (mark: string): Step =>
  (s) => {
    s.word = mark;
    return header;
  };

/** A header goes into the raw of the message that it opens. If it cannot be a header, what follows its last mark is text. */
const header: Step = (s) => {
  const mark = s.readWord(MARKS);
  if (mark === null) return s.word.includes(" to=") ? nameTooLong : abandon;
  if (mark === undefined) return undefined;
  if (mark === "") return cutHeader;
  if (mark === "<|message|>") {
    s.pos += mark.length;
    return route(s);
  }
  const restarts = mark === "<|start|>" || (mark === "<|channel|>" && s.word.includes(mark) && !/ to=(?!assistant\b)/.test(s.word));
  if (restarts) s.control();
  else if (mark !== "<|channel|>" && mark !== "<|constrain|>") return abandon;
  s.pos += mark.length;
  s.word = restarts ? mark : s.word + mark;
  return header;
};

const abandon: Step = (s) => {
  s.sayRaw(behindMarks(s.word).length);
  return speak;
};

function behindMarks(header: string): string {
  const marks = TOKENS.filter((mark) => header.includes(mark)).map((mark) => header.lastIndexOf(mark) + mark.length);
  return header.slice(Math.max(0, ...marks));
}

/** The words that headers are made of. */
const WORDS = ["assistant", "analysis", "commentary", "final", "json", "to"];

/** The output ended in a header, perhaps inside a word or a mark. */
const cutHeader: Step = (s) => {
  const behind = behindMarks(s.word).replace(/<[|a-z]*$/, "");
  const isHeader = (part: string): boolean => WORDS.some((word) => word.startsWith(part));
  if (!s.word.includes(" to=")) return behind.trim().split(/\s+/).every(isHeader) ? control : abandon;
  s.malformed("no-name", "the output ended inside the header of a call");
  return speak;
};

/** What a message is depends on its recipient, then on its channel. */
function route(s: Scan): Step {
  const recipient = /\bto=([^\s<]*)/.exec(s.word)?.[1];
  if (recipient === "assistant") return aside;
  if (recipient !== undefined) return call(s, recipient);
  if (/<\|channel\|>\s*analysis\b/.test(s.word)) s.openThinking();
  else s.control();
  return speak;
}

function call(s: Scan, recipient: string): Step {
  const name = recipient.replace(/^functions\./, "");
  s.bound(tooLong);
  if (name === "") return broken(s, "no-name", "the header names no recipient");
  s.startCall(name);
  return body;
}

/** A message to the model itself is neither a call nor text. A long one leaves in portions. */
const aside: Step = (s) => {
  s.bound(restOfAside, MAX_NAME);
  return inAside;
};
const inAside: Step = (s) => {
  const mark = s.until(MARKS);
  if (mark === undefined) return undefined;
  s.unbound();
  return control;
};
const restOfAside: Step = (s) => {
  s.control();
  return aside;
};

const body: Step = (s) => {
  if (s.blanks() === undefined) return undefined;
  const mark = s.match(MARKS);
  if (mark === undefined) return undefined;
  if (s.last && s.pos === s.stop) return cut;
  if (mark === "<|message|>" || mark === "<|constrain|>") return broken(s, "bad-arguments", `${mark} where the arguments should be`);
  if (mark !== "") {
    s.endCall();
    return closing;
  }
  s.behind = closing;
  return inBody;
};
const inBody = jsonArguments(MARKS);

/** The header of a call whose marks were stripped: ` to=functions.f json` and the object. */
const strippedHeader: Step = (s) => {
  const mark = s.readWord(STRIPPED_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (mark === "") return cut;
  if (mark !== "{") return broken(s, "no-name", "the header of the call is not complete");
  return call(s, s.word.trim().split(/\s/, 1)[0] ?? "");
};
const stripped: Step = (s) => {
  s.bound(tooLong);
  s.word = "";
  return strippedHeader;
};

const createMessageScanner = scannerOf({
  calls: Object.fromEntries(HEADERS.map((mark) => [mark, openHeader(mark)])),
  closers: ["<|end|>"],
  thinking: { open: {}, close: ["<|end|>"], stray: "control" },
  stops: STOPS,
  control: [...TOKENS, ...EDGES],
  callsInThinking: "promote",
  start,
  // What is left of the headers if a server strips all marks.
  phrases: { open: ["analysis"], close: ["assistantfinal", "<|end|>"], calls: { "assistantcommentary to=": stripped } },
});
/** A header always ends the message before it, thinking or not. */
const createScanner = ({ startInThinking, ...options }: ScannerOptions = {}) =>
  createMessageScanner({
    ...options,
    startInThinking: startInThinking ?? leavesAnalysisOpen(options.prompt ?? []),
    callsInThinking: "promote",
  });

/** Whether the prompt ends inside a message of analysis. */
function leavesAnalysisOpen(prompt: Prompt | string): boolean {
  const text = typeof prompt === "string" ? prompt : plainText(prompt);
  const last = (marks: readonly string[], end: number) => Math.max(...marks.map((mark) => text.slice(0, end).lastIndexOf(mark)));
  const message = last(TOKENS, text.length);
  const channel = last(TOKENS, Math.max(0, message));
  return text.startsWith("<|message|>", message) && /^<\|channel\|>\s*analysis\s*$/.test(text.slice(Math.max(0, channel), message));
}

// ---- Rendering

const t = markup([...EDGES, ...TOKENS]);

interface Variant {
  /** Results that are text are written as they are, as in OpenAI's library; nothing ends in empty lines or in `<|return|>`. */
  readonly plain?: true;
}

const VARIANTS: Readonly<Record<string, Variant>> = { "gpt-oss-120b": {}, "unsloth-gpt-oss": { plain: true } };

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { thinking } = request;
  const { declared } = options;
  const { system, rest } = leadingSystem(request.messages);
  const spoken = rest.filter((message) => message.role === "assistant");
  // Thinking before a call is dropped as soon as an answer follows. Thinking before an answer is written only for training.
  const answered = spoken.findLastIndex(({ content }) => callsOf(content).length === 0);
  const thinks = new Set<readonly Part[]>(spoken.slice(answered + 1).map(({ content }) => content));
  const last = rest.at(-1);
  const final = options.addGenerationPrompt === false && last?.role === "assistant" ? last.content : undefined;
  return {
    bos: t`<|startoftext|>`,
    messages: [
      systemMessage(thinking?.effort ?? "medium", declared !== undefined, options.now),
      developerMessage(variant, system && textOf(system), declared),
      dialogue(turnsOf(rest), {
        other: (role, content) =>
          role === "user" ? t`<|start|>user<|message|>${textOf(content)}<|end|>` : developerMessage(variant, textOf(content)),
        said: (said) => [
          (said === final || thinks.has(said)) && thought(thinkingOf(said)),
          saidMessages(said, said === final && !variant.plain),
        ],
        results: (results) => resultMessages(results, variant),
      }),
    ],
    open: t`<|start|>assistant`,
  };
}

/** The model knows three efforts; the template prints any. */
const NEAR: Readonly<Record<string, "low" | "high">> = { minimal: "low", xhigh: "high", max: "high" };

function adapt(request: Request): Request {
  const effort = NEAR[request.thinking?.effort ?? ""];
  return effort ? { ...request, thinking: { ...request.thinking, effort } } : request;
}

function systemMessage(effort: string, hasTools: boolean, now?: Date): Pieces {
  return t`<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.
Knowledge cutoff: 2024-06
Current date: ${isoDate(now)}

Reasoning: ${effort}

# Valid channels: analysis, commentary, final. Channel must be included for every message.${
    hasTools && "\nCalls to these tools must go to the commentary channel: 'functions'."
  }<|end|>`;
}

function developerMessage({ plain }: Variant, text: string | undefined, declared?: Pieces): Pieces {
  if (!text && !declared) return [];
  return t`<|start|>developer<|message|>${text && `# Instructions\n\n${text}`}${text && (declared || !plain) && "\n\n"}${declared}<|end|>`;
}

/** Text beside calls is a preamble; text alone is the answer. */
function saidMessages(said: readonly Part[], isLast: boolean): Pieces {
  const text = textOf(said);
  const calls = callsOf(said);
  const broken = unreadable(said);
  if (calls.length === 0) return [t`<|start|>assistant<|channel|>final<|message|>${text}${broken}`, isLast ? t`<|return|>` : t`<|end|>`];
  return [text && t`<|start|>assistant<|channel|>commentary<|message|>${text}<|end|>`, calls.map(callMessage), broken];
}

const callMessage = (call: RenderableCall): Pieces =>
  t`<|start|>assistant to=functions.${call.name}<|channel|>commentary json<|message|>${argumentsText(call)}<|call|>`;

const resultMessages = (results: readonly RenderableResult[], { plain }: Variant): Pieces =>
  results.map(({ name, output }) => {
    const text = plain && typeof output === "string" ? output : pythonJson(output);
    return t`<|start|>functions.${name} to=assistant<|channel|>commentary<|message|>${text}<|end|>`;
  });

function toolPieces(tools: readonly Tool[]): Pieces {
  const declared = tools.map((tool) => [
    tool.description === undefined ? [] : comment(tool.description),
    `type ${tool.name} = ${signature(tool.parameters)} => any;\n\n`,
  ]);
  return ["# Tools\n\n## functions\n\nnamespace functions {\n\n", declared, "} // namespace functions"];
}

const comment = (text: string): string => `// ${text}\n`;

function signature(parameters: JsonObject | undefined): string {
  const { properties } = parameters ?? {};
  return isObject(properties) && Object.keys(properties).length > 0 ? `(_: ${objectType(parameters ?? {})})` : "()";
}

function objectType({ properties, required }: JsonObject): string {
  const lines = Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => {
    const optional = Array.isArray(required) && required.includes(name) ? "" : "?";
    if (!isObject(schema)) return `${name}${optional}: any,\n`;
    const { description } = schema;
    return `${typeof description === "string" && description ? comment(description) : ""}${name}${optional}: ${typeName(schema)}${byDefault(schema)},\n`;
  });
  return `{\n${lines.join("")}}`;
}

/** As in the template: commas before and after the comment, and no quotes if the type is a choice. */
function byDefault({ default: value, enum: choices, oneOf }: JsonObject): string {
  if (value === undefined) return "";
  if (filled(choices)) return `, // default: ${pythonText(value)}`;
  return filled(oneOf) ? `// default: ${pythonText(value)}` : `, // default: ${pythonJson(value)}`;
}

/** A schema as a TypeScript type. */
function typeName(schema: JsonObject): string {
  const { type, enum: choices, oneOf } = schema;
  const orNull = schema.nullable === true ? " | null" : "";
  if (type === "array") return `${itemType(schema.items)}[]${orNull}`;
  if (filled(type)) return type.join(" | ");
  if (filled(oneOf)) return oneOf.map((one) => (isObject(one) ? variantType(one) : "any")).join(" | \n");
  if (type === "string") return filled(choices) ? choices.map((choice) => `"${pythonText(choice)}"`).join(" | ") : `string${orNull}`;
  if (type === "object" && isObject(schema.properties) && Object.keys(schema.properties).length > 0) return objectType(schema);
  return TYPES[String(type)] ?? "any";
}

/** As in the template, a long choice becomes `any`: a comment in it would swallow the brackets. */
function itemType(items: Json | undefined): string {
  if (!isObject(items)) return "any";
  if (items.type === "string") return "string";
  const name = typeName(items);
  return filled(items.oneOf) && name.length > 50 ? "any" : name;
}

const variantType = (schema: JsonObject): string =>
  typeName(schema) +
  (typeof schema.description === "string" && schema.description ? `// ${schema.description}` : "") +
  (schema.default === undefined ? "" : `                    // default: ${pythonJson(schema.default)}`);

const TYPES: Readonly<Record<string, string>> = { number: "number", integer: "number", boolean: "boolean", object: "object" };

const thought = (text: string): Pieces => (text === "" ? [] : t`<|start|>assistant<|channel|>analysis<|message|>${text}<|end|>`);

export const harmony = dialectOf({
  id: "harmony",
  title: "Harmony",
  models: ["gpt-oss-20b", "gpt-oss-120b"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: TOKENS,
  createScanner,
  adapt,
  render,
  tools: toolPieces,
  calls: (calls) => calls.map(callMessage),
  results: resultMessages,
  thinking: thought,
});
