/** Reads one message at the prompt: continued lines, pasted text, and Ctrl-C. */
import type { Interface, Key } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { type Palette, visible } from "../terminal.ts";

export interface ReadingOptions {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly palette: Palette;
  readonly reader: Interface;
  /** The reader's own listener for keys. */
  readonly keys: (text: string | undefined, key: Key) => void;
  readonly prompt: string;
}

export class Reading {
  readonly #options: ReadingOptions;
  readonly #done: (text: string | undefined) => void;
  #lines: string[] = [];
  /** The pasted text so far, while a paste goes on. */
  #pasted: string | undefined;
  #over = false;
  #leaving = false;

  constructor(options: ReadingOptions, done: (text: string | undefined) => void) {
    this.#options = options;
    this.#done = done;
  }

  /** `pasting`: what was typed ahead ends in the middle of a paste. */
  begin(ahead: string, pasting: boolean): void {
    const { reader, input, output, prompt } = this.#options;
    reader.on("line", (line) => this.#line(line));
    reader.on("SIGINT", () => this.#interrupt());
    reader.on("SIGCONT", () => reader.prompt(true)); // after Ctrl-Z the reader is paused, and nothing else keeps the process alive
    reader.on("close", () => this.#end(undefined));
    input.on("keypress", this.#key);
    const lines = ahead.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      output.write(`${prompt}${visible(line)}\n`);
      this.#goOn(line);
    }
    reader.prompt();
    if (last !== "") reader.write(last);
    if (pasting) this.#paste();
  }

  readonly #key = (text: string | undefined, { name }: Key): void => {
    if ((name as string) === "paste-start") this.#paste();
    else if ((name as string) === "paste-end") this.#pasteEnd();
    else if (this.#pasted !== undefined) this.#pasted += text !== undefined && (text >= " " || /[\t\r\n]/.test(text)) ? text : "";
    else this.#leaving &&= name === "c";
  };

  /** `readline` redraws its line for every key and completes at tabs, so it gets pasted text all at once. */
  #paste(): void {
    this.#pasted = "";
    this.#options.input.off("keypress", this.#options.keys);
  }

  #pasteEnd(): void {
    const { reader, input, keys } = this.#options;
    input.on("keypress", keys);
    reader.write((this.#pasted ?? "").replace(/\r\n?/g, "\n"));
    this.#pasted = undefined;
  }

  #line(line: string): void {
    if (this.#pasted !== undefined) this.#goOn(line);
    else if (line.endsWith("\\")) this.#goOn(line.slice(0, -1));
    else {
      this.#end([...this.#lines, line].join("\n"));
      return;
    }
    this.#options.reader.prompt();
  }

  #goOn(line: string): void {
    const { reader, palette } = this.#options;
    this.#lines.push(line);
    reader.setPrompt(palette.dim("… "));
  }

  /** Ctrl-C clears the message; on an empty line, the second one leaves. */
  #interrupt(): void {
    const { reader, output, palette, prompt } = this.#options;
    if (reader.line === "" && this.#lines.length === 0) {
      if (this.#leaving) {
        this.#end(undefined);
        return;
      }
      this.#leaving = true;
      output.write(`\n${palette.dim("press Ctrl-C again to leave")}\n`);
    } else output.write("\n");
    this.#lines = [];
    reader.setPrompt(prompt);
    reader.write(null, { ctrl: true, name: "e" });
    reader.write(null, { ctrl: true, name: "u" });
    reader.prompt();
  }

  #end(text: string | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.input.off("keypress", this.#key);
    this.#options.reader.close();
    this.#done(text);
  }
}
