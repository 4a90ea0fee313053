// A client that hangs up after the last event of an answer, as Codex does, has received all of it. This is a file of its own because
// checking the first call loads the validator.
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Exchange } from "../../src/gateway/exchange.ts";
import { startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { remote } from "./start.ts";

const call = { index: 0, id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

test("a client that leaves after the last event counts as answered, and its call is still checked", async () => {
  const upstream = await startServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ tool_calls: [call] })}${chunk({}, "tool_calls")}data: [DONE]\n\n`);
  });
  let tell: (exchange: Exchange) => void = () => {};
  const told = new Promise<Exchange>((resolve) => {
    tell = resolve;
  });
  const { url } = await startGateway({
    upstreams: { up: remote(upstream.url, "openai-chat") },
    models: [{ name: "m", upstream: "up" }],
    onExchange: tell,
  });
  const parameters = { type: "object", properties: { a: { type: "string" } } };
  const body = JSON.stringify({ model: "m", stream: true, input: "x", tools: [{ type: "function", name: "f", parameters }] });
  const { port, host } = new URL(url);
  const socket = connect(Number(port), "127.0.0.1");
  let heard = "";
  socket.on("data", (bytes) => {
    heard += bytes;
    if (heard.includes('"type":"response.completed"')) socket.destroy();
  });
  socket.write(
    `POST /v1/responses HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await told).toMatchObject({ outcome: "ok", outside: [{ name: "f", why: "/a must be string" }] });
});
