/** What a dialect declares about its marks, and the scanner that is made from it. */
import { Marks } from "../../core/window.ts";
import type { CallsInThinking, Prompt, Scanner, ScannerOptions } from "../dialect.ts";
import { Scan, type Step } from "./scan.ts";
import {
  control,
  newline,
  promote,
  promoteBare,
  promoteIfUnclosed,
  speak,
  startThinking,
  startWith,
  stop,
  strayCloser,
  textCloser,
  think,
  unthink,
} from "./steps.ts";

export interface Spec {
  /** The marks that open a call, each with the step that follows. */
  readonly calls: Readonly<Record<string, Step>>;
  /** The marks that close a call's block. */
  readonly closers: readonly string[];
  readonly thinking?: {
    /** The marks that open thinking, each with the step that follows. */
    readonly open: Readonly<Record<string, Step>>;
    readonly close: readonly string[];
    /** What becomes of a closer outside thinking that is no control token. */
    readonly stray: "control" | "text";
    /** The step after a closer. */
    readonly behind?: Step;
  };
  /** Phrases that open and close thinking, and open calls, but only if the output begins with one that opens; otherwise they are plain text. */
  readonly phrases?: { readonly open: readonly string[]; readonly close: readonly string[]; readonly calls?: Spec["calls"] };
  /** Strings that end the answer. */
  readonly stops: readonly string[];
  /** All other control tokens. They are never text. */
  readonly control?: readonly string[];
  /** Control tokens followed by something that is no text either, each with the step that reads it. */
  readonly headers?: Readonly<Record<string, Step>>;
  /** Control tokens of calls: where calls inside thinking are thinking, so are these. */
  readonly inCalls?: readonly string[];
  /** Strings that begin a turn in a prompt and are no control tokens. */
  readonly turns?: readonly string[];
  /** The default for calls inside thinking that a mark announces. Those without a mark are thinking unless the caller says otherwise. */
  readonly callsInThinking: CallsInThinking;
  /** The first step, if the output may begin in a special way. */
  readonly start?: Step;
  /** The step at the beginning of each line, for calls that no mark announces. */
  readonly line?: Step;
  /** Strings that may begin a call in the middle of a line of text, each with the step that follows. */
  readonly inLine?: Readonly<Record<string, Step>>;
  /** The same for strings that are too common to end an unreadable block. */
  readonly bare?: Readonly<Record<string, Step>>;
  /** Makes ids in the form that the dialect's models expect. */
  readonly mintId?: (n: number) => string;
}

export interface MarkSteps {
  readonly marks: Marks;
  /** The step after each mark. */
  readonly steps: ReadonlyMap<string, Step>;
  /** The step at the beginning of each line, for calls that no mark announces. */
  readonly line: Step | undefined;
}

/** A dialect's marks, compiled. */
export interface Table {
  readonly start: Step;
  readonly text: MarkSteps;
  readonly thinking: MarkSteps;
  /** A call that no mark announces ends the thinking, even if a closer follows later. */
  readonly promotes: boolean;
  /** The marks that end an unreadable block. */
  readonly ends: Marks;
  /** The same while it may turn out that the block is thinking. */
  readonly endsHeld: Marks;
  /** The marks that may follow a complete call and belong to it. */
  readonly closing: Marks;
  readonly closers: ReadonlySet<string>;
  /** No closer is or contains a control token: a model may mention such marks in plain text. */
  readonly textual: boolean;
  readonly stops: Marks;
  readonly unthink: ReadonlySet<string>;
}

/** Marks that the same step follows. */
export const each = (marks: readonly string[], step: Step): Record<string, Step> => Object.fromEntries(marks.map((mark) => [mark, step]));

/** How most models think. */
export const THINK_TAGS = { open: { "<think>": think }, close: ["</think>"], stray: "text" } as const;

/** Makes a dialect's `createScanner`. */
export function scannerOf(spec: Spec): (options?: ScannerOptions) => Scanner {
  const tables = new Map<string, Table>();
  return (options = {}) => {
    const { callsInThinking: asked } = options;
    const inThinking = options.startInThinking ?? leavesThinkingOpen(spec, options.prompt);
    const key = `${asked} ${inThinking}`;
    const table = tables.get(key) ?? tableOf(spec, asked, inThinking);
    tables.set(key, table);
    return new Scan(table, options, spec.mintId);
  };
}

