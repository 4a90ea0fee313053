/**
 * Muse Glimmer. The output is a series of messages, each with a header that gives its recipient: the model itself, the user, or a tool.
 *
 *     to=self<|message|>I need the weather.<|eom|><|start|>assistant to=get_weather<|message|><atem:function_calls>
 *     <atem:invoke name="get_weather">
 *     <atem:parameter name="city">Paris</atem:parameter>
 *     </atem:invoke>
 *     </atem:function_calls><|eot|>
 */
import type { Message, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, isoDate, pythonJson, quoted } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { ATTRIBUTES, type Head } from "./scan/heads.ts";
import { perhaps } from "./scan/json-places.ts";
import type { Scan, Step } from "./scan/scan.ts";
import { control, nameTooLong, speak, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { type Content, contentPieces, dialogue, resultContent, textOf, thinkingOf, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|eot|>"];
const END = "<|eom|>";
const START = "<|start|>";
const MESSAGE = "<|message|>";
const TOKENS = [START, MESSAGE, END, ...STOPS];
const OTHERS = ["<|begin_of_text|>", "<|end_of_text|>", "<|patch|>", "<|image|>", "<|video|>"];
const BLOCK = "<atem:function_calls>";

// ---- Scanning

const PARAMETER = "<atem:parameter ";

/**
 * The prompt lists a tool `f` as `f.*`, so models write `f.f`. They also write `<|message|>` inside the name, or instead of the end of the
 * tag, which then ends where the first parameter begins.
 */
const INVOKE: Head = {
  ...ATTRIBUTES,
  ends: new Marks([...ATTRIBUTES.ends.list, PARAMETER]),
  next: [...ATTRIBUTES.next, PARAMETER],
  read(text, s) {
    const { name = "" } = ATTRIBUTES.read(text.replaceAll(MESSAGE, "").replace(/="[^"]*$/, (open) => `${open.replace(/[\s>]+$/, "")}"`));
    const [first = "", ...rest] = name.split(".");
    return { name: rest.join(".") === first && !s?.declares(name) && s?.declares(first) ? first : name };
  },
};

const calls = tagCalls({
  open: [BLOCK],
  close: ["</atem:function_calls>"],
  calls: [{ open: "<atem:invoke ", head: INVOKE }],
  callClose: "</atem:invoke>",
  params: [{ open: PARAMETER, head: ATTRIBUTES, close: "</atem:parameter>" }],
  stops: [END, ...STOPS],
  opaque: true,
  bareNames: "never",
});

/** A message to a tool. */
const body = perhaps([BLOCK], calls.block);

/** The prompt ends in `<|start|>assistant`, so the output begins inside a header. */
const BLANK_HEADER = " to=";
const first = new Marks([BLANK_HEADER]);
const start: Step = (s) => {
  const mark = s.match(first);
  if (mark === undefined) return undefined;
  if (mark === "") return speak;
  s.pos += mark.length;
  s.word = mark;
  return inRecipient;
};

/** For the first message this is part of the prompt. */
const SPEAKER = "assistant";
const USER = "user";

const headerUpTo = (ends: Marks): Step => {
  const inHeader: Step = (s) => {
    const mark = s.readWord(ends);
    if (mark === undefined) return undefined;
    if (!mark && [SPEAKER, BLANK_HEADER].some((start) => s.word.startsWith(start))) return mark === "" ? cutHeader : nameTooLong;
    if (mark !== MESSAGE) {
      s.sayRaw();
      return speak;
    }
    s.pos += mark.length;
    return route(s, /\bto=(\S*)/.exec(s.word)?.[1] ?? USER);
  };
  return inHeader;
};

const inHeader = headerUpTo(new Marks(TOKENS));
const header: Step = (s) => {
  s.keepMarks();
  s.word = "";
  return inHeader;
};

/** If the end of a message is missing, only the recipient of the next one shows that it begins; otherwise `to=` is text. */
const RECIPIENT = "to=";
const inRecipient = headerUpTo(new Marks([MESSAGE, "<", " ", "\n", "\t", "\r"]));
const recipient: Step = (s) => {
  s.word = RECIPIENT;
  return inRecipient;
};

/** The output ended in a header: its recipient is still unknown, or it is a tool. */
const cutHeader: Step = (s) => {
  const [, to = ""] = s.word.split(BLANK_HEADER);
  if ([USER, "self"].some((word) => word.startsWith(to))) return control;
  s.malformed("no-name", "the output ended inside the header of a call");
  return speak;
};

function route(s: Scan, to: string): Step {
  if (s.thinking) s.closeThinking(false);
  if (to === "self") return think;
  return to === USER ? answer : body;
}

const answer: Step = (s) => {
  if (s.thinking) return control;
  s.control();
  return s.tools.length > 0 ? answerOrCall : speak;
};

/** Models forget to name the tool as the recipient: a message that begins with the call of a declared tool is no answer. */
const answerOrCall: Step = (s) => {
  const mark = s.match(callsOf(s.tools));
  if (mark === undefined) return undefined;
  if (mark === "") return speak;
  s.pos += BLOCK.length;
  return calls.block;
};

const known = new WeakMap<readonly Tool[], Marks>();
function callsOf(tools: readonly Tool[]): Marks {
  const marks = known.get(tools) ?? new Marks(tools.map(({ name }) => `${BLOCK}\n<atem:invoke name="${name}"`));
  known.set(tools, marks);
  return marks;
}

const createScanner = scannerOf({
  calls: {},
  closers: ["</atem:function_calls>", END],
  thinking: { open: { "to=self<|message|>": think }, close: [END], stray: "control" },
  stops: STOPS,
  control: [...TOKENS, ...OTHERS],
  headers: { [START]: header, [RECIPIENT]: recipient, [MESSAGE]: answer },
  inLine: { [START]: header },
  callsInThinking: "promote",
  start,
});

// ---- Rendering

const t = markup([...TOKENS, ...OTHERS]);

interface Variant {
  readonly image: string;
  /** The instruction about several calls. */
  readonly several: string;
  /** In a system text, "reasoning effort" becomes the model's own "reasoning strength". */
  readonly strength: boolean;
}
const VARIANTS: Readonly<Record<string, Variant>> = {
  "muse-glimmer-30b": { image: "<|patch|>", several: "", strength: true },
  "vllm-muse-glimmer": {
    image: "<|image|>",
    several: ". To make parallel tool calls, emit each call as its own message (one tool call per message) in consecutive messages",
    strength: false,
  },
};

function render({ messages, thinking, tools = [] }: Request, { image, strength }: Variant, options: Setting): Rendered {
  const recipients = ["self", ...namespaces(tools).map((name) => `${name}.*`), USER].map((name) => `"${name}"`);
  const system = (text: Pieces, isStrengthSaid = false): Pieces =>
    message("system", [
      joined([text, !isStrengthSaid && `Reasoning strength: ${thinking?.effort ?? "high"}.`, options.declared].filter(Boolean), "\n\n"),
      `\n\n# Valid recipients: ${recipients.join(", ")}.`,
    ]);
  return {
    bos: t`<|begin_of_text|>`,
    messages: [
      !messages.some(isSystem) && system(`${IDENTITY}${isoDate(options.now)}.`),
      dialogue(turnsOf(messages), {
        other: (role, content) => {
          if (role === "user") return message(role, shown(content, image));
          const text = strength ? textOf(content).replace(EFFORT, (word) => STRENGTH[word] ?? word) : textOf(content);
          return system(text, strength && /reasoning strength/i.test(text));
        },
        said: saidPieces,
        results: (results) => resultMessages(results, image),
      }),
    ],
    open: t`<|start|>assistant`,
  };
}

const shown = (content: Content, image: string): Pieces => contentPieces(content, { image, video: "<|video|>" });

const message = (role: string, body: Pieces): Pieces => t`<|start|>${role}<|message|>${body}<|eot|>`;

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

const IDENTITY = "You are a helpful AI assistant.\nKnowledge cutoff: 2026-01-04.\nCurrent date: ";

const EFFORT = /(?<=[Rr]easoning )effort|(?<=Reasoning )Effort|(?<=REASONING )EFFORT/g;
const STRENGTH: Readonly<Record<string, string>> = { effort: "strength", Effort: "Strength", EFFORT: "STRENGTH" };

const namespaces = (tools: readonly Tool[]): string[] => [...new Set(tools.map(({ name }) => name.split(".", 1)[0] ?? ""))];

/** All messages of a turn but the last end in `<|eom|>`. Text before calls goes to the user. */
function saidPieces(said: readonly Part[]): Pieces {
  const text = textOf(said);
  const calls = writtenCalls(said, callMessage);
  const answer = text === "" && calls.length > 0 ? [] : [t`<|start|>assistant to=user<|message|>${text}`];
  const thinking = thinkingOf(said);
  return [thinking && thought(thinking), inRow([...answer, ...calls]), t`<|eot|>`];
}

const inRow = (messages: readonly Pieces[]): Pieces => messages.map((message, i) => [i > 0 && t`<|eom|>`, message]);

const thought = (text: string): Pieces => t`<|start|>assistant to=self<|message|>${text}<|eom|>`;

const callMessage = (call: RenderableCall): Pieces => t`<|start|>assistant to=${call.name}<|message|><atem:function_calls>
<atem:invoke name=${quoted(call.name)}>
${argumentTexts(call, /<\/?atem:/).map(({ key, text }) => `<atem:parameter name=${quoted(key)}>${text}</atem:parameter>\n`)}</atem:invoke>
</atem:function_calls>`;

const resultMessages = (results: readonly RenderableResult[], image: string): Pieces =>
  results.map((result) =>
    message(`tool ${result.name}`, [`<tool_output name="${result.name}">\n`, shown(resultContent(result), image), "\n</tool_output>"]),
  );

const toolPieces = (
  tools: readonly Tool[],
  { several }: Variant,
): Pieces => `In this environment you have access to a set of tools you can use to answer the user's question.

You can invoke a function by writing a "<atem:function_calls>" block like the following:
<atem:function_calls>
<atem:invoke name="$FUNCTION_NAME">
<atem:parameter name="$PARAMETER_NAME">$PARAMETER_VALUE</atem:parameter>
...
</atem:invoke>
</atem:function_calls>

String and scalar parameters should be specified as is, while lists and objects should use JSON format. Note that spaces for string values are not stripped. The output is not expected to be valid XML and is parsed with regular expressions.
Here are the functions available in JSONSchema format:
// Tool metadata
${namespaces(tools)
  .map((name) => `{"name": ${pythonJson(name)}, "description": ""}\n`)
  .join("")}// Function schemas
${tools.map(({ name, description = "", parameters = {} }) => `${pythonJson({ name, description, parameters })}\n`).join("")}
Here's an example of how to call a function in the tool set${several}:
(If the tool namespace is not specified, invoke the function directly as \`example_function_name\` rather than \`example_tool_name.example_function_name\`)

to=example_tool_name.example_function_name

<atem:function_calls>
<atem:invoke name="example_tool_name.example_function_name">
<atem:parameter name="example_parameter_1">value_1</atem:parameter>
<atem:parameter name="example_parameter_2">This is the value for the second parameter
that can span
"multiple" lines
</atem:parameter>
</atem:invoke>
</atem:function_calls>`;

export const museGlimmer = dialectOf({
  id: "muse-glimmer",
  title: "Muse Glimmer",
  models: ["Muse-Glimmer-30B"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: TOKENS,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => inRow(calls.map(callMessage)),
  results: (results, { image }) => resultMessages(results, image),
  thinking: thought,
});
