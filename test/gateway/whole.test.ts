// Clients that do not stream are not held silent either: JSON may begin with blanks. What goes wrong then is never an answer.
import { once } from "node:events";
import { connect } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import { generateText, RetryError } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { listWires } from "../../src/wires/registry.ts";
import { answering, signalOf, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { askSmallest, ERROR, hello, json, remote, SMALLEST, scripted, startGateway as startUnrecorded } from "./start.ts";

const wires = listWires().map(({ id }) => id);
const impatient = { patience: { wholeMs: 5, heartbeatMs: 5 } };

const messages = [{ role: "user" as const, content: "Hi" }];

/** How each asks, its own error, and whether it asks again where the connection broke off. */
const SDKS: Readonly<Record<string, { ask(url: string): Promise<unknown>; own: new (...args: never[]) => Error; again?: true }>> = {
  "openai, chat": {
    ask: (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 }).chat.completions.create({ model: "m", messages }),
    own: OpenAI.InternalServerError,
  },
  "openai, responses": {
    ask: (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 }).responses.create({ model: "m", input: "Hi" }),
    own: OpenAI.InternalServerError,
  },
  "@anthropic-ai/sdk": {
    ask: (url) => new Anthropic({ baseURL: url, apiKey: "x", maxRetries: 0 }).messages.create({ model: "m", max_tokens: 9, messages }),
    own: Anthropic.APIError as never,
  },
  "@google/genai": {
    ask: (url) => new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url } }).models.generateContent({ model: "m", contents: "Hi" }),
    own: ApiError as never,
  },
  ollama: { ask: (url) => new Ollama({ host: url }).chat({ model: "m", messages }), own: Error },
  ai: {
    ask: (url) => generateText({ model: createOpenAICompatible({ name: "x", baseURL: `${url}/v1` })("m"), prompt: "Hi", maxRetries: 1 }),
    own: RetryError as never,
    again: true,
  },
};

/** Says nothing until it is told to. */
function waiting(events: Event[]) {
  const told = signalOf();
  async function* script(): AsyncGenerator<Event> {
    await told.promise;
    yield* events;
  }
  return { engine: scripted(script), tell: told.resolve };
}

test.each(wires)("%s: a long silence is filled with blanks, and the answer is the same JSON", async (id) => {
  const { engine, tell } = waiting(hello);
  const gateway = await startGateway({
    upstreams: { up: engine, quick: scripted() },
    models: [{ name: "m", upstream: "up" }],
    ...impatient,
  });
  const { path, body } = SMALLEST[id];
  const answer = await fetch(gateway.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const reader = answer.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  expect(first).toMatch(/^\n+$/);
  tell();
  let text = "";
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += new TextDecoder().decode(step.value);
  expect(JSON.stringify(JSON.parse(text))).toContain("Hello");
});

const failing = () => waiting([{ type: "finish", reason: "error", error: { code: "overloaded", message: "too much" } }]);

test.each(wires)("%s: an error after that is the wire's error body, and the connection breaks off behind it", async (id) => {
  const { engine, tell } = failing();
  const gateway = await startGateway({ upstreams: { up: engine }, ...impatient });
  const { path, body } = SMALLEST[id];
  const answer = await fetch(gateway.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  tell();
  let text = "";
  const reading = async (): Promise<void> => {
    for await (const piece of answer.body!) text += new TextDecoder().decode(piece);
  };
  await expect(reading()).rejects.toThrow("terminated");
  expect(JSON.parse(text)).toMatchObject(ERROR[id]);
  expect(await gateway.ended(1)).toMatchObject([{ status: 200, outcome: "error", error: { code: "overloaded" } }]);
  expect(gateway.exchanges[0]).not.toHaveProperty("brokenOff");
});

test("where closing is the end of an answer, as in HTTP/1.0, it is reset", async () => {
  const { engine, tell } = failing();
  const gateway = await startUnrecorded({ upstreams: { up: engine }, ...impatient });
  const socket = connect(gateway.port, "127.0.0.1");
  const { path, body } = SMALLEST["openai-chat"];
  const text = JSON.stringify(body);
  socket.write(
    `POST ${path} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  socket.on("data", tell);
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toBe("ECONNRESET");
});

test("only its own limit makes status and headers of a whole answer leave early, not that of streams", async () => {
  const { engine, tell } = failing();
  const quick = await startGateway({ upstreams: { up: engine }, ...impatient });
  const patient = await startGateway({ upstreams: { up: engine }, patience: { headersMs: 5, wholeMs: 60_000, heartbeatMs: 5 } });
  const { path, body } = SMALLEST.anthropic;
  const late = askSmallest(patient.url, "anthropic");
  const early = await fetch(quick.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  tell();
  expect([early.status, (await late).status]).toEqual([200, 529]);
  await early.text().catch(() => {});
});

describe.each(Object.entries(SDKS))("%s", (_, { ask, own, again }) => {
  test("raises its own error while there is a status to say it", async () => {
    const { engine, tell } = failing();
    const gateway = await startGateway({ upstreams: { up: engine } });
    tell();
    await expect(ask(gateway.url)).rejects.toThrow(own);
  });

  test("never takes an error behind the blanks for an answer", async () => {
    const engine = scripted(async function* () {
      await headersLeft;
      yield { type: "finish", reason: "error", error: { code: "overloaded", message: "too much" } };
    });
    const { promise: headersLeft, resolve } = signalOf();
    const taps = [() => ({ wrote: () => resolve() })];
    const gateway = await startGateway({ upstreams: { up: engine }, taps, ...impatient });
    await expect(ask(gateway.url)).rejects.toThrow(again ? RetryError : "terminated");
    await gateway.ended(again ? 2 : 1);
  });
});

test("whoever answers in time sends a status and a length", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  const { status, headers } = await askSmallest(gateway.url, "openai-chat");
  expect([status, Number(headers["content-length"]) > 0]).toEqual([200, true]);
});

test.each(["OTHER", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "SOMETHING_NEW"])(
  "gemini's own reason to stop, %s, is an answer to its own clients",
  async (reason) => {
    const answer = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: reason, index: 0 }] };
    const upstream = await startServer(answering(JSON.stringify(answer), { "content-type": "application/json" }));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "gemini") } });
    const { status, body } = await askSmallest(url, "gemini", SMALLEST);
    expect([status, JSON.parse(body)]).toMatchObject([200, answer]);
  },
);

test.each(["failed", "cancelled", "incomplete"])("a Responses answer that is %s has all that was said and counted", async (status) => {
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "incomplete",
    content: [{ type: "output_text", text: "Half" }],
  };
  const call = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}", status: "completed" };
  const error = status === "failed" ? { code: "server_error", message: "boom" } : null;
  const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
  const answer = { id: "resp_1", object: "response", model: "m", status, error, output: [call, message], usage };
  const upstream = await startServer(answering(JSON.stringify(answer), json));
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "openai-responses") } });
  const own = await askSmallest(url, "openai-responses");
  const told = status === "cancelled" ? { status: "failed" } : { status };
  expect([own.status, JSON.parse(own.body)]).toMatchObject([200, { output: [call, message], usage, ...told, ...(error ? { error } : {}) }]);
  const other = await askSmallest(url, "openai-chat");
  if (status !== "incomplete") expect([other.status >= 400, JSON.parse(other.body)]).toMatchObject([true, { error: {} }]);
  else expect(JSON.parse(other.body)).toMatchObject({ choices: [{ message: { content: "Half" } }], usage: { total_tokens: 12 } });
});
