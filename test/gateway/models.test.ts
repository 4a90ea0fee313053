// Which upstream answers for a model, the model lists that clients see, and requests that are passed on as bytes.
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import type { Request, ThinkingSettings } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { unsearched } from "../../src/gateway/bound.ts";
import { Models } from "../../src/gateway/models.ts";
import { type ModelRule, ruleFor } from "../../src/gateway/rules.ts";
import { getWire } from "../../src/wires/registry.ts";
import { answering, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, askSmallest, hello, json, remote, SMALLEST, scripted } from "./start.ts";

const engine = (...ids: string[]) => createScripted(() => hello, { models: ids.map((id) => ({ id })) });
const broken = () => ({ ...engine(), models: () => Promise.reject(new Error("down")) });

describe("a requested model finds its rule", () => {
  test.each<[string, ModelRule[], string | undefined]>([
    ["gpt-4o", [{ name: "gpt-*" }, { name: "gpt-4o" }], "gpt-4o"],
    ["gpt-4o-mini", [{ name: "*" }, { name: "gpt-*" }, { name: "gpt-4o*" }], "gpt-4o*"],
    ["claude-x", [{ name: "gpt-*" }], undefined],
    ["a-b-c", [{ name: "a*b*c" }], "a*b*c"],
    ["ab", [{ name: "ab*b" }], undefined],
    ["__proto__", [{ name: "*" }], "*"],
  ])("%s", (asked, rules, expected) => {
    expect(ruleFor(asked, rules)?.name).toBe(expected);
  });

  test("one upstream with one model: every name means that model", async () => {
    expect(await new Models({ up: engine("qwen") }).resolve("gemini-2.5-pro")).toMatchObject({ upstream: "up", model: "qwen" });
  });
  test("one upstream with several models, or without a list: the name is passed on", async () => {
    for (const up of [engine("a", "b"), engine(), broken()]) expect(await new Models({ up }).resolve("c")).toMatchObject({ model: "c" });
  });
  test("several upstreams: the one that lists the model, or is named before a slash; otherwise a 404 that lists all models", async () => {
    const models = new Models({ one: engine("a"), two: engine("b", "c/d"), down: broken() });
    expect(await models.resolve("c/d")).toMatchObject({ upstream: "two", model: "c/d" });
    expect(await models.resolve("one/x/y")).toMatchObject({ upstream: "one", model: "x/y" });
    await expect(models.resolve("z")).rejects.toThrow('no upstream has the model "z"; there are: a, b, c/d');
  });
  test("a model that several upstreams list goes to the first; the others are reached with the upstream's name before it", async () => {
    const models = new Models({ one: engine("m", "a"), two: engine("m") });
    expect((await models.list()).map(({ id }) => id)).toEqual(["m", "a", "two/m"]);
    expect(await models.resolve("m")).toMatchObject({ upstream: "one", model: "m" });
    expect(await models.resolve("two/m")).toMatchObject({ upstream: "two", model: "m" });
    await expect(models.resolve("z")).rejects.toThrow("there are: one/m, a, two/m");
  });
  test("a model's own name may begin with the name of an upstream, unless that has the rest of it; what is listed can be asked for", async () => {
    const models = new Models({ hub: engine("hub/auto", "lab/big", "lab/small"), lab: engine("big"), down: broken() });
    expect((await models.list()).map(({ id }) => id)).toEqual(["hub/auto", "hub/lab/big", "lab/small", "big"]);
    expect(await models.resolve("hub/auto")).toMatchObject({ upstream: "hub", model: "hub/auto" });
    expect(await models.resolve("hub/lab/big")).toMatchObject({ upstream: "hub", model: "lab/big" });
    expect(await models.resolve("lab/big")).toMatchObject({ upstream: "lab", model: "big" });
    expect(await models.resolve("lab/small")).toMatchObject({ upstream: "hub", model: "lab/small" });
    expect(await models.resolve("lab/new")).toMatchObject({ upstream: "lab", model: "new" });
    expect(await models.resolve("down/x")).toMatchObject({ upstream: "down", model: "x" });
  });
  test("rules and aliases choose upstream and model", async () => {
    const rules = [
      { name: "big", upstream: "two", model: "c" },
      { name: "gemini-*", alias: "big" },
      { name: "small-*", upstream: "one" },
    ];
    const models = new Models({ one: engine("a"), two: engine("b", "c") }, rules);
    expect(await models.resolve("gemini-2.5-pro")).toMatchObject({ upstream: "two", model: "c", rule: { name: "big" } });
    expect(await models.resolve("small-1")).toMatchObject({ upstream: "one", model: "a" });
    expect((await models.list()).map(({ id }) => id)).toEqual(["big", "a", "b", "c"]);
    expect(() => new Models({ one: engine() }, [{ name: "x", alias: "x" }])).toThrow('the alias "x" leads in a circle: x → x');
  });
  test("a rule that names a model, but none of several upstreams, means the upstream that has the model", async () => {
    const rules = [
      { name: "fast", model: "c" },
      { name: "slow", model: "two/b" },
      { name: "lost", model: "z" },
    ];
    const models = new Models({ one: engine("a"), two: engine("b", "c") }, rules);
    expect(await models.resolve("fast")).toMatchObject({ upstream: "two", model: "c", rule: { name: "fast" } });
    expect(await models.resolve("slow")).toMatchObject({ upstream: "two", model: "b" });
    await expect(models.resolve("lost")).rejects.toThrow('no upstream has the model "z"');
  });
  test("a rule's defaults apply where the request is silent, and the client sees the name it asked for", async () => {
    const up = engine("a", "b");
    const rule = {
      name: "m",
      upstream: "up",
      model: "b",
      sampling: { temperature: 0.1, topP: 0.5 },
      maxTokens: 7,
      thinking: { enabled: false },
    };
    const { url } = await startGateway({ upstreams: { up }, models: [rule] });
    const body = JSON.stringify({ ...SMALLEST["openai-chat"].body, temperature: 0.9 });
    const answer = await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
    expect(JSON.parse(answer.body)).toMatchObject({ model: "m" });
    expect(up.requests[0]).toMatchObject({
      model: "b",
      maxTokens: 7,
      sampling: { temperature: 0.9, topP: 0.5 },
      thinking: { enabled: false },
    });
  });
});

