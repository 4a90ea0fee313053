// Harmony: headers that do not end as they should. Each row is an input and what becomes of it, event by event.
import { describe, expect, test } from "vitest";
import { harmony } from "../../src/dialects/harmony.ts";
import { lines } from "./scanning.ts";

describe("where a header cannot go on, what stands behind its last mark is text", () => {
  const long = "a".repeat(300);
  test.each<[string, string, string[]]>([
    ["the message mark is missing", "<|channel|>final hello there", ["control <|channel|>", "text final hello there"]],
    ["the input ends behind the role", "<|start|>assistant", ["control <|start|>", "text assistant"]],
    ["a mark that cannot follow", "<|channel|>final<|end|>x", ["control <|channel|>", "text final", "control <|end|>", "text x"]],
    ["the same without a mark before it", " to=functions.f<|end|>x", ["text  to=functions.f", "control <|end|>", "text x"]],
    [
      "several marks",
      "<|start|>assistant<|channel|>final hi<|return|>",
      ["control <|start|>assistant<|channel|>", "text final hi", "control <|return|>"],
    ],
    ["a type", "<|channel|>final <|constrain|>json<|end|>", ["control <|channel|>final <|constrain|>", "text json", "control <|end|>"]],
    ["longer than headers may be", `<|channel|>${long}`, ["control <|channel|>", `text ${long}`]],
  ])("%s", (_, input, expected) => {
    expect(lines(harmony, input)).toEqual(expected);
  });
});
