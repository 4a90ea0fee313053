/**
 * A mark of the dialect that the model spells in plain tokens is a quotation: someone wrote `<|tool_call>` into a message, and the model
 * repeats it. So is a mark inside JSON that a grammar enforces. The scanner sees only text and would take it for the mark. So the first
 * character of a quoted mark is replaced before the scanner, and restored in its events.
 */
import type { Event } from "../core/nouns.ts";
import { beginningAtEnd } from "./stops.ts";

/** Unicode noncharacters, which do not occur in text; one for each first character of a mark. */
const STAND_INS = /[\ufdd0-\ufdef]/g;
const FIRST_STAND_IN = 0xfdd0;

export class Quotes<Said extends { readonly text: string }> {
  /** The first characters of marks, in the order of their stand-ins. */
  readonly #firsts: readonly string[];
  /** Each mark, and what the scanner gets for it, which is as long. */
  readonly #marks: readonly (readonly [mark: string, quoted: string])[];
  /** Plain text whose end may be the beginning of a mark. */
  #held: Said[] = [];
  #hasQuoted = false;

  constructor(marks: readonly string[]) {
    const long = marks.filter((mark) => mark.length > 1);
    this.#firsts = [...new Set(long.map((mark) => mark.charAt(0)))];
    const standInOf = (mark: string) => String.fromCharCode(FIRST_STAND_IN + this.#firsts.indexOf(mark.charAt(0)));
    this.#marks = long.map((mark) => [mark, standInOf(mark) + mark.slice(1)]);
  }

  /** Takes text of plain tokens; returns what can go to the scanner now. */
  feed(said: Said): Said[] {
    this.#held.push(said);
    const given = this.#held.map((one) => one.text).join("");
    const text = this.#marks.reduce((text, [mark, quoted]) => text.replaceAll(mark, () => quoted), given);
    if (text !== given) {
      this.#hasQuoted = true;
      let end = 0;
      this.#held = this.#held.map((one) => {
        end += one.text.length;
        return { ...one, text: text.slice(end - one.text.length, end) };
      });
    }
    const keep = Math.max(0, ...this.#marks.map(([mark]) => beginningAtEnd(text, mark)));
    let rest = text.length;
    const kept = this.#held.findIndex((one) => {
      rest -= one.text.length;
      return rest < keep;
    });
    return this.#held.splice(0, kept < 0 ? this.#held.length : kept);
  }

  flush(): Said[] {
    return this.#held.splice(0);
  }

  restore(events: Event[]): Event[] {
    if (!this.#hasQuoted) return events;
    return events.map((event) => {
      const text = JSON.stringify(event);
      const restored = text.replace(STAND_INS, (standIn) => this.#firsts[standIn.charCodeAt(0) - FIRST_STAND_IN] ?? standIn);
      return restored === text ? event : (JSON.parse(restored) as Event);
    });
  }
}
