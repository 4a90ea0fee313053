// Items that Responses clients refer to by id instead of sending them: kept for a while, for the client that got them.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import type { Event, JsonObject } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { Kept } from "../../src/gateway/kept.ts";
import { getWire } from "../../src/wires/registry.ts";
import { answering, closeLater, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, hello, json, remote } from "./start.ts";

const signature = { wire: "gemini", kind: "thoughtSignature", data: "c2ln" } as const;
const seal = { wire: "anthropic", kind: "signature", data: "c2ln" } as const;
const thought: Event[] = [
  { type: "thinking-start" },
  { type: "thinking-delta", text: "Hm." },
  { type: "thinking-end", state: [seal] },
  { type: "text", text: "Let me look." },
];
const call: Event[] = [
  ...thought,
  { type: "tool-start", id: "a", index: 0, name: "f" },
  { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, state: [signature] },
  { type: "finish", reason: "tool-calls" },
];
const said = [
  { type: "thinking", text: "Hm.", state: [seal] },
  { type: "text", text: "Let me look." },
];

describe("@ai-sdk/openai with its defaults", () => {
  const f = tool({ inputSchema: jsonSchema({ type: "object" }), execute: () => "done" });

  test.each([true, false])("the model gets everything it said in a tool loop, streamed: %s", async (streamed) => {
    const engine = createScripted([call, hello]);
    const { url, ended } = await startGateway({ upstreams: { up: engine } });
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "x" })("any");
    const asked = { model, prompt: "Hi", tools: { f }, stopWhen: stepCountIs(2), maxRetries: 0 };
    if (streamed) await streamText(asked).consumeStream();
    else await generateText(asked);
    const content = [...said, { type: "tool-call", id: "a", name: "f", state: [signature] }];
    expect(engine.requests[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content },
      { role: "tool", output: "done" },
    ]);
    expect((await ended(2)).map(({ warnings }) => warnings)).toEqual([[], []]);
  });

  test("the model gets the turns before this one", async () => {
    const engine = createScripted([[...thought, { type: "finish", reason: "stop" }], hello, hello]);
    const { url } = await startGateway({ upstreams: { up: engine } });
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "x" })("any");
    const { response } = await generateText({ model, prompt: "I am Bob" });
    const messages = [
      { role: "user" as const, content: "I am Bob" },
      ...response.messages,
      { role: "user" as const, content: "Who am I?" },
    ];
    const next = await generateText({ model, messages });
    await generateText({ model, messages: [...messages, ...next.response.messages, { role: "user", content: "Again?" }] });
    const turn = { role: "assistant", content: said };
    expect(engine.requests[1]?.messages).toMatchObject([{ role: "user" }, turn, { role: "user" }]);
    const answer = { role: "assistant", content: [{ type: "text", text: "Hello" }] };
    expect(engine.requests[2]?.messages).toMatchObject([{ role: "user" }, turn, { role: "user" }, answer, { role: "user" }]);
  });
});

const post = async (url: string, body: object, headers = {}): Promise<{ status: number; json: JsonObject }> => {
  const answer = await ask(url, "POST", "/v1/responses", { headers: { ...json, ...headers }, body: JSON.stringify(body) });
  return { status: answer.status, json: JSON.parse(answer.body) };
};
const question = { role: "user", content: "And now?" };
const named = (id: unknown) => ({ type: "item_reference", id });

