/**
 * GLM's calls, which other models write too: keys and values between tags, as raw text, with no gap or each on a line of its own.
 *
 *     <tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>
 */
import type { RenderableCall } from "./dialect.ts";
import { argumentTexts } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { element } from "./scan/heads.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { think } from "./scan/steps.ts";
import { type Spec, scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";

export const PRESERVED = ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>", "</think>"];

/** `prefix`: what other models put before the names of tags. */
function callsOf(stops: readonly string[], prefix: string) {
  const tag = (text: string): string => text.replace(/\w/, `${prefix}$&`);
  const [open, close, key, value, thinkClose] = [
    tag("<tool_call>"),
    tag("</tool_call>"),
    tag("<arg_key>"),
    tag("<arg_value>"),
    tag("</think>"),
  ];
  const keyClose = tag("</arg_key>");
  const param = { open: key, head: element(keyClose, value), value, close: tag("</arg_value>") };
  const { block } = tagCalls({
    open: [open],
    close: [close],
    calls: [],
    callClose: close,
    params: [param, { ...param, open: key + key }],
    ownTag: (key) => ({ ...param, begin: open + key + keyClose }), // GLM-5.3 may open the first key like a call
    stops,
    bareNames: "always",
    escaped: true,
    wrappers: [], // arguments may be one JSON object, as GLM-4 wrote them
    json: jsonCalls({ marks: [open, close, thinkClose, ...stops] }).marked,
  });
  return { open, block, close, thinkOpen: tag("<think>"), thinkClose };
}

export function glmScanner({ stops, ...turns }: Pick<Spec, "stops" | "control" | "turns">, prefixes: readonly string[] = [""]) {
  const forms = prefixes.map((prefix) => callsOf(stops, prefix));
  return scannerOf({
    calls: Object.fromEntries(forms.map(({ open, block }) => [open, block])),
    closers: forms.map(({ close }) => close),
    thinking: {
      open: Object.fromEntries(forms.map(({ thinkOpen }) => [thinkOpen, think])),
      close: forms.map(({ thinkClose }) => thinkClose),
      stray: "text",
    },
    stops,
    ...turns,
    callsInThinking: "promote-if-unclosed",
  });
}

/** The separator between tags. */
export type Gap = "" | "\n";

const t = markup(PRESERVED);

export const callPieces = (call: RenderableCall, gap: Gap): Pieces =>
  t`<tool_call>${call.name}${gap}${argumentTexts(call, /<\/?(?:arg_|tool_call)/).map(
    ({ key, text }) => t`<arg_key>${key}</arg_key>${gap}<arg_value>${text}</arg_value>${gap}`,
  )}</tool_call>`;

export const thought = (text: string): Pieces => t`<think>${text}</think>`;
