/**
 * Calls written as JSON objects with a name and arguments, alone or in a list. Behind a mark such an object is a call, or malformed.
 * Without one it may stand where a line begins, and the structure decides, not the length: until name and arguments are there the bytes
 * wait, and whatever turns out to be no call leaves as text from there on, read once.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { Marks } from "../../core/window.ts";
import { CallObject } from "./call-object.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closing, control, cut, readArguments, speak, tooDeep, tooLong } from "./steps.ts";

export interface JsonForm {
  /** What may stand around calls that no mark announces, and what closes it. */
  readonly wrappers?: Readonly<Record<string, string>>;
  /** The keys that such a call may begin with. */
  readonly firstKeys?: ReadonlySet<string>;
  /** What may stand between two such calls that are not in a list, and is text behind the last one. */
  readonly separators?: readonly string[];
  /** The same, but never text. */
  readonly tags?: readonly string[];
  /** A call object must have arguments; without them it is malformed, and in a list so is anything else behind a call. */
  readonly needsArguments?: boolean;
  /** The dialect's marks: none of them can stand in a call object outside a string. */
  readonly marks: readonly string[];
}

export interface JsonSteps {
  /** Behind a mark: an object or a list of objects. */
  readonly marked: Step;
  /** Behind a word that is a mark only if a list of objects follows. */
  readonly listed: Step;
  /** At the beginning of a line. */
  readonly line: Step;
  /** Behind a tag: what follows may be a call. */
  readonly tagged: Step;
  /** Behind a `{"name"` in a line: it may begin the call of a declared tool. */
  readonly inLine: Step;
  /** Behind a name: the arguments stand alone. */
  named(s: Scan, name: string, id?: string): Step;
}

/** What stands around a call. */
interface Block {
  readonly closer: string;
  readonly list: boolean;
  /** A mark stands in front. */
  readonly marked: boolean;
  /** A call must be here: what cannot be read is malformed. Else it is text. */
  readonly sure: boolean;
  /** A name must be declared to count: other text came before. */
  readonly strict: boolean;
}

const BARE: Block = { closer: "", list: false, marked: false, sure: false, strict: false };
const MARKED: Block = { ...BARE, marked: true, sure: true };

/** How most call objects begin, and little else: here they are found again behind what cannot be read, and in prose. */
export const OBJECT = '{"name"';

