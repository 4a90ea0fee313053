/** The conversation itself: in a terminal, with piped lines, or for one prompt. */
import { fstatSync } from "node:fs";
import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Chat, ChatEvent, Turn } from "../../chat/index.ts";
import type { Media, Text, ToolCall } from "../../core/nouns.ts";
import { Complaint } from "../complaint.ts";
import { readText } from "../input.ts";
import { counted, jsonLine, type Palette, paletteOf, send, visible, widthOfScreen } from "../terminal.ts";
import { completions, costOf, isCommand, runCommand, type Talk } from "./commands.ts";
import { Editor } from "./editor.ts";
import { Terminal } from "./offline.ts";
import { Prose } from "./prose.ts";
import { plainText, Screen } from "./screen.ts";
import { type ChatFlags, type Person, type Setup, setUp } from "./setup.ts";
import { Spinner } from "./spinner.ts";
import { stateFolder } from "./state.ts";

export interface Streams {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
}

export async function chat(flags: ChatFlags, streams: Streams = process): Promise<void> {
  const { stdin, stdout } = streams;
  const terminal = new Terminal(stdout);
  const restore = (): void => terminal.restore();
  process.on("exit", restore);
  const isConversation = flags.prompt === undefined && stdin.isTTY && stdout.isTTY;
  const conversation = isConversation ? new Conversation(streams) : undefined;
  const setup = await setUp(flags, terminal, conversation ?? SCRIPT);
  try {
    if (conversation) await conversation.run(setup);
    else if (flags.prompt !== undefined) await answerOnce(flags.prompt, setup, flags);
    else await answerLines(setup, flags);
  } finally {
    await setup.close();
    restore();
    process.off("exit", restore);
  }
}

// ---- Without a terminal

/** Scripts are not asked: what may run was decided with the options. */
const SCRIPT: Person = {
  ask: () => true,
  warn: (message) => void process.stderr.write(`dragoman: ${visible(message)}\n`),
};

/** `-p`: piped input is appended to the prompt. */
async function answerOnce(prompt: string, { chat }: Setup, { json = false }: ChatFlags): Promise<void> {
  const text = [prompt, await pipedIn()].filter((part) => part.trim() !== "").join("\n\n");
  if (text === "") throw new Complaint("the prompt is empty, and there is no piped input: there is nothing to answer");
  await answer(chat, text, json);
}

/**
 * How long to wait for piped input, since a caller may leave stdin open and write nothing. Node gives every child process a socket (on Windows
 * a pipe), mostly unused; a shell makes a pipe only on purpose.
 */
const FIRST_BYTE_MS = { pipe: 2000, socket: 500 };

async function pipedIn(): Promise<string> {
  const { stdin } = process;
  const kind = stdin.isTTY ? undefined : kindOfStdin();
  if (!kind) return "";
  const isThere = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, FIRST_BYTE_MS[kind], false);
    const settle = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    stdin.once("readable", settle).once("end", settle);
  });
  if (isThere) return (await readText()).trimEnd();
  stdin.destroy();
  if (kind === "pipe") process.stderr.write("dragoman: no piped input; going on without it\n");
  return "";
}

type Kind = keyof typeof FIRST_BYTE_MS;

/** By the bits of a file's mode that say what it is, because on Windows `isFIFO` is always false. A file is read like a pipe. */
const KINDS: ReadonlyMap<number, Kind> = new Map([
  [0o010000, "pipe"],
  [0o100000, "pipe"],
  [0o140000, "socket"],
]);

function kindOfStdin(): Kind | undefined {
  try {
    return KINDS.get(fstatSync(0).mode & 0o170000);
  } catch {
    return undefined; // there is no stdin at all
  }
}

/** Every piped line is a message. Whoever stops an answer wants no answer to the next line either. */
async function answerLines({ chat }: Setup, { json = false }: ChatFlags): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) if (line.trim() !== "" && !(await answer(chat, line, json))) break;
}

