// How the events of a chat are shown.
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../../src/chat/index.ts";
import { colourOf } from "../../../src/cli/chat/colours.ts";
import { Terminal } from "../../../src/cli/chat/offline.ts";
import { plainText, Screen, usageText, wholeResult } from "../../../src/cli/chat/screen.ts";
import type { Palette } from "../../../src/cli/terminal.ts";

process.env.TERM = "xterm";

const tag = (name: string) => (text: string) => (text === "" ? "" : `<${name}>${text}</${name}>`);
const names = ["bold", "dim", "red", "green", "yellow", "magenta", "cyan"];
const palette = Object.fromEntries(names.map((name) => [name, (text: string) => text])) as unknown as Palette;
const coloured = Object.fromEntries(names.map((name) => [name, tag(name)])) as unknown as Palette;

function shown(events: readonly ChatEvent[], options: { palette?: Palette; width?: number; hasCommands?: boolean } = {}): string {
  const screen = new Screen({ palette, width: 60, ...options });
  return events.map((event) => screen.print(event)).join("") + screen.end();
}

const call = (name: string, json: string, id = "a"): ChatEvent[] => [
  { type: "tool-start", id, index: 0, name },
  { type: "tool-delta", id, json },
  { type: "tool-end", id, index: 0, name, arguments: {}, json },
];
const result = (output: string, more: object = {}): ChatEvent => ({ type: "tool-result", id: "a", name: "f", output, ...more });
const say = (text: string): ChatEvent => ({ type: "text", text });

test("thinking, a call, its result and the answer are set apart", () => {
  const events: ChatEvent[] = [
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Hm, " },
    { type: "thinking-delta", text: "red." },
    { type: "thinking-end" },
    ...call("paint", '{"color":"red"}'),
    { type: "finish", reason: "tool-calls" },
    result("ok"),
    say("\n\nIt is "),
    say("red."),
    { type: "finish", reason: "stop" },
  ];
  expect(shown(events)).toBe('┊ Hm, red.\n\n● paint {"color":"red"}\n  └ ok\n\nIt is red.\n');
});

test("concurrent calls: each result names its call", () => {
  const events = [...call("f", "{}", "a"), ...call("g", "{}", "b"), result("1"), result("2", { name: "g" })];
  expect(shown(events)).toBe("● f {}\n● g {}\n  └ f: 1\n  └ g: 2\n");
  expect(shown([...events, ...call("f", "{}"), result("3")])).toMatch(/● f \{\}\n {2}└ 3\n$/);
});