test.each<[ModelRule["thinking"], object, ThinkingSettings]>([
  [{ enabled: false }, { reasoning_effort: "high" }, { effort: "high" }],
  [{ effort: "low" }, { reasoning_effort: "high" }, { effort: "high" }],
  [{ enabled: false, show: true }, { reasoning_effort: "high" }, { effort: "high", show: true }],
  [{ effort: "low" }, {}, { effort: "low" }],
])("a rule's thinking settings apply where the request has none: %j, %j", async (thinking, said, expected) => {
  const up = scripted();
  const { url } = await startGateway({ upstreams: { up }, models: [{ name: "m", upstream: "up", thinking }] });
  const body = JSON.stringify({ ...SMALLEST["openai-chat"].body, ...said });
  await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
  expect(up.requests[0]?.thinking).toEqual(expected);
});

describe("a token limit that does not fit into the model's context", () => {
  const body = (max_tokens: number) => JSON.stringify({ ...SMALLEST.anthropic.body, max_tokens });
  const post = (url: string, limit: number) => ask(url, "POST", "/v1/messages", { headers: json, body: body(limit) });

  test("is lowered until it fits, with a warning header", async () => {
    const up = createScripted(() => hello, { models: [{ id: "m", contextLength: 8000 }] });
    const { url } = await startGateway({ upstreams: { up } });
    expect((await post(url, 128_000)).headers["x-dragoman-warnings"]).toMatch(/^the limit of 128000 tokens was lowered to 7[67]\d\d/);
    expect((await post(url, 100)).headers).not.toHaveProperty("x-dragoman-warnings");
    expect(up.requests.map(({ maxTokens }) => maxTokens)).toEqual([expect.toSatisfy((limit: number) => limit > 7600 && limit < 7800), 100]);
  });
  test("is lowered to all that a long prompt leaves", async () => {
    const up = createScripted(() => hello, { models: [{ id: "m", contextLength: 32_768 }] });
    const { url } = await startGateway({ upstreams: { up } });
    const messages = [{ role: "user", content: "word".repeat(24_000) }];
    const long = JSON.stringify({ ...SMALLEST.anthropic.body, max_tokens: 32_000, messages });
    await ask(url, "POST", "/v1/messages", { headers: json, body: long });
    expect(up.requests[0]?.maxTokens).toBeGreaterThan(8400);
  });
  test.each([
    [
      "This model's maximum context length is 4096 tokens. However, you requested CC tokens (51 in the messages, AA in the completion). Please reduce the length.",
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: AA. This model's maximum context length is 4096 tokens and your request has 51 input tokens (AA > 4096 - 51).",
    ],
    [
      "This model's maximum context length is 4096 tokens. However, you requested AA output tokens and your prompt contains at least 51 input tokens, for a total of at least CC tokens.",
    ],
    [
      "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of CC tokens: 51 tokens from the input messages and AA tokens for the completion. Please reduce the number of tokens.",
    ],
  ])("is lowered again if the server counts more tokens than we do: %s", async (wording) => {
    const limits: number[] = [];
    const upstream = await startServer((response, { method, body }) => {
      if (method === "GET") return void response.writeHead(200).end('{"data":[{"id":"m","max_model_len":4096}]}');
      const limit: number = JSON.parse(body).max_completion_tokens ?? JSON.parse(body).max_tokens;
      limits.push(limit);
      const message = wording.replaceAll("AA", String(limit)).replaceAll("CC", String(limit + 51));
      if (limit + 51 > 4096) response.writeHead(400).end(JSON.stringify({ error: { message, type: "BadRequestError", code: 400 } }));
      else response.writeHead(200).end('{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}');
    });
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url) },
      models: [{ name: "m", upstream: "up", context: 10_000 }], // more than the context has
    });
    const answer = await post(url, 128_000);
    expect(answer.status).toBe(200);
    expect(limits).toEqual([expect.toSatisfy((limit: number) => limit > 4045), 4045]);
  });
  test("is lowered further if the server stopped counting early", async () => {
    const [context, prompt] = [4096, 2000];
    const limits: number[] = [];
    const upstream = await startServer((response, { method, body }) => {
      if (method === "GET") return void response.writeHead(404).end("{}");
      const limit: number = JSON.parse(body).max_tokens;
      limits.push(limit);
      const message = `This model's maximum context length is ${context} tokens. However, you requested ${limit} output tokens and your prompt contains at least ${context - limit + 1} input tokens, for a total of at least ${context + 1} tokens.`;
      if (limit + prompt > context) response.writeHead(400).end(JSON.stringify({ error: { message, type: "BadRequestError", code: 400 } }));
      else response.writeHead(200).end('{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}');
    });
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) }, models: [{ name: "m", upstream: "up" }] });
    expect((await post(url, 4000)).status).toBe(200);
    expect(limits).toEqual([4000, 1999]);
  });
  test("follows the configured context, which is also sent to Ollama", async () => {
    const upstream = await startServer(answering('{"message":{"role":"assistant","content":"Hi"},"done":true,"model":"m"}'));
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url, "ollama") },
      models: [{ name: "m", upstream: "up", context: 4000 }],
    });
    await post(url, 128_000);
    const { options } = JSON.parse(upstream.seen.find(({ url }) => url === "/api/chat")?.body ?? "");
    expect(options).toMatchObject({ num_ctx: 4000, num_predict: expect.toSatisfy((limit: number) => limit < 4000) });
  });
});

