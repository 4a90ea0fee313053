/**
 * The events of a chat for reading:
 *
 *     ┊ They want red.                                thinking, dimmed
 *     ● change_background_color {"color":"red"}      a call, as it is written
 *       └ {"color":"#ff0000"}                        its result, folded
 *     It is red now.                                 the answer
 */
import type { ChatEvent } from "../../chat/index.ts";
import { isObject } from "../../core/json.ts";
import type { Json, Media, ToolCall, Usage } from "../../core/nouns.ts";
import { counted, Flow, type Palette, visible, widthOf } from "../terminal.ts";
import { Prose } from "./prose.ts";

export interface ScreenOptions {
  readonly palette: Palette;
  readonly width: number;
  /** Whether the user can give commands, such as `/show`. */
  readonly hasCommands?: boolean;
}

/** Longer results are folded; `/show` prints them whole. */
const RESULT_LINES = 3;
/** A longer call is folded while it is written. */
const CALL_LINES = 3;
const MAX_WIDTH = 100;

type Part = { readonly kind: "text" | "thinking"; readonly prose: Prose } | { readonly kind: "call"; chars: number; room: number };

export class Screen {
  readonly #palette: Palette;
  readonly #width: number;
  readonly #hasCommands: boolean;
  #part: Part | undefined;
  /** What was printed before: parts are separated by a blank line, but a result follows its call directly. */
  #above: "nothing" | "call" | "other" = "nothing";
  /** The ids of this turn's calls, in order: `/show n` has the result of the nth, whichever tool was done first. */
  readonly #ids: (string | undefined)[] = [];
  /** How many calls the current answer has: with several, each result is labelled with its tool. */
  #calls = 0;
  #answered = false;
  /** A call of that answer was not printed whole. */
  #folded = false;

  constructor({ palette, width, hasCommands = true }: ScreenOptions) {
    this.#palette = palette;
    this.#width = Math.min(width, MAX_WIDTH);
    this.#hasCommands = hasCommands;
  }

  /** Whether a line is open, so that nothing else may be written. */
  get isOpen(): boolean {
    return this.#part !== undefined;
  }

  /** Returns the text to print for this event. */
  print(event: ChatEvent): string {
    const { dim, red, yellow } = this.#palette;
    switch (event.type) {
      case "text":
      case "refusal":
        return this.#say("text", event.text);
      case "thinking-delta":
        return this.#say("thinking", event.text);
      case "thinking-end":
      case "finish":
        return this.end();
      case "tool-start":
        return this.#beginCall(event.name, event.id);
      case "tool-delta":
        return this.#writeCall(event.json);
      case "tool-end":
        return this.#endCall(event.truncated ? yellow(" ✂ cut off, not run") : "");
      case "malformed": {
        const begun = this.#part?.kind === "call" ? "" : this.#beginCall("a call", event.id);
        return `${begun}${this.#endCall(red(` ✘ cannot be read: ${visible(event.reason)}`))}`;
      }
      case "tool-result":
        return this.#result(event);
      case "left-out":
        return this.#note(dim(`… ${event.messages} earlier messages no longer fit into the model's context and are not sent`));
      default:
        return "";
    }
  }

  /** Ends the open line. */
  end(): string {
    const part = this.#part;
    this.#part = undefined;
    if (!part) return "";
    return part.kind === "call" ? "\n" : part.prose.end();
  }

  #say(kind: "text" | "thinking", text: string): string {
    if (this.#part?.kind === kind) return this.#part.prose.add(text);
    const begun = text.replace(/^\s+/, ""); // models often begin with blank lines
    if (begun === "") return "";
    const { dim } = this.#palette;
    const prose = new Prose({ palette: this.#palette, width: this.#width, ...(kind === "thinking" ? { margin: "┊ ", style: dim } : {}) });
    const gap = this.#begin("other");
    this.#part = { kind, prose };
    return gap + prose.add(begun);
  }

  #begin(what: "call" | "other"): string {
    const end = this.end();
    const gap = this.#above === "nothing" || (this.#above === "call" && what === "call") ? "" : "\n";
    this.#above = what;
    return end + gap;
  }

  #note(text: string): string {
    return `${this.#begin("other")}${text}\n`;
  }

  // ---- Calls

