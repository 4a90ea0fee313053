/** The steps that every dialect shares: text and thinking up to the next mark, the closer after a call, and blocks that cannot be read. */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { MalformedCode } from "../../core/nouns.ts";
import { MAX_NAME, type Syntax } from "../../core/reader.ts";
import type { SchemaNode } from "../../core/schema.ts";
import { Marks } from "../../core/window.ts";
import { CallObject } from "./call-object.ts";
import type { Scan, Step } from "./scan.ts";

// ---- text and thinking

export const startWith =
  (step: Step): Step =>
  (s) =>
    s.pos < s.stop ? step : undefined;

export const startThinking = startWith((s) => {
  s.openThinking();
  return speak;
});

/** Text or thinking, up to the next mark. */
export const speak: Step = (s) => {
  const { marks, steps, line } = s.thinking ? s.table.thinking : s.table.text;
  if (line && s.lineStart) return line;
  const mark = s.until(marks);
  s.sayRun();
  if (mark === undefined) {
    if (s.pos === s.end && !s.holding) s.quiet = marks.leads;
    return undefined;
  }
  if (mark === "") {
    s.commit();
    return undefined;
  }
  s.pos += mark.length;
  return steps.get(mark);
};

export const newline: Step = (s) => {
  s.sayRaw();
  s.lineStart = true;
  return speak;
};

/** After a control token: a call that no mark announces may follow it as it may follow a newline. */
export const control: Step = (s) => {
  s.control();
  s.lineStart = true;
  return speak;
};

const stopThen =
  (behind: Step): Step =>
  (s) => {
    s.commit();
    if (s.thinking) s.closeThinking(false);
    s.control();
    return behind;
  };

export const stop = stopThen(speak);

/** After a mark that opens thinking. Inside thinking it is merely a control token. */
export const think: Step = (s) => {
  if (s.thinking) return control;
  s.commit();
  s.openThinking();
  return speak;
};

export const unthink =
  (behind: Step): Step =>
  (s) => {
    s.closeThinking();
    return behind;
  };

/** `behind`: the step after a closer. */
export function strayCloser(length: number, stray: "control" | "text", behind: Step): Step {
  return (s) => {
    if (s.holding) {
      s.pos -= length;
      s.undo();
    } else if (s.owed || stray === "control") {
      s.owed = false;
      s.control();
    } else {
      // The prompt may have opened the block, unknown to the scanner: then the answer begins here.
      s.sayRaw();
      s.lineStart = s.newline = true;
      s.prose = false;
      return behind;
    }
    return speak;
  };
}

/** A closer that is no control token, in text: if the last call's block is still open it closes that, else it is text. */
export const textCloser: Step = (s) => {
  if (s.unclosed) s.control();
  else s.sayRaw();
  s.unclosed = false;
  s.fence = "";
  return speak;
};

/** Where an answer may begin, and in a tag: with one of these marks. */
export function answerBegin(openers: readonly string[]): Step {
  const marks = new Marks(openers);
  return (s) => {
    const mark = s.match(marks);
    if (mark === undefined) return undefined;
    s.pos += mark.length;
    s.fence = mark.includes("<") ? mark : "";
    return control;
  };
}

/** At the closing tag of an answer: without an open one it is text. */
export const answerEnd: Step = (s) => {
  if (s.fence) s.control();
  else s.sayRaw();
  s.fence = "";
  return speak;
};

// ---- calls inside thinking

export const promote =
  (call: Step): Step =>
  (s) => {
    s.closeThinking(false);
    s.owed = true;
    return call;
  };

export const promoteIfUnclosed =
  (call: Step): Step =>
  (s) => {
    s.hold(undo);
    s.closeThinking(false);
    return call;
  };

/** In thinking, at what may be a call that no mark announces. */
export function leaveThinking(s: Scan): void {
  s.hold(undo, s.table.promotes);
  s.closeThinking(false);
}

/** The same after the string that may begin such a call. A newline at the start of that string is thinking. */
export function promoteBare(mark: string, call: Step): Step {
  const length = mark.trimStart().length;
  return (s) => {
    s.pos -= length;
    s.sayRaw();
    s.pos += length;
    leaveThinking(s);
    return call;
  };
}

const undo: Step = (s) => {
  s.undo();
  return speak;
};

// ---- after a call

/**
 * After a call: passes over blanks and the block's closer, then goes on with `behind`; if anything else follows, with `other`, or as text.
 * Superfluous brackets may precede the closer.
 */
export function closingThen(behind: Step, other?: Step): Step {
  const closed: Step = (s) => {
    s.control();
    return behind;
  };
  const closer: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    const mark = s.match(s.table.closing);
    if (mark === undefined) return undefined;
    if (mark !== "") {
      if (s.holding && s.table.unthink.has(mark)) return undo;
      s.unbound();
      s.pos += mark.length;
      if (s.table.closers.has(mark)) s.unclosed = false;
      if (s.table.unthink.has(mark)) s.owed = false;
      return s.stops.list.includes(mark) ? stopThen(behind) : closed;
    }
    if (isCut(s, s.table.closing.list)) {
      s.pos = s.stop;
      return control;
    }
    if (code === 125 || code === 41 || code === 93) {
      s.pos++;
      return closer;
    }
    return other ?? releaseBlanks;
  };
  return (s) => {
    s.bound(releaseBlanks);
    return closer;
  };
}