test("content cached at Google is a 400 on any other upstream, also for token counts", async () => {
  const { url } = await startGateway({ upstreams: { up: scripted() } });
  const body = JSON.stringify({ contents: [{ parts: [{ text: "x" }] }], cachedContent: "cachedContents/abc" });
  for (const method of ["generateContent", "streamGenerateContent", "countTokens"]) {
    const answer = await ask(url, "POST", `/v1beta/models/one:${method}`, { headers: json, body });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain("cachedContent is stored by Google");
  }
});

test.each([{ raw: true }, { suffix: "return 1" }, { context: [1, 2] }])(
  "features of Ollama's own servers are a 400 on any other upstream: %j",
  async (wish) => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    const post = (more: object) =>
      ask(url, "POST", "/api/generate", { headers: json, body: JSON.stringify({ model: "one", prompt: "x", stream: false, ...more }) });
    const [key = ""] = Object.keys(wish);
    expect(await post(wish)).toMatchObject({ status: 400, body: expect.stringContaining(`${key} `) });
    expect(await post({ raw: false, suffix: "", context: [] })).toMatchObject({ status: 200 });
    const upstream = await startServer(answering(JSON.stringify({ model: "one", response: "Hello", done: true, done_reason: "stop" })));
    const own = await startGateway({ upstreams: { up: remote(upstream.url, "ollama") } });
    const asked = await ask(own.url, "POST", "/api/generate", {
      headers: json,
      body: JSON.stringify({ model: "one", prompt: "x", ...wish }),
    });
    expect(asked.status).toBe(200);
    expect(upstream.seen.find(({ url }) => url === "/api/generate")?.body).toContain(JSON.stringify(wish).slice(1, -1));
  },
);

