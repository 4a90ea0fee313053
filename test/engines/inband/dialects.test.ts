// The `dialect` setting means the same in every engine.
import { describe, expect, test } from "vitest";
import type { Request } from "../../../src/core/nouns.ts";
import type { Dialect } from "../../../src/dialects/dialect.ts";
import { hermes } from "../../../src/dialects/hermes.ts";
import { createCompletions } from "../../../src/engines/completions/completions.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import type { DialectSetting } from "../../../src/engines/inband/dialects.ts";
import { createInband } from "../../../src/engines/inband/inband.ts";
import { createRescue } from "../../../src/engines/inband/rescue.ts";
import { createScripted } from "../../../src/engines/scripted.ts";
import { all } from "../../events.ts";

const CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>';
const tools = [{ name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];
const request: Request = { model: "any", messages: [{ role: "user", content: [{ type: "text", text: "Oslo?" }] }], tools };
const server = (): Engine => createScripted(() => [{ type: "text", text: CALL } as const, { type: "finish", reason: "stop" } as const]);

const makers: readonly (readonly [string, (dialect: DialectSetting) => Engine])[] = [
  ["createCompletions", (dialect) => createCompletions({ url: "http://127.0.0.1:1", dialect })],
  ["createInband", (dialect) => createInband(server(), { dialect })],
  ["createRescue", (dialect) => createRescue(server(), { dialect })],
];

const mine: Dialect = { ...hermes, id: "mine" };

describe.each(makers)("%s", (name, make) => {
  test.each(["hermes/none", "none", "", "auto/none"])("refuses an unknown dialect at once: %j", (setting) => {
    expect(() => make(setting)).toThrow(/unknown (dialect|variant)/);
  });

  test.each([["hermes", "hermes"] as const, ["hermes/qwen2.5-7b-instruct", "hermes"] as const, [mine, "mine"] as const])(
    "accepts an id, an id with a variant, and a custom dialect (%#)",
    async (setting, id) => {
      const engine = make(setting);
      if (name === "createCompletions") {
        const preview = await engine.preview!(request);
        return expect(preview).toMatchObject({ dialect: id });
      }
      const spoken: string[] = [];
      const events = await all(engine.generate(request, { onDialect: (dialect) => spoken.push(dialect) }));
      expect(events.flatMap((event) => (event.type === "tool-end" ? event.arguments : []))).toEqual([{ city: "Oslo" }]);
      expect(spoken[0]).toMatch(new RegExp(`^${id}\\b`));
    },
  );
});

describe("tools in band, if a request declares none but its history has calls", () => {
  const history: Request = {
    model: "any",
    messages: [
      ...request.messages,
      { role: "assistant", content: [{ type: "tool-call", id: "a", name: "get_weather", arguments: { city: "Oslo" } }] },
      { role: "tool", id: "a", name: "get_weather", output: "12" },
      { role: "user", content: [{ type: "text", text: "Summarize." }] },
    ],
  };

  test.each([[[]], [undefined]])("calls and results are sent as text, and the answer is text: tools %j", async (none) => {
    const scripted = createScripted(() => [
      { type: "text", text: CALL },
      { type: "finish", reason: "stop" },
    ]);
    const warnings: unknown[] = [];
    const engine = createInband(scripted, { dialect: "hermes" });
    const asked: Request = { ...history, ...(none && { tools: none }), output: {} };
    const events = await all(engine.generate(asked, { onAnswer: (answer) => warnings.push(...answer.warnings) }));
    const [sent] = scripted.requests;
    expect(sent?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(sent)).toContain("<tool_response>");
    expect(JSON.stringify(sent)).not.toContain('"tool-call"');
    expect(sent?.output).toEqual({});
    expect(warnings).toEqual([]);
    expect(events).toEqual([
      { type: "text", text: CALL },
      { type: "finish", reason: "stop" },
    ]);
  });
});
