// The requests that the embedded model is measured on must be sound themselves: declared names, arguments that fit their schema, values
// that the request really states.
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}
interface Message {
  role: string;
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}
interface Request {
  id: string;
  category: "single" | "parallel" | "result" | "none";
  tools: { name: string; description: string; parameters: Record<string, unknown> }[];
  messages: Message[];
  expect: { calls?: Call[]; text?: true };
}

const ajv = new Ajv({ strict: true, allErrors: true });

describe.each([
  { file: "tools", requests: 220, tools: 45 },
  { file: "phrasings", requests: 120, tools: 25 },
])("the held-out set $file", (size) => {
  const path = new URL(`../../models/tiny/held-out/${size.file}.jsonl`, import.meta.url);
  const set = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Request);

  test("is as large as promised, without repetitions", () => {
    expect(set.length).toBeGreaterThanOrEqual(size.requests);
    expect(new Set(set.map((request) => request.id)).size).toBe(set.length);
    expect(new Set(set.map((request) => JSON.stringify(request.messages))).size).toBe(set.length);
    const called = new Set(set.flatMap((request) => request.expect.calls ?? []).map((call) => call.name));
    expect(called.size).toBeGreaterThanOrEqual(size.tools);
  });

  test("expects only declared tools, with arguments that the declaration accepts", () => {
    for (const request of set) {
      const declared = new Map(request.tools.map((tool) => [tool.name, tool]));
      expect(declared.size, request.id).toBe(request.tools.length);
      expect(declared.size, request.id).toBeGreaterThanOrEqual(1);
      expect(declared.size, request.id).toBeLessThanOrEqual(6);
      const said = request.messages.flatMap((message) => message.tool_calls ?? []);
      const history = said.map(({ function: { name, arguments: text } }) => ({ name, arguments: JSON.parse(text) as Call["arguments"] }));
      for (const call of [...history, ...(request.expect.calls ?? [])]) {
        const parameters = declared.get(call.name)?.parameters;
        if (parameters === undefined) throw new Error(`${request.id}: ${call.name} is not declared`);
        expect(ajv.validate(closed(parameters), call.arguments), `${request.id}: ${ajv.errorsText()}`).toBe(true);
      }
    }
  });

  test("has the category that fits its expectation", () => {
    for (const { id, category, expect: expected, messages } of set) {
      const calls = expected.calls?.length ?? 0;
      const kind = messages.some((message) => message.role === "tool") ? "result" : ["none", "single"][calls];
      expect(category, id).toBe(kind ?? "parallel");
      expect(calls > 0, id).toBe(expected.text === undefined);
    }
  });

  test("states every expected string and number in the conversation", () => {
    for (const request of set) {
      const said = request.messages.map((message) => message.content ?? "").join("\n");
      const words = flat(said);
      for (const call of request.expect.calls ?? []) {
        for (const value of leaves(call.arguments)) {
          if (typeof value === "number") expect(numbers(said), request.id).toContain(value);
          // An enum's value may be spelled differently (`full_shoes` for "full shoes", `none` for "no").
          else if (!isEnumValue(request, call.name, value)) expect(said, request.id).toContain(value);
          else if (value !== "none") expect(words, request.id).toContain(flat(value));
        }
      }
    }
  });
});

/** The schema, with no keys allowed beside the declared ones. */
function closed(schema: unknown): Record<string, unknown> {
  const copy = JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === "object" ? { ...value, additionalProperties: false } : value,
  );
  return copy;
}

function leaves(value: unknown): (string | number)[] {
  if (typeof value === "string" || typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leaves) : [];
}

function numbers(text: string): number[] {
  return [...text.matchAll(/-?\d+(?:\.\d+)?/g)].flatMap(([digits]) => [Number(digits), Math.abs(Number(digits))]);
}

function isEnumValue(request: Request, name: string, value: string): boolean {
  const schema = JSON.stringify(request.tools.find((tool) => tool.name === name)?.parameters);
  return [...schema.matchAll(/"enum":(\[[^\]]*\])/g)].some(([, list]) => (JSON.parse(list ?? "[]") as string[]).includes(value));
}

function flat(text: string): string {
  return text.toLowerCase().replaceAll(/[_\s]+/g, " ");
}
