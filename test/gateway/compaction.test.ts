// Compaction: any model is asked for the summary that a Responses client wants; a compaction that only its own server could read is
// refused.
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { answering, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, hello, json, remote } from "./start.ts";

async function post(url: string, path: string, body: object) {
  const { status, body: text } = await ask(url, "POST", path, { headers: json, body: JSON.stringify({ model: "m", ...body }) });
  return { status, body: JSON.parse(text) as JsonObject };
}

const f = { type: "function", name: "f", parameters: { type: "object" }, strict: false };
const user = { role: "user", content: "Hi" };

test("a compaction: the model is asked for a summary, without tools, and the client continues with it", async () => {
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

test("/v1/responses/compact keeps the user's own messages, and replaces the rest", async () => {
  const engine = createScripted([
    [
      { type: "text", text: "They want a boat." },
      { type: "usage", inputTokens: 9, outputTokens: 5 },
      { type: "finish", reason: "stop" },
    ],
    hello,
  ]);
  const { url } = await startGateway({ upstreams: { up: engine } });
  const said = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Which one?" }] };
  const { status, body } = await post(url, "/v1/responses/compact", { input: [user, said], instructions: "Be brief." });
  expect([status, body]).toMatchObject([
    200,
    { object: "response.compaction", output: [{ ...user, type: "message" }, { type: "compaction" }], usage: { input_tokens: 9 } },
  ]);
  expect(engine.requests[0]).toMatchObject({ toolChoice: "none", messages: [{}, {}, {}, { role: "user" }] });
  await post(url, "/v1/responses", { input: [...(body.output as object[]), { role: "user", content: "Go on" }] });
  expect(JSON.stringify(engine.requests[1]?.messages)).toContain("They want a boat.");
});

test("/v1/responses/compact asks a Responses server in the current form of the API", async () => {
  const item = { type: "compaction", id: "cmp_1", encrypted_content: "x" };
  const upstream = await startServer(
    answering(JSON.stringify({ id: "resp_1", object: "response", status: "completed", model: "m", output: [item] })),
  );
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "openai-responses") } });
  expect((await post(url, "/v1/responses/compact", { input: "Hi" })).body.output).toMatchObject([user, item]);
  const { url: path, body } = upstream.seen.find(({ method }) => method === "POST")!;
  expect([path, JSON.parse(body).input]).toMatchObject(["/v1/responses", [{ role: "user" }, { type: "compaction_trigger" }]]);
  expect(body).not.toContain("#compact");
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
    "done on Anthropic",
  ],
])("%s: %s is refused with a 400 that says what to do", async (path, _, body, message) => {
  const engine = createScripted([hello]);
  const { url } = await startGateway({ upstreams: { up: engine } });
  expect(await post(url, path, body)).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining(message) } } });
  expect(engine.requests).toEqual([]);
});
