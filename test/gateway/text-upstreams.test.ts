// Upstreams whose models write their calls as text, behind every wire, streamed: everything is recorded and replayed.
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Json, WireId } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import type { Engine, ServerId } from "../../src/engines/engine.ts";
import { createUpstream } from "../../src/gateway/connect.ts";
import type { ModelRule } from "../../src/gateway/rules.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { answering, type Seen, signalOf, sse, startServer } from "../servers.ts";
import { CANARIES, signed, startRecorded } from "./recorded.ts";
import { ask, STREAMED } from "./start.ts";

const WIRES = listWires().map(({ id }) => id);
const MODEL = "qwen3-8b";
const CALLS = promptText(
  getDialect("hermes").renderToolCalls([
    { id: "a", name: "get_weather", arguments: { city: "Zürich 👋" } },
    { id: "b", name: "get_weather", arguments: { city: "</tool_call>" } },
  ]),
);
const TEXT = `Let me look.\n${CALLS}`;

// ---- The upstreams

const pieces = (text: string): string[] => text.match(/.{1,5}/gsu) ?? [];
const chat = (text: string): string =>
  sse(
    ...pieces(text).map((content) => ({ id: "c", model: MODEL, choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    { id: "c", model: MODEL, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    "[DONE]",
  );
const lines = (...objects: object[]): string => objects.map((object) => `${JSON.stringify(object)}\n`).join("");

const COMPLETIONS: Readonly<Record<ServerId, { path: string; stream: (text: string) => string }>> = {
  "llama-server": {
    path: "/completion",
    stream: (text) =>
      sse(...pieces(text).map((content) => ({ content, stop: false })), {
        content: "",
        stop: true,
        stop_type: "eos",
        tokens_evaluated: 9,
        tokens_predicted: 3,
      }),
  },
  vllm: { path: "/v1/completions", stream: (text) => openai(text) },
  sglang: { path: "/v1/completions", stream: (text) => openai(text) },
  ollama: {
    path: "/api/generate",
    stream: (text) =>
      lines(...pieces(text).map((response) => ({ model: MODEL, response, done: false })), {
        model: MODEL,
        response: "",
        done: true,
        done_reason: "stop",
        prompt_eval_count: 9,
        eval_count: 3,
      }),
  },
};
const openai = (text: string): string =>
  sse(
    ...pieces(text).map((piece) => ({ id: "c", model: MODEL, choices: [{ index: 0, text: piece, finish_reason: null }] })),
    { id: "c", model: MODEL, choices: [{ index: 0, text: "", finish_reason: "stop" }] },
    { id: "c", model: MODEL, choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } },
    "[DONE]",
  );

interface Kind {
  readonly path: string;
  readonly type?: string;
  readonly stream: (text: string) => string;
  readonly engine: (url: string) => Engine;
  readonly rule?: Partial<ModelRule>;
}

const remote = (url: string): Engine => createUpstream("openai-chat", { urls: [url], key: CANARIES.upstream });
const chatting = { path: "/v1/chat/completions", stream: chat, engine: remote };

const KINDS: Readonly<Record<string, Kind>> = {
  "leaves calls in the text": chatting,
  "chats without tools": { ...chatting, rule: { tools: "inband", dialect: "hermes" } },
  ...Object.fromEntries(
    Object.entries(COMPLETIONS).map(([id, { path, stream }]): [string, Kind] => [
      `only completes text (${id})`,
      {
        path,
        stream,
        ...(id === "ollama" ? { type: "application/x-ndjson" } : {}),
        engine: (url) => createUpstream("completions", { urls: [url], server: id as ServerId, key: CANARIES.upstream }),
      },
    ]),
  ),
};

async function started({ path, type = "text/event-stream", engine, rule = {} }: Kind, answer: (seen: Seen) => string | Promise<string>) {
  const gone = signalOf();
  const asked = signalOf();
  const server = await startServer(async (response, seen, request) => {
    if (seen.url !== path) return answering("{}", { status: 404 })(response, seen, request);
    response.once("close", () => gone.resolve());
    asked.resolve();
    const text = await answer(seen);
    response.writeHead(200, { "content-type": type });
    // Byte by byte, so that characters are cut.
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    if (text !== "") response.end();
    return undefined;
  });
  const models = [{ name: "*", upstream: "up", model: MODEL, ...rule }];
  const gateway = await startRecorded({ upstreams: { up: engine(server.url) }, models });
  return { ...gateway, gone: gone.promise, asked: asked.promise };
}

// ---- The clients

const PARAMETERS: Json = { type: "object", properties: { city: { type: "string" } } };
const functionOf = { name: "get_weather", description: `Weather. ${CANARIES.shaped}`, parameters: PARAMETERS };
const TOOLS: Readonly<Record<WireId, object>> = {
  "openai-chat": { tools: [{ type: "function", function: functionOf }] },
  "openai-responses": { tools: [{ type: "function", ...functionOf }] },
  anthropic: { tools: [{ name: "get_weather", input_schema: PARAMETERS }] },
  gemini: { tools: [{ functionDeclarations: [{ name: "get_weather", parametersJsonSchema: PARAMETERS }] }] },
  ollama: { tools: [{ type: "function", function: functionOf }] },
};

const bodyOf = (wire: WireId): string => JSON.stringify({ ...STREAMED[wire].body, ...TOOLS[wire] });
const eventsIn = (wire: WireId, body: string): Event[] => {
  const decoder = getWire(wire).createStreamDecoder();
  return [...decoder.feed(body), ...decoder.flush()];
};

describe.each(Object.entries(KINDS))("an upstream that %s", (name, kind) => {
  test.each(WIRES)("%s: text, then two calls", async (wire) => {
    const gateway = await started(kind, () => kind.stream(TEXT));
    const { body, headers, trailers } = await ask(gateway.url, "POST", STREAMED[wire].path, { headers: signed, body: bodyOf(wire) });
    const { content, finish } = collect(eventsIn(wire, body));
    const parts = content.filter((part) => part.type !== "text" || part.text.trim() !== ""); // calls may be on lines of their own
    expect(parts).toMatchObject([
      { type: "text", text: "Let me look.\n" },
      { type: "tool-call", name: "get_weather", arguments: { city: "Zürich 👋" } },
      { type: "tool-call", name: "get_weather", arguments: { city: "</tool_call>" } },
    ]);
    expect(finish).toMatchObject({ reason: "tool-calls" });
    const [exchange] = await gateway.ended(1);
    expect(exchange).toMatchObject({ dialect: expect.stringMatching(/^hermes/), calls: { complete: 2 } });
    // A rescued call is named in a header; if the answer streams, in a trailer.
    expect(headers).not.toHaveProperty("x-dragoman-warnings");
    const named = "read in the text of the answer, as hermes writes calls: get_weather, get_weather";
    expect(trailers["x-dragoman-warnings"]).toBe(name === "leaves calls in the text" ? named : undefined);
  });

  describe("a client that leaves stops the upstream", () => {
    const opened = async (url: string, streamed: boolean) => {
      const { hostname, port } = new URL(url);
      const request = httpRequest({
        ...{ hostname, port, method: "POST", path: "/v1/chat/completions", headers: signed, agent: false },
      });
      request.on("error", () => {});
      request.end(JSON.stringify({ ...JSON.parse(bodyOf("openai-chat")), stream: streamed }));
      return request;
    };

    test.each([true, false])("before the upstream has answered; streamed: %s", async (streamed) => {
      const gateway = await started(kind, () => new Promise<string>(() => {}));
      const request = await opened(gateway.url, streamed);
      await gateway.asked;
      request.destroy();
      await gateway.gone;
      expect(await gateway.ended(1)).toMatchObject([{ outcome: "aborted" }]);
    });

    test("in the middle of a call", async () => {
      const said = kind.stream("Look.\n<tool_call>\n");
      const gateway = await started({ ...kind, stream: () => said }, async () => said.slice(0, said.lastIndexOf("_call") + 5));
      const request = await opened(gateway.url, true);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.on("error", () => {});
      await once(response, "data");
      request.destroy();
      await gateway.gone;
    });
  });
});
