// Real answers of servers (llama-server and `transformers serve` of August 2026, each with the embedded model), recorded byte for byte, and
// the events they give: in one piece, and cut into pieces of a few bytes.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Request } from "../../src/core/nouns.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createCompletions, createRemote, createRescue } from "../../src/engines/index.ts";
import { all } from "../events.ts";
import { startServer } from "../servers.ts";

const request: Request = {
  model: "dragoman-tiny",
  stream: "sse",
  messages: [{ role: "user", content: [{ type: "text", text: "make it red" }] }],
  tools: [{ name: "paint", parameters: { type: "object", properties: { color: { type: "string" } }, required: ["color"] } }],
};
const hello: Request = { ...request, tools: [], stop: ["What"] };

const completions = (url: string) => createCompletions({ url, server: "llama-server", dialect: "gemma4" });
const chat = (url: string) => createRemote({ wire: "openai-chat", url: `${url}/v1` });
const rescued = (url: string) => createRescue(chat(url), { dialect: "gemma4" });

const call = { type: "tool-call", name: "paint", arguments: { color: "red" } };

test.each<[string, (url: string) => Engine, Request, object]>([
  [
    "llama-server-completion",
    completions,
    request,
    { content: [call], usage: { inputTokens: 78, outputTokens: 13, cachedTokens: 77 }, finish: { reason: "tool-calls", native: "eos" } },
  ],
  [
    "llama-server-stop",
    completions,
    hello,
    {
      content: [{ type: "text", text: "Hello! " }],
      usage: { inputTokens: 14, outputTokens: 4, cachedTokens: 13 },
      finish: { reason: "stop", native: "word", stop: "What" },
    },
  ],
  [
    "llama-server-chat",
    chat,
    request,
    { content: [call], usage: { inputTokens: 78, outputTokens: 13, cachedTokens: 77 }, finish: { reason: "tool-calls" } },
  ],
  // It leaves calls in the text, and its last chunk has both the usage and the finish reason.
  [
    "transformers-chat",
    rescued,
    request,
    { content: [call], usage: { inputTokens: 80, outputTokens: 13 }, finish: { reason: "tool-calls" } },
  ],
])("%s", async (name, engineAt, asked, expected) => {
  const bytes = readFileSync(`test/fixtures/servers/${name}.sse`);
  for (const size of [bytes.length, 7]) {
    const { url } = await startServer(async (response, { url }) => {
      if (!/completion/.test(url)) return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
      response.end();
    });
    const engine = engineAt(url);
    const events = await all(engine.generate(asked));
    await engine.close();
    expect(collect(events)).toMatchObject(expected);
  }
});
