/**
 * Gemma 4 (E2B to 31B, and fine-tunes). Strings are quoted with `<|"|>` tokens and have no escapes:
 *
 *     <|channel>thought
 *     I need the weather.
 *     <channel|>Let me see.<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:2}<tool_call|>
 */
import { jsonNumber } from "../core/json.ts";
import type { Request } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import { gemmaSyntax } from "./gemma-syntax.ts";
import { markup, type Pieces } from "./prompt.ts";
import { gemmaSteps } from "./scan/gemma.ts";
import type { Step } from "./scan/scan.ts";
import { closingThen, control, releaseBlanks, speak, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { type Content, leadingSystem, turnsOf } from "./transcript.ts";

const STOPS = ["<turn|>", "<|tool_response>", "<eos>"];
const QUOTE = '<|"|>';
const TOKENS = [
  ...["<bos>", "<pad>", "<|turn>", "<|channel>", "<channel|>", "<|think|>", "<|/think|>", ...STOPS],
  ...["<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<tool_response|>", "<|image|>", "<|audio|>", "<|video|>"],
];

// ---- Scanning

const calls = gemmaSteps({
  quote: QUOTE,
  ends: ["<tool_call|>", "<|tool_call>", "<channel|>", "<|/think|>", ...STOPS],
  scalar: (text) =>
    jsonNumber(text) ?? (/^(null|none|nil|None|NULL)$/.test(text) ? "null" : /^(true|false)$/.test(text) ? text : undefined),
  none: "null",
  slip: ":",
});

const LABEL = "thought";
const LABELS = new Marks([`${LABEL}\n`, `${LABEL}<channel|>`, `${LABEL}<|/think|>`]);
const TOKEN = new Marks(TOKENS);

/** After `<|channel>`: the label belongs to the opener. */
const channel: Step = (s) => {
  const mark = s.match(LABELS);
  if (mark === undefined) return undefined;
  if (mark === `${LABEL}\n`) s.pos += mark.length;
  else if (mark !== "" || (s.last && s.ahead === LABEL)) s.pos += LABEL.length;
  return think;
};

/** After `<|think|>`: if a control token or nothing follows, it is the switch of the system turn, and opens no thinking. */
const thinkTag: Step = (s) => {
  const mark = s.match(TOKEN);
  if (mark === undefined) return undefined;
  return mark !== "" || s.pos === s.stop ? control : think;
};

/** Slips at the beginning of the output: thinking or a call without its opener. */
const start: Step = (s) => {
  const mark = s.match(LABELLED);
  if (mark === undefined) return undefined;
  if (mark === "") return answer;
  s.pos += mark.length;
  return think;
};
const LABELLED = new Marks([`${LABEL}\n`]);

/** At the beginning of the answer, and after such a call: a call of a declared tool without its opener. */
const answer: Step = (s) => {
  const code = s.blanks();
  s.sayRun();
  if (code === undefined) return undefined;
  const mark = s.tools.length > 0 ? s.match(BARE) : "";
  if (mark === undefined) return undefined;
  s.pos += mark.length;
  return mark === "" ? releaseBlanks : bareCall;
};
const BARE = new Marks(["call:", "<call>"]);
const bareCall = calls.bare(closingThen(speak, answer));

const createScanner = scannerOf({
  calls: { "<|tool_call>": calls.call },
  closers: ["<tool_call|>"],
  thinking: {
    open: { "<|channel>": channel, "<|think|>": thinkTag },
    close: ["<channel|>", "<|/think|>"],
    stray: "control",
    behind: answer,
  },
  stops: STOPS,
  control: TOKENS,
  callsInThinking: "promote",
  start,
});

// ---- Rendering

const t = markup([...TOKENS, QUOTE]);

/** What the generation prompt adds if the model is not to think: the small models never think unasked. */
const VARIANTS: Readonly<Record<string, Pieces>> = {
  "google-gemma-4-31b-2026-07-09": t`<|channel>thought\n<channel|>`,
  "google-gemma-4-e2b-2026-07-09": [],
};

const gemma = gemmaSyntax({
  quote: QUOTE,
  turn: ["<|turn>", "<turn|>"],
  declaration: ["<|tool>", "<tool|>"],
  call: ["<|tool_call>", "<tool_call|>"],
  response: ["<|tool_response>", "<tool_response|>"],
  media: { image: "<|image|>", audio: "<|audio|>", video: "<|video|>" },
  none: "null",
  isGemma4: true,
  modelText: withoutThoughts,
  thinking: thought,
});

function render(request: Request, noThought: Pieces, options: Setting): Rendered {
  const thinks = options.thinking ?? false;
  const { system, rest } = leadingSystem(request.messages);
  const { turns, resumes } = gemma.dialogue(turnsOf(rest), request.thinking?.keep ?? false);
  const start = {
    turn: t`<|turn>model\n${thinks ? [] : noThought}`,
    result: thinks && t`<|channel>thought\n`,
    call: [],
  };
  return { bos: t`<bos>`, messages: [head(thinks, system, options.declared), turns], open: start[resumes ?? "turn"] };
}

function head(thinks: boolean, system: Content | undefined, declared: Pieces): Pieces {
  if (!thinks && !system && !declared) return undefined;
  const parts = system?.map((part) => [gemma.content([part]), system.length > 1 && " "]); // only here does a blank follow each part
  return t`<|turn>system\n${thinks && t`<|think|>\n`}${parts}${declared}<turn|>\n`;
}

/** Without the thinking that a server left in the text. */
function withoutThoughts(text: string): string {
  const parts = text.split("<channel|>");
  const last = parts.pop() ?? "";
  const kept = parts.map((part) => (part.includes("<|channel>") ? part.slice(0, part.indexOf("<|channel>")) : `${part}<channel|>`));
  return kept.join("") + last;
}

/** Writes one newline before the closer: thinking that a scanner read ends with it already. */
function thought(text: string): Pieces {
  return text === "" ? undefined : t`<|channel>thought\n${text.replace(/\n$/, "")}\n<channel|>`;
}

export const gemma4 = dialectOf({
  id: "gemma4",
  title: "Gemma 4",
  models: ["gemma-4"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<|tool_call>", "<tool_call|>", QUOTE, "<|channel>", "<channel|>", ...STOPS],
  createScanner,
  render,
  tools: gemma.tools,
  calls: gemma.calls,
  results: gemma.results,
  thinking: thought,
});
