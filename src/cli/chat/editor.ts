/**
 * The user's input. At the prompt, lines are edited as in a shell, with a saved history; pasted text is one message, however many lines it
 * has; a line that ends in `\` continues on the next. While the model answers, Ctrl-C stops the answer, and text typed ahead appears when
 * the prompt comes back; a message that was ended with Enter is sent then.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface, emitKeypressEvents, type Key } from "node:readline";
import { clearLine, obeys, visibleLines } from "../terminal.ts";
import { Reading, type ReadingOptions } from "./reading.ts";

const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
const MAX_HISTORY = 1000;
const LEAVE = Symbol("leave");
const MAX_ANSWER = 8;

interface Question {
  readonly text: string;
  readonly words: readonly string[];
  /** What had been typed ahead when the question came. */
  readonly before: string;
  done(word: string): void;
}

export interface EditorOptions extends Pick<ReadingOptions, "input" | "output" | "palette"> {
  /** Holds the lines of earlier chats. */
  readonly historyFile: string;
  /** Completions for Tab. */
  readonly complete: (line: string) => string[];
}

export class Editor {
  readonly #options: EditorOptions;
  /** The newest first, as in `readline`. */
  #history: string[];
  /** What was typed ahead: complete messages or Ctrl-D, and below it a message that is not complete. */
  #queue: (string | typeof LEAVE)[] = [];
  #ahead = "";
  #pasting = false;
  /** The prompt gets the keys; otherwise they are kept as typed ahead. */
  #atPrompt = false;
  #question: Question | undefined;
  #onInterrupt: (() => void) | undefined;

  constructor(options: EditorOptions) {
    this.#options = options;
    this.#history = readHistory(options.historyFile);
  }

  /** From now on keys are read, which keeps the process alive until `close`. */
  open(): void {
    const { input } = this.#options;
    emitKeypressEvents(input);
    input.on("keypress", this.#key);
  }

  /** Restores the terminal. */
  close(): void {
    const { input, output } = this.#options;
    input.off("keypress", this.#key);
    input.setRawMode(false);
    input.pause();
    if (obeys(output)) output.write(PASTE_OFF);
  }

  /** The user's next message; `undefined`: the user leaves. */
  read(): Promise<string | undefined> {
    const { input, output, palette, complete } = this.#options;
    const prompt = `${palette.cyan("›")} `;
    const queued = this.#queue.shift();
    if (queued === LEAVE) return Promise.resolve(undefined);
    if (queued !== undefined) {
      output.write(`${prompt}${visibleLines(queued)}\n`);
      this.#remember(queued);
      return Promise.resolve(queued);
    }
    const reader = createInterface({
      input,
      output,
      prompt,
      history: [...this.#history],
      historySize: MAX_HISTORY,
      removeHistoryDuplicates: true,
      completer: (line: string): [string[], string] => [complete(line), line],
    });
    const keys = input.listeners("keypress").at(-1) as ReadingOptions["keys"];
    if (obeys(output)) output.write(PASTE_ON);
    this.#atPrompt = true;
    return new Promise((resolve) => {
      const reading = new Reading({ ...this.#options, reader, keys, prompt }, (text) => {
        this.#atPrompt = false;
        if (text) this.#remember(text);
        resolve(text);
      });
      reading.begin(this.#ahead, this.#pasting);
      this.#ahead = "";
      this.#pasting = false;
    });
  }

  /** Calls `onInterrupt` at Ctrl-C, until the returned function is called. */
  listen(onInterrupt: () => void): () => void {
    this.#onInterrupt = onInterrupt;
    this.#keys();
    return () => {
      this.#onInterrupt = undefined;
    };
  }

  /** Asks for one of these words, or its beginning, and Enter. A single key would not do: it may be meant for a message typed ahead. */
  ask(text: string, words: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const { output } = this.#options;
    output.write(text);
    this.#keys();
    return new Promise((resolve) => {
      const done = (word?: string): void => {
        const { before = "" } = this.#question ?? {};
        this.#ahead = before + (word === undefined ? this.#ahead : "");
        this.#question = undefined;
        signal.removeEventListener("abort", abort);
        output.write(clearLine(output));
        resolve(word);
      };
      const abort = (): void => done();
      this.#question = { text, words, before: this.#ahead, done };
      this.#ahead = "";
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) done();
    });
  }

  /** Reads single keys, not lines. */
  #keys(): void {
    this.#options.input.setRawMode(true);
    this.#options.input.resume();
  }

  readonly #key = (text: string | undefined, { name, ctrl, meta }: Key): void => {
    if (this.#atPrompt) return;
    if (ctrl && name === "c") this.#onInterrupt?.();
    else if ((name as string) === "paste-start" || (name as string) === "paste-end") this.#pasting = (name as string) === "paste-start";
    else if (name === "backspace") this.#type(this.#ahead.replace(/.$/su, ""), "\b \b");
    else if (name === "return" || name === "enter") this.#enter();
    else if (ctrl && name === "d" && this.#ahead === "") this.#queue.push(LEAVE);
    else if (text !== undefined && !ctrl && !meta && (text >= " " || (this.#pasting && text === "\t")))
      this.#type(this.#ahead + text, text);
  };

  /** Echoes the answer to a question. Longer text cannot be one, and is not echoed. */
  #type(ahead: string, seen: string): void {
    if (this.#question && ahead !== this.#ahead && Math.max(ahead.length, this.#ahead.length) <= MAX_ANSWER)
      this.#options.output.write(seen);
    this.#ahead = ahead;
  }

  #enter(): void {
    if (this.#pasting) this.#ahead += "\n";
    else if (this.#question && this.#answers(this.#question)) return;
    else if (this.#ahead.endsWith("\\")) this.#ahead = `${this.#ahead.slice(0, -1)}\n`;
    else {
      if (this.#ahead.trim() !== "") this.#queue.push(this.#ahead);
      this.#ahead = "";
    }
  }

  /** Whether the line answers the question. If not, it belongs to a message typed ahead, and the question is asked again. */
  #answers({ text, words, before, done }: Question): boolean {
    const line = this.#ahead.trim().toLowerCase();
    const word = words.find((word) => word === line || (line !== "" && before === "" && word.startsWith(line)));
    if (word !== undefined) done(word);
    else if (line !== "") {
      this.#ahead = before + this.#ahead;
      this.#question = { text, words, before: "", done };
      this.#options.output.write(clearLine(this.#options.output) + text);
    }
    return word !== undefined;
  }

  #remember(text: string): void {
    const line = text.replaceAll("\n", " ");
    if (this.#history[0] === line) return;
    this.#history = [line, ...this.#history.filter((other) => other !== line)].slice(0, MAX_HISTORY);
    const { historyFile } = this.#options;
    try {
      mkdirSync(dirname(historyFile), { recursive: true });
      appendFileSync(historyFile, `${line}\n`, { mode: 0o600 });
    } catch {
      // If the file cannot be written, the chat goes on without a saved history.
    }
  }
}

function readHistory(file: string): string[] {
  try {
    const all = readFileSync(file, "utf8").split("\n").filter(Boolean).reverse();
    const lines = [...new Set(all)].slice(0, MAX_HISTORY);
    if (all.length > 2 * MAX_HISTORY) writeFileSync(file, `${lines.toReversed().join("\n")}\n`, { mode: 0o600 });
    return lines;
  } catch {
    return []; // there is no file yet
  }
}
