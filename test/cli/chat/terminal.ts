// A terminal for the chat, driven by a test: a real one in tmux, or streams that look like one.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { PassThrough, Writable } from "node:stream";
import type { ReadStream, WriteStream } from "node:tty";
import { envWith, main } from "../run.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export interface Screenful {
  /** Resolves when the screen shows this. */
  shows(text: string | RegExp): Promise<string>;
  /** Keys as tmux names them: `Enter`, `C-c`; anything else is typed. */
  type(...keys: string[]): Promise<void>;
}

/** After this long the test fails, and reports what the screen shows. */
const PATIENCE_MS = 20_000;

/** In control mode tmux reports new output of a pane: nothing is polled, and nothing sleeps. */
export class Tmux implements Screenful {
  readonly #client: ChildProcess;
  readonly #socket = `dragoman-${randomUUID()}`;
  #buffer = "";
  /** Replies that are waited for, in order. */
  readonly #replies: ((lines: string[]) => void)[] = [];
  #reply: string[] | undefined;
  readonly #listeners = new Set<() => void>();
  readonly exited: Promise<unknown>;

  constructor(args: readonly string[], env: Record<string, string>) {
    const command = [process.execPath, main, "chat", ...args].map((word) => `'${word}'`).join(" ");
    this.#client = spawn("tmux", ["-L", this.#socket, "-f", "/dev/null", "-C", "new-session", "-x", "100", "-y", "50", command], {
      env: envWith({ TERM: "xterm-256color", LANG: "C.UTF-8", ...env }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.exited = once(this.#client, "exit");
    this.#replies.push(() => {}); // the reply to new-session itself
    this.#client.stdout?.setEncoding("utf8").on("data", (text: string) => this.#read(text));
  }

  async type(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#command(NAMED.test(key) ? `send-keys ${key}` : `send-keys -l '${key.replaceAll("'", "'\\''")}'`);
  }

  async screen(): Promise<string> {
    return (await this.#command("capture-pane -p -S -200")).join("\n").trimEnd();
  }

  async styledScreen(): Promise<string> {
    return (await this.#command("capture-pane -p -e -S -200")).join("\n");
  }

  shows(text: string | RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(async () => reject(new Error(`${text} was not shown, but:\n${await this.screen()}`)), PATIENCE_MS);
      let looking = false;
      let again = false;
      const look = async (): Promise<void> => {
        if (looking) {
          again = true;
          return;
        }
        looking = true;
        do {
          again = false;
          const screen = await this.screen();
          if (typeof text === "string" ? screen.includes(text) : text.test(screen)) {
            clearTimeout(late);
            this.#listeners.delete(look);
            resolve(screen);
            return;
          }
        } while (again);
        looking = false;
      };
      this.#listeners.add(look);
      void look();
      void this.exited.then(() => reject(new Error(`the terminal is gone before it showed ${text}`)));
    });
  }

  async close(): Promise<void> {
    spawnSync("tmux", ["-L", this.#socket, "kill-server"], { stdio: "ignore" });
    await this.exited;
  }

  #command(text: string): Promise<string[]> {
    return new Promise((resolve) => {
      this.#replies.push(resolve);
      this.#client.stdin?.write(`${text}\n`);
    });
  }

  #read(text: string): void {
    this.#buffer += text;
    const lines = this.#buffer.split("\n");
    this.#buffer = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("%begin ")) this.#reply = [];
      else if (line.startsWith("%end ") || line.startsWith("%error ")) {
        this.#replies.shift()?.(this.#reply ?? []);
        this.#reply = undefined;
      } else if (this.#reply) this.#reply.push(line);
      else if (line.startsWith("%output ")) for (const listener of [...this.#listeners]) listener();
    }
  }
}

const NAMED = /^(Enter|C-[a-z]|Up|Down|Tab)$/;
const CODES: Readonly<Record<string, string>> = { Enter: "\r", Up: "\x1b[A", Down: "\x1b[B", Tab: "\t" };

/** Streams that claim to be a terminal: what is written is kept as it is. */
export class Streams implements Screenful {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  output = "";
  readonly #input = new PassThrough();
  #seen = 0;
  readonly #listeners = new Set<() => void>();

  constructor() {
    const input = this.#input;
    this.stdin = Object.assign(input, { isTTY: true, setRawMode: () => input }) as unknown as ReadStream;
    const output = new Writable({
      write: (chunk, _, done) => {
        this.output += String(chunk);
        for (const listener of [...this.#listeners]) listener();
        done();
      },
    });
    this.stdout = Object.assign(output, { isTTY: true, columns: 100, rows: 50 }) as unknown as WriteStream;
  }

  /** Only what was written since the last `shows`. */
  shows(text: string | RegExp): Promise<string> {
    return new Promise((resolve) => {
      const look = (): void => {
        const fresh = this.output.slice(this.#seen);
        const at = typeof text === "string" ? fresh.indexOf(text) : fresh.search(text);
        if (at < 0) return;
        this.#listeners.delete(look);
        this.#seen += at + 1;
        resolve(fresh);
      };
      this.#listeners.add(look);
      look();
    });
  }

  /** Types a line, then waits for each of these texts. */
  async says(line: string, ...shown: (string | RegExp)[]): Promise<void> {
    await this.type(line, "Enter");
    for (const one of shown) await this.shows(one);
  }

  async type(...keys: string[]): Promise<void> {
    for (const key of keys) this.#input.write(CODES[key] ?? (/^C-[a-z]$/.test(key) ? control(key) : key));
  }
}

const control = (key: string): string => String.fromCharCode(key.charCodeAt(2) - 96);
