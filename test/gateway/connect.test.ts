// Finding out which wire a server speaks, and which servers run on this machine.
import { describe, expect, test } from "vitest";
import { createUpstream, discover, probeWire } from "../../src/gateway/connect.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { answering, closeLater, nobody, sse, startServer, type TestServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { remote, scripted } from "./start.ts";

const serving = (answers: Record<string, unknown>): Promise<TestServer> =>
  startServer((response, { url }) => {
    const body = answers[url.split("?")[0] ?? ""];
    const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" }).end(text);
  });

const models = Object.fromEntries(listWires().map((wire) => [wire.id, wire.encodeModels([{ id: "m" }])]));
const both = { "/api/version": { version: "0.9" }, "/v1/models": models["openai-chat"] };
const ollama = { ...both, "/": "Ollama is running" };

describe("the wire of a URL is found", () => {
  test.each([
    ["ollama, which also answers as OpenAI", ollama, "", "ollama"],
    ["ollama, with /v1", ollama, "/v1", "ollama"],
    ["another server that answers as both", both, "", "ollama"],
    ["another server that answers as both, with /v1", both, "/v1", "openai-chat"],
    ["openai-chat", { "/v1/models": models["openai-chat"] }, "/v1", "openai-chat"],
    ["openai-chat under a prefix", { "/x/v1/models": models["openai-chat"] }, "/x/v1", "openai-chat"],
    ["anthropic", { "/v1/models": models.anthropic }, "", "anthropic"],
    ["gemini", { "/v1beta/models": models.gemini }, "", "gemini"],
  ])("%s", async (_, answers, path, wire) => {
    const server = await serving(answers);
    expect(await probeWire(server.url + path)).toMatchObject({ wire, certain: true });
  });
  test("a silent server is assumed to speak what its URL looks like; if nothing listens, there is no wire", async () => {
    const server = await serving({});
    expect(await probeWire(`${server.url}/v1`)).toMatchObject({ wire: "openai-chat", certain: false });
    expect(await probeWire(`${server.url}/v1beta`)).toMatchObject({ wire: "gemini", certain: false });
    expect(await probeWire(`${nobody}/v1`)).toBeUndefined();
  });
  test.each([
    [401, {}, undefined, "it wants a key (--upstream-key, or key in dragoman.toml)"],
    [403, {}, "k", "it refuses this key"],
    [308, { location: "https://up.example/v1/models" }, undefined, "it only points to https://up.example/v1/models, which may be its URL"],
  ])("why it is only a guess: a server that answers %i", async (status, headers, key, why) => {
    const server = await startServer(answering("{}", { status, ...headers }));
    expect(await probeWire(`${server.url}/v1`, key)).toMatchObject({
      certain: false,
      how: expect.stringContaining(`a guess, since ${why};`),
    });
  });
  test("another gateway speaks every wire: the one its URL looks like is used, never Ollama's, which can express least", async () => {
    const gateway = await startGateway({ upstreams: { up: scripted() } });
    expect(await probeWire(gateway.url)).toMatchObject({ wire: "openai-chat", certain: true, isGateway: true });
    expect(await probeWire(`${gateway.url}/v1beta`)).toMatchObject({ wire: "gemini", certain: true });
  });
  test("cloud APIs are recognized by their host names", async () => {
    expect(await probeWire("https://api.anthropic.com")).toMatchObject({ wire: "anthropic" });
    expect(await probeWire("https://openrouter.ai/api/v1")).toMatchObject({ wire: "openai-chat" });
  });
});

test("servers on this machine are found, and a gateway is not put in front of itself", async () => {
  const [one, two] = [await serving({ "/v1/models": models["openai-chat"] }), await serving(ollama)];
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  expect(await discover([one.url, `${nobody}/v1`, gateway.url, two.url])).toEqual([
    { url: one.url, wire: "openai-chat" },
    { url: two.url, wire: "ollama" },
  ]);
});

test("a server of open models gets the thinking field that its templates know", async () => {
  const server = await startServer(answering(sse("[DONE]"), { "content-type": "text/event-stream" }));
  const engine = createUpstream("openai-chat", { urls: [server.url] });
  closeLater(() => engine.close());
  const said = (role: "developer" | "user" | "system", text: string) => ({ role, content: [{ type: "text" as const, text }] });
  const messages = [said("developer", "A"), said("user", "B"), said("system", "C"), said("user", "D")];
  for await (const _ of engine.generate({ model: "m", messages, maxTokens: 5, stream: "sse" }));
  const body = JSON.parse(server.seen[0]?.body ?? "");
  expect(body).toMatchObject({ max_tokens: 5 });
  expect(body.messages).toEqual([
    { role: "system", content: "A" },
    { role: "user", content: "B\n\n<system>\nC\n</system>\n\nD" },
  ]);
});

test.each([
  ["openai-responses", undefined],
  ["openai-chat", "tools[0] (web_search) of openai-responses has no place in openai-chat and was left out"],
] as const)("a tool that only another API knows: an upstream of %s", async (wire, warning) => {
  const answer = getWire(wire).encodeResponse({ content: [], finish: { reason: "stop" } }, { model: "m", messages: [] });
  const server = await startServer(answering(JSON.stringify(answer)));
  const { url } = await startGateway({ upstreams: { up: remote(server.url, wire) } });
  const body = JSON.stringify({ model: "m", input: "Hi", tools: [{ type: "web_search" }] });
  const { headers } = await fetch(`${url}/v1/responses`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(headers.get("x-dragoman-warnings") ?? undefined).toBe(warning);
  expect(server.seen.find(({ method }) => method === "POST")?.body.includes('"web_search"')).toBe(warning === undefined);
});