  #beginCall(name: string, id: string | undefined): string {
    const { bold, green } = this.#palette;
    const gap = this.#begin("call");
    const shown = visible(name);
    this.#ids.push(id);
    this.#calls = this.#answered ? 1 : this.#calls + 1;
    this.#folded &&= !this.#answered;
    this.#answered = false;
    this.#part = { kind: "call", chars: 0, room: CALL_LINES * this.#width - widthOf(shown) - 3 };
    return `${gap}${green("●")} ${bold(shown)} `;
  }

  #writeCall(json: string): string {
    const part = this.#part;
    if (part?.kind !== "call") return "";
    const shown = visible(json);
    const now = shown.slice(0, Math.max(part.room, 0));
    part.room -= shown.length;
    part.chars += json.length;
    return this.#palette.dim(now);
  }

  #endCall(note: string): string {
    const part = this.#part;
    const { dim } = this.#palette;
    const isCut = part?.kind === "call" && part.room < 0;
    const more = isCut ? dim(`… ${part.chars.toLocaleString("en")} characters`) : "";
    this.#folded ||= isCut;
    return `${more}${note}${this.end()}`;
  }

  /** A whole call, for the question whether it may run; "" if it is already shown above, whole and alone. */
  whole({ name, arguments: given }: ToolCall): string {
    if (this.#calls === 1 && !this.#folded) return "";
    return this.#wrapped([visible(name), ...wholeResult(given)])
      .map((line) => `    ${line}\n`)
      .join("");
  }

  #wrapped(lines: readonly string[]): string[] {
    return lines.flatMap((line) => new Flow({ palette: this.#palette, indent: 0, width: this.#width - 5 }).add(line).split("\n"));
  }

  #result({ id, name, output, media = [], isError }: Extract<ChatEvent, { type: "tool-result" }>): string {
    const { dim, red } = this.#palette;
    const begun = this.end();
    this.#above = "call";
    this.#answered = true;
    const [first = "", ...others] = resultLines(output, media);
    const whose = this.#calls > 1 ? `${visible(name)}: ` : "";
    const lines = this.#wrapped([whose + first, ...others]);
    const shown = lines.slice(0, RESULT_LINES);
    const more = lines.length - shown.length;
    const how = this.#hasCommands ? `: /show ${this.#ids.indexOf(id) + 1}` : "";
    if (more > 0) shown.push(`… ${counted(more, "more line")}${how}`);
    const style = isError ? red : dim;
    return begun + shown.map((line, i) => `  ${dim(i === 0 ? "└" : " ")} ${style(line)}\n`).join("");
  }
}

/** The lines of a result, with control characters escaped. */
function resultLines(output: Json, media: readonly Media[]): string[] {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return [...(text === "" && media.length > 0 ? [] : text.split("\n")), ...media.map(nameOf)].map(visible);
}

/** A whole result for reading: strings in an object as text, the rest as indented JSON. */
export function wholeResult(output: Json, media: readonly Media[] = []): string[] {
  const linesOf = (value: Json): string[] => (typeof value === "string" ? value : JSON.stringify(value, null, 2)).split("\n");
  const field = ([key, value]: [string, Json]): string[] => {
    const [first = "", ...more] = linesOf(value);
    return more.length === 0 ? [`${key}: ${first}`] : [`${key}:`, ...[first, ...more].map((line) => `  ${line}`)];
  };
  const lines = isObject(output) ? Object.entries(output).flatMap(field) : linesOf(output);
  return [...lines, ...media.map(nameOf)].map(visible);
}

const nameOf = ({ mediaType, data = "", name = "" }: Media): string =>
  `[${mediaType} ${name || `${Math.ceil((data.length * 3) / 4)} bytes`}]`;

/** `231 in · 24 out`, as far as known. */
export function usageText({ inputTokens, outputTokens, cachedTokens }: Usage): string {
  const count = (n: number): string => n.toLocaleString("en");
  return [
    ...(inputTokens === undefined ? [] : [`${count(inputTokens)} in${cachedTokens ? ` (${count(cachedTokens)} cached)` : ""}`]),
    ...(outputTokens === undefined ? [] : [`${count(outputTokens)} out`]),
  ].join(" · ");
}

/** Text of the answer for a pipe. Control characters are escaped here, too. */
export const plainText = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((piece) => (piece === "\n" || piece === "\t" ? piece : visible(piece)))
    .join("");
