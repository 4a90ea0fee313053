// A server that refuses a setting is asked again without it, with or without a gateway.
import { expect, test } from "vitest";
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
