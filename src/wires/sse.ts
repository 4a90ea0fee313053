/** Reads and writes server-sent events, `event: ping\ndata: {}\n\n`. The text that is read may be cut anywhere. */
import { Pile } from "../core/pile.ts";
import { added } from "./read.ts";

export interface SseEvent {
  /** The value of the `event:` line; `""`: there was none. */
  event: string;
  data: string;
}

/** The frame of another framing as an event without a name; none if it is empty. */
export const frame = (data: string): SseEvent[] => (data === "" ? [] : [{ event: "", data }]);

const DATA = "data: ";
/** A field that older llama-servers send instead of `data` if the answer fails. */
const ERROR = "error";

/** Reads events however lines end: LF, CRLF or CR. */
export class SseReader {
  readonly #line = new Pile();
  /** The last piece ended with a CR: an LF at the start of the next one belongs to it. */
  #afterReturn = false;
  #first = true;
  #event = "";
  #data: string | undefined;
  /** The event is a JSON object without a field name, over several lines: Google sends errors in mid-stream this way. */
  #bare = false;
  #events: SseEvent[] = [];

  feed(text: string): SseEvent[] {
    let from = 0;
    if (text !== "" && this.#first) {
      this.#first = false;
      if (text.charCodeAt(0) === 0xfeff) from = 1;
    }
    if (this.#afterReturn && from < text.length) {
      this.#afterReturn = false;
      if (text.charCodeAt(from) === 10) from++;
    }
    // The next LF and the next CR are remembered: searching for a CR again at every line would be quadratic in a text without one.
    let feed = text.indexOf("\n", from);
    let carriage = text.indexOf("\r", from);
    while (feed >= 0 || carriage >= 0) {
      if (carriage < 0 && this.#isBetween && text.charCodeAt(feed + 1) === 10 && text.startsWith(DATA, from)) {
        // Nearly all events are one line of data and a blank line.
        this.#events = added(this.#events, { event: "", data: text.slice(from + DATA.length, feed) });
        from = feed + 2;
        feed = text.indexOf("\n", from);
        continue;
      }
      const end = carriage < 0 || (feed >= 0 && feed < carriage) ? feed : carriage;
      const line = this.#rest(text.slice(from, end));
      from = end + 1;
      if (end === carriage) {
        if (from === text.length) this.#afterReturn = true;
        else if (feed === from) from++;
        carriage = text.indexOf("\r", from);
      }
      if (feed >= 0 && feed < from) feed = text.indexOf("\n", from);
      this.#endLine(line);
    }
    if (from < text.length) this.#line.add(text.slice(from));
    return this.#take();
  }

  /** Ends the stream: the last event counts even without the blank line after it. */
  flush(): SseEvent[] {
    this.#endLine(this.#rest(""));
    this.#endLine("");
    return this.#take();
  }

  /** Between two events: none has begun. */
  get #isBetween(): boolean {
    return this.#data === undefined && this.#event === "" && this.#line.length === 0;
  }

  #take(): SseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** The whole line, which may have begun in an earlier piece. */
  #rest(end: string): string {
    if (this.#line.length === 0) return end;
    this.#line.add(end);
    const line = this.#line.toString();
    this.#line.clear();
    return line;
  }

  #endLine(line: string): void {
    if (line === "") {
      if (this.#data !== undefined) this.#events = added(this.#events, { event: this.#event, data: this.#data });
      this.#event = "";
      this.#data = undefined;
      this.#bare = false;
      return;
    }
    this.#bare ||= line[0] === "{";
    const error = valueOfField(line, ERROR);
    if (error !== undefined) this.#event = ERROR;
    const data = valueOfField(line, "data") ?? error ?? (this.#bare ? line : undefined);
    if (data === undefined) this.#event = valueOfField(line, "event") ?? this.#event;
    else this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
  }
}

/** The value of this field; `undefined`: the line is another field, or a comment. */
function valueOfField(line: string, field: string): string | undefined {
  const colon = field.length;
  if (!line.startsWith(field)) return undefined;
  if (line.length === colon) return "";
  return line[colon] === ":" ? line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1) : undefined;
}

/** One event. The data is JSON text without line ends. */
export const sseEvent = (data: string, event?: string): string =>
  event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`;

/** A comment, which keeps the stream alive and which clients ignore. */
export const HEARTBEAT = ":\n\n";
