// Servers of chat completions have several names for thinking, and OpenRouter seals it: each gets back what it sent, whatever the client's
// wire.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Json, JsonObject, Message, Opaque, Request, Response, WireId } from "../../src/core/nouns.ts";
import { KNOWN } from "../../src/engines/known.ts";
import { callIds } from "../../src/wires/calls.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";
import type { WireProfile } from "../../src/wires/wire.ts";
import { echoes, PATHS } from "./helpers.ts";

const chat = getWire("openai-chat");
const clients: WireId[] = ["openai-chat", "openai-responses", "anthropic", "gemini"];
const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const asked: Request = { model: "m", messages: [{ role: "user", content: [] }], thinking: { enabled: true, show: true } };

const said = (message: object) => ({
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "tool_calls" }],
});
const streamed = (...deltas: object[]): string =>
  [...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })), { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join("");
const read = (stream: string) => {
  const decoder = chat.createStreamDecoder();
  return [...decoder.feed(stream), ...decoder.flush()];
};

test.each(["xhigh", "max"])("the effort %s is the same in all three APIs that have it, and the nearest one elsewhere", (effort) => {
  const asking: [WireId, object, (body: JsonObject) => unknown][] = [
    ["openai-chat", { messages: [{ role: "user", content: "Hi" }], reasoning_effort: effort }, (body) => body.reasoning_effort],
    ["openai-responses", { input: "Hi", reasoning: { effort } }, ({ reasoning }) => (reasoning as JsonObject).effort],
    [
      "anthropic",
      { max_tokens: 9, messages: [{ role: "user", content: "Hi" }], output_config: { effort } },
      (body) => (body.output_config as JsonObject).effort,
    ],
  ];
  for (const [from, body] of asking) {
    const request = getWire(from).decodeRequest({ path: PATHS[from] ?? "", query: {}, headers: {}, body: { model: "m", ...body } });
    for (const [to, , effortIn] of asking) {
      const { body: sent, context } = getWire(to).encodeRequest(request);
      expect([effortIn(sent as JsonObject), context.warnings], `${from} to ${to}`).toEqual([effort, []]);
    }
    expect(getWire("gemini").encodeRequest(request).context.warnings).toMatchObject([{ message: `the effort ${effort} was sent as HIGH` }]);
    expect(getWire("ollama").encodeRequest(request).body).toMatchObject({ think: effort === "max" ? "max" : "high" });
  }
});

/** The last message the server gets from a client that sends the whole answer back. */
function back(client: WireId, answer: Response, profile?: WireProfile): JsonObject {
  const wire = getWire(client);
  const warnings: string[] = [];
  const body = wire.encodeResponse(answer, asked, { warn: ({ message }) => warnings.push(message) });
  expect(warnings).toEqual([]);
  const next = { model: "m", ...echoes[client](JSON.parse(printBody(body)) as never) };
  const request = wire.decodeRequest({ path: PATHS[client] ?? "", query: {}, headers: {}, body: JSON.stringify(next) });
  const results = callIds(request.messages).map((id): Message => ({ role: "tool", id, name: "f", output: "ok" }));
  const sent = chat.encodeRequest({ ...request, messages: [...request.messages, ...results] }, profile);
  expect(sent.context.warnings).toEqual([]);
  return (sent.body as { messages: JsonObject[] }).messages[1]!;
}

describe.each(clients)("through a client of %s", (client) => {
  test.each(["reasoning_content", "reasoning"])("a server that calls thinking %s gets it back under that name", (field) => {
    const whole = said({ [field]: "Hm.", tool_calls: [call] });
    const stream = streamed({ [field]: "H" }, { [field]: "m." }, { tool_calls: [{ index: 0, ...call }] });
    for (const answer of [chat.decodeResponse(whole), collect(read(stream))]) {
      const message = back(client, answer);
      expect(message).toMatchObject({ [field]: "Hm.", tool_calls: [{ id: "c1" }] });
      expect(Object.keys(message).filter((key) => key.startsWith("reasoning"))).toEqual([field]);
    }
  });

  test("a server whose spelling is known gets it, whichever model did the thinking", () => {
    const answer = chat.decodeResponse(said({ reasoning: "Hm.", tool_calls: [call] }));
    expect(back(client, answer, KNOWN["llama-server"]?.profile)).toMatchObject({ reasoning_content: "Hm." });
    const other = chat.decodeResponse(said({ reasoning_content: "Hm.", tool_calls: [call] }));
    for (const id of ["vllm", "openrouter"]) expect(back(client, other, KNOWN[id]?.profile)).toMatchObject({ reasoning: "Hm." });
  });

  const text = { type: "reasoning.text", text: "Hm.", signature: "SIG", format: "anthropic-claude-v1", index: 0 };
  const seal = { type: "reasoning.encrypted", data: "AAAA", id: "c1", format: "google-gemini-v1", index: 1 };

  test("reasoning_details come back to OpenRouter unchanged", () => {
    for (const details of [[text], [seal], [text, seal], [seal, { ...seal, id: "c2" }]]) {
      const answer = chat.decodeResponse(said({ reasoning: "Hm.", reasoning_details: details, tool_calls: [call] }));
      expect(back(client, answer)).toMatchObject({ reasoning: "Hm.", reasoning_details: details, tool_calls: [{ id: "c1" }] });
    }
  });
  test("so does encrypted thinking without text", () => {
    const answer = chat.decodeResponse(said({ reasoning_details: [seal], tool_calls: [call] }));
    expect(back(client, answer).reasoning_details).toEqual([seal]);
  });

  const pieces: Record<string, object[]> = {
    "the signature after the text": [
      { reasoning: "H", reasoning_details: [{ type: "reasoning.text", text: "H", format: "anthropic-claude-v1", index: 0 }] },
      { reasoning: "m.", reasoning_details: [{ type: "reasoning.text", text: "m.", format: "anthropic-claude-v1", index: 0 }] },
      { reasoning_details: [{ type: "reasoning.text", signature: "SIG", format: "anthropic-claude-v1", index: 0 }] },
      { reasoning_details: [seal] },
      { tool_calls: [{ index: 0, ...call }] },
    ],
    "the seal with the call": [
      { reasoning: "Hm.", reasoning_details: [text] },
      { tool_calls: [{ index: 0, ...call }], reasoning_details: [seal] },
    ],
    "the seal behind the call": [
      { reasoning: "Hm.", reasoning_details: [text] },
      { tool_calls: [{ index: 0, ...call }] },
      { reasoning_details: [seal] },
    ],
  };
  test.each(Object.keys(pieces))("in a stream: %s", (what) => {
    // A client of the same wire joins the pieces itself.
    if (client === "openai-chat") return;
    expect(back(client, collect(read(streamed(...pieces[what]!))))).toMatchObject({
      reasoning: "Hm.",
      reasoning_details: [text, seal],
      tool_calls: [{ id: "c1" }],
    });
  });
});

test("chat clients get thinking under the server's name for it, and its details chunk by chunk", () => {
  const detail = (text: string) => ({ type: "reasoning.text", text, index: 0 });
  const deltas = [
    { reasoning: "H", reasoning_details: [detail("H")] },
    { reasoning: "m.", reasoning_details: [detail("m.")] },
    { content: "Yes" },
  ];
  const encoder = chat.createStreamEncoder({ ...asked, stream: "sse" });
  const chunks = read(streamed(...deltas))
    .map((event) => encoder.encode(event))
    .join("")
    .split("\n\n")
    .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as { choices: { delta: JsonObject }[] }] : []))
    .flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const all = (key: string) => chunks.flatMap((delta) => (delta[key] ? [delta[key]] : []));
  expect(all("reasoning")).toEqual(["H", "m."]);
  expect(all("reasoning_content")).toEqual([]);
  expect(all("reasoning_details")).toEqual([[detail("H")], [detail("m.")]]);
  expect(chunks.filter((delta) => delta.reasoning || delta.reasoning_details)).toEqual(deltas.slice(0, 2)); // clients read one of the two
  expect(all("content").join("")).toBe("Yes");
});

