/**
 * Calls in a section, each with a header that names it, followed by a JSON object:
 * `<section begin> <call begin> HEADER {…} <call end> … <section end>`. Any of these marks may be missing, except the one that opens a call.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { JsonObject } from "../../core/nouns.ts";
import { MAX_NAME } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, control, cut, isCut, jsonArguments, readArguments, readThen, releaseBlanks, speak, tooLong } from "./steps.ts";
import { THINK_TAGS } from "./table.ts";

/** Each kind of mark may be spelled in several ways. */
export interface SectionMarks {
  readonly begin: readonly string[];
  readonly end: readonly string[];
  readonly open: readonly string[];
  readonly close: readonly string[];
  readonly stops: readonly string[];
  /** Marks that may come between the object and the call's closer. */
  readonly fences?: readonly string[];
  /** If given, other text in a section is passed over, up to these marks; otherwise it is malformed. */
  readonly noise?: readonly string[];
}

export type NameByArguments = (s: Scan, args: JsonObject) => string | undefined;

export interface Sections {
  /** After the mark that begins a section. */
  readonly section: Step;
  /** After the mark that opens a call outside any section. */
  readonly call: Step;
  /** After a header: reads the object. The name may depend on the arguments. */
  object(s: Scan, name: string | NameByArguments, id?: string): Step;
  /** The same for a call that has started. */
  readonly read: Step;
  /** Marks that can appear neither in a header nor, outside a string, in an object. */
  readonly marks: readonly string[];
}

/** `header` reads on after the mark that opens a call, up to the object. */
export function sectionSteps({ begin, end, open, close, stops, fences = [], noise }: SectionMarks, header: Step): Sections {
  const within = [...begin, ...open, ...close];
  const marks = [...begin, ...end, ...open, ...close, ...stops];
  const next = new Marks([...open, ...end, ...begin, ...stops, ...THINK_TAGS.close, ...(noise ?? [])]);
  /** What may come between the object and the closer: superfluous braces, too. */
  const passed = ["}", ...fences];
  const closers = [...close, ...fences];
  const objectMarks = new Marks([...marks, ...fences]);
  const behindObject = new Marks([...marks, ...passed]);

  /** In a section, before a call. Anything before it goes into the `raw` of the next event. */
  const inSection =
    (next: Step): Step =>
    (s) => {
      s.behind = behindInSection;
      s.resume = resume;
      s.bound(overflow, MAX_NAME);
      return next;
    };
  /** A mark that is not one of the section's own has ended it. */
  const resume = (mark: string): Step => (within.includes(mark) ? more : speak);
  const between: Step = (s) => {
    if (noise) s.until(next);
    else if (s.blanks() === undefined) return undefined;
    const mark = s.match(next);
    if (mark === undefined) return undefined;
    if (open.includes(mark)) {
      s.pos += mark.length;
      return opened;
    }
    if (noise?.includes(mark)) return broken(s, "no-name", "the call has no opening mark");
    if (s.table.unthink.has(mark) && !s.owed && !s.holding) {
      if (!noise) return unexpected(s);
      s.pos += mark.length;
      return between;
    }
    if (mark === "" && isCut(s, end)) s.pos = s.stop;
    else if (mark === "" && !(s.last && s.pos === s.stop)) return noise ? undefined : unexpected(s);
    s.unbound();
    if (end.includes(mark)) s.pos += mark.length;
    return control;
  };
  const section = inSection(between);
  /** After a call. Where the section's end is missing, another section may follow, or the closer of the thinking: those are not unreadable. */
  const more = inSection((s) => {
    if (s.blanks() === undefined) return undefined;
    const mark = s.match(s.ends);
    if (mark === undefined) return undefined;
    if (mark === "" || s.table.closers.has(mark) || marks.includes(mark)) return between;
    s.unbound();
    return control;
  });
  const unexpected = (s: Scan): Step => broken(s, "no-name", "a call was expected in the section");
  const overflow: Step = (s) => {
    s.control();
    return more;
  };

  const call: Step = (s) => {
    s.behind = behindAlone;
    s.resume = undefined;
    return opened;
  };
  const opened: Step = (s) => {
    s.openCall();
    s.bound(tooLong);
    s.word = "";
    return header;
  };

  const read = jsonArguments(objectMarks);

  const object: Sections["object"] = (s, name, id) => {
    if (typeof name === "string") {
      s.startCall(name, id);
      return read;
    }
    s.openCall();
    readArguments(s, JSON_SYNTAX, objectMarks, s.behind);
    return readThen((s) => {
      const found = name(s, (s.json.value ?? {}) as JsonObject);
      if (found === undefined) return broken(s, "no-name", "no declared tool fits the arguments");
      s.startCall(found, id);
      s.endCall();
      return s.behind;
    });
  };

  /**
   * After a call: its closer, else `other`. In a section, blanks and a fence before another mark go into
   * the next `raw`; outside they are `control`.
   */
  const behind =
    (after: Step, other = after): Step =>
    (s) => {
      const step: Step = (s) => {
        if (s.blanks() === undefined) return undefined;
        const mark = s.match(behindObject);
        if (mark === undefined) return undefined;
        const closes = close.includes(mark);
        if (closes || passed.includes(mark)) s.pos += mark.length;
        if (passed.includes(mark)) {
          s.keepMarks();
          return step;
        }
        if (mark === "" && isCut(s, closers)) s.pos = s.stop;
        else if (mark === "" || (after === more && !closes)) return other;
        s.unbound();
        s.control();
        return after;
      };
      s.bound(other);
      return step;
    };
  const behindInSection = behind(more);
  const behindAlone = behind(speak, releaseBlanks);

  return { section, call, object, read, marks };
}

/** The input ended in a header, or a mark came too early. */
export const headerCut = (s: Scan, mark: string): Step =>
  mark === "" ? cut : broken(s, "no-name", "the header of the call is not complete");
