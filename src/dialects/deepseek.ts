/**
 * What DeepSeek-V3, R1 and V3.1 share: a section of calls whose header names them. V3 puts a type word before the name and the object
 * into a fence; either model may write the other's form, and distills write ASCII for the marks' odd characters.
 */
import { Marks } from "../core/window.ts";
import { markup, type Pieces } from "./prompt.ts";
import type { Scan, Step } from "./scan/scan.ts";
import { headerCut, sectionSteps } from "./scan/sections.ts";
import { nameTooLong } from "./scan/steps.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";

const FENCE = "```";
export const STOPS = ["<｜end▁of▁sentence｜>"];
export const PRESERVED = [
  ...["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"],
  ...["<think>", "</think>"],
];

// ---- Scanning

/** A mark in its own spelling, and with ASCII for either of its odd characters. */
const spellings = (mark: string): string[] => [mark, mark.replaceAll("｜", "|")].flatMap((barred) => [barred, barred.replaceAll("▁", "_")]);
/** What only occurs in prompts: turns and results. */
const TURNS = [
  ...["<｜begin▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"],
  ...["<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"],
];
const SEPARATORS = spellings("<｜tool▁sep｜>");
const ENDS = STOPS.flatMap(spellings);
/** The only word that V3 writes before a separator. */
const TYPE = "function";

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
  s.word += s.run;
  if (code === undefined) return undefined;
  const mark = s.match(s.word.trim() === TYPE ? NAME_END : OBJECT, true);
  if (mark === undefined && !s.last) return undefined;
  if (mark === "" && code !== 91 && code !== 34) {
    s.word = "";
    return nameBehind;
  }
  if (mark === undefined) s.pos = s.stop;
  // The name came before the separator, unless that was V3's type word with a newline or a fence after the separator.
  const name = s.word.trim();
  const isType = name === TYPE && !s.declares(name) && (mark !== "{" || s.word.includes("\n"));
  return name === "" || isType ? headerCut(s, mark ?? "") : named(s, name);
};
const nameBehind: Step = (s) => {
  const mark = s.readWord(NAME_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  const name = s.word.trim();
  return name === "" || mark === "" || calls.marks.includes(mark) ? headerCut(s, mark) : named(s, name);
};
const named = (s: Scan, name: string): Step => {
  s.startCall(name);
  return object;
};
/** The object, or a fence around it. */
const object: Step = (s) => {
  if (s.blanks() === undefined) return undefined;
  const mark = s.match(FENCES, true);
  if (mark === undefined && !s.last) return undefined;
  s.pos = mark === undefined ? s.stop : s.pos + mark.length;
  return calls.read;
};

const calls = sectionSteps(
  {
    begin: spellings("<｜tool▁calls▁begin｜>"),
    end: spellings("<｜tool▁calls▁end｜>"),
    open: spellings("<｜tool▁call▁begin｜>"),
    close: spellings("<｜tool▁call▁end｜>"),
    stops: ENDS,
    fences: [FENCE],
  },
  (s) => header(s),
);
const TYPE_END = new Marks([...SEPARATORS, ...THINK_TAGS.close, ...calls.marks]);
const NAME_END = new Marks(["\n", FENCE, "{", ...calls.marks]);
/** The same, or `null` for no arguments if the name came first. */
const OBJECT = new Marks([...NAME_END.list, "null"]);
const FENCES = new Marks([FENCE, `${FENCE}json`]);

export const createScanner = scannerOf({
  calls: {
    ...each(spellings("<｜tool▁calls▁begin｜>"), calls.section),
    ...each(spellings("<｜tool▁call▁begin｜>"), calls.call),
  },
  closers: [...spellings("<｜tool▁call▁end｜>"), ...spellings("<｜tool▁calls▁end｜>")],
  thinking: THINK_TAGS,
  stops: ENDS,
  control: [...calls.marks, ...SEPARATORS, ...TURNS],
  inCalls: SEPARATORS,
  callsInThinking: "promote",
});

// ---- Rendering

export const t = markup([...TURNS, ...STOPS, ...PRESERVED]);

export const section = (calls: Pieces): Pieces => t`<｜tool▁calls▁begin｜>${calls}<｜tool▁calls▁end｜>`;
export const outputs = (texts: readonly string[]): Pieces[] => texts.map((text) => t`<｜tool▁output▁begin｜>${text}<｜tool▁output▁end｜>`);
