// Models that refuse how they are told to think are asked in another way; and clients that only have a model loaded ask nobody.
import { describe, expect, test } from "vitest";
import type { Json, WireId } from "../../src/core/nouns.ts";
import { startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, json, remote } from "./start.ts";

const ANSWERS: Partial<Record<WireId, string>> = {
  gemini: '{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP","index":0}]}',
  anthropic:
    '{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}',
  ollama:
    '{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Hi"},"done":true,"done_reason":"stop"}',
  "openai-chat": '{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}',
};

/** A server that refuses some bodies, and says how it was told to think. */
async function picky(wire: WireId, settings: (body: Record<string, Json>) => unknown, refuses: (said: string) => string | undefined) {
  const said: string[] = [];
  const upstream = await startServer((response, { method, body }) => {
    if (method === "GET") return void response.writeHead(404).end("{}");
    const how = JSON.stringify(settings(JSON.parse(body))) ?? "nothing";
    said.push(how);
    const message = refuses(how);
    if (message === undefined) response.writeHead(200, json).end(ANSWERS[wire]);
    else
      response
        .writeHead(400, json)
        .end(JSON.stringify({ error: wire === "ollama" ? message : { message, type: "invalid_request_error" } }));
  });
  const { url } = await startGateway({
    upstreams: { up: remote(upstream.url, wire) },
    models: [{ name: "m", upstream: "up", model: "m" }],
  });
  const post = (thinking: object) =>
    ask(url, "POST", "/v1/responses", { headers: json, body: JSON.stringify({ model: "m", input: "Hi", ...thinking }) });
  return { said, post, url };
}

const effort = { reasoning: { effort: "low" } };

describe("a model that refuses how it is told to think", () => {
  test("takes a budget instead of an effort, and is asked so from then on", async () => {
    const { said, post } = await picky(
      "gemini",
      ({ generationConfig }) => (generationConfig as { thinkingConfig?: Json } | undefined)?.thinkingConfig,
      (how) => (how.includes("thinkingLevel") ? "Thinking level is not supported for this model." : undefined),
    );
    const first = await post(effort);
    expect([first.status, first.headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("asked in another way")]);
    expect((await post(effort)).status).toBe(200);
    expect(said).toEqual([expect.stringContaining("thinkingLevel"), '{"thinkingBudget":1024}', '{"thinkingBudget":1024}']);
  });
  test("takes a budget, where it does not decide for itself", async () => {
    const { said, post } = await picky(
      "anthropic",
      ({ thinking }) => thinking,
      (how) => (how.includes("adaptive") ? "adaptive thinking is not supported on this model" : undefined),
    );
    expect((await post(effort)).status).toBe(200);
    expect(said).toEqual([expect.stringContaining('"adaptive"'), expect.stringContaining('"enabled"')]);
  });
  test("takes nothing at all", async () => {
    const { said, post } = await picky(
      "ollama",
      ({ think }) => think,
      (how) => (how === "nothing" ? undefined : '"m" does not support thinking'),
    );
    const answer = await post(effort);
    expect([answer.status, answer.headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("asked without")]);
    expect(said.at(-1)).toBe("nothing");
  });
  test("refuses it in every way: the client hears so", async () => {
    const { said, post } = await picky(
      "openai-chat",
      ({ reasoning_effort }) => reasoning_effort,
      () => "reasoning is broken here",
    );
    expect((await post(effort)).status).toBe(400);
    expect(said).toHaveLength(3);
  });
  test("is told as the client of its own wire put it, whatever it refuses", async () => {
    const { said, url } = await picky(
      "openai-chat",
      ({ reasoning_effort }) => reasoning_effort,
      () => "reasoning is broken here",
    );
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], reasoning_effort: "low" });
    for (let i = 0; i < 2; i++) expect((await ask(url, "POST", "/v1/chat/completions", { headers: json, body })).status).toBe(400);
    expect(said).toEqual(['"low"', '"low"']);
  });
  test("refuses something else: nobody asks again", async () => {
    const { said, post } = await picky(
      "openai-chat",
      ({ reasoning_effort }) => reasoning_effort,
      () => "messages: field required, for whatever reason",
    );
    expect((await post(effort)).status).toBe(400);
    expect(said).toHaveLength(1);
  });
});

test("a model that refuses everything is not remembered for refusing one way", async () => {
  let isBroken = true;
  const { said, post } = await picky(
    "openai-chat",
    ({ reasoning_effort }) => reasoning_effort,
    () => (isBroken ? "thinking blocks are out of order" : undefined),
  );
  expect((await post(effort)).status).toBe(400);
  isBroken = false;
  expect((await post(effort)).status).toBe(200);
  expect(said.at(-1)).toBe('"low"');
});

test("a system text alone is a question, but for a prompt", async () => {
  const { said, url } = await picky(
    "openai-chat",
    () => 1,
    () => undefined,
  );
  const body = JSON.stringify({ model: "m", messages: [{ role: "system", content: "Say hi." }], stream: false });
  expect(JSON.parse((await ask(url, "POST", "/api/chat", { headers: json, body })).body)).toMatchObject({ message: { content: "Hi" } });
  expect(said).toHaveLength(1);
});

test.each<[string, object, object]>([
  ["/api/generate", { model: "m" }, { response: "", done: true, done_reason: "load" }],
  ["/api/generate", { model: "m", keep_alive: 0 }, { response: "", done: true, done_reason: "unload" }],
  ["/api/chat", { model: "m", messages: [] }, { message: { role: "assistant", content: "" }, done: true, done_reason: "load" }],
])("Ollama's clients load a model by asking nothing: %s %j", async (path, body, expected) => {
  const { url } = await startGateway({
    upstreams: { up: remote("http://127.0.0.1:9") },
    models: [{ name: "m", upstream: "up", model: "m" }],
  });
  const answer = await ask(url, "POST", path, { headers: json, body: JSON.stringify(body) });
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, expected]); // nobody answers at that port
});
