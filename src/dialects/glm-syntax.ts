/**
 * Calls as GLM writes them, which others do too: keys and values between tags, as raw text, tight or each on a line of its own.
 *
 *     <tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>
 */
import type { RenderableCall } from "./dialect.ts";
import { argumentTexts } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { element } from "./scan/heads.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { type Spec, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";

export const PRESERVED = ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>", "</think>"];

const KEY = element("</arg_key>", "<arg_value>");

export function glmScanner({ stops, ...turns }: Pick<Spec, "stops" | "control" | "turns">) {
  const calls = tagCalls({
    open: ["<tool_call>"],
    close: ["</tool_call>"],
    calls: [],
    callClose: "</tool_call>",
    params: ["<arg_key>", "<arg_key><arg_key>"].map((open) => ({ open, head: KEY, value: "<arg_value>", close: "</arg_value>" })),
    stops,
    bareNames: "always",
    escaped: true,
    wrappers: [], // as GLM-4 wrote them
    json: jsonCalls({ marks: ["<tool_call>", "</tool_call>", "</think>", ...stops] }).marked,
  });
  return scannerOf({
    calls: { "<tool_call>": calls.block },
    closers: ["</tool_call>"],
    thinking: THINK_TAGS,
    stops,
    ...turns,
    callsInThinking: "promote-if-unclosed",
  });
}

/** What stands between any two things. */
export type Gap = "" | "\n";

const t = markup(PRESERVED);

export const callPieces = (call: RenderableCall, gap: Gap): Pieces =>
  t`<tool_call>${call.name}${gap}${argumentTexts(call, /<\/?(?:arg_|tool_call)/).map(
    ({ key, text }) => t`<arg_key>${key}</arg_key>${gap}<arg_value>${text}</arg_value>${gap}`,
  )}</tool_call>`;

export const thought = (text: string): Pieces => t`<think>${text}</think>`;
