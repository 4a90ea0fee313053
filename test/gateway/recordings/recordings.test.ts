// Exchanges recorded as files: both edges byte for byte, without secrets, and a replay gives the client the same bytes.
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { show } from "../../../src/cli/recordings.ts";
import type { Event, WireId } from "../../../src/core/nouns.ts";
import { around } from "../../../src/engines/around.ts";
import { createCompletions } from "../../../src/engines/completions/completions.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { createRemote } from "../../../src/engines/remote.ts";
import { createScripted } from "../../../src/engines/scripted.ts";
import { Account } from "../../../src/gateway/exchange.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import { accountOf } from "../../../src/gateway/recordings/account.ts";
import { compareRecording } from "../../../src/gateway/recordings/compare.ts";
import { createRecorder, type RecorderOptions } from "../../../src/gateway/recordings/recorder.ts";
import { type Recording, readRecording, textOfEdge } from "../../../src/gateway/recordings/recording.ts";
import { createReplay } from "../../../src/gateway/recordings/replay.ts";
import { Secrets } from "../../../src/gateway/recordings/secrets.ts";
import { getWire, listWires } from "../../../src/wires/registry.ts";
import { answering, closeLater, nobody, sse, startServer, tempFolder } from "../../servers.ts";
import { ask, askSmallest, json, STREAMED, startGateway } from "../start.ts";

const WIRES = listWires().map(({ id }) => id);

/** A gateway that records, and its recordings. */
async function recording(options: GatewayOptions, more: Partial<RecorderOptions> = {}) {
  const folder = tempFolder();
  const recorder = createRecorder({ folder, ...more });
  const gateway = await startGateway({ ...options, taps: [recorder.tap] });
  const files = async (count: number): Promise<string[]> => {
    await gateway.ended(count);
    await recorder.flush();
    return readdirSync(folder)
      .toSorted()
      .map((name) => join(folder, name));
  };
  const read = async (count: number): Promise<Recording[]> => (await files(count)).map((file) => readRecording(readFileSync(file, "utf8")));
  return { ...gateway, folder, files, read };
}

const weather: Event[] = [
  { type: "start", id: "a1", model: "m" },
  { type: "text", text: "Grüße 👋 " },
  { type: "tool-start", id: "call_1", index: 0, name: "f" },
  { type: "tool-delta", id: "call_1", json: '{"a":1.0}' },
  { type: "tool-end", id: "call_1", index: 0, name: "f", arguments: { a: 1 }, json: '{"a":1.0}' },
  { type: "usage", inputTokens: 3, outputTokens: 5 },
  { type: "finish", reason: "tool-calls" },
];

function streamOf(wire: WireId): { body: string; type: string } {
  const stream = wire === "ollama" ? ("ndjson" as const) : ("sse" as const);
  const encoder = getWire(wire).createStreamEncoder(
    { model: "m", messages: [], stream },
    { now: () => new Date(0), mintId: (n) => `id-${n}` },
  );
  const body = weather.map((event) => encoder.encode(event)).join("") + encoder.end();
  return { body, type: wire === "ollama" ? "application/x-ndjson" : "text/event-stream" };
}

/** Byte by byte in a few places, so that characters are cut. */
const upstreamOf = (wire: WireId) =>
  startServer(async (response, { method }) => {
    if (method === "GET") return answering("{}", { status: 404 })(response, {} as never, {} as never);
    const { body, type } = streamOf(wire);
    response.writeHead(200, { "content-type": type, "x-request-id": "up-1" });
    for (const byte of Buffer.from(body)) response.write(Buffer.of(byte));
    response.end();
    return undefined;
  });

