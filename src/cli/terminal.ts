/**
 * Output for reading in a terminal. Text of a model goes through `Flow` or `visible`, which make its control characters visible: an escape
 * sequence of a model must never reach the terminal.
 */
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";

export type Style = (text: string) => string;

/** The part of `process.stdout` that the commands use. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

/** Writes, and waits if the reader is slow. */
export async function send(output: NodeJS.WriteStream, text: string): Promise<void> {
  if (text !== "" && !output.write(text)) await once(output, "drain");
}

// ---- colours

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Palette = Readonly<Record<keyof typeof CODES, Style>>;

export const plain: Style = (text) => text;

/** The colours for an output; they do nothing if it should have none. */
export function paletteOf(output: Output): Palette {
  const style = ([on, off]: readonly [number, number]): Style =>
    wantsColor(output) ? (text) => (text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`) : plain;
  const { bold, dim, red, green, yellow, magenta, cyan } = CODES;
  return {
    bold: style(bold),
    dim: style(dim),
    red: style(red),
    green: style(green),
    yellow: style(yellow),
    magenta: style(magenta),
    cyan: style(cyan),
  };
}

/** As on no-color.org. If `NO_COLOR` and `FORCE_COLOR` disagree, there are no colours. */
function wantsColor(output: Output): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR || FORCE_COLOR === "0" || FORCE_COLOR === "false") return false;
  return FORCE_COLOR !== undefined || obeys(output);
}

// ---- redrawing

/** Whether the output obeys escape sequences: a dumb terminal, such as that of Emacs, prints them. */
export const obeys = ({ isTTY }: Output): boolean => isTTY === true && process.env.TERM !== "dumb";

export const clearLine = (output: Output): string => (obeys(output) ? "\r\x1b[K" : "\r");

// ---- words

/** `1 call`, `2 calls`. */
export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

// ---- control characters

/** Control, invisible and bidirectional format characters, and lone surrogates; not the joiners that some scripts and emoji need. */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return SHORT[char] ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`);
}

/** Fast path: these characters need no escaping. */
const PLAIN = /^[ -~]*$/;

/** The text on one line, with control characters escaped. */
export const visible = (text: string): string => (PLAIN.test(text) ? text : text.replace(HIDDEN, escapeOf));

/** The same, but line breaks are kept. */
export const visibleLines = (text: string): string => text.split("\n").map(visible).join("\n");

/**
 * JSON text in which characters that JSON allows but a terminal would obey or hide are escaped, too; the value stays the same. Line breaks
 * and tabs can only be between its tokens.
 */
export function visibleJson(json: string): string {
  const units = (char: string) => char.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return json.replace(HIDDEN, (char) => (/[\n\t]/.test(char) ? char : units(char).join("")));
}

/** One such line. */
export const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value));

// ---- width

const NARROW = /[\p{Mn}\p{Me}\u200c\u200d]/u;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many columns visible text takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += char < "\u0300" ? 1 : NARROW.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

export const widthOfScreen = (output: Output): number => output.columns || 80;

/** Below this width, columns go under each other. */
export const TWO_COLUMNS = 72;

/** Pads text, styled or not, to a width. */
const padded = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(stripVTControlCharacters(text))));

/** Puts blocks of lines side by side, each in a column of its own width. */
export function beside(blocks: readonly (readonly string[])[], widths: readonly number[], { dim }: Palette): string[] {
  const height = Math.max(...blocks.map(({ length }) => length));
  const row = (at: number): string => blocks.map((lines, i) => padded(lines[at] ?? "", widths[i] ?? 0)).join(` ${dim("│")} `);
  return Array.from({ length: height }, (_, at) => row(at).trimEnd());
}

/** The line between the titles of such columns and the rest. */
export const ruled = (widths: readonly number[]): string => widths.map((width) => "─".repeat(width)).join("─┼─");

// ---- text in a column

/** A line may break at spaces, and, for JSON and code, after separators and opening brackets. */
const TOKENS = new RegExp(`\\n|${HIDDEN.source}| +|(?:(?!${HIDDEN.source})[^ ,;:{([])*[,;:{([]+|(?:(?!${HIDDEN.source})[^ ,;:{([])+`, "gu");

export interface Column {
  readonly palette: Palette;
  /** Where lines begin, and how far they go. */
  readonly indent: number;
  readonly width: number;
}

/** Wraps text into a column while it arrives. A line break of the text is shown as ↵. */
export class Flow {
  readonly #column: Column;
  readonly #limit: number;
  #at: number;
  /** The text had a line break; a new line begins when more text comes. */
  #broken = false;

  constructor(column: Column, at = column.indent) {
    this.#column = column;
    this.#at = at;
    this.#limit = Math.max(column.width - 1, column.indent + 8); // the last place is for ↵
  }

  /** Returns what to print for the added text. */
  add(text: string, style: Style = plain): string {
    const { dim, magenta } = this.#column.palette;
    let out = "";
    let run = ""; // text of one style
    const end = (): void => {
      out += this.#styled(run, style);
      run = "";
    };
    for (const [token] of text.matchAll(TOKENS)) {
      if (this.#broken) run += this.newLine();
      this.#broken = token === "\n";
      if (token === "\n") {
        end();
        out += dim("↵");
      } else if (token.search(HIDDEN) === 0) {
        end();
        out += this.#styled(this.#word(escapeOf(token)), magenta);
      } else run += token.startsWith(" ") ? this.#blanks(token) : this.#word(token);
    }
    end();
    return out;
  }

  newLine(): string {
    this.#broken = false;
    this.#at = this.#column.indent;
    return `\n${" ".repeat(this.#at)}`;
  }

  /** Ends the style at the end of each line, and begins it again after the indent. */
  #styled(text: string, style: Style): string {
    const { indent } = this.#column;
    const [first = "", ...lines] = text.split("\n");
    return style(first) + lines.map((line) => `\n${line.slice(0, indent)}${style(line.slice(indent))}`).join("");
  }

  #blanks(blanks: string): string {
    if (this.#at + blanks.length > this.#limit) return this.newLine();
    this.#at += blanks.length;
    return blanks;
  }

  #word(word: string): string {
    const width = widthOf(word);
    if (this.#at + width <= this.#limit) {
      this.#at += width;
      return word;
    }
    if (width <= this.#limit - this.#column.indent) return this.newLine() + this.#word(word);
    // Longer than a line: broken anywhere.
    let out = "";
    for (const char of word) {
      const width = widthOf(char);
      if (this.#at + width > this.#limit) out += this.newLine();
      out += char;
      this.#at += width;
    }
    return out;
  }
}
