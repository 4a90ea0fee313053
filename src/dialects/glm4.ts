/**
 * GLM-4 before 4.5: GLM-4-9B-Chat, GLM-4-0414, GLM-Z1-0414. A message of the model begins with a header, which is empty or names a tool;
 * then the arguments follow. The first header follows the mark that ends the prompt.
 *
 *     get_weather
 *     {"city": "Paris"}<|assistant|>get_time
 *     {"timezone": "Europe/Paris"}<|observation|>
 */
import type { Message, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, prettyJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { release } from "./scan/json-calls.ts";
import type { Scan, Step } from "./scan/scan.ts";
import { closing, cut, jsonArguments, nameTooLong, tooLong } from "./scan/steps.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { dialogue, resultText, textOf, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|user|>", "<|observation|>", "<|endoftext|>"];
const ASSISTANT = "<|assistant|>";
const TURNS = ["[gMASK]", "<sop>", "<|system|>"];

// ---- Scanning

const HEADER_END = new Marks(["\n", "<", "["]);
const NAME = /^[\w.:/-]*$/;
const readObject = jsonArguments(new Marks([ASSISTANT, ...THINK_TAGS.close, ...STOPS]));

const begins = (s: Scan, start: string): boolean => s.tools.some(({ name }) => name.startsWith(start));

/** The name of a tool, alone on its line, and an object below it; anything else is text. `any`: the tool need not be declared. */
const nameOf = (any: boolean): Step => {
  const object: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    const name = s.word.trim();
    if (code !== 123 && !(code === -1 && s.declares(name))) return release;
    s.bound(tooLong);
    s.startCall(name);
    s.behind = closing;
    return code === -1 ? cut : readObject;
  };
  return (s) => {
    const mark = s.readWord(HEADER_END);
    const name = s.word.trim();
    if (!(any && NAME.test(name)) && !begins(s, name)) return release;
    if (mark === undefined) return undefined;
    if (mark === null) return nameTooLong;
    return mark === "\n" && name !== "" && (any || s.declares(name)) ? object : release;
  };
};
const anyName = nameOf(true);
const declaredName = nameOf(false);

/** After the mark of a message: a name, or the newline that ends an empty header. */
const header: Step = (s) => {
  s.keepMarks();
  s.word = "";
  s.bound(release);
  return emptyOrName;
};
const emptyOrName: Step = (s) => {
  const mark = s.match(HEADER_END);
  if (mark === undefined) return undefined;
  if (mark !== "\n") return anyName;
  s.pos++;
  s.keepMarks();
  return firstLine;
};

/** At the beginning of a message whose header is not in the output: its first line may still be the name of a tool. */
const content: Step = (s) => {
  s.word = "";
  s.bound(release);
  return firstLine;
};
const firstLine: Step = (s) => (s.blanks() === undefined ? undefined : declaredName);

const createScanner = scannerOf({
  calls: { [ASSISTANT]: header },
  closers: [],
  thinking: { ...THINK_TAGS, behind: content },
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote",
  start: (s) => {
    const mark = s.match(HEADER_END);
    if (mark === undefined) return undefined;
    return mark === "\n" ? header : content;
  },
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ASSISTANT, "<think>", "</think>", "<eop>", "[MASK]", "[sMASK]"]);

interface Variant {
  /** The text before the tools. */
  readonly head: string;
  /** What follows the name in a header. */
  readonly gap: "\n" | " \n";
  /** System messages are moved to the front, each in a turn of its own. */
  readonly hoists: boolean;
  /** The prompt opens thinking, and the texts of all messages but system ones are trimmed. */
  readonly thinks: boolean;
}

const headOf = (maker: string): string =>
  `你是一个名为 ChatGLM 的人工智能助手。你是基于${maker}训练的语言模型 GLM-4 模型开发的，你的任务是针对用户的问题和要求提供适当的答复和支持。\n\n# 可用工具`;

const VARIANTS: Readonly<Record<string, Variant>> = {
  "glm-4-0414": { head: "# 可用工具\n", gap: " \n", hoists: true, thinks: false },
  "glm-4-9b-chat": { head: headOf("智谱AI"), gap: "\n", hoists: false, thinks: false },
  "glm-z1-0414": { head: headOf("智谱 AI 公司"), gap: "\n", hoists: true, thinks: true },
};

function render({ messages }: Request, variant: Variant, { declared }: Setting): Rendered {
  const { hoists, thinks } = variant;
  const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";
  const inOrder = hoists ? [...messages.filter(isSystem), ...messages.filter((message) => !isSystem(message))] : messages;
  return {
    messages: [
      t`[gMASK]<sop>${declared}`,
      dialogue(turnsOf(inOrder), {
        other: (role, content) => (role === "system" ? t`<|system|>\n${textOf(content)}` : t`<|user|>\n${words(textOf(content), variant)}`),
        said: (said) => saidPieces(said, variant),
        results: (results) => resultPieces(results, variant),
      }),
    ],
    open: t`<|assistant|>${thinks && t`\n<think>`}`,
  };
}

const words = (text: string, { thinks }: Variant): string => (thinks ? text.trim() : text);

/** A text and each call are messages of their own. History does not repeat thinking. */
function saidPieces(said: readonly Part[], variant: Variant): Pieces {
  const text = words(variant.thinks ? thoughtAndText(said).text : textOf(said), variant);
  const calls = writtenCalls(said, (call) => callPieces(call, variant));
  return [(text || calls.length === 0) && t`<|assistant|>\n${text}`, calls.map(unmarked)];
}

/** The raw of a malformed call has its mark, or the mark was in the prompt. */
const unmarked = (call: Pieces): Pieces => (typeof call === "string" ? t`<|assistant|>${call.replace(/^<\|assistant\|>/, "")}` : call);

const callPieces = (call: RenderableCall, { gap }: Variant): Pieces => t`<|assistant|>${call.name}${gap}${argumentsText(call)}`;

const resultPieces = (results: readonly RenderableResult[], variant: Variant): Pieces =>
  results.map(({ output }) => t`<|observation|>\n${words(resultText(output), variant)}`);

const toolPieces = (tools: readonly Tool[], { head }: Variant): Pieces => t`<|system|>
${head}${tools.map(
  (tool) => `
## ${tool.name}

${prettyJson(functionObject(tool))}
在调用上述函数时，请使用 Json 格式表示调用的参数。`,
)}`;

export const glm4 = dialectOf({
  id: "glm4",
  title: "GLM-4",
  models: ["GLM-4-9B-Chat", "GLM-4-0414", "GLM-Z1-0414"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [ASSISTANT, "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, variant) => calls.map((call) => callPieces(call, variant)),
  results: resultPieces,
  thinking: (text) => t`<think>${text}</think>`,
});
