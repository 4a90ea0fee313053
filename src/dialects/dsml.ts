/**
 * DSML, the markup of DeepSeek-V3.2 and V4. Parameters are wrapped in tags, which say whether the value is a string, as raw text, or JSON.
 * Each model has its own word for the block, V4.1 has a blank in every tag, and each may write the others' form.
 */
import type { Part, Tool } from "../core/nouns.ts";
import type { RenderableCall } from "./dialect.ts";
import { argumentTexts, pythonJson, quoted } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { ATTRIBUTES } from "./scan/heads.ts";
import { control } from "./scan/steps.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import type { ParamTag } from "./scan/tags.ts";
import { functionObject } from "./tools.ts";
import { batched, textOf } from "./transcript.ts";

export const STOPS = ["<｜end▁of▁sentence｜>"];
export const PRESERVED = ["｜DSML｜", "<think>", "</think>"];
const TURNS = ["<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>", "<｜System｜>"];
const WORDS = ["function_calls", "tool_calls", " calls", "calls", "toolcalls"];
/** Models insert blanks into tags. */
const spaced = (tag: string): string[] => [tag, tag.replace(">", " >")];
const blanked = (tag: string): string[] => [tag, tag.replace(/(?=\w+$)/, " ")];
/** Models write other bars instead of the full-width ones, or leave out the name between them. */
const barred = (tag: string): string[] => [
  ...["｜", "|", "｜｜", "||", "‖"].map((bar) => tag.replaceAll("｜", bar)),
  tag.replace("DSML", ""),
];
const closeSlips = (tag: string): Record<string, string> =>
  Object.fromEntries(
    blanked(`</｜DSML｜${tag}`)
      .flatMap(barred)
      .flatMap((one) => spaced(`${one}>`))
      .map((slip) => [slip, `</｜DSML｜${tag}>`]),
  );
/** Models leave out the `>` of the block's opener. */
const OPEN = WORDS.flatMap((word) => barred(`<｜DSML｜${word}>`)).flatMap((tag) => [...spaced(tag), tag.replace(">", "\n")]);
const CLOSE = WORDS.flatMap((word) => barred(`</｜DSML｜${word}>`)).flatMap(spaced);
const INVOKES = blanked("<｜DSML｜invoke").flatMap(barred);
const CLOSE_SLIPS = { ...closeSlips("invoke"), ...closeSlips("parameter") };
/** Closers are never text, unlike openers that the model only mentions: in long conversations models write them without any call. */
const CLOSERS = [...CLOSE, ...Object.keys(CLOSE_SLIPS)];
/** What is left of a call's opener if a server drops special tokens. */
const STRIPPED = ["", ...WORDS.map((word) => `<${word}>\n`)].map((block) => `${block}<invoke `);
const STRIPPED_CLOSE = WORDS.map((word) => `</${word}>`);
const blankedAll = (tags: readonly string[]): string[] => [...tags, ...tags.map((tag) => tag.replace(/<\/?/g, "$& "))];

// ---- Scanning

const calls = tagCalls({
  open: OPEN,
  close: CLOSE,
  calls: INVOKES.map((open) => ({ open, head: ATTRIBUTES })),
  callClose: "</｜DSML｜invoke>",
  closeSlips: CLOSE_SLIPS,
  params: blanked("<｜DSML｜parameter")
    .flatMap(barred)
    .map((open): ParamTag => ({ open, head: ATTRIBUTES, close: "</｜DSML｜parameter>" }))
    .concat({ open: "<parameter", head: ATTRIBUTES, close: "</｜DSML｜parameter>", slip: true }),
  stops: STOPS,
  opaque: true,
  bareNames: "never",
  wrappers: ["arguments", "input"],
});

/** Such a tag is so common that it opens a call only if the tool is declared. */
const stripped = tagCalls({
  open: [],
  close: [],
  calls: [{ open: "<invoke", head: ATTRIBUTES, slip: true }],
  callClose: "</invoke>",
  closeSlips: { "</ invoke>": "</invoke>", "</ parameter>": "</parameter>" },
  params: blankedAll(["<parameter"]).map((open) => ({ open, head: ATTRIBUTES, close: "</parameter>" })),
  stops: STOPS,
  opaque: true,
  bareNames: "never",
});

export const createScanner = scannerOf({
  calls: {
    ...each(OPEN, calls.block),
    ...each(INVOKES, calls.bare),
  },
  closers: [...CLOSE, ...blankedAll(STRIPPED_CLOSE)],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  headers: each(CLOSERS, control),
  inCalls: CLOSERS,
  callsInThinking: "promote",
  bare: each(blankedAll(STRIPPED), stripped.bare),
});

// ---- Rendering

export const IMAGES = { image: "<｜deepseek_image｜>" };
export const t = markup([...TURNS, ...STOPS, ...PRESERVED, IMAGES.image]);

/** What differs in a model's tags. */
export interface Tags {
  /** The word for the block. */
  readonly word: string;
  /** What precedes `invoke` and `parameter`. */
  readonly blank?: string;
  /** What is written if there are no arguments. */
  readonly nothing?: string;
}

const invoke = (call: RenderableCall, { blank = "", nothing = "" }: Tags): Pieces => t`<｜DSML｜${blank}invoke name=${quoted(call.name)}>
${Object.keys(call.arguments).length === 0 && nothing}${argumentTexts(call, /<\/?｜DSML｜/).map(
  ({ key, text, string }) =>
    t`<｜DSML｜${blank}parameter name=${quoted(key)} string="${String(string)}">${text}</｜DSML｜${blank}parameter>\n`,
)}</｜DSML｜${blank}invoke>
`;

export const callBlock = (calls: readonly RenderableCall[], tags: Tags): Pieces =>
  t`<｜DSML｜${tags.word}>\n${calls.map((call) => invoke(call, tags))}</｜DSML｜${tags.word}>`;

/** A whole message: the text, an empty line, the calls. */
export function saidPieces(said: readonly Part[], callPieces: (calls: readonly RenderableCall[]) => Pieces): Pieces {
  return [textOf(said), batched(said, callPieces).map((block) => ["\n\n", block]), t`<｜end▁of▁sentence｜>`];
}

/** The example in the declaration of tools. */
export const exampleBlock = (name: string, { word, blank = "" }: Tags): Pieces => t`<｜DSML｜${word}>
<｜DSML｜${blank}invoke name="${name}">
<｜DSML｜${blank}parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜${blank}parameter>
...
</｜DSML｜${blank}invoke>
<｜DSML｜${blank}invoke name="${name}2">
...
</｜DSML｜${blank}invoke>
</｜DSML｜${word}>`;

export const schemaLines = (tools: readonly Tool[]): string[] => tools.map((tool) => `${pythonJson(functionObject(tool))}\n`);

export const thought = (text: string): Pieces => t`<think>${text}</think>`;
