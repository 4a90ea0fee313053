/** `dragoman dialects`: lists the dialects. The facts are computed from the dialects themselves, so they cannot be out of date. */
import type { Command } from "commander";
import { type Dialect, listDialects, promptText, type RenderableCall, scanText } from "../index.ts";
import { Flow, jsonLine, paletteOf, type Style, send, TWO_COLUMNS, widthOfScreen } from "./terminal.ts";

export function addDialects(program: Command): void {
  program
    .command("dialects")
    .summary("list the dialects")
    .description("Lists the dialects: which models speak them, and what they can express.")
    .option("--json", "print JSON, with variants, stops and an example of each")
    .addHelpText(
      "after",
      `
Example:
  dragoman dialects --json | jq -r '.[] | select(.thinking) | .id'`,
    )
    .action(dialects);
}

async function dialects({ json }: { json?: boolean }): Promise<void> {
  const all = listDialects().map(factsOf);
  await send(process.stdout, json ? `[${all.map((facts) => `\n${jsonLine(facts)}`).join(",")}\n]\n` : table(all));
}

// ---- facts

interface DialectFacts extends Pick<Dialect, "id" | "title" | "models" | "variants" | "stops"> {
  thinking: boolean;
  parallelCalls: boolean;
  grammar: boolean;
  /** Thinking and a call, as the model writes them. */
  example: string;
}

const WEATHER: RenderableCall = { id: "call_0", name: "get_weather", arguments: { city: "Oslo", days: 2 } };
const TIME: RenderableCall = { id: "call_1", name: "get_time", arguments: { city: "Oslo" } };
const THOUGHT = "I need the weather.";

function factsOf(dialect: Dialect): DialectFacts {
  const { id, title, models, variants, stops } = dialect;
  const thinking = promptText(dialect.renderThinking(THOUGHT));
  const reads = (text: string): boolean => scanText(dialect, text).some(({ type }) => type === "thinking-delta");
  const calls = scanText(dialect, promptText(dialect.renderToolCalls([WEATHER, TIME]))).filter(({ type }) => type === "tool-end");
  return {
    id,
    title,
    models,
    variants,
    stops,
    // A dialect that renders no thinking may still scan it.
    thinking: reads(thinking) || reads(`<think>${THOUGHT}</think>`),
    parallelCalls: calls.length === 2,
    grammar: dialect.grammar !== undefined,
    example: thinking + promptText(dialect.renderToolCalls([WEATHER])),
  };
}

// ---- the table

const HEAD = ["dialect", "thinking", "parallel calls", "grammar", "models"];

const inWords = ({ thinking, parallelCalls, grammar }: DialectFacts): string =>
  [thinking, parallelCalls, grammar].flatMap((is, i) => (is ? (HEAD[i + 1] ?? []) : [])).join(", ");

/** A narrow terminal gets a list instead of columns. */
function table(all: readonly DialectFacts[]): string {
  const palette = paletteOf(process.stdout);
  const { bold, dim } = palette;
  const mark = (is: boolean) => (is ? "yes" : "no");
  const rows = all.map(({ id, thinking, parallelCalls, grammar, models }) => [
    id,
    mark(thinking),
    mark(parallelCalls),
    mark(grammar),
    models.join(", "),
  ]);
  const width = process.stdout.isTTY ? widthOfScreen(process.stdout) : Number.POSITIVE_INFINITY;
  if (width < TWO_COLUMNS) {
    const below = (text: string, style?: Style) => `  ${new Flow({ palette, indent: 2, width }).add(text, style)}\n`;
    return all.map((facts) => `${bold(facts.id)}\n${below(facts.models.join(", "))}${below(inWords(facts), dim)}`).join("");
  }
  const widths = HEAD.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)) + 2);
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width);
  const line = (row: readonly string[]) => {
    const facts = row.slice(0, -1).map((cell, i) => cell.padEnd(widths[i] ?? 0));
    return facts.join("") + new Flow({ palette, indent, width }).add(row.at(-1) ?? "");
  };
  const [head, ...lines] = [HEAD, ...rows].map(line);
  return `${dim(head ?? "")}\n${lines.map((text) => `${text.replace(/^\S+/, bold)}\n`).join("")}`;
}
