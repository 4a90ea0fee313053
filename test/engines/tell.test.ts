// `tell`: an answer in the pieces in which it came, without a promise for each event.
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Event, Request } from "../../src/core/nouns.ts";
import { serverAt } from "../../src/engines/http/address.ts";
import { bodyText } from "../../src/engines/http/http.ts";
import { createRescue } from "../../src/engines/inband/rescue.ts";
import { createRemote, type Remote } from "../../src/engines/remote.ts";
import { answering, closeLater, nobody, signalOf, sse, startServer } from "../servers.ts";

const request: Request = {
  model: "m",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  tools: [{ name: "f", parameters: { type: "object", properties: { a: { type: "number" } } } }],
  stream: "sse",
};
const chunk = (content: string, finish: string | null = null) => ({
  id: "c1",
  model: "m",
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const STREAM = { "content-type": "text/event-stream" };

const remoteAt = (url: string): Remote => {
  const engine = createRemote({ wire: "openai-chat", url });
  closeLater(() => engine.close());
  return engine;
};

/** All pieces, once the last one has come. */
function told(tell: NonNullable<Remote["tell"]>): Promise<Event[][]> {
  return new Promise((resolve) => {
    const pieces: Event[][] = [];
    tell(request, {}, (events) => {
      pieces.push([...events]);
      if (events.at(-1)?.type === "finish") resolve(pieces);
    });
  });
}

test("events that arrive in one piece are delivered in one piece, and the finish is last", async () => {
  const server = await startServer(answering(`${sse(chunk("Hel"), chunk("lo"), chunk("", "stop"))}data: [DONE]\n\n`, STREAM));
  const engine = remoteAt(server.url);
  const pieces = await told((...args) => engine.tell(...args));
  expect(pieces.map((events) => events.map(({ type }) => type))).toEqual([["start", "text", "text", "finish"]]);
});

describe("endless answers are cut off", () => {
  const JSON_TYPE = { "content-type": "application/json" };
  const piece = Buffer.alloc(1 << 20, "a");
  const endless: [string, number, Record<string, string>, string, Buffer][] = [
    ["a JSON", 200, JSON_TYPE, '{"id":"', piece],
    ["an event", 200, STREAM, 'data: {"id":"', piece],
    ["an error", 400, JSON_TYPE, '{"error":"', piece],
    ["compressed blanks", 200, { ...JSON_TYPE, "content-encoding": "gzip" }, "", gzipSync(Buffer.alloc(32 << 20, " "))],
  ];

  test.each(endless)("%s", async (what, status, headers, beginning, piece) => {
    const gone = signalOf();
    const server = await startServer(async (response) => {
      response.on("close", gone.resolve).writeHead(status, headers).write(beginning);
      while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, "drain"), gone.promise]);
    });
    const engine = remoteAt(server.url);
    const [last] = (await told((...args) => engine.tell(...args))).flat().slice(-1);
    await gone.promise;
    const message = what === "an error" ? expect.stringMatching(/^\{"error":"a+$/) : expect.stringContaining("is too long");
    expect(last).toMatchObject({ type: "finish", error: { code: what === "an error" ? "bad-request" : "upstream", message } });
  });
  test("without streaming, too", async () => {
    const body = (async function* () {
      for (;;) yield piece;
    })();
    await expect(bodyText({ status: 200, headers: {}, body })).rejects.toThrow("is too long");
  });
});

test("after stopping nothing more is delivered, and the server is disconnected", async () => {
  const gone = signalOf();
  const server = await startServer(async (response) => {
    response.writeHead(200, STREAM).write(sse(chunk("Hel")));
    await once(response, "close");
    gone.resolve();
  });
  const heard: Event[] = [];
  const telling = remoteAt(server.url).tell(request, {}, (events) => {
    heard.push(...events);
    telling.stop();
  });
  await gone.promise;
  expect(heard.map(({ type }) => type)).toEqual(["start", "text"]);
});

test("a consumer that leaves early lets an answer end that arrived as a whole: its connection is used again", async () => {
  const texts = Array.from({ length: 600 }, (_, i) => chunk(`x${i}`));
  const server = await startServer(answering(`${sse(...texts, chunk("", "stop"))}data: [DONE]\n\n`, STREAM));
  const engine = createRemote({ wire: "openai-chat", url: server.url, connections: 1 });
  closeLater(() => engine.close());
  const first = async () => {
    for await (const event of engine.generate(request)) if (event.type === "text") return event.text;
  };
  expect([await first(), await first(), await first()]).toEqual(["x0", "x0", "x0"]);
});

test("a short question that takes too long is a timeout, and one that the caller aborts is not", async () => {
  const { url } = await startServer(async (response) => void (await once(response, "close")));
  const http = serverAt("openai-chat", { url });
  closeLater(() => http.close());
  const codeOf = (signal?: AbortSignal) => http.brief("GET", "/v1/models", { signal }, 20).catch((error: unknown) => http.explain(error));
  expect(await codeOf()).toMatchObject({ code: "timeout", message: expect.stringContaining("did not answer in time") });
  expect(await codeOf(AbortSignal.abort())).toMatchObject({ code: "aborted" });
});

test("if no server answers, the finish is the only event", async () => {
  const engine = remoteAt(nobody);
  const pieces = await told((...args) => engine.tell(...args));
  expect(pieces).toMatchObject([[{ type: "finish", error: { code: "overloaded" } }]]);
});

describe("calls in the text are rescued", () => {
  const call = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
  test.each([
    ["at once", "hermes", "m"],
    ["when the dialect is known later", "auto", "Qwen/Qwen2.5-7B-Instruct"],
  ])("%s", async (_, dialect, model) => {
    const server = await startServer(answering(`${sse(chunk(call), chunk("", "stop"))}data: [DONE]\n\n`, STREAM));
    const engine = createRescue(remoteAt(server.url), { dialect });
    const events = (await told((asked, ...args) => engine.tell!({ ...asked, model }, ...args))).flat();
    expect(events).toContainEqual(expect.objectContaining({ type: "tool-end", name: "f", arguments: { a: 1 } }));
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });
});