describe.each(WIRES)("a client that speaks %s", (client) => {
  test.each(WIRES)("an upstream that speaks %s: both edges are recorded, and a replay gives the same bytes", async (wire) => {
    const upstream = await upstreamOf(wire);
    const first = await recording({ upstreams: { up: createRemote({ wire, url: upstream.url }) } });
    const { path, body } = STREAMED[client];
    const answer = await ask(first.url, "POST", path, { headers: json, body: JSON.stringify(body) });
    const [kept] = await first.read(1);
    expect(textOfEdge(kept!.client)).toBe(answer.body);
    expect(kept!.client.request.body).toBe(JSON.stringify(body));
    expect(textOfEdge(kept!.upstream[0]!)).toBe(streamOf(wire).body);
    expect(kept!.upstream[0]!.request.body).toBe(upstream.seen.find(({ method }) => method === "POST")!.body);
    expect(kept!.events.map(([, event]) => event.type)).toContain("tool-end");
    expect(accountOf(kept!).anomalies).toEqual([]);

    expect(await compareRecording(kept!)).toMatchObject({ same: true });
  });
});

test("no two moments of a recording are equal, however fast they follow each other: their order decides how it is replayed", async () => {
  const words: Event[] = Array.from({ length: 2000 }, () => ({ type: "text", text: "a" }));
  const { url, read } = await recording({ upstreams: { up: createScripted(() => [...words, { type: "finish", reason: "stop" }]) } });
  await askSmallest(url, "openai-chat");
  const { client, events } = (await read(1))[0]!;
  const moments = [client.ms, ...events.map(([ms]) => ms), client.response!.ms, ...client.pieces.map(([ms]) => ms)];
  expect(moments.length).toBeGreaterThan(2000);
  for (const [i, ms] of moments.entries()) if (i > 0) expect(ms).toBeGreaterThan(moments[i - 1]!);
});

test("items that the client referred to by id are in the recording, and it replays to the same bytes", async () => {
  const { url, read } = await recording({ upstreams: { up: createScripted(() => weather) } });
  const post = (input: unknown) => ask(url, "POST", "/v1/responses", { headers: json, body: JSON.stringify({ model: "m", input }) });
  const { output } = JSON.parse((await post("Hi")).body);
  await post([
    { type: "item_reference", id: output[0].id },
    { role: "user", content: "And now?" },
  ]);
  const kept = (await read(2)).toSorted((a, b) => a.at.localeCompare(b.at));
  expect(kept[1]?.items).toMatchObject({ [output[0].id]: { type: "message", content: [{ text: "Grüße 👋 " }] } });
  for (const one of kept) expect(await compareRecording(one)).toMatchObject({ same: true });
});

test("so is the conversation before the answer that a client continues", async () => {
  const { url, read } = await recording({ upstreams: { up: createScripted(() => weather) } });
  const post = async (more: object) => {
    const body = JSON.stringify({ model: "m", ...more });
    return JSON.parse((await ask(url, "POST", "/v1/responses", { headers: json, body })).body);
  };
  const { id } = await post({ input: "Hi" });
  await post({ input: "And now?", previous_response_id: id });
  const kept = (await read(2)).toSorted((a, b) => a.at.localeCompare(b.at));
  expect(kept[1]?.items).toMatchObject({ [id]: { input: "Hi", output: [{ type: "message" }, { type: "function_call" }] } });
  for (const one of kept) expect(await compareRecording(one)).toMatchObject({ same: true });
});

