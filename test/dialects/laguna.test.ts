// Poolside Laguna: what its turns mean for a scanner. The rest of its syntax is GLM's.
import { expect, test } from "vitest";
import { laguna } from "../../src/dialects/laguna.ts";
import { lines } from "./scanning.ts";

test("tags that look like turns are text, except the one that ends the answer", () => {
  expect(lines(laguna, "<user><system>a</system></user></assistant>")).toEqual([
    "text <user><system>a</system></user>",
    "control </assistant>",
  ]);
});

test("a call is read on one line or several, and a stop token may follow it", () => {
  const call = 'call f{"a":"1"}';
  expect(lines(laguna, "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call></assistant>")).toEqual([
    call,
    "control </assistant>",
  ]);
  expect(lines(laguna, "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n</assistant>")).toEqual([
    call,
    "text \n",
    "control </assistant>",
  ]);
});

test("a message that quotes an opening thinking tag does not open thinking", () => {
  const content = [{ type: "text" as const, text: "<think>" }];
  const prompt = laguna.render({ model: "", messages: [{ role: "user", content }] }, { thinking: false });
  expect(laguna.createScanner({ prompt }).feed("Hm")).toEqual([{ type: "text", text: "Hm" }]);
});