describe("items referred to by id", () => {
  const start = async (options = {}) => {
    const engine = createScripted(() => hello);
    const { url } = await startGateway({ upstreams: { up: engine }, ...options });
    const say = async (more = {}, headers = {}) => {
      const { output } = (await post(url, { model: "m", input: "Hi", ...more }, headers)).json;
      return (output as unknown as [{ id: string }])[0];
    };
    return { engine, url, say };
  };

  test("an unknown id is refused in OpenAI's words, with what to do", async () => {
    const { url } = await start();
    expect(await post(url, { model: "m", input: [named("msg_1"), question] })).toMatchObject({
      status: 400,
      json: {
        error: {
          type: "invalid_request_error",
          param: "input",
          message: "Item with id 'msg_1' not found. Set `store` to false, or send the item itself instead of its id.",
        },
      },
    });
  });

  test("a Responses server gets the reference as it is", async () => {
    const whole = getWire("openai-responses").encodeResponse({ content: [{ type: "text", text: "Hello" }] }, { model: "m", messages: [] });
    const upstream = await startServer(answering(JSON.stringify(whole)));
    const { url, ended } = await startGateway({ upstreams: { up: remote(upstream.url, "openai-responses") } });
    expect(await post(url, { model: "m", input: [named("msg_1"), question] })).toMatchObject({ status: 200 });
    const sent = upstream.seen.find(({ method }) => method === "POST");
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({ input: [named("msg_1"), { role: "user" }] });
    expect((await ended(1))[0]?.warnings).toEqual([]);
  });

  test("belong to one key: no other key can use an id, and no id reveals another", async () => {
    const { url, say } = await start({ keys: ["one", "two"] });
    const [one, two] = [{ authorization: "Bearer one" }, { authorization: "Bearer two" }];
    const [first, second] = [await say({}, one), await say({}, one)];
    const input = [named(first.id), question];
    expect((await post(url, { model: "m", input }, two)).status).toBe(400);
    expect((await post(url, { model: "m", input }, one)).status).toBe(200);
    const seed = /(\w{16})_0$/;
    expect(seed.exec(first.id)?.[1]).not.toBe(seed.exec(second.id)?.[1]);
  });

  test("nothing is kept with store: false", async () => {
    const { url, say } = await start();
    const { id } = await say({ store: false });
    expect((await post(url, { model: "m", input: [named(id), question] })).status).toBe(400);
  });

  test("thinking that comes back without our sealed content gets it again", async () => {
    const engine = createScripted([[...thought, { type: "finish", reason: "stop" }], hello]);
    const { url } = await startGateway({ upstreams: { up: engine } });
    const { output } = (await post(url, { model: "m", input: "Hi" })).json;
    expect(output).toMatchObject([{ type: "reasoning", summary: [{ text: "Hm." }] }, { type: "message" }]);
    expect((output as JsonObject[])[0]).not.toHaveProperty("encrypted_content");
    await post(url, { model: "m", input: [...(output as JsonObject[]), question] });
    expect(engine.requests[1]?.messages[0]).toMatchObject({ role: "assistant", content: said });
  });

  test("survive a change of the configuration", async () => {
    const upstreams = { up: createScripted(() => hello) };
    const gateway = createGateway({ port: 0, upstreams });
    closeLater(() => gateway.close());
    const { url } = await gateway.listen();
    const { output } = (await post(url, { model: "m", input: "Hi" })).json;
    gateway.update({ upstreams });
    const { id } = (output as JsonObject[])[0]!;
    expect((await post(url, { model: "m", input: [named(id), question] })).status).toBe(200);
  });
});