describe("replays", () => {
  const recordedOnce = async (engine: Engine, wire: WireId): Promise<Recording> => {
    const { url, read } = await recording({ upstreams: { up: engine } });
    const { path, body } = STREAMED[wire];
    await ask(url, "POST", path, { headers: json, body: JSON.stringify(body) });
    return (await read(1))[0]!;
  };

  test("a difference is found, with its place", async () => {
    const { url } = await upstreamOf("openai-chat");
    const kept = await recordedOnce(createRemote({ wire: "openai-chat", url }), "anthropic");
    const { pieces } = kept.client;
    const changed = { ...kept, client: { ...kept.client, pieces: [...pieces, pieces[0]!] } };
    const { same, recorded, now } = await compareRecording(changed);
    expect(same).toBe(false);
    expect(now.body).not.toBe(recorded.body);
    expect(await compareRecording(kept)).toMatchObject({ same: true, recorded: now });
  });

  test.each(WIRES)(
    "%s: a local model's pause between its headers and its first event is not replayed as silence, and its output is shown",
    async (wire) => {
      const events: Event[] = [
        { type: "start", model: "m" },
        { type: "usage", inputTokens: 15, cachedTokens: 0 },
        { type: "thinking-start", raw: "<think>" },
        { type: "thinking-delta", text: "Hm." },
        { type: "thinking-end", raw: "</think>" },
        { type: "text", text: "Hello" },
        { type: "control", raw: "<|im_end|>" },
        { type: "finish", reason: "stop" },
      ];
      const inProcess = around(createScripted([]), {
        async *generate(_, { onAnswer, onDialect } = {}) {
          onAnswer?.({ ok: true, headers: {}, warnings: [] });
          onDialect?.("hermes/qwen3");
          yield* events;
        },
      });
      const kept = await recordedOnce(inProcess, wire);
      const response = { ...kept.client.response!, ms: 0 };
      const later = kept.events.map(([ms, event]) => [ms + 20, event] as const);
      expect(await compareRecording({ ...kept, client: { ...kept.client, response }, events: later })).toMatchObject({ same: true });
      expect(accountOf(kept).text).toBe("<think>Hm.</think>Hello<|im_end|>");
    },
  );

  test("an answer that broke off breaks off again", async () => {
    const upstream = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse({ choices: [{ index: 0, delta: { content: "Hel" } }] }), () => response.destroy());
    });
    const kept = await recordedOnce(createRemote({ wire: "openai-chat", url: upstream.url }), "anthropic");
    expect(kept.upstream.at(-1)).toMatchObject({ broken: true });
    expect(accountOf(kept).anomalies.join()).toContain("broke off");
    expect(await compareRecording(kept)).toMatchObject({ same: true });
  });

  test("an upstream that fell silent falls silent again", async () => {
    const upstream = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse({ choices: [{ index: 0, delta: { content: "Hel" } }] }));
    });
    const engine = createRemote({ wire: "openai-chat", url: upstream.url, timeouts: { idle: 50 } });
    const kept = await recordedOnce(engine, "gemini");
    expect(kept.exchange.error).toMatchObject({ code: "timeout" });
    expect(await compareRecording(kept)).toMatchObject({ same: true });
  });

  test("a gateway that closed closes again, after the same byte", async () => {
    const sayHel = sse({ choices: [{ index: 0, delta: { content: "Hel" } }] });
    const upstream = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sayHel);
    });
    const { url, read, close } = await recording({ upstreams: { up: createRemote({ wire: "openai-chat", url: upstream.url }) } });
    const { path, body } = STREAMED.anthropic;
    const answer = await fetch(url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("Hel"); text += (await reader.read()).value);
    await close();
    const kept = (await read(1))[0]!;
    expect(kept.exchange).toMatchObject({ outcome: "aborted", brokenOff: "gateway" });
    expect(accountOf(kept).anomalies).toContain("the gateway closed");
    expect(await compareRecording(kept)).toMatchObject({ same: true });
    const [edge] = kept.upstream;
    const longer = { ...kept, upstream: [{ ...edge!, pieces: [...edge!.pieces, [9, sayHel] as const] }] };
    expect(await compareRecording(longer)).toMatchObject({ same: false });
  });

  test("an error status is replayed", async () => {
    const upstream = await startServer(answering('{"error":{"message":"slow down"}}', { status: 429, "retry-after": "3" }));
    const kept = await recordedOnce(createRemote({ wire: "openai-chat", url: upstream.url }), "gemini");
    expect(kept.client.response).toMatchObject({ status: 429, headers: { "retry-after": "3" } });
    expect(await compareRecording(kept)).toMatchObject({ same: true, now: { status: 429 } });
  });

  test("without an upstream response, the recorded events are replayed", async () => {
    const refused = await recordedOnce(createRemote({ wire: "openai-chat", url: nobody }), "anthropic");
    expect(await compareRecording(refused)).toMatchObject({ same: true, now: { status: 529 } });
    const inProcess = await recordedOnce(
      createScripted(() => weather),
      "ollama",
    );
    expect(inProcess.upstream).toEqual([]);
    expect(await compareRecording(inProcess)).toMatchObject({ same: true, now: { status: 200 } });
  });

  test("works with an upstream under a path prefix, and a model in its path", async () => {
    const upstream = await upstreamOf("gemini");
    const kept = await recordedOnce(createRemote({ wire: "gemini", url: `${upstream.url}/some/where` }), "openai-responses");
    expect(kept.upstream[0]!.request.url).toContain("/some/where/");
    expect(await compareRecording(kept)).toMatchObject({ same: true });
  });

  test("recognizes a server that completes text", async () => {
    const upstream = await startServer((response, { url, method }) => {
      if (url.startsWith("/props")) return answering('{"default_generation_settings":{"params":{}}}')(response, {} as never, {} as never);
      if (method === "GET" || url === "/tokenize") return answering("{}", { status: 404 })(response, {} as never, {} as never);
      const said = [
        { content: "Hel" },
        { content: "lo" },
        { content: "", stop: true, stop_type: "eos", tokens_predicted: 2, tokens_evaluated: 9 },
      ];
      return answering(sse(...said), { "content-type": "text/event-stream" })(response, {} as never, {} as never);
    });
    const kept = await recordedOnce(createCompletions({ url: upstream.url, dialect: "hermes" }), "openai-chat");
    expect(kept.upstream).toHaveLength(1); // the exchange itself, without its preparations
    expect(kept.exchange.dialect).toBe("hermes");
    expect(accountOf(kept).text).toBe("Hello");
    expect(await compareRecording(kept)).toMatchObject({ same: true });
    const replay = createReplay(kept, { fast: true }).listen(0, "127.0.0.1");
    await once(replay, "listening");
    closeLater(() => replay.close());
    const again = createCompletions({ url: `http://127.0.0.1:${(replay.address() as AddressInfo).port}` });
    closeLater(() => again.close());
    expect(await again.about("m")).toMatchObject({ server: "llama-server" });
  });

  test.each<[string, (kept: Recording) => Recording, RegExp]>([
    ["was cut", (kept) => ({ ...kept, cut: true }), /too long/],
    ["holds no answer", (kept) => ({ ...kept, exchange: { ...kept.exchange, kind: "count" } }), /no answer/],
  ])("a recording that %s cannot be compared", async (_, change, why) => {
    const kept = await recordedOnce(
      createScripted(() => weather),
      "ollama",
    );
    await expect(compareRecording(change(kept))).rejects.toThrow(why);
  });
});

