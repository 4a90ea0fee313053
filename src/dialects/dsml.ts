/**
 * DSML, the markup of DeepSeek-V3.2 and V4. Parameters stand between tags and say themselves whether they are strings, which are raw text,
 * or JSON. The two models have another word for the block, and either may write the other's.
 */
import type { Part, Tool } from "../core/nouns.ts";
import type { RenderableCall } from "./dialect.ts";
import { argumentTexts, pythonJson, quoted } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { ATTRIBUTES } from "./scan/heads.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { functionObject } from "./tools.ts";
import { callsOf, textOf, unreadable } from "./transcript.ts";

export const STOPS = ["<｜end▁of▁sentence｜>"];
export const PRESERVED = ["｜DSML｜", "<think>", "</think>"];
const TURNS = ["<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"];
const WORDS = ["function_calls", "tool_calls"];
/** Models put a blank into tags. */
const spaced = (tag: string): string[] => [tag, tag.replace(">", " >")];
const OPEN = WORDS.flatMap((word) => spaced(`<｜DSML｜${word}>`));
const CLOSE = WORDS.flatMap((word) => spaced(`</｜DSML｜${word}>`));
const INVOKE = "<｜DSML｜invoke";

// ---- Scanning

const calls = tagCalls({
  open: OPEN,
  close: CLOSE,
  calls: [{ open: INVOKE, head: ATTRIBUTES }],
  callClose: "</｜DSML｜invoke>",
  closeSlips: { "</｜DSML｜invoke >": "</｜DSML｜invoke>", "</｜DSML｜parameter >": "</｜DSML｜parameter>" },
  params: [{ open: "<｜DSML｜parameter", head: ATTRIBUTES, close: "</｜DSML｜parameter>" }],
  stops: STOPS,
  opaque: true,
  bareNames: "never",
  wrappers: ["arguments", "input"],
});

export const createScanner = scannerOf({
  calls: { ...Object.fromEntries(OPEN.map((mark) => [mark, calls.block])), [INVOKE]: calls.bare },
  closers: CLOSE,
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote",
});

// ---- Rendering

export const t = markup([...TURNS, ...STOPS, ...PRESERVED]);

const invoke = (call: RenderableCall, nothing: string): Pieces => t`<｜DSML｜invoke name=${quoted(call.name)}>
${Object.keys(call.arguments).length === 0 ? nothing : []}${argumentTexts(call, /<\/?｜DSML｜/).map(
  ({ key, text, string }) => t`<｜DSML｜parameter name=${quoted(key)} string="${String(string)}">${text}</｜DSML｜parameter>\n`,
)}</｜DSML｜invoke>
`;

/** `nothing`: what stands for no arguments. */
export const callBlock = (word: string, calls: readonly RenderableCall[], nothing = ""): Pieces =>
  t`<｜DSML｜${word}>\n${calls.map((call) => invoke(call, nothing))}</｜DSML｜${word}>`;

/** A whole message: the text, an empty line, the calls. */
export function saidPieces(said: readonly Part[], callPieces: (calls: readonly RenderableCall[]) => Pieces): Pieces {
  const calls = callsOf(said);
  return [
    textOf(said),
    calls.length > 0 ? ["\n\n", callPieces(calls)] : [],
    unreadable(said).map((raw) => ["\n\n", raw]),
    t`<｜end▁of▁sentence｜>`,
  ];
}

/** The example in the declaration of tools. */
export const exampleBlock = (word: string, name: string): Pieces => t`<｜DSML｜${word}>
<｜DSML｜invoke name="${name}">
<｜DSML｜parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜parameter>
...
</｜DSML｜invoke>
<｜DSML｜invoke name="${name}2">
...
</｜DSML｜invoke>
</｜DSML｜${word}>`;

export const schemaLines = (tools: readonly Tool[]): string[] => tools.map((tool) => `${pythonJson(functionObject(tool))}\n`);

export const thought = (text: string): Pieces => t`<think>${text}</think>`;