// As the agents SDK for Python does with `auto_previous_response_id`, and LangChain with `use_previous_response_id`.
describe("a request that continues an earlier answer (previous_response_id)", () => {
  const tools = [{ type: "function", name: "f", parameters: { type: "object" }, strict: false }];
  const result = { type: "function_call_output", call_id: "a", output: "done" };

  test.each([true, false])("gives the model everything said before, streamed: %s", async (stream) => {
    const engine = createScripted([call, hello, hello]);
    const { url, ended } = await startGateway({ upstreams: { up: engine } });
    const go = async (more: object): Promise<unknown> => {
      const body = JSON.stringify({ model: "m", instructions: "Be brief.", tools, stream, ...more });
      const answer = await ask(url, "POST", "/v1/responses", { headers: json, body });
      return /"id":"(resp_\w+)"/.exec(answer.body)?.[1];
    };
    const first = await go({ input: "Hi" });
    const second = await go({ input: [result], previous_response_id: first });
    await go({ input: [question], previous_response_id: second });
    expect(engine.requests[2]?.messages).toMatchObject([
      { role: "system" },
      { role: "user", content: [{ text: "Hi" }] },
      { role: "assistant", content: [...said, { type: "tool-call", id: "a", name: "f", state: [signature] }] },
      { role: "tool", id: "a", name: "f", output: "done" },
      { role: "assistant", content: [{ type: "text", text: "Hello" }] },
      { role: "user", content: [{ text: "And now?" }] },
    ]);
    expect((await ended(3)).map(({ warnings }) => warnings)).toEqual([[], [], []]);
  });

  test("may be one of several that continue the same answer, but not with another key, nor from an answer that was not stored", async () => {
    const engine = createScripted(() => hello);
    const { url } = await startGateway({ upstreams: { up: engine }, keys: ["one", "two"] });
    const [one, two] = [{ authorization: "Bearer one" }, { authorization: "Bearer two" }];
    const { id } = (await post(url, { model: "m", input: "Hi" }, one)).json;
    for (const input of ["A", "B"]) {
      expect(await post(url, { model: "m", input, previous_response_id: id }, one)).toMatchObject({ status: 200 });
      const texts = engine.requests.at(-1)?.messages.map((message) => "content" in message && message.content[0]);
      expect(texts).toMatchObject([{ text: "Hi" }, { text: "Hello" }, { text: input }]);
    }
    const passing = (await post(url, { model: "m", input: "Hi", store: false }, one)).json;
    for (const [previous_response_id, headers] of [
      [id, two],
      [passing.id, one],
      ["resp_1", one],
    ] as const) {
      expect(await post(url, { model: "m", input: "C", previous_response_id }, headers)).toMatchObject({
        status: 400,
        json: {
          error: {
            code: "previous_response_not_found",
            param: "previous_response_id",
            message: expect.stringContaining(`Previous response with id '${previous_response_id}' not found.`),
          },
        },
      });
    }
  });

  test("is passed on with its id to a Responses server, which has its own answers", async () => {
    const whole = getWire("openai-responses").encodeResponse({ content: [{ type: "text", text: "Hello" }] }, { model: "m", messages: [] });
    const upstream = await startServer(answering(JSON.stringify({ ...(whole as object), id: "resp_1" })));
    const { url, ended } = await startGateway({ upstreams: { up: remote(upstream.url, "openai-responses") } });
    const { id } = (await post(url, { model: "m", input: "Hi" })).json;
    expect(id).toBe("resp_1");
    await post(url, { model: "m", input: [result], previous_response_id: id });
    expect(JSON.parse(upstream.seen.findLast(({ method }) => method === "POST")?.body ?? "")).toMatchObject({
      previous_response_id: "resp_1",
      input: [result],
    });
    expect((await ended(2)).map(({ warnings }) => warnings)).toEqual([[], []]);
  });
});

describe("the store is bounded", () => {
  test("in items: the least recently used one is dropped", () => {
    const kept = new Kept(2);
    for (const id of ["a", "b"]) kept.keep("me", id, { id });
    kept.recall("me", "a");
    kept.keep("me", "c", { id: "c" });
    expect(["a", "b", "c"].map((id) => kept.recall("me", id))).toEqual([{ id: "a" }, undefined, { id: "c" }]);
  });
  test("in characters: as many as necessary are dropped; an item that is too long is not kept, and displaces none", () => {
    const kept = new Kept(9, 40);
    for (const id of ["a", "b"]) kept.keep("me", id, { id, text: "" });
    kept.keep("me", "a", { id: "a", text: "x".repeat(15) });
    expect([kept.recall("me", "b"), kept.recall("me", "a")]).toEqual([undefined, { id: "a", text: "x".repeat(15) }]);
    kept.keep("me", "c", "x".repeat(100));
    expect(["a", "b", "c"].map((id) => kept.recall("me", id))).toEqual([{ id: "a", text: "x".repeat(15) }, undefined, undefined]);
  });
});
