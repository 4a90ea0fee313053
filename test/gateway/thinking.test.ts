// What a model thought goes back to it within a tool loop, whichever client stands between: as the real clients send it.
import { expect, test } from "vitest";
import { sse, startServer } from "../servers.ts";
import { ask, json, remote, startGateway } from "./start.ts";

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

async function start() {
  const upstream = await startServer((response, { method }) => {
    if (method === "GET") return void response.writeHead(404).end();
    const events = sse(chunk({ reasoning_content: "Because." }), chunk({ tool_calls: [call] }), chunk({}, "tool_calls"), "[DONE]");
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  });
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
  const post = (path: string, body: object) => ask(url, "POST", path, { headers: json, body: JSON.stringify(body) });
  const sent = () => JSON.parse(upstream.seen.at(-1)?.body ?? "").messages as { role: string; reasoning_content?: string }[];
  return { post, sent };
}

const dataOf = (body: string) => [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));

test("Claude Code: thinking blocks with their signatures", async () => {
  const { post, sent } = await start();
  const base = { model: "m", max_tokens: 9, stream: true, tools: [{ name: "f", input_schema: { type: "object" } }] };
  const user = { role: "user", content: "Hi" };
  const events = dataOf((await post("/v1/messages", { ...base, messages: [user] })).body);
  const signature = events.map(({ delta }) => delta?.signature ?? "").join("");
  const assistant = {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Because.", signature },
      { type: "tool_use", id: "call_1", name: "f", input: {} },
    ],
  };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "ok" }] };
  await post("/v1/messages", { ...base, messages: [user, assistant, result] });
  expect(sent().find(({ role }) => role === "assistant")).toMatchObject({ reasoning_content: "Because." });
});

test("Codex: the items of the answer, as they were done", async () => {
  const { post, sent } = await start();
  const base = {
    model: "m",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
  };
  const user = { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] };
  const events = dataOf((await post("/v1/responses", { ...base, input: [user] })).body);
  const items = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
  await post("/v1/responses", { ...base, input: [user, ...items, { type: "function_call_output", call_id: "call_1", output: "ok" }] });
  expect(sent().find(({ role }) => role === "assistant")).toMatchObject({ reasoning_content: "Because." });
});

test("gemini-cli: it drops thoughts, and keeps the signature of the call", async () => {
  const { post, sent } = await start();
  const tools = [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }];
  const path = "/v1beta/models/m:streamGenerateContent?alt=sse";
  const user = { role: "user", parts: [{ text: "Hi" }] };
  const parts = dataOf((await post(path, { contents: [user], tools })).body).flatMap(
    ({ candidates }) => candidates?.[0]?.content?.parts ?? [],
  );
  const model = { role: "model", parts: parts.filter(({ functionCall }) => functionCall) };
  const result = { role: "user", parts: [{ functionResponse: { id: "call_1", name: "f", response: { output: "ok" } } }] };
  await post(path, { contents: [user, model, result], tools });
  expect(sent().find(({ role }) => role === "assistant")).toMatchObject({ reasoning_content: "Because." });
});
