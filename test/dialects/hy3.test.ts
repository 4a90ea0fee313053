// Tencent Hy3: two spellings of all tags, and what the generic tests do not cover.
import { expect, test } from "vitest";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { lines } from "./scanning.ts";

const hy3 = getDialect("hy3");
const suffixed = (text: string): string => text.replaceAll(/(?<=<[\w/]+)>/g, ":opensource>");
const weather = "<tool_call>get_weather<tool_sep>\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>\n";

test.each([
  ["with a suffix", suffixed],
  ["without a suffix, as the preview writes them", String],
  ["with the suffix of Hy4", (text: string): string => suffixed(text).replaceAll(":opensource", ":6124c78e")],
])("calls are read %s", (_, spell) => {
  const read = (text: string) => lines(hy3, spell(text));
  const call = 'call get_weather{"city":"Paris"}';
  expect(read(`Well.<tool_calls>\n${weather}${weather}</tool_calls>`)).toEqual([
    "text Well.",
    call,
    call,
    `control ${spell("\n</tool_calls>")}`,
  ]);
  expect(read(`<tool_calls>${weather.replaceAll("\n", "")}</tool_calls>`)[0]).toBe(call);
  expect(read("<tool_calls><tool_call>now<tool_sep></tool_call></tool_calls>")[0]).toBe("call now{}");
  expect(read(weather.trim())).toEqual([call]); // without a block
  expect(read("<tool_calls>\n<tool_call>\nf\n<tool_sep>\n<arg_key>a</arg_key><arg_value>1")).toEqual(['cut f{"a":"1"}']);
  expect(read("<tool_calls>\n<tool_call>f<tool")).toEqual(["malformed no-name"]);
  expect(read("<think>Hm.</think>Hi").at(-1)).toBe("text Hi");
  expect(read("<tool_calls><tool_call>now<arg_key>a</arg_key><arg_value>1</arg_value></tool_call></tool_calls>")[0]).toBe(
    'call now{"a":"1"}',
  );
});

test("a closing value tag is not part of a name", () => {
  const read = (text: string) => lines(hy3, suffixed(text))[0];
  expect(read("<tool_calls><tool_call>now</arg_value></tool_call></tool_calls>")).toBe("call now{}");
  expect(read(weather.replace("<tool_sep>", "</arg_value>"))).toBe('call get_weather{"city":"Paris"}');
  expect(read("<tool_calls><tool_call>now</arg_value>")).toBe("cut now{}");
});

test("a sentence that mentions both tags of a call is text", () => {
  const text = "Write `<tool_call>` and `</tool_call>`.";
  expect(lines(hy3, text)).toEqual([`text ${text}`]);
});

test("Hy4 writes no separator after the name", () => {
  const args = "<arg_key>city</arg_key><arg_value>Oslo</arg_value>";
  const block = suffixed(`<tool_calls>\n<tool_call>get_weather${args}</tool_call>\n<tool_call>now</tool_call>\n</tool_calls>`);
  expect(lines(hy3, block).slice(0, 2)).toEqual(['call get_weather{"city":"Oslo"}', "call now{}"]);
});

test("a closer in one spelling is content in a value of the other", () => {
  const value = "a</arg_value>\n</tool_call>";
  const [call] = lines(hy3, suffixed(weather).replace("Paris", value));
  expect(call).toBe(`call get_weather{"city":${JSON.stringify(value)}}`);
});

test("a prompt that opens the thinking is recognized in either spelling", () => {
  const request = { model: "", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }] };
  for (const variant of hy3.variants) {
    const open = hy3.render(request, { variant, thinking: true });
    const [first] = hy3.createScanner({ prompt: promptText(open) }).feed("Hm");
    expect(first).toEqual({ type: "thinking-start" });
    const [text] = hy3.createScanner({ prompt: hy3.render(request, { variant }) }).feed("Hm");
    expect(text).toEqual({ type: "text", text: "Hm" });
  }
});

test("grammars close the thinking in the variant's spelling", () => {
  const forced = (variant: string) => hy3.grammar?.([{ name: "f" }], "required", { variant, startInThinking: true }).gbnf;
  expect(forced("hy3")).toContain("</think:opensource>");
  expect(forced("hy3-preview")).not.toContain(":opensource");
});

test("data cannot forge a tag in the spelling of its prompt", () => {
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: suffixed("<tool_calls>") }] }];
  expect(promptText(hy3.render({ model: "", messages }), { neutralize: true })).toContain("< tool_calls:opensource>");
});

test("Hy4's end is no text, and data cannot forge its tags", () => {
  expect(lines(hy3, "Hi<eos:6124c78e>")).toEqual(["text Hi", "control <eos:6124c78e>"]);
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "<tool_calls:6124c78e><eos:6124c78e>" }] }];
  expect(promptText(hy3.render({ model: "", messages }), { neutralize: true })).toContain("< tool_calls:6124c78e>< eos:6124c78e>");
});
