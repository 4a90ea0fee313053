// Models write programs into strings without escaping anything. However such a call is read, half a program is never a complete call.
import { describe, expect, test } from "vitest";
import type { Tool } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { cutAnyhow, endsOf } from "./scanning.ts";

const tools: Tool[] = [{ name: "run", parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] } }];

const PROGRAMS = [
  'print("a")\nprint("b")',
  'x = {"a": "b"}\nprint(x["a"])',
  'if (a == "x") { return "y" }\nelse { z("w"); }',
  'SELECT "a", "b" FROM t WHERE c = "d";',
  '<a href="x">y</a>\n<b class="z"/>',
  'f(["a", "b"], {"c": ["d"]})',
  'def g():\n    return ["x"]\n\nprint(g())',
  'plt.plot(x, y, "red", label="a")\nplt.show()',
  '{"a": {"b": "c"}}',
  '[{"x": "y"}]\nmore',
];

/** How a dialect writes the arguments of its calls, if not as it renders them. */
const OTHERS: readonly (readonly [string, (code: string) => string])[] = [
  ["gemma4", (code) => `<|tool_call>call:run{code:"${code}"}<tool_call|>`],
  ["mistral", (code) => `[TOOL_CALLS]run[ARGS]{"code": "${code}"}`],
  ["pythonic", (code) => `[run(code="${code}")]`],
  ["pythonic", (code) => `<function_calls>run(code="${code}")</function_calls>`],
];

const forms = [
  ...listDialects().map((dialect) => {
    const call = promptText(dialect.renderToolCall({ id: "call_0", name: "run", arguments: { code: "CODE" } }));
    return [dialect.id, (code: string) => call.replace("CODE", () => code)] as const;
  }),
  ...OTHERS,
];

describe.each(forms)("%s", (id, written) => {
  test.each(PROGRAMS)("%j", (program) => {
    for (const code of [program, program.replaceAll('"', "'")]) {
      const ends = endsOf(cutAnyhow(getDialect(id), written(code), { tools }));
      for (const { truncated, arguments: read } of ends) if (!truncated) expect(read).toEqual({ code });
    }
  });
});
