// Harmony: headers that do not end as they should. Each row is an input and its events.
import { describe, expect, test } from "vitest";
import { harmony } from "../../src/dialects/harmony.ts";
import { lines } from "./scanning.ts";

describe("if a header cannot continue, everything after its last mark is text", () => {
  const long = "a".repeat(300);
  test.each<[string, string, string[]]>([
    ["the message mark is missing", "<|channel|>final hello there", ["control <|channel|>", "text final hello there"]],
    ["a mark that cannot follow", "<|channel|>final<|end|>x", ["control <|channel|>", "text final", "control <|end|>", "text x"]],
    ["the same without a mark before it", " to=functions.f<|end|>x", ["text  to=functions.f", "control <|end|>", "text x"]],
    [
      "several marks",
      "<|start|>assistant<|channel|>final hi<|return|>",
      ["control <|start|>assistant<|channel|>", "text final hi", "control <|return|>"],
    ],
    ["a type", "<|channel|>final <|constrain|>json<|end|>", ["control <|channel|>final <|constrain|>", "text json", "control <|end|>"]],
    ["longer than a header may be", `<|channel|>${long}`, ["control <|channel|>", `text ${long}`]],
  ])("%s", (_, input, expected) => {
    expect(lines(harmony, input)).toEqual(expected);
  });
});

describe("a header cut off at the end of the input is not text", () => {
  test.each([
    ...["<|start|>assistant", "<|start|>assis", "<|channel|>", "<|channel|>fin", "<|start|>assistant<|channel|>analysis"],
    ...["<|start|>assistant to", "<|channel|>commentary t", "<|channel|>analysis<|mess", "<|channel|>final <|constrain"],
  ])("%s", (input) => {
    expect(lines(harmony, input)).toEqual([`control ${input}`]);
  });
});

describe("without any marks, the words of the headers decide", () => {
  test.each<[string, string, string[]]>([
    ["analysis, then an answer", "analysisLet me think.assistantfinalHello", ["thinking Let me think.", "text Hello"]],
    ["analysis, then a call", 'analysisHm.assistantcommentary to=functions.f json{"a": 1}', ["thinking Hm.", 'call f{"a":1}']],
    ["two calls", "analysisassistantcommentary to=functions.f json{}assistantcommentary to=g{}", ["call f{}", "call g{}"]],
    ["a truncated call", 'analysisHm.assistantcommentary to=functions.f json{"a": "x', ["thinking Hm.", 'cut f{"a":"x"}']],
    ["a truncated header", "analysisHm.assistantcommentary to=functions.f", ["thinking Hm.", "malformed no-name"]],
    ["analysis alone", "analysisHm", ["thinking Hm"]],
    ["the words in an answer", "The assistantfinal analysis", ["text The assistantfinal analysis"]],
    ["the words after the analysis", "analysisHm.assistantfinalanalysis assistantfinal", ["thinking Hm.", "text analysis assistantfinal"]],
    ["marks again", "analysisHm.<|end|><|channel|>final<|message|>Hi", ["thinking Hm.", "control <|channel|>final<|message|>", "text Hi"]],
  ])("%s", (_, input, expected) => {
    expect(lines(harmony, input)).toEqual(expected);
  });
});

describe("the prompt may end inside a message", () => {
  const first = (prompt: string) => harmony.createScanner({ prompt }).feed("Hm")[0]?.type;
  test("of analysis", () => {
    expect(first("<|start|>assistant<|channel|>analysis<|message|>")).toBe("thinking-start");
    expect(first("<|start|>assistant<|channel|>analysis<|message|>First, ")).toBe("thinking-start");
  });
  test("of another channel, or inside none", () => {
    for (const prompt of [
      "",
      "<|start|>assistant",
      "<|start|>assistant<|channel|>final<|message|>",
      "<|start|>assistant<|channel|>analysis<|message|>Hm<|end|><|start|>assistant",
      "<|start|>user<|message|>analysis<|message|>",
    ])
      expect(first(prompt)).toBe("text");
  });
});

test("a long message to the model itself is not kept until it ends", () => {
  const scanner = harmony.createScanner({ maxCallChars: 1000 });
  const text = `<|start|>assistant to=assistant<|channel|>commentary<|message|>${"x".repeat(10_000)}`;
  const events = [...scanner.feed(text), ...scanner.feed("<|end|>Hello"), ...scanner.flush()];
  const raws = events.map((event) => (event.type === "control" ? event.raw : ""));
  expect(Math.max(...raws.map((raw) => raw.length))).toBe(1000);
  expect(raws.join("")).toBe(`${text}<|end|>`);
  expect(events.at(-1)).toEqual({ type: "text", text: "Hello" });
});

test.each(["<|channel|>commentary to=functions.<|message|>", "analysis assistantcommentary to=f<|message|>"])(
  "%s: a call without a name is limited, too",
  (header) => {
    const said = lines(harmony, `${header}${"x".repeat(500)}`, { maxCallChars: 100 });
    expect(said.filter((line) => !line.startsWith("control") && !line.startsWith("thinking"))).toEqual(["malformed too-long"]);
  },
);
