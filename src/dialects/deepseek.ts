/**
 * What DeepSeek-V3, R1 and V3.1 share: a section of calls whose header names them. V3 puts a type word before the name and the object
 * into a fence; either model may write the other's form, and distills write ASCII for the marks' odd characters.
 */
import { Marks } from "../core/window.ts";
import { markup, type Pieces } from "./prompt.ts";
import type { Step } from "./scan/scan.ts";
import { headerCut, sectionSteps } from "./scan/sections.ts";
import { broken, nameTooLong, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";

const FENCE = "```";
export const STOPS = ["<｜end▁of▁sentence｜>"];

// ---- Scanning

/** A mark in its own spelling and in ASCII. */
const spellings = (mark: string): string[] => [mark, mark.replaceAll("｜", "|").replaceAll("▁", "_")];
/** What only prompts hold: turns and results. */
const TURNS = [
  ...["<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"],
  ...["<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"],
];
const SEPARATORS = spellings("<｜tool▁sep｜>");

/** `TYPE<sep>NAME` and a newline, a fence or the object; or `NAME<sep>`. */
const header: Step = (s) => {
  const mark = s.readWord(TYPE_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (!SEPARATORS.includes(mark)) return headerCut(s, mark);
  s.pos += mark.length;
  return behindSeparator;
};
const behindSeparator: Step = (s) => {
  const code = s.blanks();
  if (code === undefined) return undefined;
  const mark = s.match(NAME_END);
  if (mark === undefined) return undefined;
  if (mark === FENCE || mark === "{") return named;
  s.word = "";
  return nameBehind;
};
const nameBehind: Step = (s) => {
  const mark = s.readWord(NAME_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  return mark === "" || calls.marks.includes(mark) ? headerCut(s, mark) : named;
};
/** Before the object, or a fence around it. */
const named: Step = (s) => {
  if (s.blanks() === undefined) return undefined;
  const mark = s.match(FENCES);
  if (mark === undefined) return undefined;
  s.pos += mark.length;
  const name = s.word.trim();
  return name === "" ? broken(s, "no-name", "the name is empty") : calls.object(s, name);
};

const calls = sectionSteps(
  {
    begin: spellings("<｜tool▁calls▁begin｜>"),
    end: spellings("<｜tool▁calls▁end｜>"),
    open: spellings("<｜tool▁call▁begin｜>"),
    close: spellings("<｜tool▁call▁end｜>"),
    stops: STOPS,
    fence: FENCE,
    noise: false,
  },
  (s) => header(s),
);
const TYPE_END = new Marks([...SEPARATORS, ...calls.marks]);
const NAME_END = new Marks(["\n", FENCE, "{", ...calls.marks]);
const FENCES = new Marks([FENCE, `${FENCE}json`]);

export const createScanner = scannerOf({
  calls: {
    ...Object.fromEntries(spellings("<｜tool▁calls▁begin｜>").map((mark) => [mark, calls.section])),
    ...Object.fromEntries(spellings("<｜tool▁call▁begin｜>").map((mark) => [mark, calls.call])),
  },
  closers: [...spellings("<｜tool▁call▁end｜>"), ...spellings("<｜tool▁calls▁end｜>")],
  thinking: { open: { "<think>": think }, close: ["</think>"], stray: "text" },
  stops: STOPS,
  control: [...calls.marks, ...SEPARATORS, ...TURNS],
  callsInThinking: "promote",
});

// ---- Rendering

export const t = markup([
  ...[...TURNS, ...STOPS, "<think>", "</think>"],
  ...["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"],
]);

export const section = (calls: readonly Pieces[]): Pieces =>
  calls.length > 0 ? t`<｜tool▁calls▁begin｜>${calls}<｜tool▁calls▁end｜>` : [];
export const outputs = (texts: readonly string[]): Pieces[] => texts.map((text) => t`<｜tool▁output▁begin｜>${text}<｜tool▁output▁end｜>`);
