import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { demo } from "../../src/cli/demo.ts";
import { tokens, tools } from "../../src/cli/demo-answer.ts";
import { widthOf } from "../../src/cli/terminal.ts";
import { getDialect } from "../../src/index.ts";
import { carried, endsOf, scanPieces, thinkingOf } from "../dialects/scanning.ts";
import { dragoman } from "./run.ts";

const ESC = "\x1b";
const SEAMS = new RegExp(`(\n|${ESC}\\[\\??\\d*[A-Za-z])`);

/** As much of a terminal as the demo uses: a screen of some size, and what has scrolled out above it. */
class Terminal {
  readonly isTTY = true;
  readonly lines: string[] = [""];
  cursorVisible = true;
  readonly columns: number;
  readonly rows: number;
  #row = 0;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): boolean {
    for (const token of text.split(SEAMS).filter(Boolean)) this.#obey(token);
    return true;
  }

  #obey(token: string): void {
    const up = /(\d+)A$/.exec(token.startsWith(ESC) ? token : "");
    if (token === "\n") {
      this.#row++;
      this.lines[this.#row] ??= "";
    } else if (up) this.#row = Math.max(this.#row - Number(up[1]), this.lines.length - this.rows, 0);
    else if (token === `${ESC}[J`) this.lines.splice(this.#row, Infinity, "");
    else if (token.startsWith(`${ESC}[?25`)) this.cursorVisible = token.endsWith("h");
    else if (token.startsWith(ESC))
      return; // a colour, or clearing the rest of a line
    else this.lines[this.#row] = token; // the demo writes whole lines
  }
}

beforeAll(() => vi.stubEnv("NO_COLOR", "1"));
afterAll(() => vi.unstubAllEnvs());

async function play(columns: number, rows = 40): Promise<Terminal> {
  const terminal = new Terminal(columns, rows);
  await demo(terminal, true);
  return terminal;
}

test("the answer has everything: thinking, text, two calls, one of them with code", () => {
  const events = scanPieces(getDialect("gemma4"), tokens, { tools });
  expect(carried(events)).toBe(tokens.join(""));
  expect(thinkingOf(events)).not.toBe("");
  expect(endsOf(events).map(({ name }) => name)).toEqual(["write_file", "search_files"]);
  expect(endsOf(events)[0]?.arguments.content).toContain("\n");
  expect(events.at(-1)).toEqual({ type: "control", raw: "<|tool_response>" });
});

describe("in a terminal", () => {
  test.each([50, 80, 120, 200])("of %i columns every line fits, and the cursor is visible again", async (columns) => {
    const { lines, cursorVisible } = await play(columns);
    expect(lines.map(stripVTControlCharacters).filter((line) => widthOf(line) > columns)).toEqual([]);
    expect(cursorVisible).toBe(true);
  });
  test("repeated drawing leaves the same as drawing once", async () => {
    const { lines } = await play(80);
    const piped = dragoman(["demo"]).stdout;
    expect(lines.map((line) => line.trimEnd()).join("\n")).toBe(piped.replaceAll(/ +$/gm, ""));
  });
  test("also if the screen is lower than a call", async () => {
    const whole = await play(80, 40);
    const low = await play(80, 8);
    expect(low.lines.length).toBe(whole.lines.length);
  });
  test("wide: text and events side by side; narrow: one below the other", async () => {
    expect((await play(100)).lines).toContainEqual(expect.stringMatching(/^<channel\|> +│ thinking-end/));
    expect((await play(50)).lines).toContain("│ thinking-end  ");
  });
});

test("in a pipe everything is there at once, without control sequences", () => {
  const { code, stdout, stderr } = dragoman(["demo"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toContain("\x1b");
  expect(stdout).toContain(`${tokens.join("").length} characters came in, ${tokens.join("").length} are in the events`);
});
