/**
 * Kimi K3. Everything is in elements made of three control tokens. Each argument names its type; strings are raw text, all else is JSON:
 *
 *     <|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>
 */
import type { Json, Part, Request, Tool } from "../core/nouns.ts";
import { typeOf } from "../core/schema.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, attribute, Numeral, sortedJson, type Tree } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { attributesOf, type Head } from "./scan/heads.ts";
import type { Step } from "./scan/scan.ts";
import { control, speak, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { batched, contentPieces, inCallOrder, resultContent, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|end_of_msg|>"];
const SEP = "<|sep|>";
const IMAGE = "<|kimi_image_placeholder|>";
const TOKENS = ["<|open|>", "<|close|>", SEP, IMAGE, ...STOPS];
const opened = (tag: string): string => `<|open|>${tag}${SEP}`;
const closed = (tag: string): string => `<|close|>${tag}${SEP}`;

// ---- Scanning

const HEAD = { ends: new Marks([SEP, '"', "="]), endsInside: new Marks([SEP]), next: [] };

const TYPES: ReadonlyMap<string | undefined, ReturnType<Head["read"]>["type"]> = new Map([
  ["string", "string"],
  ["null", "nullable"],
  ...["number", "integer", "boolean", "object", "array"].map((type) => [type, "json"] as const),
]);

/** `call tool="f" index="1"`, `argument key="city" type="string"` */
const attributes: Head = {
  ...HEAD,
  read(text) {
    const { found, rest } = attributesOf(text);
    return { name: unescaped(found.get("tool") ?? found.get("key")), type: TYPES.get(found.get("type")), rest };
  },
};
/** `json type="object"`: all arguments. */
const all: Head = { ...HEAD, read: () => ({ name: "", type: "json" }) };

const unescaped = (text: string | undefined): string | undefined => text?.replaceAll("&quot;", '"').replaceAll("&amp;", "&");

const CALL = "<|open|>call ";
/** Some servers drop the tokens between `tools` and `call`. */
const GLUED = "<|open|>toolscall ";
const calls = tagCalls({
  open: [opened("tools")],
  close: [closed("tools")],
  calls: [CALL, GLUED].map((open) => ({ open, head: attributes })),
  callClose: closed("call"),
  params: [
    { open: "<|open|>argument ", head: attributes, close: closed("argument") },
    { open: "<|open|>json", head: all, close: closed("json"), all: true },
  ],
  stops: [closed("message"), ...STOPS],
  bareNames: "never",
  opaque: true,
});

/** After `<|open|>` or `<|close|>`: the name and the attributes of an element that is neither a call nor thinking. */
const header: Step = (s) => {
  s.word = "";
  return inHeader;
};
const HEADER_ENDS = new Marks(TOKENS);
const inHeader: Step = (s) => {
  const mark = s.readWord(HEADER_ENDS);
  if (mark === undefined) return undefined;
  if (mark === null) {
    s.sayRaw(s.word.length);
    return speak;
  }
  if (mark === SEP) s.pos += mark.length;
  return control;
};

const createScanner = scannerOf({
  calls: { [opened("tools")]: calls.block, [CALL]: calls.bare, [GLUED]: calls.bare },
  closers: [closed("tools")],
  thinking: { open: { [opened("think")]: think }, close: [closed("think"), opened("response")], stray: "control" },
  stops: STOPS,
  control: [closed("tools"), SEP, IMAGE],
  headers: { "<|open|>": header, "<|close|>": header },
  inCalls: ["<|open|>", "<|close|>", SEP],
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup(TOKENS);
const element = (tag: Pieces, body: Pieces, name: string): Pieces => t`<|open|>${tag}<|sep|>${body}<|close|>${name}<|sep|>`;
const message = (attributes: string, body: Pieces): Pieces => [element(`message ${attributes}`, body, "message"), t`<|end_of_msg|>`];

/** The default effort. */
const VARIANTS = { "kimi-k3": "max" } as const;

function render(request: Request, most: keyof typeof EFFORTS, options: Setting): Rendered {
  const { toolChoice } = request;
  const thinks = options.thinking ?? true;
  const must = toolChoice === "required" || toolChoice === "none" ? CHOICES[toolChoice] : undefined;
  return {
    messages: [
      options.declared,
      thinks && internal("thinking-effort", `${EFFORT}\`thinking_effort=${EFFORTS[request.thinking?.effort ?? most]}\`.`),
      turnsOf(request.messages).map((turn) => {
        if (turn.side !== "assistant")
          return message(`role="${turn.side === "user" ? turn.side : "system"}"`, contentPieces(turn.content, { image: IMAGE }));
        return turn.rounds.map((round) => [
          round.said && message('role="assistant"', saidPieces(round.said, thinks)),
          resultPieces(inCallOrder(round)),
        ]);
      }),
      must && internal("tool-choice", `The system is invoked with \`tool_choice=${toolChoice}\`.\n${must} in the next message.`),
      formatPieces(request.output),
    ],
    open: t`<|open|>message role="assistant"<|sep|><|open|>${thinks ? "think" : "response"}<|sep|>`,
  };
}

const internal = (type: string, text: Pieces): Pieces => message(`role="system" type="${type}"`, text);

const CHOICES = { required: "You MUST call tools", none: "You MUST NOT call any tools" };

const EFFORT =
  "`thinking_effort` guides on how much to think in your thinking channel (not including the response channel), supported values include `low`, `medium`, `high`, and `max`.\nNow the system is invoked with ";
/** The template knows three efforts. */
const EFFORTS = { minimal: "low", low: "low", medium: "high", high: "high", xhigh: "max", max: "max" } as const;

const RAW_JSON = "Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting.";

function formatPieces(output: Request["output"]): Pieces {
  if (!output) return [];
  const { schema } = output;
  const form = schema ? "json_schema" : "json_object";
  const rule = schema ? `\nThe JSON data must match the following schema:\n\`\`\`json\n${sortedJson(schema)}\n\`\`\`` : "";
  return internal("response-format", `The system is invoked with \`response_format=${form}\`.\n${RAW_JSON}${rule}`);
}

function saidPieces(said: readonly Part[], thinks: boolean): Pieces {
  const thinking = thinkingOf(said);
  return [
    thinks && thought(thinking.trim() === "" ? "" : thinking),
    element("response", textOf(said), "response"),
    batched(said, callPieces),
  ];
}

const thought = (text: string): Pieces => element("think", text, "think");

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  element(
    "tools",
    calls.map((call, i) => element(`call tool=${attribute(call.name)} index="${i + 1}"`, argumentPieces(call), "call")),
    "tools",
  );

const argumentPieces = (call: RenderableCall): Pieces =>
  argumentTexts(call, /<\|(?:open|close|sep)\|>/).map(({ key, text, value }) =>
    element(`argument key=${attribute(key)} type="${typeName(value)}"`, text, "argument"),
  );

const typeName = (value: Tree): string => (value instanceof Numeral ? "number" : typeOf(value as Json));

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map((result, i) =>
    message(`role="tool" tool=${attribute(result.name)} index="${i + 1}"`, contentPieces(resultContent(result), { image: IMAGE })),
  );

const toolPieces = (tools: readonly Tool[]): Pieces =>
  internal(
    "tool-declare",
    `# Tools\nHere are the available tools, described in JSONSchema.\n\n\`\`\`json\n${sortedJson(tools.map(functionTool))}\n\`\`\``,
  );

export const kimiK3 = dialectOf({
  id: "kimi-k3",
  title: "Kimi K3",
  models: ["Kimi-K3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<|open|>", "<|close|>", SEP, ...STOPS],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: thought,
});