describe("model lists", () => {
  const start = () => startGateway({ upstreams: { up: engine("a/b:c", "d") } });
  const get = async (path: string, headers = {}) => {
    const { status, body } = await ask((await start()).url, "GET", path, { headers });
    return { status, body: JSON.parse(body) };
  };
  test("one /v1/models serves OpenAI's and Anthropic's SDKs", async () => {
    const entry = {
      id: "a/b:c",
      object: "model",
      created: 0,
      owned_by: "dragoman",
      type: "model",
      display_name: "a/b:c",
      created_at: expect.any(String),
      name: "a/b:c",
      description: "",
      supported_parameters: expect.arrayContaining(["tools", "reasoning"]),
    };
    const list = { object: "list", has_more: false, first_id: "a/b:c", last_id: "d", data: [entry, { id: "d" }] };
    expect((await get("/v1/models")).body).toMatchObject(list);
    expect((await get("/v1/models", { "anthropic-version": "2023-06-01" })).body).toMatchObject(list);
    expect((await get("/v1/models/a%2Fb:c")).body).toEqual(entry);
    expect((await get("/v1/models/a/b:c")).body).toEqual(entry);
  });
  test("Codex, which asks for its own catalogue, keeps the models that it knows", async () => {
    expect((await get("/v1/models?client_version=0.166.0")).body).toEqual({ models: [] });
  });
  test("OpenRouter's clients find the fields they decide by, under both of their paths", async () => {
    const { url } = await startGateway({ upstreams: { up: createScripted(() => hello, { models: [{ id: "m", contextLength: 4096 }] }) } });
    const entry = { id: "m", name: "m", context_length: 4096, supported_parameters: expect.arrayContaining(["tools"]) };
    for (const path of ["/api/v1/models", "/api/v1/models/user", "/v1/models"])
      expect(JSON.parse((await ask(url, "GET", path)).body)).toMatchObject({ data: [entry] });
    expect(JSON.parse((await ask(url, "GET", "/v1/models/user")).body)).toMatchObject({ id: "user" });
  });
  test("a model without tools is listed without them, whichever rule turns them off", async () => {
    const up = createScripted(() => hello, { models: [{ id: "m" }, { id: "mute-1" }] });
    const { url } = await startGateway({
      upstreams: { up },
      models: [
        { name: "mute-*", upstream: "up", tools: "off" },
        { name: "silent-*", upstream: "up", model: "m", tools: "off" },
        { name: "quiet", upstream: "up", model: "m", tools: "off" },
        { name: "hushed", alias: "quiet" },
      ],
    });
    const { data } = JSON.parse((await ask(url, "GET", "/v1/models")).body);
    const able = data.map(({ id, supported_parameters: all }: { id: string; supported_parameters: string[] }) => [
      id,
      all.includes("tools"),
    ]);
    expect(Object.fromEntries(able)).toEqual({ quiet: false, hushed: false, m: true, "mute-1": false });
    const found = JSON.parse((await ask(url, "GET", "/v1/models/silent-2")).body);
    expect(found.supported_parameters).not.toContain("tool_choice");
    expect(found.supported_parameters).toContain("reasoning");
  });
  test("Gemini's and Ollama's lists", async () => {
    expect((await get("/v1beta/models")).body).toMatchObject({ models: [{ name: "models/a/b:c" }, { name: "models/d" }] });
    expect((await get("/v1beta/models/a/b:c")).body).toMatchObject({ name: "models/a/b:c" });
    expect((await get("/api/tags")).body).toMatchObject({ models: [{ model: "a/b:c" }, { model: "d" }] });
    expect((await get("/api/version")).body).toEqual({ version: expect.any(String) });
    expect((await get("/api/ps")).body).toEqual({ models: [] });
    const { url } = await start();
    const shown = await ask(url, "POST", "/api/show", { headers: json, body: '{"model":"d"}' });
    expect(JSON.parse(shown.body)).toMatchObject({ capabilities: expect.arrayContaining(["tools"]) });
    expect((await ask(url, "POST", "/api/show", { headers: json, body: '{"model":"x"}' })).status).toBe(404);
  });
  test("Ollama's clients get what Ollama says about its model, adjusted to the rule's tools and context", async () => {
    const own = {
      details: { family: "qwen3" },
      template: "{{ .Prompt }}",
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40960 },
      capabilities: ["completion", "vision"],
    };
    const upstream = await startServer((response, request) => {
      if (request.url === "/api/show") response.end(JSON.stringify(own));
      else response.end('{"models":[{"model":"a"},{"model":"b"}]}');
    });
    const rules: ModelRule[] = [
      { name: "band", upstream: "up", model: "a", tools: "inband", context: 8192 },
      { name: "mute", upstream: "up", model: "a", tools: "off" },
    ];
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "ollama") }, models: rules });
    const show = async (model: string) =>
      JSON.parse((await ask(url, "POST", "/api/show", { headers: json, body: JSON.stringify({ model }) })).body);
    expect(await show("a")).toMatchObject(own);
    expect(await show("mute")).toMatchObject({ capabilities: ["completion", "vision"] });
    expect(await show("band")).toMatchObject({
      capabilities: ["completion", "vision", "tools"],
      template: own.template,
      model_info: { "qwen3.context_length": 8192 },
    });
  });
  test("an HTML page in place of Ollama's model description is not passed on", async () => {
    const upstream = await startServer((response, request) => {
      response.end(request.url === "/api/show" ? "<html>Welcome</html>" : '{"models":[{"model":"a"}]}');
    });
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "ollama") } });
    const shown = await ask(url, "POST", "/api/show", { headers: json, body: '{"model":"a"}' });
    expect([shown.status, JSON.parse(shown.body).capabilities]).toEqual([200, ["completion", "tools", "thinking"]]);
  });
  test("a llama-server model is shown with its vision capability", async () => {
    const props = { default_generation_settings: { params: {}, n_ctx: 4096 }, modalities: { vision: true, audio: false } };
    const upstream = await startServer((response, { url }) => {
      if (url.startsWith("/props")) response.end(JSON.stringify(props));
      else if (url === "/v1/models") response.end('{"data":[{"id":"m"}]}');
      else response.writeHead(404).end();
    });
    const { url } = await startGateway({ upstreams: { up: remote(`${upstream.url}/v1`, "openai-chat") } });
    const shown = await ask(url, "POST", "/api/show", { headers: json, body: '{"model":"m"}' });
    expect(JSON.parse(shown.body).capabilities).toEqual(["completion", "tools", "thinking", "vision"]);
  });
  test('a model with tools = "off" is not shown with tools', async () => {
    const { url } = await startGateway({ upstreams: { up: engine("m") }, models: [{ name: "m", upstream: "up", tools: "off" }] });
    const shown = await ask(url, "POST", "/api/show", { headers: json, body: '{"model":"m"}' });
    expect(JSON.parse(shown.body).capabilities).toEqual(["completion", "thinking"]);
  });
  test("every name that is answered can be looked up, with the context size of its model", async () => {
    const up = createScripted(() => hello, { models: [{ id: "m", contextLength: 4096 }] });
    const rules = [
      { name: "gemini-*", upstream: "up" },
      { name: "gpt-4o", alias: "m" },
      { name: "small", upstream: "up", model: "m", context: 2048 },
    ];
    const { url } = await startGateway({ upstreams: { up }, models: rules });
    const list = JSON.parse((await ask(url, "GET", "/v1/models")).body);
    expect(list.data.map((entry: { id: string; max_model_len: number }) => [entry.id, entry.max_model_len])).toEqual([
      ["gpt-4o", 4096],
      ["small", 2048],
      ["m", 4096],
    ]);
    for (const name of ["gemini-2.5-pro", "gpt-4o", "anything"]) {
      expect(JSON.parse((await ask(url, "GET", `/v1/models/${name}`)).body)).toMatchObject({ id: name, max_model_len: 4096 });
      expect((await ask(url, "GET", `/v1beta/models/${name}`)).status).toBe(200);
      const shown = await ask(url, "POST", "/api/show", { headers: json, body: JSON.stringify({ model: name }) });
      expect(JSON.parse(shown.body).model_info).toMatchObject({ "dragoman.context_length": 4096 });
    }
  });
  test("an unknown model is a 404 in the caller's format", async () => {
    expect(await get("/v1/models/x", { "x-api-key": "k" })).toMatchObject({
      status: 404,
      body: { type: "error", error: { type: "not_found_error" } },
    });
    expect(await get("/v1beta/models/x")).toMatchObject({ status: 404, body: { error: { status: "NOT_FOUND" } } });
  });
  test("/readyz is 200 if any upstream answers", async () => {
    const ready = await startGateway({ upstreams: { one: broken(), two: engine() } });
    for (const method of ["GET", "HEAD"]) expect((await ask(ready.url, method, "/readyz")).status).toBe(200);
    const alone = await startGateway({ upstreams: { one: broken() } });
    for (const method of ["GET", "HEAD"]) expect((await ask(alone.url, method, "/readyz")).status).toBe(503);
    expect((await ask(alone.url, "GET", "/healthz")).status).toBe(200);
  });
});

