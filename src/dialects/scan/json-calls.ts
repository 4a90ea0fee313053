/**
 * Calls written as JSON objects with a name and arguments, alone or in a list. Behind a mark such an object is a call, or malformed.
 * Without one it may stand where a line begins, and the structure decides, not the length: until name and arguments are there the bytes
 * wait, and whatever turns out to be no call leaves as text from there on, read once.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { Marks } from "../../core/window.ts";
import { CallObject } from "./call-object.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closing, control, cut, speak, tooDeep, tooLong } from "./steps.ts";

export interface JsonForm {
  /** What may stand around calls that no mark announces, and what closes it. */
  readonly wrappers?: Readonly<Record<string, string>>;
  /** The keys that such a call may begin with. */
  readonly firstKeys?: ReadonlySet<string>;
  /** What may stand between two such calls that are not in a list. */
  readonly separators?: readonly string[];
  /** A call object must have arguments. */
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
}

/** What stands around a call. */
interface Block {
  readonly closer: string;
  readonly list: boolean;
  /** Where a call must be: what cannot be read is malformed. Else it is text. */
  readonly sure: boolean;
  /** A name must be declared to count: other text came before. */
  readonly strict: boolean;
}

const MARKED: Block = { closer: "", list: false, sure: true, strict: false };

export function jsonCalls(form: JsonForm): JsonSteps {
  const { wrappers = {}, firstKeys, separators = [], needsArguments = false } = form;
  const openers = new Marks(["{", "[", ...Object.keys(wrappers)]);
  const lineMarks = new Marks([...openers.list, ...form.marks]);
  const between = new Marks([...openers.list, "]", ",", ...separators, ...Object.values(wrappers)]);
  const marks = new Marks([...form.marks, ...Object.values(wrappers)]);

  const line: Step = (s) => {
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    const mark = s.match(lineMarks);
    if (mark === undefined) return undefined;
    if (openers.list.includes(mark)) return open(s, mark, { closer: "", list: false, sure: false, strict: s.prose && s.tools.length > 0 });
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
      sure: block.sure,
      accepts: (key) => firstKeys?.has(key) ?? true,
      ready({ name, id, hasArguments }) {
        if (name === undefined || call.id !== undefined || !(block.sure || hasArguments)) return true;
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
      if (outcome === "done" && call.id === undefined && isCallWithoutArguments(s, object)) s.startCall(object.name ?? "");
      if (call.id === undefined && !block.sure) return release;
      if (outcome === "cut") return cut;
      if (outcome === "deep") return tooDeep;
      if (outcome === "bad") return broken(s, "bad-arguments", s.reason);
      const fault = object.fault ?? (needsArguments && !object.hasArguments ? "the call has no arguments" : undefined);
      if (call.id === undefined) s.malformed("no-name", fault ?? "the call has no name");
      else if (fault !== undefined) {
        if (outcome === "halt") return broken(s, "bad-arguments", fault);
        s.malformed("bad-arguments", fault);
      } else s.endCall(false, object.id);
      s.unclosed = block.sure || block.closer !== "";
      s.prose = false;
      if (block.sure && !block.list) return closing;
      s.bound(release);
      return behind(block);
    };
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
        if (block.sure) return closing;
        s.bound(release);
        return behind({ ...block, list: false });
      }
      if (mark !== "" && mark === block.closer && !block.list) {
        s.pos += mark.length;
        return ended;
      }
      if (!separated && (block.list ? mark === "," : separators.includes(mark))) {
        s.pos += mark.length;
        return behind(block, true);
      }
      if (openers.list.includes(mark) && (!block.sure || (block.list && mark === "{"))) return open(s, mark, block);
      if (block.sure) return closing;
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
const release: Step = (s) => {
  s.call = undefined;
  s.unbound();
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
