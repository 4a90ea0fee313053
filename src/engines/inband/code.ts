/**
 * Tracks where Markdown shows code in text that arrives in pieces: between fences of three or more characters, and between runs of
 * backticks in a line. The length of a run is known only when another character follows, so `inside` is told the next character.
 */

interface Fence {
  readonly kind: "fence";
  readonly char: string;
  readonly length: number;
  /** Still on the line that opened it: if the same run follows there, this was inline code. */
  opening: boolean;
}

interface Inline {
  readonly kind: "inline";
  readonly length: number;
}

/** In Markdown, a line indented by more blanks than this is code. */
const MAX_INDENT = 3;

export class CodeTracker {
  #code: Fence | Inline | undefined;
  #run: { readonly char: string; length: number; readonly atLineStart: boolean } | undefined;
  /** Blanks at the beginning of the line; -1 once anything else was seen on it. */
  #indent = 0;
  #line = { blank: true, quoted: false, indented: false };
  #last = "\n";

  /** Whether text that begins with `next` is code. */
  inside(next: string): boolean {
    if (this.#run && this.#run.char !== next) this.#settle(next);
    return this.#code !== undefined;
  }

  /** Whether the line shows what follows rather than says it: a quotation, an indented block, an opening quote or bracket. */
  get shown(): boolean {
    const { quoted, indented } = this.#line;
    return quoted || indented || this.#indent > MAX_INDENT || OPENING.test(this.#last);
  }

  see(text: string): void {
    for (const char of text) this.#see(char);
  }

  #see(char: string): void {
    this.#last = char;
    if (this.#run?.char === char) {
      this.#run.length++;
      return;
    }
    if (this.#run) this.#settle(char);
    if (char === "\n") this.#newline();
    else if (char === "`" || char === "~") {
      this.#run = { char, length: 1, atLineStart: this.#indent >= 0 && this.#indent <= MAX_INDENT };
      this.#content(char);
    } else if ((char === " " || char === "\t") && this.#indent >= 0) this.#indent += char === "\t" ? 4 : 1;
    else this.#content(char);
  }

  #content(char: string): void {
    if (this.#indent < 0 || char === "\r") return;
    this.#line = { blank: false, quoted: char === ">", indented: this.#indent > MAX_INDENT };
    this.#indent = -1;
  }

  #newline(): void {
    if (this.#code?.kind === "fence") this.#code.opening = false;
    else if (this.#line.blank) this.#code = undefined; // inline code ends with its paragraph at the latest
    this.#line = { blank: true, quoted: false, indented: false };
    this.#indent = 0;
  }

  /** The run is complete: `next` follows it. */
  #settle(next: string): void {
    const run = this.#run;
    const code = this.#code;
    this.#run = undefined;
    if (!run) return;
    if (code?.kind === "inline") {
      if (run.char === "`" && run.length === code.length) this.#code = undefined;
    } else if (code) {
      const same = run.char === code.char && run.length >= code.length;
      if (same && (code.opening || (run.atLineStart && /\s/.test(next)))) this.#code = undefined;
    } else if (run.atLineStart && run.length >= 3) this.#code = { kind: "fence", char: run.char, length: run.length, opening: true };
    else if (run.char === "`") this.#code = { kind: "inline", length: run.length };
  }
}

/** Characters that open a quotation or an aside. */
const OPENING = /["'“‘«‹„([]/;
