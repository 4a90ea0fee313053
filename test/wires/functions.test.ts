// Clients older than tools: `functions` in their requests, one `function_call` in the answers.
import { expect, test } from "vitest";
import type { Event, JsonObject, Warning } from "../../src/core/nouns.ts";
import { eventsOf } from "../../src/core/unfold.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";

const functions = [{ name: "f", parameters: { type: "object", properties: { a: { type: "integer" } } } }];
const asked = (more: JsonObject) =>
  openaiChat.decodeRequest({
    path: "",
    query: {},
    headers: {},
    body: { model: "m", messages: [{ role: "user", content: "Hi" }], ...more },
  });
const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: { a: 1 }, json: '{"a":1.0}' });
const response = (...ids: string[]) => ({ content: ids.map(call), finish: { reason: "tool-calls" as const } });

test("a request with functions is answered with a function_call", () => {
  const request = asked({ functions });
  expect(openaiChat.encodeResponse(response("c1"), request)).toMatchObject({
    choices: [{ message: { content: null, function_call: { name: "f", arguments: '{"a":1.0}' } }, finish_reason: "function_call" }],
  });
  expect(JSON.stringify(openaiChat.encodeResponse(response("c1"), request))).not.toContain("tool_calls");
});

test("also in a stream, in pieces without an id", () => {
  const encoder = openaiChat.createStreamEncoder(asked({ functions, stream: true }));
  const events: Event[] = [...eventsOf(response("c1"))];
  const text = events.map((event) => encoder.encode(event)).join("") + encoder.end();
  const chunks = [...text.matchAll(/^data: ({.*})$/gm)].map(([, json]) => JSON.parse(json!).choices[0]);
  const pieces = chunks.flatMap(({ delta }) => delta.function_call ?? []);
  expect(pieces[0]).toEqual({ name: "f", arguments: "" });
  expect(pieces.map((piece) => piece.arguments).join("")).toBe('{"a":1.0}');
  expect(chunks.at(-1).finish_reason).toBe("function_call");
  expect(text).not.toMatch(/tool_calls|c1/);
});

test("there is room for one call only: parallel calls are turned off, and any other call is reported", () => {
  const request = asked({ functions });
  const warnings: Warning[] = [];
  const body = openaiChat.encodeResponse(response("c1", "c2"), request, { warn: (warning) => warnings.push(warning) });
  expect(body).toMatchObject({ choices: [{ message: { function_call: { arguments: '{"a":1.0}' } } }] });
  expect(warnings.map(({ message }) => message)).toContain(
    "every call after the first, for a client of function_call, has no place in openai-chat and was left out",
  );
  expect(openaiChat.encodeRequest(request).body).toMatchObject({ parallel_tool_calls: false, tools: [{ type: "function" }] });
  expect(JSON.stringify(openaiChat.encodeRequest(request).body)).not.toContain("#");
});

test("a request with tools is answered with tool_calls", () => {
  const request = asked({ functions, tools: functions.map((fn) => ({ type: "function", function: fn })) });
  expect(openaiChat.encodeResponse(response("c1"), request)).toMatchObject({
    choices: [{ message: { tool_calls: [{ id: "c1" }] }, finish_reason: "tool_calls" }],
  });
});
