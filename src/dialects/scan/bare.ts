/**
 * Calls without a mark: a JSON object with a name and arguments, alone, in a list, or in a fence, that stands where a line begins.
 * The structure decides, not the length: until name and arguments are there the bytes wait, and whatever turns out to be no call
 * leaves as text from there on, read once.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { Marks } from "../../core/window.ts";
import { CallObject } from "./call-object.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, control, cut, speak, tooDeep, tooLong } from "./steps.ts";

export interface BareForm {
  /** What may stand around a call, and what closes it. */
  readonly wrappers: Readonly<Record<string, string>>;
  /** The keys that a call object may begin with. */
  readonly firstKeys: ReadonlySet<string>;
  /** What may stand between two calls that are not in a list. */
  readonly separators: readonly string[];
  /** The dialect's other marks. */
  readonly marks: readonly string[];
}

/** What stands around a call. */
interface Block {
  readonly closer: string;
  readonly list: boolean;
  /** A name must be declared to count: other text came before. */
  readonly strict: boolean;
}

/** The step for the beginning of a line. */
export function bareLine(form: BareForm): Step {
  const openers = new Marks(["{", "[", ...Object.keys(form.wrappers)]);
  const lineMarks = new Marks([...openers.list, ...form.marks]);
  const between = new Marks([...openers.list, "]", ...form.separators, ...Object.values(form.wrappers)]);
  const marks = new Marks([...form.marks, ...Object.values(form.wrappers)]);

  const line: Step = (s) => {
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    const mark = s.match(lineMarks);
    if (mark === undefined) return undefined;
    if (openers.list.includes(mark)) return open(s, mark, { closer: "", list: false, strict: s.prose && s.tools.length > 0 });
    s.lineStart = false;
    s.prose ||= mark === "" && code !== -1;
    return speak;
  };

  /** An opener stands here: a call may begin. */
  const open = (s: Scan, mark: string, block: Block): Step => {
    s.bound(release);
    if (mark === "{") return readObject(s, block);
    s.pos += mark.length;
    return inside(mark === "[" ? { ...block, list: true } : { ...block, closer: form.wrappers[mark] ?? "" });
  };

  /** Behind a wrapper or a bracket. */
  const inside =
    (block: Block): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (code === 123) return open(s, "{", block);
      return code === 91 && !block.list ? open(s, "[", block) : release;
    };

  const readObject = (s: Scan, block: Block): Step => {
    const call = s.openCall();
    const object = new CallObject({
      json: call.json,
      maxDepth: s.maxDepth,
      accepts: (key) => form.firstKeys.has(key),
      ready({ name, hasArguments }) {
        if (name === undefined || !hasArguments || call.id !== undefined) return true;
        if (block.strict && !s.declares(name)) return false;
        s.bound(tooLong);
        s.startCall(name);
        return true;
      },
    });
    s.begin(JSON_SYNTAX, object, { marks, maxDepth: s.maxDepth + 1 });
    return (s) => {
      const outcome = s.read();
      if (outcome === undefined) return undefined;
      if (outcome === "done" && call.id === undefined && isCallWithoutArguments(s, object)) s.startCall(object.name ?? "");
      if (call.id === undefined) return release;
      if (outcome === "cut") return cut;
      if (outcome === "deep") return tooDeep;
      if (outcome !== "done") return broken(s, "bad-arguments", object.fault ?? s.reason);
      s.endCall();
      s.prose = false;
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
      if (mark !== "" && mark === block.closer && !block.list) {
        s.pos += mark.length;
        return ended;
      }
      if (mark === "]" && block.list) {
        s.pos++;
        s.control();
        s.bound(release);
        return behind({ ...block, list: false });
      }
      if (form.separators.includes(mark) && !separated) {
        s.pos += mark.length;
        return behind(block, true);
      }
      if (openers.list.includes(mark)) return open(s, mark, block);
      const rest = s.text.slice(s.pos, s.stop);
      if (!s.last || rest === "" || !block.closer.startsWith(rest)) return release;
      s.pos = s.stop;
      return ended;
    };

  return line;
}

const ended: Step = (s) => {
  s.unbound();
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
