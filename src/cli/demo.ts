/** `dragoman demo`: plays an answer through the scanner, with the model's text beside the events that carry it. */
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { bytesOf } from "../dialects/scan/scan.ts";
import { createFold, type Event, getDialect } from "../index.ts";
import { question, tokens, tools } from "./demo-answer.ts";
import { EventPrinter, partLines } from "./show.ts";
import { beside, Flow, type Output, obeys, type Palette, paletteOf, ruled, TWO_COLUMNS, widthOfScreen } from "./terminal.ts";

/** About how long the whole answer takes. */
const DURATION_MS = 10_000;
const MAX_WIDTH = 132;

export function addDemo(program: Command): void {
  program
    .command("demo")
    .summary("watch the scanner at work")
    .description("Plays an answer in Gemma 4's dialect through the scanner: the model's text on the left, the events on the right.")
    .option("--fast", "play without pauses, as in a pipe")
    .addHelpText("after", "\nExample:\n  dragoman demo --fast")
    .action(({ fast = false }: { fast?: boolean }) => demo(process.stdout, fast || !obeys(process.stdout)));
}

export async function demo(output: Output, fast: boolean): Promise<void> {
  const screen = new Screen(output);
  const leave = (): void => {
    screen.close();
    screen.print("\n"); // after the ^C
    process.exit(130);
  };
  process.once("SIGINT", leave).once("SIGTERM", leave);
  try {
    await play(screen, fast);
  } finally {
    screen.close();
    process.off("SIGINT", leave).off("SIGTERM", leave);
  }
}

async function play(screen: Screen, fast: boolean): Promise<void> {
  const scanner = getDialect("gemma4").createScanner({ tools });
  const fold = createFold();
  const pairs = new Pairs(screen);
  let carried = 0;
  const take = (events: readonly Event[]): void => {
    for (const event of events) {
      fold.add(event);
      carried += bytesOf(event).length;
      pairs.event(event);
    }
    pairs.show();
  };
  screen.print(heading(screen));
  for (const token of tokens) {
    pairs.text(token);
    take(scanner.feed(token));
    if (!fast) await pause(DURATION_MS / tokens.length);
  }
  take(scanner.flush());
  pairs.end();
  screen.print(ending(screen, partLines(fold.response().content, screen), carried));
}

// ---- heading and ending

const NEXT = [
  ["the events in the output of your own model", "npx dragoman scan -d gemma4 output.txt"],
  ["the prompt for an OpenAI request", "npx dragoman render -d gemma4 request.json"],
  ["the library in fifteen lines", "README.md"],
] as const;

function heading({ palette, width, left, right, isWide }: Screen): string {
  const { bold, dim } = palette;
  const titles = isWide
    ? [...beside([[bold("the model writes")], [bold("the scanner says")]], [left, right], palette), dim(ruled([left, right]))].join("\n")
    : `${bold("the model writes")}\n${dim("│")} ${bold("the scanner says")}\n`;
  return `\n${bold("Dragoman")}: Gemma 4's dialect, token by token\n${new Flow({ palette, width, indent: 0 }).add(`asked: ${question}`, dim)}\n\n${titles}\n`;
}

function ending({ palette, width }: Screen, response: string, carried: number): string {
  const { bold, dim, cyan } = palette;
  const total = tokens.join("").length;
  const account = `${total} characters came in, ${carried} are in the events: nothing was lost.`;
  return `
${bold("the events, folded into a response")}

${response}
${new Flow({ palette, width, indent: 0 }).add(account, dim)}

${bold("next")}
${NEXT.map(([what, how]) => `  ${what}\n    ${cyan(how)}\n`).join("")}`;
}

// ---- pairs of text and events

const DELTAS: ReadonlySet<Event["type"]> = new Set(["text", "thinking-delta"]);

