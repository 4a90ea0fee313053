// The official SDKs as judges: what our encoders write is what their users get, and what they send is what we read.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Message } from "../../src/core/nouns.ts";
import { type Heard, type Judge, judges } from "./judges.ts";
import {
  type Call,
  type ErrorName,
  errors,
  parameters,
  type Scenario,
  type ScenarioName,
  scenarios,
  toolNames,
  usage,
} from "./scenarios.ts";
import { HEARTBEATS, type Stub, startStub } from "./server.ts";

let stub: Stub;
beforeAll(async () => {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  stub = await startStub();
});
afterAll(() => stub.close());
beforeEach(() => void stub.take());

const played = Object.entries(scenarios) as [ScenarioName, Scenario][];

interface Outcome {
  heard?: Heard;
  /** What was thrown. */
  error?: Error;
  ran: readonly Call[];
}

async function outcome(judge: Judge, model: string): Promise<Outcome> {
  const ran: Call[] = [];
  try {
    const heard = await judge.hear(stub.url, model, ran);
    return { heard, ran: heard.ran };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(JSON.stringify(error)), ran };
  }
}

/** Gemini has a finish reason for an unreadable call: no error. */
const fails = ({ wire }: Judge, { error, events }: Scenario): boolean =>
  error !== undefined && !(wire === "gemini" && events.some(({ type }) => type === "malformed"));

describe.each(judges.map((judge) => [judge.name, judge] as const))("%s", (_, judge) => {
  test.each(played)("%s", async (name, scenario) => {
    const { text = "", thinking = "", calls = [], mayLeave = false, reason } = scenario;
    const { heard, error, ran } = await outcome(judge, name);
    if (ran.length > 0 || !mayLeave) expect(ran).toEqual(error ? [] : calls);
    if (fails(judge, scenario)) return expect(error?.message).toMatch(new RegExp(scenario.error ?? ""));
    if (error && judge.throwsAt?.includes(reason)) return expect(error?.message).toMatch(/could not parse|length|content filter/i);
    expect(error).toBeUndefined();
    if (heard?.text !== undefined) expect(heard.text).toBe(text);
    if (heard?.thinking !== undefined) expect(heard.thinking).toBe(thinking);
    expect(heard?.finish).toBe(judge.reasons?.[reason]);
    const counts = Object.fromEntries((judge.counts ?? []).map((count) => [count, usage[count]]));
    expect(heard?.usage ?? {}).toMatchObject(counts);
  });

  if (judge.streams)
    test("heartbeats change nothing", async () => {
      for (const [name] of played) {
        const [without, beating] = [await outcome(judge, name), await outcome(judge, `${name}${HEARTBEATS}`)];
        expect({ ...beating, error: beating.error?.message }, name).toEqual({ ...without, error: without.error?.message });
      }
    });

  test.each(Object.keys(errors) as ErrorName[])("an error with a status is thrown: %s", async (name) => {
    const { error } = await outcome(judge, name);
    const { code } = errors[name];
    const said = code === "context-length" ? /9000(?:.|\n)*8192|8192(?:.|\n)*9000/ : new RegExp(errors[name].message);
    expect(error?.message).toMatch(said);
    const inStream = code === "context-length" && judge.wire === "openai-responses" && judge.streams; // as codex needs it
    if (!inStream) expect(statusOf(error)).toBe(code === "overloaded" && judge.wire === "anthropic" ? 529 : STATUSES[name]);
  });

  test("its requests are read as they were meant", async () => {
    await outcome(judge, "text");
    const [request, ...more] = stub.take();
    expect(more).toEqual([]);
    expect(request).toMatchObject({ model: "text", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] });
    expect(request?.stream || false).toBe(judge.streams && (judge.wire === "ollama" ? "ndjson" : "sse"));
    expect(request?.tools?.map(({ name }) => name)).toEqual(toolNames);
    for (const { description, parameters: schema, name } of request?.tools ?? []) {
      expect(description).toBe(`The tool ${name}.`);
      expect(schema?.type).toBe(parameters.type);
    }
    expect(request?.warnings ?? []).toEqual([]);
  });

  if (judge.runs)
    test("calls and results come back unchanged", async () => {
      await outcome(judge, "thinking-text-calls");
      const [, second] = stub.take();
      expect(second?.warnings ?? []).toEqual([]);
      const [, answer, ...results] = second?.messages ?? [];

      const { text, calls } = scenarios["thinking-text-calls"];
      expect(partsOf(answer)).toMatchObject([
        { type: "text", text },
        ...calls.map((call, i) => ({ type: "tool-call", id: `call_a${i}`, ...call })),
      ]);
      expect(results).toMatchObject(calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name })));
      for (const result of results) expect(JSON.stringify(result.role === "tool" && result.output)).toContain("ok");
    });
});

const partsOf = (message: Message | undefined) =>
  message?.role === "assistant" ? message.content.filter(({ type }) => type !== "thinking") : [];

const STATUSES: Record<ErrorName, number> = {
  "bad-request": 400,
  auth: 401,
  permission: 403,
  "not-found": 404,
  "context-length": 400,
  "rate-limit": 429,
  overloaded: 503,
  upstream: 502,
  timeout: 504,
  internal: 500,
};

/** Each SDK has its own name for it. */
function statusOf(error: unknown): number | undefined {
  const fields = new Map(Object.entries(error instanceof Error ? { ...error } : {}));
  return ["status", "status_code", "statusCode"].map((name) => fields.get(name)).find((status) => typeof status === "number");
}