function tableOf(spec: Spec, asked: CallsInThinking | undefined, startInThinking: boolean): Table {
  const { calls, closers, stops, control: tokens = [], inLine = {} } = spec;
  const policy = asked ?? spec.callsInThinking;
  const { open = {}, close = [], stray = "text", behind = speak } = spec.thinking ?? {};
  const text = new Map<string, Step>();
  const thinking = new Map<string, Step>();
  const both = (marks: readonly string[], step: Step) => {
    for (const mark of marks) {
      text.set(mark, step);
      thinking.set(mark, step);
    }
  };
  both(tokens, control);
  for (const [mark, step] of Object.entries(spec.headers ?? {})) both([mark], step);
  both(stops, stop);
  for (const [mark, step] of Object.entries(open)) both([mark], step);
  for (const mark of close) {
    text.set(mark, strayCloser(mark.length, tokens.includes(mark) ? "control" : stray, behind));
    thinking.set(mark, unthink(behind));
  }
  for (const mark of closers) if (!text.has(mark)) text.set(mark, textCloser);
  for (const [mark, step] of Object.entries(calls)) {
    text.set(mark, step);
    if (policy === "promote") thinking.set(mark, promote(step));
    else if (policy === "promote-if-unclosed") thinking.set(mark, promoteIfUnclosed(step));
  }
  for (const [mark, step] of Object.entries({ ...inLine, ...spec.bare })) text.set(mark, step);
  if (policy === "ignore")
    for (const mark of [...Object.keys(calls), ...closers, ...(spec.inCalls ?? [])]) if (!close.includes(mark)) thinking.delete(mark);
  if (spec.line) text.set("\n", newline);
  if (asked === "promote" || asked === "promote-if-unclosed") {
    const unmarked = Object.entries({ ...spec.bare, ...(spec.line && inLine) });
    for (const [mark, step] of unmarked) thinking.set(mark, promoteBare(mark, step));
    if (spec.line) thinking.set("\n", newline);
  }
  const ends = [...closers, ...Object.keys(calls), ...Object.keys(inLine), ...stops];
  return {
    start: startInThinking ? startThinking : startWith(startOf(spec, asked)),
    text: { marks: new Marks(text.keys()), steps: text, line: spec.line },
    thinking: { marks: new Marks(thinking.keys()), steps: thinking, line: thinking.has("\n") ? spec.line : undefined },
    promotes: asked === "promote",
    ends: new Marks(ends),
    endsHeld: new Marks([...ends, ...close]),
    closing: new Marks([...closers, ...stops, ...close]),
    closers: new Set(closers),
    textual: !closers.some((mark) => tokens.some((token) => mark.includes(token))),
    stops: new Marks(stops),
    unthink: new Set(close),
  };
}

/** While phrases count, a table of their own is in use. */
function startOf({ phrases, start = speak, ...spec }: Spec, asked: CallsInThinking | undefined): Step {
  if (!phrases) return start;
  const openers = new Marks(phrases.open);
  return (s) => {
    const mark = s.match(openers);
    if (mark === undefined) return undefined;
    if (mark === "") return start;
    const { table } = s;
    const behind: Step = (s) => {
      s.table = table;
      return speak;
    };
    const thinking = { open: {}, close: phrases.close, stray: "text", behind } as const;
    s.table = tableOf({ ...spec, thinking, calls: { ...spec.calls, ...phrases.calls } }, asked, false);
    s.pos += mark.length;
    s.openThinking();
    return speak;
  };
}

/**
 * Whether the prompt ends inside a thinking block, that is, its last mark opens one. An opener that is only quoted in a message does not
 * count, because a turn mark follows it; of a prompt in pieces, any control token.
 */
function leavesThinkingOpen(spec: Spec, prompt: Prompt | string = ""): boolean {
  const tail = typeof prompt === "string" ? prompt : prompt.map((piece) => piece.text).join("");
  const tokens = typeof prompt === "string" ? [] : prompt.filter((piece) => piece.control).map((piece) => piece.text);
  const { open = {}, close = [] } = spec.thinking ?? {};
  const openers = Object.keys(open);
  const last = (marks: readonly string[]) => Math.max(-1, ...marks.map((mark) => tail.lastIndexOf(mark)));
  const others = [...close, ...spec.stops, ...(spec.control ?? []), ...(spec.turns ?? []), ...Object.keys(spec.calls), ...spec.closers];
  return last(openers) > last([...others, ...new Set(tokens)].filter((mark) => !openers.some((opener) => opener.includes(mark))));
}