describe("counting tokens", () => {
  test.each([
    ["/v1/messages/count_tokens?beta=true", { model: "m", tools: [], messages: [{ role: "user", content: "Hi" }] }, { input_tokens: 42 }],
    ["/v1beta/models/m:countTokens", SMALLEST.gemini.body, { totalTokens: 42 }],
    ["/v1/responses/input_tokens", SMALLEST["openai-responses"].body, { input_tokens: 42 }],
  ])("%s", async (path, body, expected) => {
    for (const exact of [true, false]) {
      const up = createScripted([], { countTokens: () => ({ tokens: 42, exact }) });
      const answer = await ask((await startGateway({ upstreams: { up } })).url, "POST", path, {
        headers: json,
        body: JSON.stringify(body),
      });
      expect(answer).toMatchObject({ status: 200, headers: { "x-dragoman-count": exact ? "exact" : "estimate" } });
      expect(JSON.parse(answer.body)).toMatchObject(expected);
    }
  });
});

describe("requests passed on as bytes", () => {
  const body = '{"model":"m", "input": "Hi", "odd": 1.0}';

  test.each([
    ["openai-chat", "/v1/embeddings", "/v1/embeddings"],
    ["openai-chat", "/v1/completions", "/v1/completions"],
    ["ollama", "/api/embed", "/api/embed"],
    ["gemini", "/v1beta/models/m:embedContent", "/v1beta/models/m:embedContent"],
  ] as const)("%s: %s", async (wire, path, there) => {
    const upstream = await startServer((response, { method }) => {
      if (method === "GET") return void response.writeHead(404).end();
      response.writeHead(201, { "content-type": "application/x-odd", "set-cookie": "a=b" }).end("\u0000bytes");
    });
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url, wire) } });
    const answer = await ask(url, "POST", path, { headers: json, body });
    expect(answer).toMatchObject({ status: 201, body: "\u0000bytes", headers: { "content-type": "application/x-odd" } });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(upstream.seen.at(-1)).toMatchObject({ url: there, body });
  });
  test("a refusal, too, with the time to wait", async () => {
    const upstream = await startServer(answering('{"error":{}}', { status: 429, "retry-after": 7, "retry-after-ms": 6500 }));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const { status, headers } = await ask(url, "POST", "/v1/embeddings", { headers: json, body });
    expect({ status, headers }).toMatchObject({ status: 429, headers: { "retry-after": "7", "retry-after-ms": "6500" } });
  });
  test("under the model's name at the upstream", async () => {
    const upstream = await startServer(answering("{}"));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) }, models: [{ name: "m", upstream: "up", model: "real" }] });
    await ask(url, "POST", "/v1/embeddings", { headers: json, body });
    expect(JSON.parse(upstream.seen[0]?.body ?? "")).toEqual({ model: "real", input: "Hi", odd: 1 });
  });
  test("under another name with numbers that a double cannot hold", async () => {
    const upstream = await startServer(answering("{}"));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) }, models: [{ name: "m", upstream: "up", model: "real" }] });
    await ask(url, "POST", "/v1/completions", { headers: json, body: '{"model":"m","seed":18446744073709551615,"odd":1.0}' });
    expect(upstream.seen[0]?.body).toBe('{"model":"real","seed":18446744073709551615,"odd":1.0}');
  });
  test("under another name in each request of a Gemini batch, too", async () => {
    const upstream = await startServer(answering("{}"));
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url, "gemini") },
      models: [{ name: "m", upstream: "up", model: "real" }],
    });
    const one = { model: "models/m", content: { parts: [{ text: "Hi" }] } };
    await ask(url, "POST", "/v1beta/models/m:batchEmbedContents", { headers: json, body: JSON.stringify({ requests: [one, one] }) });
    expect(upstream.seen.at(-1)?.url).toContain("/models/real:batchEmbedContents");
    const renamed = { ...one, model: "models/real" };
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? "")).toEqual({ requests: [renamed, renamed] });
  });
  test("to the model in an Azure client's path, whatever its body says", async () => {
    const upstream = await startServer(answering("{}"));
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url) },
      models: [{ name: "mine", upstream: "up", model: "real" }],
    });
    await ask(url, "POST", "/openai/deployments/mine/embeddings?api-version=2024-10-21", { headers: json, body });
    expect(upstream.seen[0]).toMatchObject({ url: "/v1/embeddings" });
    expect(JSON.parse(upstream.seen[0]?.body ?? "")).toEqual({ model: "real", input: "Hi", odd: 1 });
  });
  test("an answer that breaks off is the upstream's failure: the client did not leave", async () => {
    const upstream = await startServer((response, { method }) => {
      if (method === "GET") return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"data":[', () => response.destroy());
    });
    const { url, ended } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    await expect(ask(url, "POST", "/v1/embeddings", { headers: json, body })).rejects.toThrow("aborted");
    const [exchange] = await ended(1);
    expect(exchange).toMatchObject({
      outcome: "error",
      error: { code: "upstream", message: "connection error: the upstream closed the connection" },
    });
    expect(exchange).not.toHaveProperty("brokenOff");
  });
  test.each<[string, Parameters<typeof startServer>[0]]>([
    ["no byte of it", (response) => void response.writeHead(200, { "content-length": 9 }).write("", () => response.destroy())],
    ["cut gzip", (response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("{}").subarray(0, 5))],
    ["a status that HTTP does not have", (response) => void response.writeHead(777).end("{}")],
  ])("an answer of which nothing can be read is an error in the client's form: %s", async (_, handler) => {
    const upstream = await startServer(async (response, seen, request) => {
      if (seen.method === "GET") response.writeHead(404).end();
      else await handler(response, seen, request);
    });
    const { url, ended } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const answer = await ask(url, "POST", "/v1/embeddings", { headers: json, body });
    expect({ status: answer.status, ...JSON.parse(answer.body) }).toMatchObject({ status: 502, error: { code: "upstream_error" } });
    expect(await ended(1)).toMatchObject([{ outcome: "error", status: 502, error: { code: "upstream" } }]);
  });
  test("only to an upstream of the same wire", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    expect((await ask(url, "POST", "/v1/embeddings", { headers: json, body })).status).toBe(404);
  });
});

