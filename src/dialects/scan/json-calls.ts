/**
 * Calls written as JSON objects with a name and arguments, alone or in a list. After a mark such an object is a call, or malformed. Without
 * a mark an object at the beginning of a line may be one; its structure decides: the bytes wait until there are a name and arguments, and
 * if it turns out to be no call they leave as text, without being read again.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { Outcome } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import { CallObject } from "./call-object.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closing, closingThen, control, cut, isCut, nameTooLong, skip, speak, tooDeep, tooLong } from "./steps.ts";

export interface JsonForm {
  /** Pairs of marks that may surround calls which no other mark announces. */
  readonly wrappers?: Readonly<Record<string, string>>;
  /** The keys that such a call may begin with. */
  readonly firstKeys?: ReadonlySet<string>;
  /** Tags that may separate two such calls outside a list, as a comma or a semicolon may; they are never text. */
  readonly tags?: readonly string[];
  /** A call object without arguments is malformed; and so is anything in a list, after a call, that is no call. */
  readonly needsArguments?: boolean;
  /** Reads a call object that is not of the usual form. */
  readonly object?: new (
    s: Scan,
  ) => CallObject;
  /** The dialect's marks. In a call object none of them can appear outside a string. */
  readonly marks: readonly string[];
}

/** The calls of a form. Where they may begin differs from dialect to dialect: `json-places.ts` has the choices. */
export interface JsonCalls {
  readonly openers: Marks;
  /** In a call object none of these can appear outside a string. */
  readonly marks: Marks;
  /** The dialect's marks. */
  readonly own: readonly string[];
  /** After a mark: an object or a list of objects. */
  readonly marked: Step;
  /** After a mark, a wrapper or a bracket. */
  readonly inside: Step;
  /** Whether such a mark opens a call here. */
  opens(s: Scan, mark: string): boolean;
  /** At an opener. `block`: the flags for what surrounds the call, if they change. */
  open(s: Scan, mark: string, block?: number): Step;
}

// Flags in `s.block`, for what surrounds a call.

export const LIST = 1;
/** A mark announced the calls. */
export const MARKED = 2;
/** This is meant as a call: if it cannot be read it is malformed. Otherwise it is text. */
export const SURE = 4;
/** Only the name of a declared tool makes it a call, because other text came before it. In a list it is the first name that counts. */
export const STRICT = 8;

/** Most call objects begin like this, and little else does: it finds them in prose and after something unreadable. */
export const OBJECT = '{"name"';
const TWICE = new Marks([`{${OBJECT}`]);
const OBJECTS = [OBJECT, '{"arguments"', '{"parameters"', '{"tool_name"', '{"tool_call_id"'];

