/**
 * FunctionGemma (google/functiongemma-270m-it and its fine-tunes). Strings are quoted with `<escape>` tokens and have no escapes:
 *
 *     <start_function_call>call:get_weather{city:<escape>Paris<escape>,days:2}<end_function_call><start_function_response>
 */
import { jsonScalar } from "../core/json.ts";
import type { Request } from "../core/nouns.ts";
import { gemmaSyntax } from "./gemma-syntax.ts";
import { markup, type Pieces, prompt } from "./prompt.ts";
import { gemmaSteps } from "./scan/gemma.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { type Content, leadingSystem, textOf, turnsOf } from "./transcript.ts";

const STOPS = ["<start_function_response>", "<end_of_turn>"];
const QUOTE = "<escape>";
const TOKENS = [
  ...["<bos>", "<eos>", "<pad>", "<start_of_turn>", "<start_of_image>", ...STOPS],
  ...["<start_function_declaration>", "<end_function_declaration>"],
  ...["<start_function_call>", "<end_function_call>", "<end_function_response>"],
];

// ---- Scanning

const calls = gemmaSteps({
  quote: QUOTE,
  ends: ["<end_function_call>", "<start_function_call>", ...STOPS],
  scalar: jsonScalar,
  none: "None",
});

const createScanner = scannerOf({
  calls: { "<start_function_call>": calls.call },
  closers: ["<end_function_call>"],
  stops: STOPS,
  control: TOKENS,
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup([...TOKENS, QUOTE, "<image_soft_token>"]);

const VARIANTS = { "google-functiongemma-270m-it": t`<bos>` };

/** Google: the model calls tools only if this sentence precedes them. */
const TRIGGER = "You are a model that can do function calling with the following functions";

const gemma = gemmaSyntax({
  quote: QUOTE,
  turn: ["<start_of_turn>", "<end_of_turn>"],
  declaration: ["<start_function_declaration>", "<end_function_declaration>"],
  call: ["<start_function_call>", "<end_function_call>"],
  response: ["<start_function_response>", "<end_function_response>"],
  media: { image: "<start_of_image>" },
  none: "None",
  isGemma4: false,
  modelText: (text) => text,
  thinking: () => undefined,
});

/** Adds the trigger sentence to a caller's system text, which replaces it in the template. */
function adapt(request: Request): Request {
  const { system, rest } = leadingSystem(request.messages);
  if (!system || !request.tools?.length || textOf(system).includes(TRIGGER)) return request;
  const said = system.filter((part) => part.type === "text").map((part) => part.text.trim());
  const text = [said.join(""), TRIGGER].filter(Boolean).join("\n"); // one part, because each part is trimmed
  const content = [...system.filter((part) => part.type === "media"), { type: "text" as const, text }];
  return { ...request, messages: [{ role: "system", content }, ...rest] };
}

function render(request: Request, bos: Pieces, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const { turns, resumes } = gemma.dialogue(turnsOf(rest), false);
  return { bos, messages: [head(system, declared), turns], open: resumes ? [] : t`<start_of_turn>model\n` };
}

function head(system: Content | undefined, declared: Pieces): Pieces {
  const text = prompt(gemma.content(system ?? []));
  if (!system && !declared) return undefined;
  return t`<start_of_turn>developer\n${text.length === 0 && declared ? TRIGGER : text}${declared}<end_of_turn>\n`;
}

export const functiongemma = dialectOf({
  id: "functiongemma",
  title: "FunctionGemma",
  models: ["functiongemma-270m-it"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<start_function_call>", "<end_function_call>", QUOTE, ...STOPS],
  createScanner,
  adapt,
  render,
  tools: gemma.tools,
  calls: gemma.calls,
  results: gemma.results,
  thinking: () => [], // there are no marks for it
});