export function jsonCalls(form: JsonForm): JsonSteps {
  const { wrappers = {}, firstKeys, separators = [], tags = [], needsArguments = false } = form;
  const openers = new Marks(["{", "[", ...Object.keys(wrappers)]);
  const lineMarks = new Marks([...openers.list, ...form.marks]);
  const between = new Marks([...openers.list, "]", ",", ...separators, ...tags, ...Object.values(wrappers)]);
  const marks = new Marks([...form.marks, ...Object.values(wrappers)]);
  const elements = new Marks([...marks.list, OBJECT]);

  const line: Step = (s) => {
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    const mark = s.match(lineMarks);
    if (mark === undefined) return undefined;
    if (openers.list.includes(mark)) return open(s, mark, { ...BARE, strict: s.prose && s.tools.length > 0 });
    s.lineStart = false;
    s.prose ||= mark === "" && code !== -1;
    return speak;
  };

  /** An opener stands here. */
  const open = (s: Scan, mark: string, block: Block): Step => {
    s.bound(block.sure ? tooLong : release);
    if (mark === "{") return readObject(s, block);
    s.pos += mark.length;
    return inside(mark === "[" ? { ...block, list: true } : { ...block, closer: wrappers[mark] ?? "" });
  };

  /** Behind a mark, a wrapper or a bracket. */
  const inside =
    (block: Block): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (code === 123) return open(s, "{", block);
      if (code === 91 && !block.list) return open(s, "[", block);
      if (!block.sure) return release;
      if (code === 93 && block.list) return behind(block);
      const mark = s.match(s.table.ends);
      if (mark === undefined) return undefined;
      return mark === "" ? broken(s, "no-name", "a JSON object was expected") : broken(s, "empty", "the block is empty");
    };

  const readObject = (s: Scan, block: Block): Step => {
    const call = s.openCall();
    const object = new CallObject({
      json: call.json,
      maxDepth: s.maxDepth,
      get sure() {
        return block.sure || call.id !== undefined;
      },
      accepts: (key) => block.sure || (firstKeys?.has(key) ?? true),
      ready({ name, id, hasArguments }) {
        if (name === undefined || call.id !== undefined || !(hasArguments || (block.sure && !needsArguments))) return true;
        if (block.strict && !s.declares(name)) return false;
        s.bound(tooLong);
        s.startCall(name, id);
        return true;
      },
    });
    s.begin(JSON_SYNTAX, object, { marks, maxDepth: s.maxDepth + 1 });
    return (s) => {
      const outcome = s.read();
      if (outcome === undefined) return undefined;
      if (outcome === "done" && call.id === undefined && !needsArguments && isCallWithoutArguments(s, object))
        s.startCall(object.name ?? "");
      if (call.id === undefined && !block.sure) return release;
      if (outcome === "cut") return cut;
      if (outcome === "deep") return tooDeep;
      if (outcome === "bad") {
        const skip = broken(s, "bad-arguments", s.reason);
        return block.list ? nextElement(block, skip) : skip;
      }
      const { name, hasArguments, fault } = object;
      if (name === undefined) s.malformed("no-name", fault ?? "the call has no name");
      else if (fault !== undefined) s.malformed("bad-arguments", fault);
      else if (needsArguments && !hasArguments) s.malformed("bad-arguments", "the call has no arguments");
      else s.endCall(false, object.id);
      s.unclosed = block.marked || block.closer !== "";
      s.prose = false;
      if (block.marked && !block.list) return closing;
      s.bound(release);
      return behind(block.list && needsArguments ? { ...block, sure: true } : block);
    };
  };

  /** An element that cannot be read does not take the others with it. */
  const nextElement =
    (block: Block, skip: Step): Step =>
    (s) => {
      const mark = s.until(elements);
      if (mark !== OBJECT) return mark === undefined ? undefined : skip;
      s.malformed("bad-arguments", s.reason);
      return open(s, "{", { ...block, sure: true });
    };

  /** Behind a call: the rest of its block, or the next call. */
  const behind =
    (block: Block, separated = false): Step =>
    (s) => {
      if (s.blanks() === undefined) return undefined;
      const mark = s.match(between);
      if (mark === undefined) return undefined;
      if (mark === "]" && block.list) {
        s.pos++;
        s.control();
        if (block.marked) return closing;
        s.bound(release);
        return behind({ ...block, list: false, sure: false });
      }
      if (tags.includes(mark) && !block.list) {
        s.pos += mark.length;
        s.keepMarks();
        return behind(block, true);
      }
      if (mark !== "" && mark === block.closer && !block.list) {
        s.pos += mark.length;
        return ended;
      }
      if (!separated && (block.list ? mark === "," : separators.includes(mark))) {
        s.pos += mark.length;
        if (block.list) s.keepMarks();
        return behind(block, true);
      }
      if (block.list ? mark === "{" : !block.marked && openers.list.includes(mark)) return open(s, mark, block);
      if (block.marked) return closing;
      const rest = s.text.slice(s.pos, s.stop);
      if (!s.last || rest === "" || !block.closer.startsWith(rest)) return release;
      s.pos = s.stop;
      return ended;
    };

  return {
    marked: (s) => {
      s.bound(tooLong);
      return inside(MARKED);
    },
    listed: (s) => {
      s.bound(release);
      return listAhead;
    },
    line,
    tagged: (s) => {
      s.keepMarks();
      s.bound(release);
      return inside(BARE);
    },
    inLine: (s) => {
      if (s.tools.length === 0) return release;
      s.pos -= OBJECT.length;
      return open(s, "{", { ...BARE, strict: true });
    },
    named: (s, name, id) => {
      s.bound(tooLong);
      s.begin(JSON_SYNTAX, s.startCall(name, id).json, { marks, maxDepth: s.maxDepth });
      return readArguments(s, closing);
    },
  };

  function listAhead(s: Scan): Step | undefined {
    const code = s.blanks();
    if (code === undefined) return undefined;
    if (code !== 91) return release;
    s.pos++;
    return objectAhead;
  }
  function objectAhead(s: Scan): Step | undefined {
    const code = s.blanks();
    if (code === undefined) return undefined;
    return code === 123 ? open(s, "{", { ...MARKED, list: true }) : release;
  }
}

const ended: Step = (s) => {
  s.unbound();
  s.unclosed = false;
  s.lineStart = true;
  return control;
};

/** No call after all. */
export const release: Step = (s) => {
  s.call = undefined;
  s.unbound();
  if (s.holdsNoCall) {
    s.undo();
    return speak;
  }
  const raw = s.sayRaw();
  const newline = raw.lastIndexOf("\n");
  s.lineStart = newline >= 0 ? raw.slice(newline).trim() === "" : s.lineStart && raw.trim() === "";
  s.prose ||= raw.trim() !== "";
  return speak;
};

/** `{"name": "f"}` may well be an answer; it is a call if `f` is a declared tool that takes no arguments. */
function isCallWithoutArguments(s: Scan, { name, hasArguments }: CallObject): boolean {
  const tool = s.tools.find((tool) => tool.name === name);
  return tool !== undefined && !hasArguments && Object.keys(tool.parameters?.properties ?? {}).length === 0;
}
