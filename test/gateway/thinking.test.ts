// A model gets its thinking back within a tool loop, whichever client is in between: with what the real clients send.
import { expect, test } from "vitest";
import { sse, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, json, remote } from "./start.ts";

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };

/** Thinks and calls in each round, and thinks something else each time. */
async function start(field: Field) {
  let round = 0;
  const upstream = await startServer((response, { method }) => {
    if (method === "GET") return void response.writeHead(404).end();
    const thought = `Because ${++round}.`;
    const made = { ...call, id: `call_${round}` };
    const events = sse(chunk({ [field]: thought }), chunk({ tool_calls: [made] }), chunk({}, "tool_calls"), "[DONE]");
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  });
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
  const post = (path: string, body: object) => ask(url, "POST", path, { headers: json, body: JSON.stringify(body) });
  const sent = () => JSON.parse(upstream.seen.findLast(({ body }) => body !== "")?.body ?? "").messages as Sent[];
  return { post, sent };
}

const dataOf = (body: string) => [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
const ROUNDS = 3;
/** The servers' names for thinking: each gets it back under its own. */
const FIELDS = ["reasoning_content", "reasoning"] as const;
type Field = (typeof FIELDS)[number];
type Sent = { role: string; tool_calls?: { id: string }[] } & { [field in Field]?: string };

/** After the first answer, each request has the thoughts of all earlier rounds, each with its call. */
function checkThoughts(messages: Sent[], round: number, field: Field): void {
  const thoughts = messages.filter(({ role }) => role === "assistant").map((message) => message[field]);
  expect(thoughts).toEqual(Array.from({ length: round - 1 }, (_, i) => `Because ${i + 1}.`));
}

test.each(FIELDS)("%s through Claude Code: thinking blocks with their signatures", async (field) => {
  const { post, sent } = await start(field);
  const base = { model: "m", max_tokens: 9, stream: true, tools: [{ name: "f", input_schema: { type: "object" } }] };
  const messages: object[] = [{ role: "user", content: "Hi" }];
  for (let round = 1; round <= ROUNDS; round++) {
    const events = dataOf((await post("/v1/messages", { ...base, messages })).body);
    checkThoughts(sent(), round, field);
    const signature = events.map(({ delta }) => delta?.signature ?? "").join("");
    const thinking = events.map(({ delta }) => delta?.thinking ?? "").join("");
    const { id } = events.find(({ content_block }) => content_block?.type === "tool_use").content_block;
    const content = [
      { type: "thinking", thinking, signature },
      { type: "tool_use", id, name: "f", input: {} },
    ];
    messages.push({ role: "assistant", content }, { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "ok" }] });
  }
});

test.each(FIELDS)("%s through Codex: the items of the answer, as they were done", async (field) => {
  const { post, sent } = await start(field);
  const base = {
    model: "m",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
  };
  const input: object[] = [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }];
  for (let round = 1; round <= ROUNDS; round++) {
    const events = dataOf((await post("/v1/responses", { ...base, input })).body);
    checkThoughts(sent(), round, field);
    const items = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const { call_id } = items.find(({ type }) => type === "function_call");
    input.push(...items, { type: "function_call_output", call_id, output: "ok" });
  }
});

test.each(FIELDS)("%s through gemini-cli: it drops thoughts, and keeps the signature of the call", async (field) => {
  const { post, sent } = await start(field);
  const tools = [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }];
  const contents: object[] = [{ role: "user", parts: [{ text: "Hi" }] }];
  for (let round = 1; round <= ROUNDS; round++) {
    const answer = await post("/v1beta/models/m:streamGenerateContent?alt=sse", { contents, tools });
    checkThoughts(sent(), round, field);
    const parts = dataOf(answer.body).flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const calls = parts.filter(({ functionCall }) => functionCall);
    const { id } = calls[0].functionCall;
    contents.push(
      { role: "model", parts: calls },
      { role: "user", parts: [{ functionResponse: { id, name: "f", response: { output: "ok" } } }] },
    );
  }
});