/** `false`: it was stopped. */
async function answer(chat: Chat, text: string, json: boolean): Promise<boolean> {
  const abort = new AbortController();
  const stop = (): void => abort.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const print = json ? (event: ChatEvent) => `${jsonLine(event)}\n` : printerFor();
  let ended = "";
  for await (const event of chat.send(text, { signal: abort.signal })) {
    await send(process.stdout, print(event));
    if (event.type !== "turn-end") continue;
    const { reason } = event.turn;
    if (reason === "aborted") process.exitCode = 130;
    else if (reason !== "stop") ended = whyOf(event.turn);
  }
  process.off("SIGINT", stop).off("SIGTERM", stop);
  if (ended !== "") throw new Complaint(ended);
  return !abort.signal.aborted;
}

const ENDINGS: Readonly<Record<string, string>> = {
  length: "the answer was cut off at the limit of its length",
  "content-filter": "the answer was stopped by a content filter",
  "tool-calls": "the model called a tool that cannot be run here",
  "max-steps": "the model called tools again and again, and was stopped",
};

/** Why a turn ended without a complete answer, and when to try again, if the server says so. */
function whyOf({ reason, error }: Turn): string {
  const { message = ENDINGS[reason] ?? reason, retryAfterMs } = error ?? {};
  return retryAfterMs === undefined ? message : `${message} (try again in ${Math.ceil(retryAfterMs / 1000)} s)`;
}

/** In a terminal, prints as in a conversation; in a pipe, only the text of the answer. */
function printerFor(): (event: ChatEvent) => string {
  if (process.stdout.isTTY) {
    const screen = new Screen({ palette: paletteOf(process.stdout), width: widthOfScreen(process.stdout), hasCommands: false });
    return (event) => (event.type === "turn-end" ? screen.end() : screen.print(event));
  }
  let last = "\n";
  return (event) => {
    const text = event.type === "text" || event.type === "refusal" ? plainText(event.text) : "";
    if (text !== "") last = text;
    // Text before and after a call is on separate lines, and the last line is ended.
    if (event.type !== "finish" || last.endsWith("\n")) return text;
    last = "\n";
    return last;
  };
}

// ---- In a terminal

const EXAMPLES = ["What is 17 * (3 + 4)?", "Make the background dark blue", 'Write "Hello from Dragoman" into hello.txt'];

class Conversation implements Person {
  readonly #output: WriteStream;
  readonly #palette: Palette;
  readonly #spinner: Spinner;
  readonly #editor: Editor;
  /** Tools that the user has always allowed. */
  readonly #allowed = new Set<string>();
  /** Prints the current answer. */
  #screen: Screen | undefined;
  /** Printed after the answer. */
  #warnings: string[] = [];

  constructor({ stdin: input, stdout: output }: Streams) {
    const palette = paletteOf(output);
    this.#output = output;
    this.#palette = palette;
    this.#spinner = new Spinner(output, palette);
    this.#editor = new Editor({ input, output, palette, historyFile: stateFolder("history"), complete: completions });
  }