/** Whether the input ends inside one of these marks. */
export const isCut = (s: Scan, marks: readonly string[]): boolean =>
  s.last && s.pos < s.stop && marks.some((mark) => mark.startsWith(s.ahead));

/** What waits is only text. */
export const releaseBlanks: Step = (s) => {
  s.unbound();
  s.sayRaw();
  return speak;
};

export const closing = closingThen(speak);

// ---- blocks that cannot be read

/** The block is malformed. Its raw reaches to its closer, the next opener or the end. */
export function broken(s: Scan, code: MalformedCode, reason: string, mention = false): Step {
  s.fault = { code, reason, mention };
  return skip;
}

/** Reads the arguments of a call that has started, then goes on with `behind`. */
export function readArguments(s: Scan, syntax: Syntax, marks: Marks, behind: Step | undefined, schema?: SchemaNode): Step {
  s.begin(syntax, s.json, marks, schema);
  s.behind = behind;
  return inArguments;
}

/**
 * The same for JSON, with `s.behind` already set. `null`, or nothing before a mark that is no stop, means that there are no arguments; a
 * string holds them.
 */
export function jsonArguments(marks: Marks): Step {
  const none = new Marks([...marks.list, "null"]);
  return (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    if (code === 34) {
      s.object = new CallObject();
      s.word = "";
      s.begin(JSON_SYNTAX, undefined, marks).any();
      s.object.openString(s);
      return inQuotedArguments;
    }
    const mark = s.match(none, true);
    if (mark === undefined && !s.last) return undefined;
    if (!mark || s.stops.list.includes(mark)) return readArguments(s, JSON_SYNTAX, marks, s.behind);
    if (mark === "null") s.pos += mark.length;
    s.endCall();
    return s.behind;
  };
}

/** Reads on in a value, then goes on with `done`, or with `bad` if it cannot be read. */
export const readThen =
  (done: Step, bad: Step = (s) => broken(s, "bad-arguments", s.reason)): Step =>
  (s) => {
    const outcome = s.read();
    if (outcome === undefined) return undefined;
    if (outcome === "cut") return cut;
    if (outcome === "deep") return tooDeep;
    return outcome === "done" ? done : bad;
  };

const inQuotedArguments: Step = (s) => {
  const { object } = s;
  const outcome = s.read();
  object?.piece(s);
  if (outcome === undefined) return undefined;
  if (outcome === "cut") return cut;
  object?.value(s);
  const { fault } = object ?? {};
  if (fault?.code === "too-deep") return tooDeep;
  return fault || outcome !== "done" ? broken(s, "bad-arguments", fault?.reason ?? s.reason) : ended;
};

const inArguments = readThen((s) => (s.mended ? alone : ended));

const ended: Step = (s) => {
  s.endCall();
  return s.behind;
};

/** After arguments that may be only a part of what was meant: they are complete if a mark follows, or the end. */
const alone: Step = (s) => {
  const code = s.blanks();
  if (code === undefined) return undefined;
  const mark = s.match(s.marks);
  if (mark === undefined) return undefined;
  return mark !== "" || code === -1 || isCut(s, s.marks.list) ? ended : broken(s, "bad-arguments", "something follows the arguments");
};

const goOn = (s: Scan, mark: string): Step => (s.table.unthink.has(mark) ? speak : (s.resume?.(mark) ?? speak));

export const skip: Step = (s) => {
  const mark = s.until(s.ends);
  if (mark === undefined) return undefined;
  if (s.holding && s.table.unthink.has(mark)) return undo;
  if (s.table.closers.has(mark)) s.pos += mark.length;
  else if (s.fault?.mention && s.table.textual) return mentioned;
  const { code, reason } = s.fault ?? { code: "bad-arguments", reason: "unreadable" };
  s.malformed(code, reason);
  return goOn(s, mark);
};

/** A mark was only mentioned: what waits is text, or thinking if it came there. */
export const mentioned: Step = (s) => {
  s.call = s.fault = undefined;
  return s.holdsNoCall ? undo : releaseBlanks;
};

/** A limit was reached: the call is malformed at this character, and the rest of its block becomes `control`. */
const exceeded =
  (code: "too-long" | "too-deep", reason: string): Step =>
  (s) => {
    s.malformed(code, reason);
    s.bound(restOn, MAX_NAME);
    return rest;
  };

export const tooLong = exceeded("too-long", "the call has more characters than `maxCallChars` allows");
export const nameTooLong = exceeded("too-long", `a name or an id has more than ${MAX_NAME} characters`);
export const tooDeep = exceeded("too-deep", "the arguments are nested deeper than `maxDepth` allows");

const rest: Step = (s) => {
  const mark = s.until(s.ends);
  if (mark === undefined) return undefined;
  if (s.table.closers.has(mark)) s.pos += mark.length;
  s.unbound();
  s.control();
  return goOn(s, mark);
};

/** The rest leaves in portions, each long enough for any mark. */
const restOn: Step = (s) => {
  s.control();
  s.bound(restOn, MAX_NAME);
  return rest;
};

/** The input ended inside a call. */
export const cut: Step = (s) => {
  if (s.call?.id !== undefined) s.endCall(true);
  else s.malformed("no-name", "the output ended before the name was complete");
  return speak;
};
