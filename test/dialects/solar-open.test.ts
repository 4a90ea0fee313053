// Solar Open: consecutive messages, and calls with their own ids.
import { expect, test } from "vitest";
import { solarOpen } from "../../src/dialects/solar-open.ts";
import { endsOf, lines, scanPieces } from "./scanning.ts";

const call = (id: string, name = "f") => `<|tool_call:begin|>${id}<|tool_call:name|>${name}<|tool_call:args|>{"a": 1}<|tool_call:end|>`;
const said = (input: string) => lines(solarOpen, input).filter((line) => !line.startsWith("control"));

test("a thought, an answer and calls are messages, and none of their marks is text", () => {
  const input = `<|think|>Hm.<|end|><|begin|>assistant<|content|>I look.<|end|><|begin|>assistant<|tool_calls|>${call("a1b2c3d4e5")}<|calls|>`;
  expect(said(input)).toEqual(["thinking Hm.", "text I look.", 'call f{"a":1}']);
});

test("a call keeps the model's id, but a repeated id is replaced", () => {
  const ids = endsOf(scanPieces(solarOpen, [`<|tool_calls|>${call("0000000000")}${call("0000000000", "g")}<|calls|>`])).map(({ id }) => id);
  expect(ids[0]).toBe("0000000000");
  expect(new Set(ids).size).toBe(2);
});

test("a call is read without a section or an id, and is malformed without a name", () => {
  expect(said(call("a1b2c3d4e5"))).toEqual(['call f{"a":1}']);
  expect(said(call("x").replace("x<|tool_call:name|>", ""))).toEqual(['call f{"a":1}']);
  expect(said(call("x", "") + call("y"))).toEqual(["malformed no-name", 'call f{"a":1}']);
});

test("unclosed thinking is ended by the answer, or by calls", () => {
  expect(said("<|think|>Hm.<|content|>Hi.<|flush|>")).toEqual(["thinking Hm.", "text Hi."]);
  expect(said(`<|think|>Hm.<|tool_calls|>${call("x")}<|calls|>`)).toEqual(["thinking Hm.", 'call f{"a":1}']);
});

test("a section inside a section ends the first, and the scanner continues", () => {
  expect(said(`<|tool_calls|><|begin|>assistant<|tool_calls|>${call("x")}<|calls|>`)).toEqual(["malformed no-name", 'call f{"a":1}']);
});

test("a section without its end is followed by another one, or by the end of the thinking, and nothing is malformed", () => {
  const section = `<|tool_calls|>${call("x")}`;
  expect(said(`<|begin|>assistant${section}<|begin|>assistant${section}<|calls|>`)).toEqual(['call f{"a":1}', 'call f{"a":1}']);
  expect(said(`${section}\n<|begin|>assistant${section}<|calls|>`)).toEqual(['call f{"a":1}', 'call f{"a":1}']);
  expect(said(`<|think|>Hm.${section}<|end|>`)).toEqual(["thinking Hm.", 'call f{"a":1}']);
});