describe("secrets", () => {
  const CANARIES = { gate: "gate-canary-4711", upstream: "up-canary-0815", header: "hdr-canary-1234", shaped: "sk-canaryabcdefghijklmnop" };

  test("are in no file: keys of the gateway and the upstream, in headers, echoed, cut in two, and anything that looks like a key", async () => {
    const upstream = await startServer((response, { method }) => {
      if (method === "GET") return answering("{}", { status: 404 })(response, {} as never, {} as never);
      response.writeHead(200, { "content-type": "text/event-stream", "set-cookie": CANARIES.header });
      const text = sse({ choices: [{ index: 0, delta: { content: `your key is ${CANARIES.upstream}, mine ${CANARIES.shaped}` } }] });
      const middle = text.indexOf(CANARIES.upstream) + 5;
      response.write(text.slice(0, middle));
      setImmediate(() => response.end(text.slice(middle) + sse({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]")));
      return undefined;
    });
    const engine = createRemote({
      wire: "openai-chat",
      url: upstream.url,
      key: CANARIES.upstream,
      headers: { "x-api-secret": CANARIES.header },
    });
    const started = await recording({ upstreams: { up: engine }, keys: [CANARIES.gate] }, { secrets: [CANARIES.gate, CANARIES.upstream] });
    for (const wire of WIRES) {
      const { path, body } = STREAMED[wire];
      const sign = path.includes("?") ? "&" : "?";
      const headers = {
        ...json,
        authorization: `Bearer ${CANARIES.gate}`,
        cookie: `a=${CANARIES.header}`,
        "x-custom-auth": CANARIES.header,
      };
      await ask(started.url, "POST", `${path}${sign}key=${CANARIES.gate}`, {
        headers,
        body: JSON.stringify({ ...body, user: CANARIES.shaped }),
      });
    }
    const files = await started.files(WIRES.length);
    expect(files).toHaveLength(WIRES.length);
    for (const file of files) {
      const text = readFileSync(file, "utf8");
      for (const canary of Object.values(CANARIES)) expect(text).not.toContain(canary);
      expect(text).toContain("[secret]");
      expect(() => readRecording(text)).not.toThrow();
    }
  });

  test.each(["\n", "\t", "\u0001", "\n  - ", ""])(
    "a key after %j in a JSON string is found, whether it is known or only looks like one",
    (before) => {
      const keys = [CANARIES.gate, CANARIES.shaped, `AIza${"x".repeat(35)}`, `ghp_${"a1".repeat(18)}`, `Bearer ${CANARIES.header}`];
      const body = JSON.stringify({ content: keys.map((key) => `keys:${before}${key}`) });
      const secrets = new Secrets([CANARIES.gate]);
      for (const text of [body, JSON.stringify({ body })])
        for (const cleaned of [secrets.clean(text), String(Buffer.concat(secrets.pieces([Buffer.from(text)])))]) {
          expect(cleaned.match(/\[secret\]/g)).toHaveLength(keys.length);
          expect(() => JSON.parse(cleaned)).not.toThrow();
        }
    },
  );

  test.each(["ollama", "text", "1000", "stop", "true"])(
    "a key that is a word or a number of the format leaves the recording readable: %s",
    async (key) => {
      const events: Event[] = [
        { type: "text", text: `the key is ${key}.` },
        { type: "usage", inputTokens: 1000, outputTokens: 1 },
        { type: "finish", reason: "stop" },
      ];
      const started = await recording({ upstreams: { up: createScripted(() => events) } }, { secrets: [key] });
      await askSmallest(started.url, "ollama");
      const [file = ""] = await started.files(1);
      const { content, usage, finish } = accountOf(readRecording(readFileSync(file, "utf8"))).events;
      expect(content).toEqual([{ type: "text", text: "the key is [secret]." }]);
      expect([usage?.inputTokens, finish?.reason]).toEqual([1000, "stop"]);
    },
  );

  test("pieces keep their borders", () => {
    const pieces = ["a key", "12", "34 b", "key1234"].map((text) => Buffer.from(text));
    expect(new Secrets(["key1234"]).pieces(pieces).map(String)).toEqual(["a [secret]", "", " b", "[secret]"]);
    const many = Array.from({ length: 200_000 }, () => Buffer.from(" key12")); // searching each piece for all of them would take minutes
    expect(new Set(new Secrets(["12 key"]).pieces(many).map(String))).toEqual(new Set([" key[secret]", "[secret]", "12"]));
  });
});

describe("files", () => {
  test("of several gateways may be in one folder: what another has deleted is no problem", async () => {
    const folder = tempFolder();
    const problems: string[] = [];
    const recorders = Array.from({ length: 4 }, () =>
      createRecorder({ folder, maxFiles: 1, onProblem: ({ message }) => problems.push(message) }),
    );
    for (let i = 0; i < 40; i++) {
      const { exchange } = new Account(`req_${i.toString(16)}`, "openai-chat", "generate");
      recorders[i % 4]!.tap(exchange)?.ended?.(exchange);
    }
    await Promise.all(recorders.map((recorder) => recorder.flush()));
    expect(problems).toEqual([]);
  });
  const started = (more: Partial<RecorderOptions>) =>
    upstreamOf("openai-chat").then(({ url }) => recording({ upstreams: { up: createRemote({ wire: "openai-chat", url }) } }, more));
  const askOnce = (url: string) => ask(url, "POST", STREAMED.gemini.path, { headers: json, body: JSON.stringify(STREAMED.gemini.body) });

  test.skipIf(process.platform === "win32")("are readable by their owner only (Windows has no such modes)", async () => {
    const gateway = await started({});
    await askOnce(gateway.url);
    const [file] = await gateway.files(1);
    expect(statSync(file!).mode & 0o777).toBe(0o600);
  });

  test("are limited in number, and other files are left alone", async () => {
    const gateway = await started({ maxFiles: 2 });
    writeFileSync(join(gateway.folder, "notes.json"), "mine");
    for (let n = 0; n < 4; n++) await askOnce(gateway.url);
    const files = await gateway.files(4);
    expect(files).toHaveLength(3);
    expect(files.some((file) => file.endsWith("notes.json"))).toBe(true);
  });

  test("are limited in size, and say that they were cut", async () => {
    const gateway = await started({ maxBytes: 600 });
    await askOnce(gateway.url);
    const [kept] = await gateway.read(1);
    expect(kept).toMatchObject({ cut: true });
    expect(accountOf(kept!).anomalies[0]).toContain("too long");
  });

  test("a list of models is not recorded", async () => {
    const gateway = await started({});
    await ask(gateway.url, "GET", "/v1/models");
    expect(await gateway.files(1)).toEqual([]);
  });
});

describe("anomalies in a recording", () => {
  const base: Recording = {
    version: 1,
    at: "2026-01-31T12:00:00.000Z",
    exchange: {
      ...{
        id: "req_1",
        wire: "openai-chat",
        kind: "generate",
        model: "m",
        upstream: "up",
        upstreamModel: "m",
        streamed: true,
        status: 200,
        outcome: "ok",
      },
      ...{ ms: 12, calls: { complete: 1, truncated: 0, malformed: 0, rescued: 0 }, outside: [], fragments: 1, warnings: [] },
    },
    client: {
      request: { method: "POST", url: "/v1/chat/completions", headers: {}, body: "{}" },
      ms: 0,
      response: { ms: 1, status: 200, headers: { "content-type": "text/event-stream" } },
      pieces: [
        [
          2,
          sse(
            { choices: [{ index: 0, delta: { content: "Look: <tool_call>" } }] },
            { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
            "[DONE]",
          ),
        ],
      ],
    },
    upstream: [],
    events: [[1, { type: "tool-end", id: "a", index: 0, name: "f", arguments: { city: "Oslo" } }]],
  };

  test("a call that vanished, and markup left in the text, are found", () => {
    expect(accountOf(base).anomalies).toEqual([
      "the call of f vanished between the events and the client",
      "markup is left in the text: <tool_call>",
    ]);
  });

  test.each([60, 120])("are printed, %d columns wide", (columns) => {
    let printed = "";
    const write = (text: string): boolean => {
      printed += text;
      return true;
    };
    show(base, { columns, write });
    expect(printed).toContain("the client got");
    expect(printed).toContain("! the call of f vanished");
    expect(
      Math.max(
        ...printed
          .split("\n")
          .slice(0, 8)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(columns);
  });

  const spoilt = '{"version":1,"client":{"request":{"url":"/"},"pieces":[]},"events":[],"upstream":[{}]}';
  test.each(["{", "[]", '{"version":2}', spoilt])("a file that is not a recording is reported as such: %s", (text) => {
    expect(() => readRecording(text)).toThrow(/^it is /);
  });
});
