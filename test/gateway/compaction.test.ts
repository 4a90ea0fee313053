// What replaces a conversation: asked of any model where a Responses client wants it, refused where only its own server could read it.
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, hello, json } from "./start.ts";

async function post(url: string, path: string, body: object) {
  const { status, body: text } = await ask(url, "POST", path, { headers: json, body: JSON.stringify({ model: "m", ...body }) });
  return { status, body: JSON.parse(text) as JsonObject };
}

const f = { type: "function", name: "f", parameters: { type: "object" }, strict: false };
const user = { role: "user", content: "Hi" };

test("a compaction: the model is asked for a summary, without tools, and the client goes on with what it got", async () => {
  const engine = createScripted([
    [
      { type: "text", text: "They want a boat." },
      { type: "finish", reason: "stop" },
    ],
    hello,
  ]);
  const { url } = await startGateway({ upstreams: { up: engine } });
  const send = async (input: object[]) => (await post(url, "/v1/responses", { input, tools: [f], store: false })).body;
  const { output } = (await send([user, { type: "compaction_trigger" }])) as { output: object[] };
  expect(output).toMatchObject([{ type: "compaction" }]);
  await send([...output, { role: "user", content: "Go on" }]);
  expect(engine.requests).toMatchObject([
    { toolChoice: "none", messages: [{ role: "user" }, { role: "user" }] },
    { messages: [{ role: "user", content: [{ text: expect.stringContaining("They want a boat.") }] }, { role: "user" }] },
  ]);
});

test.each<[string, string, object, string]>([
  [
    "/v1/responses",
    "a compaction of another server's",
    { input: [{ type: "compaction", id: "cmp_1", encrypted_content: "x" }, user] },
    "server that made it",
  ],
  [
    "/v1/messages",
    "a compaction that only Anthropic does",
    { max_tokens: 9, messages: [user], compaction: { type: "summarize" } },
    "done by Anthropic",
  ],
])("%s: %s is a 400 that says what to do", async (path, _, body, message) => {
  const engine = createScripted([hello]);
  const { url } = await startGateway({ upstreams: { up: engine } });
  expect(await post(url, path, body)).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(message) } } });
  expect(engine.requests).toEqual([]);
});
