// A model's text on a terminal: what is shown does not depend on how the text was cut, and control characters are shown, not executed.
import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Prose, type ProseOptions } from "../../../src/cli/chat/prose.ts";
import { type Palette, widthOf } from "../../../src/cli/terminal.ts";

const tag = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
const palette = Object.fromEntries(
  ["bold", "dim", "red", "green", "yellow", "magenta", "cyan"].map((name) => [name, tag(name)]),
) as unknown as Palette;
const plain = Object.fromEntries(Object.keys(palette).map((name) => [name, (text: string) => text])) as unknown as Palette;

const shown = (text: string, options: Partial<ProseOptions> = {}): string => {
  const prose = new Prose({ palette: plain, width: 40, ...options });
  return prose.add(text) + prose.end();
};

describe("Markdown is rendered", () => {
  test.each([
    ["words", "Hello there", "Hello there\n"],
    ["bold", "a **b** c", "a <bold>b</bold> c\n"],
    ["bold over words", "**b c**.", "<bold>b</bold> <bold>c</bold>.\n"],
    ["code", "run `npm test` now", "run <cyan>npm</cyan> <cyan>test</cyan> now\n"],
    ["stars in code are stars", "`a ** b`", "<cyan>a</cyan> <cyan>**</cyan> <cyan>b</cyan>\n"],
    ["a multiplication is not markup", "2 * 3 and 2*3 and 2 ** 3", "2 * 3 and 2*3 and 2 ** 3\n"],
    ["a power is not markup", "2**10 is 1024, x**2 + y**2, **2**10", "2**10 is 1024, x**2 + y**2, <bold>2</bold>10\n"],
    ["a backtick alone, or after a letter, is text", "a ` or a don`t or `b`", "a ` or a don`t or <cyan>b</cyan>\n"],
    ["a heading", "## Title here\ntext", "<bold>Title</bold> <bold>here</bold>\ntext\n"],
    ["lists", "- one\n  - two\n10. three", "• one\n  • two\n10. three\n"],
    ["a rule", "---", `<dim>${"─".repeat(24)}</dim>\n`],
    ["a quotation", "> so it is", "<dim>│</dim> so it is\n"],
    [
      "fenced code, neither wrapped nor rendered",
      "```js\nif (a) {\n\tb(**c);\n}\n```\nafter",
      "<cyan>  if (a) {</cyan>\n<cyan>      b(**c);</cyan>\n<cyan>  }</cyan>\nafter\n",
    ],
    ["a fence with more than a language", "```js title here\nx\n````\ny", "<cyan>  x</cyan>\ny\n"],
    ["a closing fence that ends the text", "```js\nx\n```", "<cyan>  x</cyan>\n"],
    ["a fence that is never closed", "```\nlast", "<cyan>  last</cyan>\n"],
    ["bold that is never closed ends with its paragraph", "**a\n\nb", "<bold>a</bold>\n\nb\n"],
  ])("%s", (_, text, expected) => {
    expect(shown(text, { palette })).toBe(expected);
  });
});

test("lines break between words, lists have hanging indents, and long words are broken", () => {
  expect(shown("one two three four five six", { width: 14 })).toBe("one two three\nfour five six\n");
  expect(shown("- one two three four", { width: 12 })).toBe("• one two\n  three four\n");
  expect(shown("日本語の文", { width: 5 })).toBe("日本\n語の\n文\n");
});

test("every line begins with the margin", () => {
  expect(shown("one two\n\nthree", { width: 7, margin: "┊ " })).toBe("┊ one\n┊ two\n┊\n┊ three\n");
});

test("control characters are shown, not executed", () => {
  const text = "a\x1b[31mred\x07 \u202ertl `\x1b]0;t\x07`\n```\n\x1b[2J\n```\n";
  expect(shown(text, { width: 80 })).toBe("a\\x1b[31mred\\x07 \\u{202e}rtl \\x1b]0;t\\x07\n  \\x1b[2J\n");
});

const anything = fc.string({ unit: fc.constantFrom(..."ab*`#->1. \n\t日\x1b~_") });

test("any split shows the same", () => {
  fc.assert(
    fc.property(fc.array(anything), (pieces) => {
      const prose = new Prose({ palette, width: 12, margin: "┊ " });
      const whole = shown(pieces.join(""), { palette, width: 12, margin: "┊ " });
      expect(pieces.map((piece) => prose.add(piece)).join("") + prose.end()).toBe(whole);
    }),
  );
});

test("only line breaks control the terminal, and words that fit stay within the width", () => {
  fc.assert(
    fc.property(anything, (text) => {
      const out = shown(text, { width: 30 });
      expect(stripVTControlCharacters(out)).toBe(out);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
      expect(out).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
      if (!/\S{10}|`{3}|~{3}/.test(text) && !/[ \t]{4}/.test(text))
        for (const line of out.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(50);
    }),
  );
});
