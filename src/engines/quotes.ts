/**
 * A mark of the dialect that the model spells in plain tokens is a quotation: someone wrote `<|tool_call>` into a message, and the model
 * repeats it. So is a mark inside JSON that a grammar enforces. The scanner sees only text and would take it for the mark. So the first
 * character of a quoted mark is replaced before the scanner, and restored in its events.
 */
import type { Event } from "../core/nouns.ts";
import { beginningAtEnd } from "./stops.ts";

/** Unicode noncharacters, which do not occur in text; one for each first character of a mark. */
const FIRST_STAND_IN = 0xfdd0;

export class Quotes<Said extends { readonly text: string }> {
  readonly #marks: readonly string[];
  readonly #standIns: ReadonlyMap<string, string>;
  readonly #firsts: ReadonlyMap<string, string>;
  /** Plain text whose end may be the beginning of a mark. */
  #held: Said[] = [];
  #hasQuoted = false;

  constructor(marks: readonly string[]) {
    this.#marks = marks.filter((mark) => mark.length > 1);
    const firsts = [...new Set(this.#marks.map((mark) => mark.charAt(0)))];
    this.#standIns = new Map(firsts.map((first, i) => [first, String.fromCharCode(FIRST_STAND_IN + i)]));
    this.#firsts = new Map([...this.#standIns].map(([first, standIn]) => [standIn, first]));
  }

  /** Takes text of plain tokens; returns what can go to the scanner now. */
  feed(said: Said): Said[] {
    this.#held.push(said);
    let text = textOf(this.#held);
    for (const mark of this.#marks) {
      for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark)) {
        this.#replace(at, this.#standIns.get(mark.charAt(0)) ?? "");
        text = textOf(this.#held);
      }
    }
    const keep = Math.max(0, ...this.#marks.map((mark) => beginningAtEnd(text, mark)));
    const free: Said[] = [];
    for (let rest = text.length; this.#held.length > 0 && rest - this.#held[0]!.text.length >= keep; ) {
      const said = this.#held.shift()!;
      rest -= said.text.length;
      free.push(said);
    }
    return free;
  }

  flush(): Said[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #replace(at: number, standIn: string): void {
    this.#hasQuoted = true;
    let before = 0;
    this.#held = this.#held.map((said) => {
      const { text } = said;
      const place = at - before;
      before += text.length;
      const isHere = place >= 0 && place < text.length;
      return isHere ? { ...said, text: text.slice(0, place) + standIn + text.slice(place + 1) } : said;
    });
  }

  restore(events: Event[]): Event[] {
    if (!this.#hasQuoted) return events;
    return events.map((event) => {
      const text = JSON.stringify(event);
      const standIns = [...this.#firsts.keys()].filter((standIn) => text.includes(standIn));
      if (standIns.length === 0) return event;
      return JSON.parse(standIns.reduce((text, standIn) => text.replaceAll(standIn, this.#firsts.get(standIn) ?? ""), text)) as Event;
    });
  }
}

const textOf = (held: readonly { readonly text: string }[]): string => held.map((said) => said.text).join("");
