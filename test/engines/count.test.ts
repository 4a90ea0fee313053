// Tokens are counted by the server that has the tokenizer.
import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import { createRemote } from "../../src/engines/remote.ts";
import { closeLater, startServer } from "../servers.ts";

const request: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], tools: [{ name: "f" }] };

/** A server that answers these paths, and 404 to all others. */
const start = async (answers: Record<string, object>) => {
  const server = await startServer((response, { url }) => {
    const answer = answers[url.split("?")[0] ?? ""];
    response.writeHead(answer ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  const engine = createRemote({ wire: "openai-chat", url: `${server.url}/v1` });
  closeLater(() => engine.close());
  return { engine, seen: server.seen, sent: (path: string) => JSON.parse(server.seen.find(({ url }) => url === path)?.body ?? "null") };
};

const VLLM = { "/v1/models": { data: [{ id: "m", owned_by: "vllm" }] } };

describe("tokens are counted", () => {
  test.each([
    ["vLLM", VLLM],
    ["vLLM's front end in Rust", { "/v1/models": { data: [{ id: "m", owned_by: "vllm-frontend-rs" }] } }],
    ["Aphrodite", { "/v1/models": { data: [{ id: "m", owned_by: "pygmalionai" }] } }],
    ["SGLang", { "/model_info": { model_path: "x" } }],
    ["an older SGLang", { "/get_model_info": { model_path: "x" } }],
  ])("by %s, which renders the chat itself", async (_, about) => {
    const { engine, sent } = await start({ ...about, "/tokenize": { count: 42, tokens: [] } });
    expect(await engine.countTokens(request)).toEqual({ tokens: 42, exact: true });
    expect(sent("/tokenize")).toMatchObject({ model: "m", messages: [{ role: "user", content: "Hi" }], tools: [{ type: "function" }] });
  });
  test("by a server that is probed only once", async () => {
    const { engine, seen } = await start({ ...VLLM, "/tokenize": { count: 42, tokens: [] } });
    for (let i = 0; i < 3; i++) await engine.countTokens(request);
    expect(seen.filter(({ url }) => url === "/v1/models")).toHaveLength(1);
    expect(seen.filter(({ url }) => url === "/tokenize")).toHaveLength(3);
  });
  test("by llama-server, in two steps", async () => {
    const { engine, sent } = await start({
      "/props": { default_generation_settings: { params: {} } },
      "/apply-template": { prompt: "<|turn>user\nHi" },
      "/tokenize": { tokens: [1, 2, 3] },
    });
    expect(await engine.countTokens(request)).toEqual({ tokens: 3, exact: true });
    expect(sent("/tokenize")).toEqual({ model: "m", content: "<|turn>user\nHi", add_special: true, parse_special: true });
  });
  test.each([
    ["an unknown server", {}],
    ["a vLLM without a count", VLLM],
    ["TensorRT-LLM", { "/version": { version: "1.2" }, "/tokenize": { count: 42 } }],
    ["TabbyAPI", { "/props": { total_slots: 4, default_generation_settings: { n_ctx: 4096 } }, "/tokenize": { tokens: [1] } }],
    ["SGLang without a tokenizer", { "/model_info": { model_path: "x" } }],
  ])("are estimated for %s", async (_, answers) => {
    const { engine } = await start(answers);
    expect(await engine.countTokens(request)).toMatchObject({ exact: false });
  });
});
