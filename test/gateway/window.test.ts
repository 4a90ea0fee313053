// Ollama silently cuts what its window does not hold. Clients of other APIs have it refuse instead, and its window grows as needed.
import { expect, test } from "vitest";
import type { Json } from "../../src/core/nouns.ts";
import { startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, json, remote } from "./start.ts";

type Body = Record<string, Json> & { options?: { num_ctx?: number }; truncate?: boolean };

/** Ollama's wording in 2026, and before. */
const inner = (used: number, limit: number) => ({
  error: {
    code: 400,
    message: `request (${used} tokens) exceeds the available context size (${limit} tokens), try increasing it`,
    type: "exceed_context_size_error",
    n_prompt_tokens: used,
    n_ctx: limit,
  },
});
const WORDS = {
  new: (used: number, limit: number) => JSON.stringify(inner(used, limit)),
  old: () => "the input length exceeds the context length",
};

const TRAINED = 65_536;

/** An Ollama with little memory; a token is four characters of the messages. */
async function startOllama(words: keyof typeof WORDS, context?: number) {
  const bodies: Body[] = [];
  const upstream = await startServer((response, { method, body }) => {
    if (method === "GET") return void response.writeHead(404).end("{}");
    const asked = JSON.parse(body) as Body;
    bodies.push(asked);
    const used = Math.ceil(JSON.stringify(asked.messages).length / 4);
    const window = Math.min(asked.options?.num_ctx ?? 4096, TRAINED);
    if (asked.truncate === false && used > window)
      return void response.writeHead(400, json).end(JSON.stringify({ error: WORDS[words](used, window) }));
    const said = {
      model: "m",
      message: { role: "assistant", content: "Hi" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: used,
      eval_count: 1,
    };
    response.writeHead(200, json).end(JSON.stringify(said));
  });
  const { url } = await startGateway({
    upstreams: { up: remote(upstream.url, "ollama") },
    models: [{ name: "m", upstream: "up", ...(context === undefined ? {} : { context }) }],
  });
  const post = (path: string, tokens: number) => {
    const messages = [{ role: "user", content: "word".repeat(tokens) }];
    return ask(url, "POST", path, { headers: json, body: JSON.stringify({ model: "m", max_tokens: 1000, stream: false, messages }) });
  };
  return { post, bodies, windows: () => bodies.map(({ options }) => options?.num_ctx) };
}

test.each(["new", "old"] as const)("a prompt that the window does not hold gets a larger one, and keeps it (%s words)", async (words) => {
  const { post, bodies, windows } = await startOllama(words);
  for (const tokens of [100, 12_000, 100, 20_000, 12_000]) expect((await post("/v1/messages", tokens)).status).toBe(200);
  expect(windows()).toEqual([undefined, undefined, 16_384, 16_384, 16_384, 32_768, 32_768]);
  expect(bodies.every(({ truncate }) => truncate === false)).toBe(true);
});

test("a prompt that no window holds is refused, with the numbers", async () => {
  const { post, windows } = await startOllama("new");
  const { status, body } = await post("/v1/messages", 100_000);
  expect(status).toBe(400);
  expect(body).toMatch(/prompt is too long: 1000\d\d tokens > 65536 maximum/);
  expect(windows()).toEqual([undefined, 131_072]);
});

test("a configured window is never changed", async () => {
  const { post, windows } = await startOllama("new", 8192);
  expect((await post("/v1/chat/completions", 12_000)).body).toContain("context_length_exceeded");
  expect(windows()).toEqual([8192]);
});

test("Ollama's own clients get their own window", async () => {
  const { post, bodies } = await startOllama("new");
  expect((await post("/api/chat", 12_000)).status).toBe(200);
  expect(bodies).toHaveLength(1);
  expect(bodies[0]).not.toHaveProperty("truncate");
});
