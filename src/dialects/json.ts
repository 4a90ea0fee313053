/**
 * The prompt style for models without a tool dialect of their own (Gemma 3, Phi, DeepSeek distills, any chat model): an instruction asks
 * for one JSON object, and the model answers with it, bare or in a code fence.
 *
 *     {"name": "get_weather", "parameters": {"city": "Oslo"}}
 */
import type { Message, Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, compactJson } from "./print.ts";
import { joined, markup, mediaPiece, type Pieces, type Placeholders, prompt, trimmed } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { lineOf } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting, type TurnMarks } from "./tools.ts";
import { resultText, turnsOf } from "./transcript.ts";
import { CHATML } from "./turns/chatml.ts";
import { LLAMA3 } from "./turns/llama3.ts";
import { PHI } from "./turns/phi.ts";

const STOPS = ["<end_of_turn>", "<|im_end|>", "<|eot_id|>", "<|end|>"];
const TURNS = [
  ...["<bos>", "<start_of_turn>", "<|im_start|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
  ...["<|system|>", "<|user|>", "<|assistant|>", "<|im_sep|>"],
];
const FENCE = "```";

// ---- Scanning

const calls = jsonCalls({
  wrappers: { "```json": FENCE, "```tool_code": FENCE, "```": FENCE, "<tool_code>": "</tool_code>" },
  firstKeys: new Set(["name", "parameters", "arguments", "args", "type", "id", "function"]),
  marks: ["<think>", ...STOPS],
});

const createScanner = scannerOf({
  calls: {},
  closers: [FENCE, "</tool_code>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  turns: ["\nAssistant:"],
  callsInThinking: "ignore",
  line: lineOf(calls),
});

// ---- Rendering

type Side = "system" | "user" | "assistant";

/** A model family. */
interface Variant extends TurnMarks {
  /** Without a system turn, the system text begins the first user turn. */
  readonly hasSystem: boolean;
  readonly trims: boolean;
  readonly media?: Placeholders;
}

const gemma = markup(["<bos>", "<eos>", "<pad>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<image_soft_token>"]);

const phi4 = markup(["<|im_start|>", "<|im_sep|>", "<|im_end|>"]);

const VARIANTS: Readonly<Record<string, Variant>> = {
  gemma: {
    bos: gemma`<bos>`,
    turn: (side, text) => gemma`<start_of_turn>${side === "assistant" ? "model" : side}\n${text}<end_of_turn>\n`,
    open: gemma`<start_of_turn>model\n`,
    hasSystem: false,
    trims: true,
    media: { image: "<start_of_image>" },
  },
  chatml: { ...CHATML, hasSystem: true, trims: false },
  llama3: { ...LLAMA3, hasSystem: true, trims: true },
  phi: { ...PHI, hasSystem: true, trims: false },
  phi4: {
    turn: (side, text) => phi4`<|im_start|>${side}<|im_sep|>${text}<|im_end|>`,
    open: phi4`<|im_start|>assistant<|im_sep|>`,
    hasSystem: true,
    trims: false,
  },
  plain: {
    turn: (side, text) => [side.charAt(0).toUpperCase(), side.slice(1), ": ", text, "\n\n"],
    open: "Assistant:",
    hasSystem: true,
    trims: false,
  },
};

const render = (request: Request, variant: Variant, { declared }: Setting): Rendered => ({
  ...variant,
  messages: sidesOf(request.messages, variant, declared).map(({ side, text }) => variant.turn(side, variant.trims ? trimmed(text) : text)),
});

/** The conversation as turns of alternating sides; successive messages of one side are joined by an empty line. */
function sidesOf(messages: readonly Message[], variant: Variant, declared: Pieces): { side: Side; text: Pieces }[] {
  const sides: { side: Side; text: Pieces }[] = [];
  const add = (side: Side, text: Pieces): void => {
    const last = sides.at(-1);
    if (last?.side === side) last.text = [last.text, "\n\n", text];
    else sides.push({ side, text });
  };
  const turns = turnsOf(messages);
  if (declared && !turns.some((turn) => turn.side === "user")) turns.push({ side: "user", content: [] });
  let block: Pieces = declared && [declared, "\n"];
  for (const turn of turns) {
    if (turn.side === "user") {
      add("user", [block, content(turn.content, variant)]);
      block = [];
    } else if (turn.side === "assistant") {
      for (const { said = [], results } of turn.rounds) {
        const text = prompt(saidPieces(said, variant));
        if (text.length > 0) add("assistant", text);
        if (results.length > 0) add("user", resultPieces(results, variant));
      }
    } else add(variant.hasSystem ? "system" : "user", content(turn.content, variant));
  }
  return sides;
}

const content = (parts: readonly Part[], { media = {} }: Variant): Pieces =>
  parts.map((part) => {
    if (part.type === "text") return part.text;
    return part.type === "media" && mediaPiece(part, media);
  });

/** Each call is on a line of its own. History does not repeat thinking. */
function saidPieces(parts: readonly Part[], variant: Variant): Pieces {
  const visible = parts.filter((part) => part.type !== "thinking" && !(part.type === "text" && part.text === ""));
  return visible.map((part, i) => {
    const piece = part.type === "tool-call" ? callText(part) : part.type === "malformed" ? part.raw : content([part], variant);
    return [needsNewline(visible[i - 1], part) && "\n", piece];
  });
}

function needsNewline(before: Part | undefined, part: Part): boolean {
  const isCall = ({ type }: Part) => type === "tool-call" || type === "malformed";
  if (!before || !(isCall(before) || isCall(part))) return false;
  return !(before.type === "text" && before.text.endsWith("\n")) && !(part.type === "text" && part.text.startsWith("\n"));
}

const callText = (call: RenderableCall): string => callObject(call, "parameters");

const toolLine = ({ name, description, parameters = {} }: Tool): string =>
  `${name}: ${description ? `${description} ` : ""}Parameters: ${compactJson(parameters)}\n`;

const toolPieces = (tools: readonly Tool[]): Pieces => [
  "You have access to functions. ONLY call a function when the user explicitly requests an action or command.\n",
  'When you do need to call a function, respond with ONLY the JSON: {"name": function_name, "parameters": {argument: value}}\n',
  ["<tool_code>\n", tools.map(toolLine), "</tool_code>\n"],
];

const resultPieces = (results: readonly RenderableResult[], variant: Variant): Pieces =>
  joined(
    results.map(({ name, output, media = [] }) => [
      `<tool_response>\nTool Name: ${name}\nTool Response:\n${resultText(output)}\n</tool_response>`,
      content(media, variant),
    ]),
    "\n",
  );

export const json = dialectOf({
  id: "json",
  title: "JSON by instruction",
  models: ["any chat model"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [],
  variantStops: { plain: ["\nUser:"] },
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callText), "\n"),
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