test("what the upstream's wire cannot express is listed in a header", async () => {
  const upstream = await startServer(answering(JSON.stringify({ message: { role: "assistant", content: "Hi" }, done: true, model: "m" })));
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "ollama") }, models: [{ name: "m", upstream: "up" }] });
  const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
  const body = JSON.stringify({ ...SMALLEST["openai-chat"].body, tools: [tool], tool_choice: "required" });
  const { headers } = await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
  expect(headers["x-dragoman-warnings"]).toMatch(/tool/i);
  expect((await askSmallest(url, "openai-chat")).headers).not.toHaveProperty("x-dragoman-warnings");
});

test('tools = "off": the model never gets tools', async () => {
  const engine = scripted();
  const gateway = await startGateway({ upstreams: { up: engine }, models: [{ name: "plain", upstream: "up", tools: "off" }] });
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const body = { messages: [{ role: "user", content: "Hi" }], tools, tool_choice: "required" };
  const [plain] = [
    await ask(gateway.url, "POST", "/v1/chat/completions", { headers: json, body: JSON.stringify({ ...body, model: "plain" }) }),
    await ask(gateway.url, "POST", "/v1/chat/completions", { headers: json, body: JSON.stringify({ ...body, model: "other" }) }),
  ];
  expect(plain?.headers["x-dragoman-warnings"]).toContain("without tools");
  expect(engine.requests[0]).not.toHaveProperty("tools");
  expect(engine.requests[0]).not.toHaveProperty("toolChoice");
  expect(engine.requests[1]).toMatchObject({ tools: [{ name: "f" }], toolChoice: "required" });
});

