/**
 * Where calls written as JSON objects may begin: after a mark, at the beginning of a line or of the answer, in the middle of a line, after a
 * name. A dialect chooses among these; `json-calls.ts` reads what follows.
 */
import { Marks } from "../../core/window.ts";
import { around, type JsonCalls, LIST, MARKED, OBJECT, release, STRICT, SURE } from "./json-calls.ts";
import type { Scan, Step } from "./scan.ts";
import { closing, control, jsonArguments, leaveThinking, nameTooLong, speak, tooLong } from "./steps.ts";

/** At the beginning of a line. */
export function lineOf({ openers, own, opens, open }: JsonCalls): Step {
  const marks = new Marks([...openers.list, ...own]);
  return (s) => {
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    const mark = s.match(marks);
    if (mark === undefined) return undefined;
    if (opens(s, mark)) {
      const prose = s.prose || s.thinking;
      if (s.thinking) leaveThinking(s);
      return open(s, mark, prose && s.tools.length > 0 ? STRICT : 0);
    }
    s.lineStart = false;
    s.prose ||= mark === "" && code !== -1;
    return speak;
  };
}

/** At the beginning of an answer, where the call of a declared tool needs no mark. */
export const firstOf =
  ({ openers, opens, open }: JsonCalls): Step =>
  (s) => {
    if (s.tools.length === 0) return speak;
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    const mark = s.match(openers);
    if (mark === undefined) return undefined;
    return opens(s, mark) ? open(s, mark, STRICT) : speak;
  };

/** After a `{"name"` in the middle of a line, which may begin the call of a declared tool. */
export const inLineOf =
  ({ open }: JsonCalls): Step =>
  (s) => {
    if (s.tools.length === 0) return release;
    s.pos -= OBJECT.length;
    s.lineStart = true;
    return open(s, "{", STRICT);
  };

/** After a tag that a call may follow, but need not. */
export const taggedOf =
  ({ inside }: JsonCalls): Step =>
  (s) => {
    around(s, 0);
    s.keepMarks();
    s.lineStart = true;
    s.bound(release);
    return inside;
  };

/** After a mark and the opening bracket of a list. */
export const elementOf =
  ({ open }: JsonCalls): Step =>
  (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    return code === 123 ? open(s, "{", MARKED | SURE | LIST) : release;
  };

/** After a word that is a mark only if a list of objects follows. */
export function listedOf(calls: JsonCalls): Step {
  const element = elementOf(calls);
  const listAhead: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    if (code !== 91) return release;
    s.pos++;
    return element;
  };
  return (s) => {
    s.bound(release);
    return listAhead;
  };
}

/** After a mark that another one may follow; `behind` is the step after both. */
export function perhaps(marks: readonly string[], behind: Step, onLimit: Step = tooLong): Step {
  const second = new Marks(marks);
  const ahead: Step = (s) => {
    if (s.blanks() === undefined) return undefined;
    const mark = s.match(second);
    if (mark === undefined) return undefined;
    s.pos += mark.length;
    return behind;
  };
  return (s) => {
    s.bound(onLimit);
    return ahead;
  };
}

/** After a name, and perhaps an id, where the arguments are an object of their own. */
export function namedOf({ marks }: JsonCalls): (s: Scan, name: string, id?: string) => Step {
  const behindName = jsonArguments(marks);
  return (s, name, id) => {
    s.bound(tooLong);
    s.startCall(name, id);
    s.behind = closing;
    return behindName;
  };
}

/**
 * After a mark: a name up to `end`, then an object. Anything else is text. At the beginning of the output the mark may be missing; then the
 * object or the tool must be known. `text` is a name that announces text instead of a call.
 */
export function nameThenObject(calls: JsonCalls, end: string, text?: string): Step {
  const ends = new Marks([end, " ", "\n", "<", ">"]);
  const named = namedOf(calls);
  const name: Step = (s) => {
    const mark = s.readWord(ends);
    if (mark === undefined) return undefined;
    if (mark === null && s.block > 0) return nameTooLong; // without a mark it is just text without blanks
    if (mark !== end || !(/^[\w.-]+$/.test(s.word) || s.declares(s.word))) return release;
    s.pos += mark.length;
    if (s.word !== text) return object;
    s.unbound();
    return control;
  };
  const object: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    return code === 123 || (code === -1 && s.block > 0) || s.declares(s.word) ? named(s, s.word) : release;
  };
  return (s) => {
    s.block = s.waitingRead && MARKED;
    s.word = "";
    s.bound(release);
    return name;
  };
}