  async run(setup: Setup): Promise<void> {
    const { chat, speaker, sources, open } = setup;
    const width = (): number => widthOfScreen(this.#output);
    const talk: Talk = { chat, speaker, sources, open, palette: this.#palette, width };
    const close = (): void => this.#editor.close();
    const leave: NodeJS.SignalsListener = (_, number = 0) => process.exit(128 + number); // `exit` restores the terminal
    process.on("exit", close).on("SIGTERM", leave).on("SIGHUP", leave);
    this.#output.write(welcome(setup, talk));
    this.#editor.open();
    try {
      await this.#converse(talk);
    } finally {
      process.off("exit", close).off("SIGTERM", leave).off("SIGHUP", leave);
      close();
    }
  }

  async #converse(talk: Talk): Promise<void> {
    for (;;) {
      const text = (await this.#editor.read())?.trim();
      if (text === undefined) break;
      if (isCommand(text)) {
        if (!(await this.#command(text, talk))) return;
      } else if (text !== "") await this.#say(text, talk);
    }
    this.#output.write("\n");
  }

  /** Asks before a tool of --tool or --mcp runs. */
  async ask(call: ToolCall, signal: AbortSignal): Promise<boolean | string> {
    if (this.#allowed.has(call.name)) return true;
    const { bold, dim, yellow } = this.#palette;
    this.#spinner.stop();
    this.#output.write(this.#screen?.whole(call) ?? "");
    const question = `  ${yellow("?")} run ${bold(visible(call.name))}  ${dim("yes, no or always, and Enter:")} `;
    const word = await this.#editor.ask(question, ["yes", "no", "always"], signal);
    if (word === "always") this.#allowed.add(call.name);
    if (!signal.aborted) this.#spinner.start();
    return word === "yes" || word === "always" || "they said no";
  }

  warn(message: string): void {
    this.#warnings.push(message);
  }

  /** `false`: the user leaves. */
  async #command(text: string, talk: Talk): Promise<boolean> {
    const abort = new AbortController();
    const stopListening = this.#editor.listen(() => abort.abort(new Complaint("stopped")));
    try {
      const { text: shown, send: again, leave } = await runCommand(text, talk, abort.signal).finally(stopListening);
      if (leave) return false;
      if (shown !== undefined) this.#output.write(`\n${shown}\n`);
      if (again !== undefined) await this.#say(again, talk);
    } catch (error) {
      this.#output.write(`\n${this.#palette.red(visible((error as Error).message))}\n\n`);
    }
    return true;
  }

  async #say(text: string | readonly (Text | Media)[], talk: Talk): Promise<void> {
    const output = this.#output;
    const spinner = this.#spinner;
    const abort = new AbortController();
    const stopListening = this.#editor.listen(() => {
      if (!abort.signal.aborted) return abort.abort();
      this.#editor.close();
      process.exit(130); // the second Ctrl-C ends the program
    });
    const screen = new Screen({ palette: this.#palette, width: widthOfScreen(output) });
    this.#screen = screen;
    const began = performance.now();
    output.write("\n");
    spinner.start();
    try {
      for await (const event of talk.chat.send(text, { signal: abort.signal })) {
        const printed = screen.print(event);
        if (printed !== "") spinner.stop();
        await send(output, printed);
        if (!screen.isOpen && event.type !== "turn-end") spinner.start();
      }
    } finally {
      spinner.stop();
      stopListening();
    }
    const warnings = this.#warnings.map((message) => `${this.#palette.yellow(visible(message))}\n`).join("");
    this.#warnings = [];
    output.write(`${screen.end()}\n${warnings}${ending(talk, (performance.now() - began) / 1000)}\n`);
  }
}

function welcome({ chat, folder, sources }: Setup, { speaker, palette, width }: Talk): string {
  const { bold, cyan, dim } = palette;
  const { source, model } = speaker;
  const about = (text: string): string => {
    const prose = new Prose({ palette, width: width(), style: dim });
    return prose.add(text) + prose.end();
  };
  const tools = chat.tools.length === 0 ? "no tools" : counted(chat.tools.length, "tool");
  const files = chat.tools.some(({ tool }) => tool.name === "write_file") ? [`files are in ${folder}`] : [];
  const examples = chat.turns.length > 0 || chat.tools.length === 0 ? [] : EXAMPLES;
  return [
    `\n${bold("Dragoman")} ${dim("·")} ${bold(visible(model.id))} ${dim(source.about)}\n`,
    source.note === undefined ? "" : about(source.note),
    about([tools, ...files, ...(sources.length > 1 ? ["/model lists other models"] : []), "/help for more"].join(" · ")),
    chat.turns.length > 0 ? about(`continuing a conversation of ${counted(chat.turns.length, "turn")}`) : "",
    "\n",
    ...examples.map((example, i) => `${dim(i === 0 ? "try" : "   ")}  ${cyan(example)}\n`),
    examples.length > 0 ? "\n" : "",
  ].join("");
}

/** The line below a turn: how it ended, its steps, tokens and time. */
function ending({ chat, palette: { dim, red, yellow } }: Talk, seconds: number): string {
  const turn = chat.turns.at(-1);
  const cost = dim([costOf(chat), `${seconds.toFixed(1)} s`].filter(Boolean).join(" · "));
  if (!turn || turn.reason === "stop") return `${cost}\n`;
  if (turn.reason === "aborted") return `${yellow("stopped")}  ${cost}\n`;
  return `${red(visible(whyOf(turn)))}  ${cost}${dim(" · /retry sends it again, /undo removes it")}\n`;
}
