// `dialect` is one setting, whoever takes it.
import { describe, expect, test } from "vitest";
import type { Event, Request } from "../../../src/core/nouns.ts";
import type { Dialect } from "../../../src/dialects/dialect.ts";
import { hermes } from "../../../src/dialects/hermes.ts";
import { createCompletions } from "../../../src/engines/completions/completions.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import type { DialectSetting } from "../../../src/engines/inband/dialects.ts";
import { createInband } from "../../../src/engines/inband/inband.ts";
import { createRescue } from "../../../src/engines/inband/rescue.ts";
import { createScripted } from "../../../src/engines/scripted.ts";

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
  test.each(["hermes/none", "none", "", "auto/none"])("says at once that %j names nothing", (setting) => {
    expect(() => make(setting)).toThrow(/unknown (dialect|variant)/);
  });

  test.each([["hermes", "hermes"] as const, ["hermes/qwen2.5-7b-instruct", "hermes"] as const, [mine, "mine"] as const])(
    "takes an id, an id and a variant, and a dialect of somebody's own (%#)",
    async (setting, id) => {
      const engine = make(setting);
      if (name === "createCompletions") {
        const preview = await engine.preview!(request);
        return expect(preview).toMatchObject({ dialect: id });
      }
      const events: Event[] = [];
      const spoken: string[] = [];
      for await (const event of engine.generate(request, { onDialect: (dialect) => spoken.push(dialect) })) events.push(event);
      expect(events.flatMap((event) => (event.type === "tool-end" ? event.arguments : []))).toEqual([{ city: "Oslo" }]);
      expect(spoken[0]).toMatch(new RegExp(`^${id}\\b`));
    },
  );
});
