/** `dragoman scan`: prints the events in a model's output. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { isObject } from "../core/json.ts";
import { type Dialect, type Event, promptText, type ScannerOptions } from "../index.ts";
import { Complaint } from "./complaint.ts";
import { DIALECT, parseJson, readCount, readDialect, readText, readTools, required, textOf } from "./input.ts";
import { EventPrinter } from "./show.ts";
import { counted, jsonLine, paletteOf, send, widthOfScreen } from "./terminal.ts";

interface ScanFlags extends Pick<ScannerOptions, "startInThinking" | "callsInThinking" | "maxCallChars" | "maxDepth"> {
  dialect?: Dialect;
  tools?: string;
  prompt?: string;
  idPrefix?: string;
  split?: number | "random";
  seed?: number;
  json?: boolean;
  deltas?: boolean;
}

export function addScan(program: Command): void {
  program
    .command("scan")
    .summary("print the events in a model's output")
    .description("Reads a model's output and prints its events: text, thinking, tool calls.")
    .argument("[file]", "the model's output; - or nothing for stdin, scanned as it arrives")
    .option("-d, --dialect <id>", DIALECT, readDialect)
    .option("--tools <file>", "the declared tools (JSON, as in an OpenAI request); they decide types and names")
    .option("--prompt <file>", "the prompt that the output continues; its end tells whether the model is thinking")
    .option("--start-in-thinking", "the output begins inside a thinking block")
    .addOption(
      new Option("--calls-in-thinking <policy>", "how to treat a call in a thinking block").choices([
        "ignore",
        "promote-if-unclosed",
        "promote",
      ]),
    )
    .option("--max-call-chars <n>", "the most characters of a call; a longer one is malformed", readCount)
    .option("--max-depth <n>", "how deep arguments may nest; deeper ones are malformed", readCount)
    .option("--id-prefix <prefix>", "make ids of this prefix and a number")
    .option("--split <n>", 'feed the scanner pieces of n characters, or of "random" length', readSplit)
    .option("--seed <n>", 'with "--split random": the seed, to cut the same way again', readCount)
    .option("--json", "print JSON, one event per line, even in a terminal")
    .option("--no-json", "print for reading, even in a pipe")
    .option("--deltas", "when printing for reading: every delta on a line of its own")
    .addHelpText(
      "after",
      `
Examples:
  dragoman scan -d gemma4 output.txt
  dragoman scan -d gemma4 --tools tools.json --split random < output.txt
  some-server | dragoman scan -d json --json | jq 'select(.type == "tool-end")'`,
    )
    .action(scan);
}

async function scan(file: string | undefined, flags: ScanFlags): Promise<void> {
  const scanner = required(flags.dialect).createScanner(await scannerOptions(flags));
  const cut = cutter(flags);
  const view = (flags.json ?? !process.stdout.isTTY) ? jsonView : readableView(flags);
  const say = (events: Event[]) => send(process.stdout, events.map(view.show).join(""));
  for await (const text of textOf(file)) for (const piece of cut(text, false)) await say(scanner.feed(piece));
  for (const piece of cut("", true)) await say(scanner.feed(piece));
  await say(scanner.flush());
  await send(process.stdout, view.end());
}

async function scannerOptions(flags: ScanFlags): Promise<ScannerOptions> {
  const { startInThinking, callsInThinking, maxCallChars, maxDepth, idPrefix } = flags;
  return {
    ...(flags.tools !== undefined && { tools: await readTools(flags.tools) }),
    ...(flags.prompt !== undefined && { prompt: await readPrompt(flags.prompt) }),
    ...(startInThinking !== undefined && { startInThinking }),
    ...(callsInThinking !== undefined && { callsInThinking }),
    ...(maxCallChars !== undefined && { maxCallChars }),
    ...(maxDepth !== undefined && { maxDepth }),
    ...(idPrefix !== undefined && { mintId: (n: number) => `${idPrefix}${n}` }),
  };
}

/** A prompt as `dragoman render` prints it, with `--pieces` or without. */
async function readPrompt(file: string): Promise<string> {
  const text = await readText(file);
  if (!file.endsWith(".json")) return text;
  const pieces = parseJson(text, file);
  const isPiece = (piece: unknown): piece is { text: string } => isObject(piece) && typeof piece.text === "string";
  if (!Array.isArray(pieces) || !pieces.every(isPiece))
    throw new Complaint(`${file} must be a prompt: the output of "render --pieces --json"`);
  return promptText(pieces);
}

// ---- cutting

/** Cuts text into pieces. What does not fill a piece is held until more text comes, or until the last call. */
type Cutter = (text: string, last: boolean) => Iterable<string>;

function readSplit(text: string): number | "random" {
  if (text === "random") return text;
  const count = readCount(text);
  if (count === 0) throw new InvalidArgumentError("It must be at least 1.");
  return count;
}

function cutter({ split, seed }: ScanFlags): Cutter {
  if (seed !== undefined && split !== "random") throw new Complaint('--seed works only with "--split random"');
  if (split === undefined) return (text) => [text];
  if (split !== "random") return pieces(() => split);
  const chosen = seed ?? Math.floor(Math.random() * 1_000_000);
  process.stderr.write(`dragoman: cut at random; to cut the same way again: --split random --seed ${chosen}\n`);
  const next = numbers(chosen);
  return pieces(() => 1 + (next() % 16));
}

function pieces(nextLength: () => number): Cutter {
  let held = "";
  let length = nextLength();
  return function* (text, last) {
    held += text;
    let at = 0;
    for (; held.length - at >= length; length = nextLength()) {
      yield held.slice(at, at + length);
      at += length;
    }
    held = held.slice(at);
    if (last && held !== "") yield held;
  };
}

/** A small deterministic source of numbers (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  };
}

// ---- views

interface View {
  show(event: Event): string;
  end(): string;
}

const jsonView: View = { show: (event) => `${jsonLine(event)}\n`, end: () => "" };

function readableView({ deltas = false }: ScanFlags): View {
  const palette = paletteOf(process.stdout);
  const printer = new EventPrinter({ palette, width: widthOfScreen(process.stdout), deltas });
  const counts = new Map<string, number>();
  return {
    show(event) {
      const name = event.type === "tool-end" && event.truncated ? "cut off" : event.type;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return printer.print(event);
    },
    end: () => `${printer.end()}${palette.dim(summary(counts))}\n`,
  };
}

function summary(counts: ReadonlyMap<string, number>): string {
  const count = (name: string) => counts.get(name) ?? 0;
  const calls = count("tool-end");
  return [
    counted(calls, "call"),
    ...(count("cut off") > 0 ? [`${count("cut off")} cut off`] : []),
    ...(count("malformed") > 0 ? [`${count("malformed")} malformed`] : []),
  ].join(", ");
}
