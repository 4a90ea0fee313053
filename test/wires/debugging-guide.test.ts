// The oldest list of what goes wrong between gemini-cli and llama-server: each issue of the debugging guide in ../shared/seeds is a test
// here. A stream of the server goes in, in pieces; out comes what a Gemini client receives.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Event, Request } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";
import { validateStream } from "./validators.ts";

const [server, client] = [getWire("openai-chat"), getWire("gemini")];
const fixture = (file: string) => readFileSync(new URL(`../fixtures/debugging-guide/${file}`, import.meta.url), "utf8");

interface Part {
  text?: string;
  thought?: boolean;
  functionCall?: { name: string; args: object };
}
interface Chunk {
  candidates: { content: { parts: Part[] }; finishReason?: string }[];
}

/** The requests of the guide's own tests, made with curl, and of gemini-cli. */
const asks = {
  curl: "/v1beta/models/gemma3-4ba:streamGenerateContent",
  "gemini-cli": "/v1beta/models/gemma3-4ba:streamGenerateContent?alt=sse",
} as const;

function ask(path: string): Request {
  const { pathname, searchParams } = new URL(path, "http://proxy");
  const body = {
    contents: [{ parts: [{ text: "Write test.txt" }], role: "user" }],
    tools: [{ functionDeclarations: [{ name: "write_file", parameters: { type: "OBJECT", properties: {} } }] }],
  };
  return client.decodeRequest({ path: pathname, query: Object.fromEntries(searchParams), headers: {}, body });
}

/** What the client receives. */
function through(stream: string, request: Request): { parts: Part[]; finish: string[] } {
  const decoder = server.createStreamDecoder(server.encodeRequest(request).context);
  const encoder = client.createStreamEncoder(request);
  const events: Event[] = [...[...stream].flatMap((char) => decoder.feed(char)), ...decoder.flush()];
  const sent = events.map((event) => encoder.encode(event)).join("") + encoder.end();
  expect(validateStream("gemini", sent)).toEqual([]);
  const chunks = (
    request.stream === "array"
      ? JSON.parse(sent)
      : sent
          .split("\n\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line.slice("data: ".length)))
  ) as Chunk[];
  const candidates = chunks.flatMap(({ candidates }) => candidates);
  const parts = candidates.flatMap(({ content }) => content.parts).filter(({ text }) => text !== "");
  return { parts, finish: candidates.flatMap(({ finishReason }) => finishReason ?? []) };
}

const written = { functionCall: { name: "write_file", args: { file_path: "test.txt", content: "Hello World" } } };
const thought = { text: "We need to write a file...", thought: true };
const joined = (parts: readonly Part[]): Part[] => {
  const thoughts = parts.filter((part) => part.thought);
  const text = thoughts.map((part) => part.text).join("");
  return [...(text === "" ? [] : [{ text, thought: true }]), ...parts.filter((part) => !part.thought)];
};

describe.each(Object.entries(asks))("%s", (_, path) => {
  const request = ask(path);

  test("root cause 1: streaming sends partial JSON chunks", () => {
    const { parts, finish } = through(fixture("partial-json-chunks.sse"), request);
    expect(parts).toMatchObject([written]);
    expect(finish).toEqual(["STOP"]);
  });
  test("root cause 2: the id changes across chunks", () => {
    expect(through(fixture("id-changes-across-chunks.sse"), request).parts).toMatchObject([written]);
  });
  test("root cause 3: reasoning_content", () => {
    expect(joined(through(fixture("reasoning-content.sse"), request).parts)).toMatchObject([thought, written]);
  });

  const streams = ["partial-json-chunks", "id-changes-across-chunks", "reasoning-content", "fields-missing-or-unknown"];
  test.each(streams)("issue: empty arguments `WriteFile {}` (%s)", (name) => {
    const calls = through(fixture(`${name}.sse`), request).parts.filter((part) => part.functionCall);
    expect(calls).toMatchObject([written]);
  });
  test.each(streams)("issue: multiple undefined tool names (%s)", (name) => {
    const names = through(fixture(`${name}.sse`), request).parts.flatMap(({ functionCall: call }) => (call ? [call.name] : []));
    expect(names).toEqual(["write_file"]);
  });
  test.each(streams)('issue: "terminated", or an empty reply: every stream has a finish reason (%s)', (name) => {
    for (const stream of [fixture(`${name}.sse`), fixture(`${name}.sse`).replace("data: [DONE]\n\n", "")]) {
      expect(through(stream, request).finish).toEqual(["STOP"]);
    }
  });
  test("issue: an empty reply from the server: fields are missing, null or unknown", () => {
    expect(through(fixture("fields-missing-or-unknown.sse"), request).parts).toMatchObject([written]);
  });

  test("what the guide skips is kept: a call without arguments is a call", () => {
    const stream = fixture("partial-json-chunks.sse").replace(/"arguments":"[^\n]*?"\}\}\]/g, '"arguments":""}}]');
    expect(through(stream, request).parts).toMatchObject([{ functionCall: { name: "write_file", args: {} } }]);
  });
  test("validation: arguments that cannot be read are reported, and the call is not run", () => {
    const { parts, finish } = through(fixture("partial-json-chunks.sse").replace('\\"}"', '\\""'), request);
    expect(parts).toEqual([]);
    expect(finish).toEqual(["MALFORMED_FUNCTION_CALL"]);
  });
});

test("the direct test, without streaming: the complete call and the thinking", () => {
  const request = ask("/v1beta/models/gemma3-4ba:generateContent");
  const response = server.decodeResponse(fixture("reasoning-content.json"));
  const answer = JSON.parse(printBody(client.encodeResponse(response, request))) as Chunk;
  expect(answer.candidates[0]?.content.parts).toMatchObject([thought, written]);
  expect(response).toMatchObject({ finish: { reason: "tool-calls" }, usage: { inputTokens: 12, outputTokens: 40 } });
});
