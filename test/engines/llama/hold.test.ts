// Where a grammar with triggers begins to apply.
import type { LlamaModel } from "node-llama-cpp";
import { expect, test } from "vitest";
import { Grammars, Hold } from "../../../src/engines/llama/hold.ts";

test("a trigger quoted in thinking does not hide the one of the call that follows", async () => {
  const model = {} as LlamaModel;
  const triggers = [{ type: "word" as const, value: "<tool_call>" }];
  const hold = new Hold(model, new Grammars(model), { gbnf: 'root ::= "<tool_call>"', triggers, preserved: [], relaxed: [] });
  const tried: string[] = [];
  hold.arm = async (_, from) => void tried.push(from.map(({ text }) => text).join("")); // the grammar allows none of them
  const see = (text: string, mayCall: boolean) => hold.see({ tokens: [], text }, mayCall);
  await see("I could write <tool_call>", false);
  await see(" now.", false);
  await see("</think>", true);
  await see("\n", true);
  await see("<tool_call>", true);
  expect(tried).toEqual(["I could write <tool_call> now.</think>", "<tool_call>"]);
});
