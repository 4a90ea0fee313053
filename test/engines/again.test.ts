// A server that refuses a setting is asked again without it, with or without a gateway.
import { expect, test } from "vitest";
import { withItsIds } from "../../src/engines/again/ids.ts";
import { createRemote } from "../../src/engines/remote.ts";
import { all } from "../events.ts";
import { startServer } from "../servers.ts";

const json = { "content-type": "application/json" };
const CHAT = { choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] };

async function start() {
  const bodies: { temperature?: number }[] = [];
  const server = await startServer((response, { body }) => {
    const asked = JSON.parse(body) as { temperature?: number };
    bodies.push(asked);
    const error = { error: { message: "temperature is not supported by this model", type: "invalid_request_error" } };
    response
      .writeHead(asked.temperature === undefined ? 200 : 400, json)
      .end(JSON.stringify(asked.temperature === undefined ? CHAT : error));
  });
  return { bodies, engine: createRemote({ wire: "openai-chat", url: `${server.url}/v1` }) };
}

const request = {
  model: "m",
  messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }],
  sampling: { temperature: 0.5 },
};

test("an engine used as a library learns what a model refuses, and warns", async () => {
  const { bodies, engine } = await start();
  for (let i = 0; i < 2; i++) {
    const [answers, warnings]: [boolean[], string[]] = [[], []];
    const onAnswer = ({ ok }: { ok: boolean }) => void answers.push(ok);
    const onWarning = ({ message }: { message: string }) => void warnings.push(message);
    const events = await all(engine.generate(request, { onAnswer, onWarning }));
    expect([answers, warnings, events.map(({ type }) => type)]).toEqual([
      [true],
      ["the model refuses temperature: it was asked without"],
      ["start", "text", "finish"],
    ]);
  }
  expect(bodies.map(({ temperature }) => temperature)).toEqual([0.5, undefined, undefined]);
  await engine.close();
});

test("a request of the server's own wire is sent unchanged, and its refusal is passed on", async () => {
  const { bodies, engine } = await start();
  const finishes = [];
  for await (const event of engine.generate(request, { from: "openai-chat" }))
    if (event.type === "finish") finishes.push(event.error?.code);
  expect([finishes, bodies.length]).toEqual([["bad-request"], 1]);
  await engine.close();
});

test("a model that refuses the old name of the token limit, and then its value, gets both as it wants them", async () => {
  const limits: unknown[][] = [];
  const server = await startServer((response, { body }) => {
    const { max_tokens, max_completion_tokens } = JSON.parse(body) as { max_tokens?: number; max_completion_tokens?: number };
    limits.push([max_tokens, max_completion_tokens]);
    const message =
      max_tokens !== undefined
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : Number(max_completion_tokens) > 16384 &&
          "max_completion_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.";
    const said = message ? { error: { message, type: "invalid_request_error" } } : CHAT;
    response.writeHead(message ? 400 : 200, json).end(JSON.stringify(said));
  });
  const engine = createRemote({ wire: "openai-chat", url: `${server.url}/v1` });
  for (let i = 0; i < 2; i++) {
    const events = await all(engine.generate({ model: "m", messages: request.messages, maxTokens: 32000 }));
    expect(events.at(-1)).toMatchObject({ reason: "stop" });
  }
  expect(limits).toEqual([
    [32000, undefined],
    [undefined, 32000],
    [undefined, 16384],
    [undefined, 16384],
  ]);
  await engine.close();
});

test("ids in Mistral's form are never equal, even if a client has such ids itself, and stay as they are in later requests", () => {
  const calls = (...ids: string[]) => [
    { role: "assistant" as const, content: ids.map((id) => ({ type: "tool-call" as const, id, name: "f", arguments: {} })) },
  ];
  const idsOf = (...ids: string[]) =>
    withItsIds(calls(...ids))
      .flatMap((message) => (message.role === "assistant" ? message.content : []))
      .map((part) => "id" in part && part.id);
  expect(idsOf("call00001", "toolu_a")).toEqual(["call00001", "call00002"]);
  expect(idsOf("toolu_a", "toolu_b", "call00001", "toolu_a")).toEqual(["call00000", "call00001", "call00003", "call00000"]);
});