export function jsonCalls(form: JsonForm): JsonCalls {
  const { wrappers = {}, firstKeys, tags = [], needsArguments = false, object: Reading = CallObject } = form;
  const openers = new Marks(["{", "[", ...Object.keys(wrappers)]);
  const between = new Marks([...openers.list, "]", ",", ";", ...tags, ...Object.values(wrappers)]);
  const marks = new Marks([...form.marks, ...Object.values(wrappers)]);
  const elements = new Marks([...marks.list, ...OBJECTS]);
  const elementEnds = new Marks([...elements.list, ",", "]"]);

  const opens = (s: Scan, mark: string): boolean => openers.list.includes(mark) && mark !== s.fence;

  const open = (s: Scan, mark: string, block?: number): Step => {
    if (block !== undefined) around(s, block);
    s.bound(s.block & SURE ? tooLong : release);
    if (mark === "{") {
      s.openCall();
      s.object = new Reading(s);
      s.begin(JSON_SYNTAX, undefined, marks, undefined, 1);
      return inObject;
    }
    s.pos += mark.length;
    if (mark === "[") s.block |= LIST;
    else {
      s.closer = wrappers[mark] ?? "";
      if (openers.list.includes(s.closer)) s.fence = s.closer;
    }
    return inside;
  };

  const inside: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    const list = s.block & LIST;
    if (code === 123 && s.block & MARKED && !list) return doubled;
    if (code === 123) return open(s, "{");
    if (code === 91 && !list) return open(s, "[");
    if (!(s.block & SURE)) return release;
    if (code === 93 && list) return behind;
    const mark = s.match(s.table.ends);
    if (mark === undefined) return undefined;
    if (s.unclosed && (code === -1 || s.stops.list.includes(mark))) return ended; // it was meant to close the block of the last call
    if (mark !== "") return broken(s, "empty", "the block is empty");
    const skip = broken(s, "no-name", "a JSON object was expected", !list);
    return list ? nextElement : skip;
  };

  /** Behind a mark an object may have its braces twice, as in the text of a format string. Superfluous closing ones are passed over anywhere. */
  const doubled: Step = (s) => {
    const mark = s.match(TWICE);
    if (mark === undefined) return undefined;
    if (mark !== "") s.pos++;
    return open(s, "{");
  };

  const inObject: Step = (s) => {
    const { object } = s;
    if (!object) return release;
    for (;;) {
      const outcome = s.read();
      object.piece(s);
      if (outcome === undefined) return undefined;
      if (outcome !== "field" && outcome !== "value") return endObject(s, object, outcome);
      if (outcome === "value") object.value(s);
      else if (object.field(s) && !(s.block & SURE) && firstKeys?.has(s.key) === false) return release;
      const { name, id, hasArguments } = object;
      if (s.call?.id !== undefined) continue;
      if (object.fault?.code === "too-long") return nameTooLong;
      if (object.fault !== undefined && !(s.block & SURE)) return release;
      if (name === undefined || !(hasArguments || (!needsArguments && s.block & SURE && s.block & MARKED))) continue;
      if (s.block & STRICT && !s.declares(name)) return release;
      s.startCall(name, id);
      s.bound(tooLong);
    }
  };

  const endObject = (s: Scan, object: CallObject, outcome: Outcome): Step => {
    const { name, id, fault } = object;
    const { call } = s;
    if (outcome === "done" && call?.id === undefined && !needsArguments && isCallWithoutArguments(s, object)) s.startCall(name ?? "", id);
    if (call?.id === undefined && !(s.block & SURE)) return release;
    if (outcome === "cut" && call?.id === undefined && object.atArguments(s) && object.name !== undefined) s.startCall(object.name, id);
    if (outcome === "cut" && fault?.code !== "too-deep") return cut;
    if (outcome === "deep") return tooDeep;
    if (outcome === "long") return nameTooLong;
    if (outcome === "bad" && !lacksBrace(s, object)) {
      const skip = broken(s, "bad-arguments", s.reason);
      return (s.block & (LIST | MARKED)) === MARKED ? skip : nextElement;
    }
    if (name === undefined) s.malformed("no-name", fault?.reason ?? "the call has no name");
    else if (fault !== undefined) s.malformed(fault.code, fault.reason);
    else if (call?.id === undefined || object.strange) s.malformed("bad-arguments", "the call has no arguments");
    else s.endCall(false, id);
    s.unclosed = (s.block & MARKED) !== 0 || s.closer !== "";
    s.prose = false;
    if ((s.block & (MARKED | LIST)) === MARKED) return closingOne;
    s.bound(release);
    if (s.block & LIST) s.block = (s.block & ~STRICT) | (needsArguments ? SURE : 0);
    return behind;
  };

  /** After an unreadable element: the next one is still read. */
  const nextElement: Step = (s) => {
    const mark = s.until(elements);
    if (mark === undefined) return undefined;
    if (!s.fault || !OBJECTS.includes(mark)) return skip;
    s.malformed(s.fault.code, s.fault.reason);
    s.block |= SURE;
    return open(s, "{");
  };
  /** In a list, at something that is no object. */
  const stray: Step = (s) => {
    const mark = s.until(elementEnds);
    if (mark === undefined) return undefined;
    broken(s, "no-name", "a JSON object was expected");
    if (mark !== "," && mark !== "]") return nextElement;
    s.malformed("no-name", "a JSON object was expected");
    s.bound(release);
    return behind;
  };

  /** After a call: the rest of its block, or the next call. */
  const behindCall =
    (separated: boolean): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      const mark = s.match(between);
      if (mark === undefined) return undefined;
      const list = (s.block & LIST) !== 0;
      const marked = (s.block & MARKED) !== 0;
      if (mark === "]" && list) {
        s.pos++;
        s.control();
        if (marked) return closing;
        s.bound(release);
        s.block &= ~(LIST | SURE);
        return behind;
      }
      const isTag = tags.includes(mark) && !list;
      if (isTag || (!separated && (mark === "," || (mark === ";" && !list)))) {
        s.pos += mark.length;
        if (list || isTag) s.keepMarks();
        return separatedBehind;
      }
      if (mark !== "" && mark === s.closer && !list) {
        s.pos += mark.length;
        return ended;
      }
      if (list || marked ? mark === "{" : opens(s, mark)) {
        if (!list && marked) s.block &= ~SURE;
        return open(s, mark);
      }
      if (list && (separated ? s.block & SURE : marked) && code !== -1) {
        const end = s.match(marks);
        if (end === undefined) return undefined;
        if (end === "") {
          s.bound(tooLong);
          return stray;
        }
      }
      if (marked && (list || separated)) return closing;
      if (!isCut(s, [s.closer])) return release;
      s.pos = s.stop;
      return ended;
    };
  const behind = behindCall(false);
  const separatedBehind = behindCall(true);
  /** After an object that is not in a list: its block's closer, or another object. Anything else is text. */
  const closingOne = closingThen(speak, behind);

  const marked: Step = (s) => {
    around(s, MARKED | SURE);
    s.bound(tooLong);
    return inside;
  };

  return { openers, marks, own: form.marks, marked, inside, opens, open };
}

/** Begins a block with these flags. */
export function around(s: Scan, block: number): void {
  s.block = block;
  s.closer = "";
}

const ended: Step = (s) => {
  s.unbound();
  s.unclosed = false;
  s.fence = "";
  return control;
};

/** What waits turned out to be no call. */
export const release: Step = (s) => {
  s.call = undefined;
  s.unbound();
  const raw = s.holdsNoCall ? s.undo() : s.sayRaw();
  const newline = raw.lastIndexOf("\n");
  s.lineStart = newline >= 0 ? raw.slice(newline).trim() === "" : s.lineStart && raw.trim() === "";
  s.prose ||= raw.trim() !== "" && !s.thinking;
  return speak;
};

/** Whether only the call's last brace is missing: the arguments are complete, and the block's closer follows. */
const lacksBrace = (s: Scan, { hasArguments }: CallObject): boolean =>
  s.depth === 1 && hasArguments && s.json.complete && (s.block & LIST) === 0 && s.table.closers.has(s.match(s.marks) ?? "");

/** `{"name": "f"}` may well be an answer; it is a call if `f` is a declared tool that takes no arguments. */
function isCallWithoutArguments(s: Scan, { name, hasArguments, strange }: CallObject) {
  const tool = name && s.toolNamed(name);
  return tool && !hasArguments && !strange && Object.keys(tool.parameters?.properties ?? {}).length === 0;
}
