/**
 * Prints a model's text on a terminal as it arrives: lines are wrapped between words, and Markdown is formatted (`# headings`, `**bold**`,
 * `` `code` ``, lists, fenced blocks). Control characters are escaped: none of them reaches the terminal.
 */
import { type Palette, plain, type Style, visible, widthOf } from "../terminal.ts";

export interface ProseOptions {
  readonly palette: Palette;
  /** The columns of the screen. */
  readonly width: number;
  /** Printed before every line. */
  readonly margin?: string;
  readonly style?: Style;
}

/** The rest of the line names the language. */
const FENCE = /^(```+|~~~+)[^`]*$/;
const TAB = "    ";

export class Prose {
  readonly #options: Required<ProseOptions>;
  /** The current word, or in a fenced block the current line, so far. */
  #word = "";
  /** How many columns of the line are used; -1: not even its margin is printed. */
  #column = -1;
  #lineStart = true;
  /** Spaces before the next word; dropped if the word goes to the next line. */
  #gap = "";
  /** The indent of wrapped lines, as in the items of a list. */
  #hang = 0;
  /** The fence of the current block; `#opening` holds it until the fence's own line ends. */
  #fence = "";
  #opening = "";
  #heading = false;
  #bold = false;
  #code = false;

  constructor({ palette, width, margin = "", style = plain }: ProseOptions) {
    this.#options = { palette, width, margin, style };
  }

  /** Returns what to print for the added text. */
  add(text: string): string {
    let out = "";
    for (const char of text) {
      if (this.#fence !== "") out += this.#inFence(char);
      else if (char === "\n") out += this.#endLine();
      else if (char === " " || char === "\t") out += this.#endWord() + this.#blank(char);
      else {
        this.#word += char;
        // Wide characters belong to scripts without spaces, where a line may break anywhere.
        if (widthOf(char) === 2) out += this.#endWord();
      }
    }
    return out;
  }

  /** Returns the rest, and ends the line. */
  end(): string {
    const rest = this.#fence !== "" && this.#word !== "" ? this.#inFence("\n") : this.#endWord();
    const newline = this.#column >= 0 ? "\n" : "";
    this.#reset();
    this.#fence = this.#opening = "";
    return rest + newline;
  }

  // ---- Lines

  #reset(): void {
    this.#column = -1;
    this.#lineStart = true;
    this.#gap = "";
    this.#hang = 0;
    this.#heading = false;
  }

  #endLine(): string {
    const blank = this.#column < 0 && this.#word === "";
    if (blank) this.#bold = this.#code = false; // bold and code end with their paragraph
    const word = this.#endWord();
    if (this.#opening !== "") {
      this.#fence = this.#opening;
      this.#opening = "";
      this.#reset();
      return "";
    }
    const out = `${word}${blank ? this.#options.style(this.#options.margin.trimEnd()) : ""}\n`;
    this.#reset();
    return out;
  }

  #inFence(char: string): string {
    if (char !== "\n") {
      this.#word += char;
      return "";
    }
    const line = this.#word;
    this.#word = "";
    if (line.trim().startsWith(this.#fence) && line.trim().replaceAll(this.#fence[0] ?? "", "") === "") {
      this.#fence = "";
      return "";
    }
    return `${this.#codeLine(line)}\n`;
  }

  /** Code is not wrapped, so that it can be copied. */
  #codeLine(line: string): string {
    const { palette, margin, style } = this.#options;
    return style(margin) + palette.cyan(`  ${visible(line.replaceAll("\t", TAB))}`);
  }

  // ---- Words

  #blank(char: string): string {
    if (this.#column < 0 && this.#heading) return ""; // neither a heading's marker nor the space after it is shown
    if (this.#column < 0) this.#hang += char === "\t" ? TAB.length : 1;
    else this.#gap += char === "\t" ? TAB : " ";
    return "";
  }

  #endWord(): string {
    const word = this.#word;
    this.#word = "";
    if (word === "" || this.#opening !== "") return "";
    const first = this.#lineStart;
    this.#lineStart = false;
    return (first ? this.#marker(word) : undefined) ?? this.#print(word);
  }

  /** Handles the first word of a line if it is a marker of Markdown. */
  #marker(word: string): string | undefined {
    const { palette } = this.#options;
    const [, fence] = FENCE.exec(word) ?? [];
    if (fence !== undefined) {
      this.#opening = fence;
      return "";
    }
    if (/^#{1,6}$/.test(word)) {
      this.#heading = true;
      return "";
    }
    if (/^[-*+]$/.test(word)) return this.#place("•", plain, 2);
    if (/^\d{1,3}[.)]$/.test(word)) return this.#place(word, plain, word.length + 1);
    if (/^(-{3,}|\*{3,}|_{3,})$/.test(word)) return this.#place("─".repeat(24), palette.dim, 0);
    return word === ">" ? this.#place("│", palette.dim, 2) : undefined;
  }

  #print(word: string): string {
    let out = "";
    let width = 0;
    for (const { 0: piece, index } of word.matchAll(/\*\*|`|(?:(?!\*\*)[^`])+/gu)) {
      // A mark that stands alone, or after a letter or digit as in 2**10, opens nothing. A `**` within code is text.
      const opens = word !== piece && !/[\p{L}\p{N}]/u.test(word[index - 1] ?? "");
      if (piece === "`" && (this.#code || opens)) this.#code = !this.#code;
      else if (piece === "**" && !this.#code && (this.#bold || opens)) this.#bold = !this.#bold;
      else {
        const shown = visible(piece);
        width += widthOf(shown);
        out += this.#styled(shown);
      }
    }
    return this.#place(out, plain, 0, width);
  }

  #styled(text: string): string {
    const { palette, style } = this.#options;
    if (this.#code) return palette.cyan(text);
    return this.#heading || this.#bold ? palette.bold(style(text)) : style(text);
  }

  /** Puts a word on this line or the next. `hang`: by how much the wrapped lines are indented further. */
  #place(text: string, style: Style, hang: number, width = widthOf(text)): string {
    const { margin, style: own, width: limit } = this.#options;
    const start = widthOf(margin) + this.#hang;
    let out = "";
    if (this.#column < 0) {
      out = own(margin) + " ".repeat(this.#hang);
      this.#column = start;
    } else if (this.#column + this.#gap.length + width > limit && this.#column > start) {
      out = `\n${own(margin)}${" ".repeat(this.#hang)}`;
      this.#column = start;
    } else {
      out = this.#gap;
      this.#column += this.#gap.length;
    }
    this.#gap = "";
    this.#hang += hang;
    this.#column += width;
    return out + style(text);
  }
}

/** A name, and beside it a wrapped text in a column of its own. */
export function row(
  left: string,
  style: Style,
  right: string,
  { palette, width, indent }: { palette: Palette; width: number; indent: number },
): string {
  const margin = " ".repeat(indent);
  const prose = new Prose({ palette, width: Math.max(width, indent + 20), margin });
  const lines = prose.add(right) + prose.end();
  const gap = indent - 3 - widthOf(left);
  return gap < 0 ? `  ${style(left)}\n${lines}` : `  ${style(left)}${" ".repeat(gap + 1)}${lines.slice(indent)}`;
}