test("details that come after a call reach chat clients in the message, not in a call", () => {
  const detail = { type: "reasoning.encrypted", data: "AAAA", id: "c1", index: 0 };
  const encoder = chat.createStreamEncoder({ ...asked, stream: "sse" });
  const text = read(streamed({ tool_calls: [{ index: 0, ...call }] }, { reasoning_details: [detail] }))
    .map((event) => encoder.encode(event))
    .join("");
  expect(text).toContain(`"delta":{"reasoning_details":[${JSON.stringify(detail)}]}`);
  expect(text.match(/reasoning_details/g)).toHaveLength(1);
});

describe("OpenRouter's clients, which send back only the details of thinking", () => {
  const hi = { role: "user", content: "Hi" };
  const decode = (messages: object[], exclude = false) =>
    chat.decodeRequest({
      path: "",
      query: {},
      headers: {},
      body: { model: "m", messages, reasoning: { effort: "high", exclude }, stream: true },
    });
  const servers: [string, WireId, Event[], (body: JsonObject) => unknown, unknown][] = [
    [
      "Gemini's signature",
      "gemini",
      collectable([{ wire: "gemini", kind: "thoughtSignature", data: "U0lH" }]),
      ({ contents }) => (contents as { parts: JsonObject[] }[])[1]?.parts.find(({ functionCall }) => functionCall)?.thoughtSignature,
      "U0lH",
    ],
    [
      "Claude's",
      "anthropic",
      collectable(undefined, [{ wire: "anthropic", kind: "signature", data: "SIG" }]),
      ({ messages }) => (messages as { content: JsonObject[] }[])[1]?.content[0],
      { type: "thinking", thinking: "Hm.", signature: "SIG" },
    ],
    ...(["reasoning_content", "reasoning"] as const).map((field): [string, WireId, Event[], (body: JsonObject) => unknown, unknown] => [
      `the ${field} of a server that signs nothing`,
      "openai-chat",
      read(streamed({ [field]: "H" }, { [field]: "m." }, { tool_calls: [{ index: 0, ...call }] })),
      ({ messages }) => Object.entries((messages as JsonObject[])[1]!).filter(([key]) => key.startsWith("reasoning")),
      [[field, "Hm."]],
    ]),
  ];
  describe.each([false, true])("exclude: %s", (exclude) => {
    test.each(servers)("%s", (_, to, events, said, expected) => {
      const request = decode([hi], exclude);
      const encoder = chat.createStreamEncoder(request);
      const stream = events.map((event) => encoder.encode(event)).join("");
      const whole = chat.encodeResponse(collect(events), request) as { choices: { message: JsonObject }[] };
      const { content, tool_calls, reasoning_details } = whole.choices[0]!.message;
      expect(stream.includes('"reasoning":')).toBe(!exclude);
      expect("reasoning" in whole.choices[0]!.message).toBe(!exclude);
      for (const details of [gathered(stream), reasoning_details as JsonObject[]]) {
        const message = { role: "assistant", content, reasoning_details: details };
        const calls = (tool_calls as JsonObject[]).map(({ extra_content: _, ...rest }) => rest);
        const next = decode([hi, { ...message, tool_calls: calls }, { role: "tool", tool_call_id: "c1", content: "1" }]);
        const { body, context } = getWire(to).encodeRequest(next);
        expect(said(body as JsonObject)).toEqual(expected);
        expect(JSON.stringify([body, context.warnings])).not.toContain("reasoning_details");
      }
    });
  });

  /** As Roo does it: pieces of the same type and index are one entry. */
  function gathered(stream: string): JsonObject[] {
    const entries = new Map<string, Record<string, Json>>();
    const chunks = stream.split("\n\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
    for (const piece of chunks.flatMap(({ choices }) => choices[0]?.delta.reasoning_details ?? []) as JsonObject[]) {
      const key = `${piece.type}-${piece.index}`;
      const entry = entries.get(key);
      if (entry) entry.text = `${entry.text}${piece.text}`;
      else entries.set(key, { ...piece });
    }
    return [...entries.values()];
  }
  function collectable(ofCall?: Opaque[], ofThinking?: Opaque[]): Event[] {
    return [
      { type: "thinking-start" },
      { type: "thinking-delta", text: "H" },
      { type: "thinking-delta", text: "m." },
      { type: "thinking-end", ...(ofThinking ? { state: ofThinking } : {}) },
      { type: "tool-start", id: "c1", index: 0, name: "f" },
      { type: "tool-delta", id: "c1", json: "{}" },
      { type: "tool-end", id: "c1", index: 0, name: "f", arguments: {}, json: "{}", ...(ofCall ? { state: ofCall } : {}) },
      { type: "finish", reason: "tool-calls" },
    ];
  }

  test("a forged spelling in our own detail id never becomes a field", () => {
    const details = [{ type: "reasoning.text", text: "Hm.", id: "drgm-role", index: 1 }];
    const { body } = chat.encodeRequest(decode([hi, { role: "assistant", content: "Hello", reasoning_details: details }]));
    expect((body as { messages: JsonObject[] }).messages[1]).toEqual({ role: "assistant", content: "Hello", reasoning_content: "Hm." });
  });
});

test("OpenAI's own servers get neither thinking nor its details", () => {
  const answer = chat.decodeResponse(
    said({ reasoning: "Hm.", reasoning_details: [{ type: "reasoning.encrypted", data: "A" }], tool_calls: [call] }),
  );
  const messages: Request["messages"] = [
    { role: "user", content: [] },
    { role: "assistant", content: answer.content },
  ];
  const { body, context } = chat.encodeRequest({ model: "m", messages }, { official: true });
  expect(JSON.stringify(body)).not.toContain("reasoning");
  expect(context.warnings.map(({ message }) => message).join()).toContain("thinking");
});

describe("logprobs stay with the text they are about", () => {
  const logprobs = (token: string) => ({ content: [{ token, logprob: -0.1, bytes: null, top_logprobs: [] }], refusal: null });
  test("in a stream of the same wire", () => {
    const chunk = (content: string) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, logprobs: logprobs(content), finish_reason: null }] })}\n\n`;
    const encoder = chat.createStreamEncoder({ ...asked, stream: "sse" });
    const text = read(chunk("a") + chunk("b"))
      .map((event) => encoder.encode(event))
      .join("");
    const choices = text
      .split("\n\n")
      .flatMap((line) => (line.startsWith("data: {") ? ((JSON.parse(line.slice(6)) as { choices: JsonObject[] }).choices ?? []) : []));
    const beside = choices
      .filter((choice) => choice.logprobs)
      .map((choice) => [(choice.delta as JsonObject).content, choice.logprobs as Json]);
    expect(beside).toEqual([
      ["a", logprobs("a")],
      ["b", logprobs("b")],
    ]);
  });
  test("in a whole answer; another wire reports them as dropped, and no request repeats them", () => {
    const answer = chat.decodeResponse({
      choices: [{ index: 0, message: { content: "a" }, logprobs: logprobs("a"), finish_reason: "stop" }],
    });
    expect(chat.encodeResponse(answer, asked)).toMatchObject({ choices: [{ message: { content: "a" }, logprobs: logprobs("a") }] });
    const warnings: string[] = [];
    getWire("anthropic").encodeResponse(answer, asked, { warn: ({ message }) => warnings.push(message) });
    expect(warnings.join()).toContain("logprobs");
    const { body } = chat.encodeRequest({ model: "m", messages: [{ role: "assistant", content: answer.content }] });
    expect(body).toMatchObject({ messages: [{ role: "assistant", content: "a" }] });
  });
});
