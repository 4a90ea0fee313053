// dots3 and Step3: what stands around their calls.
import { describe, expect, test } from "vitest";
import { dots3 } from "../../src/dialects/dots3.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { lines } from "./scanning.ts";

const weather = { name: "get_weather", arguments: { city: "Oslo", days: 2 } };
const tools = [
  { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } } },
];
const called = 'call get_weather{"city":"Oslo","days":2}';

test.each(dots3.variants)("calls of %s come back, one behind the other and with text around", (variant) => {
  const text = promptText(dots3.renderToolCalls([weather, weather], { variant }));
  const read = lines(dots3, `Well.\n${text} Done.`, { tools }).filter((line) => !line.startsWith("control"));
  expect(read).toEqual(["text Well.\n", called, called, "text  Done."]);
});

describe("dots3", () => {
  test("a JSON object may stand in the block, as some models write it", () => {
    const [call] = lines(dots3, '<dots_function_call>\n{"name": "f", "parameters": {"url": "x"}}\n</dots_function_call>');
    expect(call).toBe('call f{"url":"x"}');
  });
  test("names need no quotes", () => {
    const [call] = lines(dots3, "<dots_function_call><invoke name=f><parameter name = 'a'>1</parameter></invoke></dots_function_call>");
    expect(call).toBe('call f{"a":"1"}');
  });
  test("an empty block is malformed, and what follows is text", () => {
    expect(lines(dots3, "<dots_function_call></dots_function_call>x")).toEqual(["malformed empty", "text x"]);
  });
});

describe("step3", () => {
  const open = "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>";
  const invoke = '<steptml:invoke name="f">\n<steptml:parameter name="a">if a < b: x</steptml:parameter>\n</steptml:invoke>';
  test.each(["", "\n"])("a value may hold a `<`, and %j stand before the end of a call", (gap) => {
    const read = lines(dots3, `${open}${invoke}${gap}<｜tool_call_end｜>\n<｜tool_calls_end｜>`);
    expect(read).toEqual(['call f{"a":"if a < b: x"}', `control ${gap}<｜tool_call_end｜>\n<｜tool_calls_end｜>`]);
  });
  test("without its marks a call counts where a line begins", () => {
    expect(lines(dots3, `Look:\n${invoke}`)).toEqual(["text Look:\n", 'call f{"a":"if a < b: x"}']);
  });
  test("the end of the call may stand for that of its tag", () => {
    expect(lines(dots3, `${open}${invoke.slice(0, -18)}<｜tool_call_end｜>`)).toEqual(['call f{"a":"if a < b: x"}']);
  });
  test("a call that is cut is cut", () => {
    expect(lines(dots3, `${open}<steptml:invoke name="f"><steptml:parameter name="a">x`)).toEqual(['cut f{"a":"x"}']);
    expect(lines(dots3, `${open}<steptml:inv`)).toEqual(["malformed no-name"]);
  });
});
