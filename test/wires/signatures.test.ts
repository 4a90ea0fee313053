// Gemini's signature on a text survives a trip through clients of other wires (N20): what they send back brings it to Gemini again.
import { expect, test } from "vitest";
import type { Event, JsonObject, Request } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const gemini = getWire("gemini");
const request: Request = {
  model: "m",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  thinking: { enabled: true },
};
const answer = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello", thoughtSignature: "c2ln" }] }, finishReason: "STOP" }],
};
const cases = [
  ["openai-chat", (body: JsonObject) => ({ messages: [{ role: "user", content: "Hi" }, (body.choices as JsonObject[])[0]?.message] })],
  ["openai-responses", (body: JsonObject) => ({ input: [{ role: "user", content: "Hi" }, ...(body.output as JsonObject[])] })],
  [
    "anthropic",
    ({ content }: JsonObject) => ({
      max_tokens: 9,
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content },
      ],
    }),
  ],
] as const;

test.each(cases)("survives through a client of %s", (id, next) => {
  const wire = getWire(id);
  const warnings: string[] = [];
  const body = wire.encodeResponse(gemini.decodeResponse(answer), request, { warn: ({ message }) => warnings.push(message) });
  const asked = wire.decodeRequest({ path: "", query: {}, headers: {}, body: JSON.stringify({ model: "m", ...next(body as JsonObject) }) });
  expect(gemini.encodeRequest(asked).body).toMatchObject({
    contents: [{ role: "user" }, { role: "model", parts: [{ text: "Hello", thoughtSignature: "c2ln" }] }],
  });
  expect(warnings).toEqual([]);
});

test.each(cases)("survives in a stream of %s", (id) => {
  const wire = getWire(id);
  const decoder = gemini.createStreamDecoder();
  const events = [...decoder.feed(`data: ${JSON.stringify(answer)}\n\n`), ...decoder.flush()];
  const encoder = wire.createStreamEncoder({ ...request, stream: "sse" });
  const text = events.map((event) => encoder.encode(event)).join("") + encoder.end();
  const reader = wire.createStreamDecoder();
  const again: Event[] = [...reader.feed(text), ...reader.flush()];
  const said = again.filter((event) => event.type === "text");
  expect(said.map((event) => event.text).join("")).toBe("Hello");
  expect(said.flatMap((event) => event.state ?? []).filter(({ wire }) => wire === "gemini")).toEqual([
    { wire: "gemini", kind: "thoughtSignature", data: "c2ln" },
  ]);
});

test("a call's signature finds its call in Responses, even if the client sends all thinking first, as TanStack AI does", () => {
  const responses = getWire("openai-responses");
  const parts = ["Oslo", "Rome"].map((city, i) => ({
    functionCall: { id: `fc${i}`, name: "f", args: { city } },
    ...(i === 0 ? { thoughtSignature: "c2ln" } : {}),
  }));
  const called = { candidates: [{ content: { role: "model", parts: [{ text: "Both." }, ...parts] }, finishReason: "STOP" }] };
  const read = (input: unknown[]) =>
    responses.decodeRequest({
      path: "",
      query: {},
      headers: {},
      body: { model: "m", input, include: ["reasoning.encrypted_content"] } as never,
    });
  const hi = { role: "user", content: "Hi" };
  const { output } = responses.encodeResponse(gemini.decodeResponse(called), read([hi])) as { output: JsonObject[] };
  const rank = ["reasoning", "function_call", "message"];
  const sorted = output.toSorted((a, b) => rank.indexOf(String(a.type)) - rank.indexOf(String(b.type)));
  expect(sorted.map(({ type }) => type)).toEqual(["reasoning", "function_call", "function_call", "message"]);
  const results = ["fc0", "fc1"].map((call_id) => ({ type: "function_call_output", call_id, output: "1" }));
  // The same ids again: each round carries its own state.
  const { contents } = gemini.encodeRequest(read([hi, ...sorted, ...results, ...sorted, ...results])).body as {
    contents: { parts: JsonObject[] }[];
  };
  const signed = contents.flatMap(({ parts }) => parts.filter(({ functionCall }) => functionCall).map((part) => part.thoughtSignature));
  expect(signed).toEqual(["c2ln", undefined, "c2ln", undefined]);
});
