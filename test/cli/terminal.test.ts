import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Flow, jsonLine, type Palette, plain, visible, visibleLines, widthOf } from "../../src/cli/terminal.ts";

const palette: Palette = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, magenta: plain, cyan: plain };
const flowed = (text: string, width = 20, indent = 0) => new Flow({ palette, indent, width }).add(text);

/** Any text, with many characters that control a terminal. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\x1b", "\n", "\r", "\t", "\x9b", "\u202e", "\ud800", " ", "a", "{", "漢", "🙂", "\u0301"),
    fc.string({ unit: "binary", maxLength: 1 }),
  ),
  maxLength: 80,
});
const obeyed = /[^\P{Cc}\n]|\p{Cs}|[\u2028-\u202e\u2066-\u2069]/u;

describe("text from a model", () => {
  test("is harmless on one line", () => {
    fc.assert(fc.property(text, (text) => !/\n/.test(visible(text)) && !obeyed.test(visible(text))));
    expect(visible("a\tb\x1b[0m\u{e0041}\ud800é👩‍👩‍👧")).toBe("a\\tb\\x1b[0m\\u{e0041}\\u{d800}é👩‍👩‍👧");
    expect(visibleLines("a\n\x07b")).toBe("a\n\\x07b");
  });
  test("is harmless in JSON, which keeps the same value", () => {
    fc.assert(
      fc.property(text, (text) => {
        expect(jsonLine([text])).not.toMatch(obeyed);
        expect(JSON.parse(jsonLine([text]))).toEqual([text]);
      }),
    );
  });
  test("is harmless in a column, and stays inside it", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 12, max: 40 }), (text, width) => {
        const shown = flowed(text, width);
        expect(shown).not.toMatch(obeyed);
        for (const line of shown.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
  test("loses nothing but blanks at the end of a line", () => {
    const bare = (shown: string) => shown.replaceAll(/[\s↵]/g, "");
    fc.assert(fc.property(text, (text) => bare(flowed(text)) === bare(visible(text.replaceAll("\n", "")))));
  });
});

describe("a column", () => {
  test("words move to the next line", () => expect(flowed("the quick brown foxes jump")).toBe("the quick brown \nfoxes jump"));
  test("a line break in the text is shown, and one at the end makes no empty line", () => expect(flowed("a\n\n b\n")).toBe("a↵\n↵\n b↵"));
  test("lines begin at the indent", () => expect(flowed("a\nb", 20, 4)).toBe("a↵\n    b"));
  test("a word longer than a line fills it", () => expect(flowed("x".repeat(25))).toBe(`${"x".repeat(19)}\n${"x".repeat(6)}`));
  test("JSON breaks after its separators", () => expect(flowed('{"first":1,"second":2}')).toBe('{"first":1,\n"second":2}'));
  test("wide characters count twice, combining marks not at all", () => {
    expect(["a", "漢字", "🙂", "e\u0301", "👩‍👩"].map(widthOf)).toEqual([1, 4, 2, 1, 4]);
  });
});