test.each([
  ["llama-server", { params: {}, n_ctx: 8192 }],
  ["TabbyAPI", { n_ctx: 8192 }],
])("%s: the context is the one it runs with, not the one its model was trained with", async (_, settings) => {
  const server = await startServer((response, { url }) => {
    const answers: Record<string, object> = {
      "/v1/models": { object: "list", data: [{ id: "m", object: "model", meta: { n_ctx_train: 131_072 } }] },
      "/props": { default_generation_settings: settings },
    };
    const body = answers[url.split("?")[0] ?? ""];
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
  });
  const models = new Models({ up: remote(`${server.url}/v1`) });
  expect(await models.list()).toEqual([{ id: "m", contextLength: 8192 }]);
  expect(models.contextOf(await models.resolve("m"))).toBe(8192);
});

test("a context that was unknown or has changed is learnt with the next list", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    const said = [undefined, 4096, 8192, undefined];
    const models = new Models({ up: { ...engine("qwen"), about: async () => ({ context: said.shift() }) } });
    const target = await models.resolve("qwen");
    for (const context of [undefined, 4096, 8192, 8192]) {
      for (let i = 0; i < 3; i++) {
        models.contextOf(target);
        await new Promise(setImmediate);
      }
      expect(models.contextOf(target)).toBe(context);
      vi.advanceTimersByTime(31_000);
    }
  } finally {
    vi.useRealTimers();
  }
});

