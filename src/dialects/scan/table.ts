/** What a dialect writes down about its marks, and the scanner that it gets for it. */
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
  /** What opens a call, and the step that reads on behind it. */
  readonly calls: Readonly<Record<string, Step>>;
  /** What closes a call's block. */
  readonly closers: readonly string[];
  readonly thinking?: {
    /** What opens thinking, and the step that reads on behind it. */
    readonly open: Readonly<Record<string, Step>>;
    readonly close: readonly string[];
    /** What a closer without an open block is, unless it is a control token. */
    readonly stray: "control" | "text";
    /** Behind a closer. */
    readonly behind?: Step;
  };
  /** What opens and closes thinking too, and what opens calls, if the output begins so; elsewhere all of it is plain text. */
  readonly phrases?: { readonly open: readonly string[]; readonly close: readonly string[]; readonly calls?: Spec["calls"] };
  /** Strings that end the answer. */
  readonly stops: readonly string[];
  /** All other control tokens: never text. */
  readonly control?: readonly string[];
  /** The same where something stands behind them that is no text either, and the step that reads it. */
  readonly headers?: Readonly<Record<string, Step>>;
  /** Those of them that stand in calls: where a call in thinking is thinking, they are, too. */
  readonly inCalls?: readonly string[];
  /** What begins a turn in a prompt, without being a control token. */
  readonly turns?: readonly string[];
  /** What a call in thinking is that has a mark. One without is thinking, unless the caller says otherwise. */
  readonly callsInThinking: CallsInThinking;
  /** What may stand at the very beginning of the output. */
  readonly start?: Step;
  /** In the forms without a mark: what may begin where a line does. */
  readonly line?: Step;
  /** What may begin a call in the middle of a line, though not in thinking, and the step that reads on behind it. */
  readonly inLine?: Readonly<Record<string, Step>>;
  /** The same, where it is too common to end a block that cannot be read. */
  readonly bare?: Readonly<Record<string, Step>>;
  /** The ids that the models of this dialect expect. */
  readonly mintId?: (n: number) => string;
}

export interface MarkSteps {
  readonly marks: Marks;
  /** Behind each mark. */
  readonly steps: ReadonlyMap<string, Step>;
  /** In the forms without a mark: what may begin where a line does. */
  readonly line: Step | undefined;
}

/** A dialect's marks, compiled. */
export interface Table {
  readonly start: Step;
  readonly text: MarkSteps;
  readonly thinking: MarkSteps;
  /** A call without a mark ends the thinking block, even if the block is closed later. */
  readonly promotes: boolean;
  /** Where a block that cannot be read ends. */
  readonly ends: Marks;
  /** The same while the block may turn out to be thinking. */
  readonly endsHeld: Marks;
  /** What may stand behind a complete call and belongs to it. */
  readonly closing: Marks;
  readonly closers: ReadonlySet<string>;
  /** No control tokens stand around calls, but text, which somebody may mention. */
  readonly textual: boolean;
  readonly stops: Marks;
  readonly unthink: ReadonlySet<string>;
}

/** How most models think. */
export const THINK_TAGS = { open: { "<think>": think }, close: ["</think>"], stray: "text" } as const;

/** Makes the `createScanner` of a dialect. */
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
    text.set(mark, strayCloser(mark.length, tokens.includes(mark) ? "control" : stray));
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

/** The phrases get a table of their own, as long as they count. */
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
 * Whether the prompt ends inside a thinking block: its last mark is an opener. One in somebody's message is followed by a turn mark, which
 * in pieces is whatever they say is a control token.
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