/** Pairs of the model's text and the events that carry it, one below the other. The last pair still grows. */
class Pairs {
  readonly #screen: Screen;
  /** Text that no event carries yet. */
  #waiting = "";
  #text = "";
  #events: Event[] = [];
  #inCall = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  text(token: string): void {
    this.#waiting += token;
  }

  event(event: Event): void {
    const grows = this.#inCall || (DELTAS.has(event.type) && this.#events[0]?.type === event.type);
    if (!grows) this.end();
    this.#inCall = event.type === "tool-start" || event.type === "tool-delta";
    const bytes = bytesOf(event);
    this.#text += bytes;
    this.#waiting = this.#waiting.slice(bytes.length);
    this.#events.push(event);
  }

  show(): void {
    this.#screen.draw([
      ...(this.#events.length > 0 ? this.#rows(this.#inCall ? this.#waiting : this.#text, this.#events) : []),
      ...(this.#waiting !== "" && !this.#inCall ? this.#rows(this.#waiting, []) : []),
    ]);
  }

  /** Ends the current pair. */
  end(): void {
    if (this.#events.length === 0) return;
    this.#screen.draw(this.#rows(this.#text, this.#events));
    this.#screen.keep();
    this.#text = "";
    this.#events = [];
  }

  #rows(text: string, events: readonly Event[]): string[] {
    const { palette, left, right, isWide } = this.#screen;
    const flow = new Flow({ palette, indent: 0, width: left });
    const model = markedUp(text, flow, palette).split("\n");
    const printer = new EventPrinter({ palette, width: right, brief: true });
    const said = (events.map((event) => printer.print(event)).join("") + printer.end()).split("\n").slice(0, -1);
    return isWide ? beside([model, said], [left, right], palette) : [...model, ...said.map((line) => `${palette.dim("│")} ${line}`)];
  }
}

/** Colours the control tokens in the model's text. */
function markedUp(text: string, flow: Flow, { cyan }: Palette): string {
  const parts = text.split(/(<\|?[a-z_"]+\|?>)/);
  return parts.map((part, i) => flow.add(part, i % 2 ? cyan : undefined)).join("");
}

// ---- the screen

/** Final lines, and below them a few that are redrawn. In a pipe each line is written once, when it is final. */
class Screen {
  readonly palette: Palette;
  readonly width: number;
  readonly isWide: boolean;
  readonly left: number;
  readonly right: number;
  readonly #output: Output;
  #drawn: readonly string[] = [];
  /** How many of the drawn lines have scrolled out of reach. */
  #gone = 0;
  #cursorHidden = false;

  constructor(output: Output) {
    this.#output = output;
    this.palette = paletteOf(output);
    this.width = Math.min(MAX_WIDTH, widthOfScreen(output));
    this.isWide = this.width >= TWO_COLUMNS;
    this.left = this.isWide ? Math.floor((this.width - 3) * 0.45) : this.width;
    this.right = this.isWide ? this.width - 3 - this.left : this.width - 2;
  }

  print(text: string): void {
    this.#output.write(text);
  }

  draw(lines: readonly string[]): void {
    if (obeys(this.#output)) {
      const up = this.#drawn.length - this.#gone;
      const hide = this.#cursorHidden ? "" : "\x1b[?25l";
      this.#cursorHidden = true;
      const rows = lines.slice(this.#gone).map((line) => `${line}\x1b[K\n`);
      this.print(`${hide}${up > 0 ? `\x1b[${up}A` : ""}${rows.join("")}\x1b[J`);
      this.#gone = Math.max(this.#gone, lines.length - Math.max(2, (this.#output.rows ?? 24) - 1));
    }
    this.#drawn = lines;
  }

  keep(): void {
    if (!obeys(this.#output)) this.print(this.#drawn.map((line) => `${line.trimEnd()}\n`).join(""));
    this.#drawn = [];
    this.#gone = 0;
  }

  /** Restores the terminal. */
  close(): void {
    if (this.#cursorHidden) this.print("\x1b[?25h");
    this.#cursorHidden = false;
  }
}