test("a clock that is set back does not keep a list longer", async () => {
  vi.useFakeTimers({ toFake: ["Date", "performance"] });
  try {
    const lists = [[{ id: "old" }], [{ id: "new" }]];
    const models = new Models({ up: { ...engine(), models: async () => lists.shift() ?? [] } });
    expect(await models.list()).toEqual([{ id: "old" }]);
    vi.setSystemTime(Date.now() - 86_400_000);
    vi.advanceTimersByTime(31_000);
    await models.list(); // the old list is served while a new one is on its way
    expect(await models.list()).toEqual([{ id: "new" }]);
  } finally {
    vi.useRealTimers();
  }
});

test("a context missing from the list is learnt by asking about the model once, without delaying requests", async () => {
  const asked: string[] = [];
  const knowing = {
    ...engine("qwen"),
    about: async (model: string) => {
      asked.push(model);
      return { context: 4096 };
    },
  };
  const models = new Models({ up: knowing });
  const target = await models.resolve("qwen");
  expect(models.contextOf(target)).toBeUndefined();
  await Promise.resolve();
  expect([models.contextOf(target), models.contextOf(target)]).toEqual([4096, 4096]);
  expect(models.contextOf({ ...target, model: "made-up" })).toBeUndefined();
  expect(asked).toEqual(["qwen"]);
});

describe("a tool search that only another server can run", () => {
  const hi = [{ role: "user", content: "Perform a web search for the query: weather" }];
  const search = { type: "web_search_20250305", name: "web_search" };
  const told = ({ messages }: Request) => JSON.stringify(messages).match(/You cannot use ([^"]*) here/)?.[1];
  const asks: [string, string, object, string | undefined][] = [
    ["Claude Code's", "/v1/messages", { model: "m", max_tokens: 9, messages: hi, tools: [search] }, "web_search"],
    [
      "gemini-cli's",
      "/v1beta/models/m:generateContent",
      { contents: [{ parts: [{ text: "weather" }] }], tools: [{ googleSearch: {} }] },
      "googleSearch",
    ],
    [
      "a tool among others",
      "/v1/messages",
      { model: "m", max_tokens: 9, messages: hi, tools: [search, { name: "f", input_schema: {} }] },
      undefined,
    ],
  ];
  test.each(asks)("the model is told that it has no search: %s", async (_, path, body, name) => {
    const engine = scripted();
    const { url } = await startGateway({ upstreams: { up: engine } });
    expect((await ask(url, "POST", path, { headers: json, body: JSON.stringify(body) })).status).toBe(200);
    expect(engine.requests.map(told)).toEqual([name]);
  });
  test("its own server runs it", () => {
    const body = JSON.stringify(asks[0]![2]);
    const request = getWire("anthropic").decodeRequest({ path: "/v1/messages", query: {}, headers: {}, body });
    expect(unsearched(request, "anthropic")).toBe(request);
  });
});