test("long arguments and results are folded, and say so", () => {
  const [start, delta, end] = call("write", JSON.stringify({ content: "x".repeat(400) }));
  expect(shown([start!, delta!, end!])).toMatch(/^● write \{"content":"x+… 414 characters\n$/);
  expect(shown([...call("f", "{}"), result("1\n2\n3\n4\n5")])).toContain("  └ 1\n    2\n    3\n    … 2 more lines: /show 1\n");
  expect(shown([result("y".repeat(120))]).split("\n")).toHaveLength(4);
});

test("a call that needs approval is shown completely, even if it is folded or one of several", () => {
  const asked = (name: string, given: Record<string, string>) => ({ type: "tool-call" as const, id: "a", name, arguments: given });
  const screen = new Screen({ palette, width: 60 });
  const print = (...events: ChatEvent[]) => events.forEach((event) => void screen.print(event));
  print(...call("run", '{"line":"ls"}'));
  expect(screen.whole(asked("run", { line: "ls" }))).toBe("");
  print(...call("run", '{"line":"pwd"}'));
  expect(screen.whole(asked("run", { line: "pwd" }))).toBe("    run\n    line: pwd\n");
  const line = `${"true && ".repeat(40)}rm -rf /\x1b[2K`;
  print(result("1"), ...call("run", JSON.stringify({ line })));
  expect(screen.whole(asked("run", { line }))).toMatch(/^ {4}run\n {4}line: true && .*\n {4}.*rm -rf \/\\x1b\[2K\n$/s);
  print(result("2"), ...call("run", '{"line":"ls"}'));
  expect(screen.whole(asked("run", { line: "ls" }))).toBe("");
});

test("errors stand out", () => {
  expect(shown([result("no", { isError: true })], { palette: coloured })).toContain("<red>no</red>");
  const [start, delta] = call("paint", '{"co');
  const cut: ChatEvent = { type: "tool-end", id: "a", index: 0, name: "paint", arguments: {}, truncated: true };
  expect(shown([start!, delta!, cut])).toBe('● paint {"co ✂ cut off, not run\n');
  expect(shown([{ type: "malformed", raw: "x", code: "no-name", reason: "no name" }])).toBe("● a call  ✘ cannot be read: no name\n");
  expect(shown([{ type: "left-out", messages: 4 }])).toContain("4 earlier messages");
});

test("nothing that a model or a tool says controls the terminal", () => {
  const nasty = "\x1b]0;title\x07\x1b[2J";
  const events = [say(nasty), { type: "finish", reason: "stop" } as const, ...call(nasty, JSON.stringify({ a: nasty })), result(nasty)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  expect(shown(events)).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(plainText(`a\t${nasty}\n`)).toBe("a\t\\x1b]0;title\\x07\\x1b[2J\n");
});

test("images are named by type and size", () => {
  expect(shown([result("", { media: [{ type: "media", mediaType: "image/png", data: "AAAA" }] })])).toBe("  └ [image/png 3 bytes]\n");
});

test("/show prints a whole result readably", () => {
  expect(wholeResult({ content: "a\nb\x07", n: 1, list: [1] })).toEqual([
    "content:",
    "  a",
    "  b\\x07",
    "n: 1",
    "list:",
    "  [",
    "    1",
    "  ]",
  ]);
  expect(wholeResult("a\nb", [{ type: "media", mediaType: "image/png", name: "dot" }])).toEqual(["a", "b", "[image/png dot]"]);
});

test("usage is one line", () => {
  expect(usageText({ inputTokens: 1200, outputTokens: 5, cachedTokens: 1000 })).toBe("1,200 in (1,000 cached) · 5 out");
  expect(usageText({})).toBe("");
});

test("a result is folded between words", () => {
  const output = "There is no tool nope. The tools are: get_time, calculate.";
  expect(shown([...call("nope", "{}"), { type: "tool-result", id: "a", name: "nope", output }], { width: 34 })).toContain(
    "  └ There is no tool nope. The \n    tools are: get_time, \n    calculate.\n",
  );
});

describe("colours", () => {
  test.each([
    ["red", "#ff0000", false],
    ["Dark Blue", "#00008c", false],
    ["light_green", "#99cc99", true],
    ["GREY", "#808080", false],
    ["#abc", "#aabbcc", true],
    ["#123456", "#123456", false],
  ])("%s", (name, hex, isLight) => {
    expect(colourOf(name)).toEqual({ hex, isLight });
  });

  test.each(["", "reddish", "#12", "constructor", "\x1b]0;x\x07"])("%j is not a colour", (name) => {
    expect(colourOf(name)).toBeUndefined();
  });

  test("the terminal's background changes, and is restored", () => {
    let written = "";
    const write = (text: string): boolean => {
      written += text;
      return true;
    };
    const terminal = new Terminal({ isTTY: true, write });
    terminal.restore();
    expect(written).toBe("");
    expect(terminal.paint("navy")).toEqual({ color: "#000080" });
    expect(written).toBe("\x1b]11;#000080\x1b\\\x1b]10;#ffffff\x1b\\");
    terminal.restore();
    expect(written).toContain("\x1b]111\x1b\\\x1b]110\x1b\\");
    expect(() => terminal.paint("\x1b[2J")).toThrow("not a known color");
    expect(() => new Terminal({ write: () => true }).paint("red")).toThrow("not a terminal");
  });
});

test("without commands, a folded result does not name one", () => {
  const events = [...call("f", "{}"), result("1\n2\n3\n4\n5")];
  expect(shown(events)).toContain("… 2 more lines: /show 1\n");
  expect(shown(events, { hasCommands: false })).toContain("… 2 more lines\n");
});
