// Generated requests and events: a core that every wire can express, and features that only some wires can.
import fc from "fast-check";
import type { Event, JsonObject, Media, Message, Opaque, Part, Request, Text, Tool, ToolCall, WireId } from "../../src/core/nouns.ts";

// ---- Core

/** Text that survives UTF-8 and is not blank. */
const text = fc
  .string({ unit: "binary", minLength: 1, maxLength: 20 })
  .filter((value) => value.trim() === value && value !== "" && !/\p{Surrogate}/u.test(value));
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/);
const json = fc
  .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
  .map((value) => JSON.stringify(value));

const callOf = (id: string, called: string, args: string): ToolCall => ({
  type: "tool-call",
  id,
  name: called,
  arguments: JSON.parse(args) as JsonObject,
  json: args,
});

const schema = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.constantFrom("string", "number", "integer", "boolean"), { maxKeys: 3 })
  .map(
    (types): JsonObject => ({
      type: "object",
      properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type, description: `the ${key}` }])),
      required: Object.keys(types),
    }),
  );
const tools = fc.uniqueArray(fc.record({ name, description: text, parameters: schema }), {
  selector: (tool) => tool.name,
  minLength: 2,
  maxLength: 3,
});

/** A round: the user speaks, the assistant may call tools, then answers. */
const round = fc.record({ asked: text, calls: fc.array(fc.tuple(fc.nat(), json, text), { maxLength: 3 }), said: text });

export const request: fc.Arbitrary<Request> = fc
  .record({
    system: fc.option(text, { nil: undefined }),
    rounds: fc.array(round, { maxLength: 3 }),
    last: text,
    tools,
    temperature: fc.constant(1),
    maxTokens: fc.integer({ min: 1, max: 4000 }),
  })
  .map(({ system, rounds, last, tools, temperature, maxTokens }) => {
    let id = 0;
    const said = (role: "system" | "user", words: string): Message => ({ role, content: [{ type: "text", text: words }] });
    const messages = rounds.flatMap(({ asked, calls, said: words }): Message[] => {
      const made = calls.map(([tool, args]) => callOf(`call_x${id++}`, tools[tool % tools.length]!.name, args));
      const results = made.map((call, i): Message => ({ role: "tool", id: call.id, name: call.name, output: calls[i]![2] }));
      const round: Message[] = made.length > 0 ? [{ role: "assistant", content: made }, ...results] : [];
      return [said("user", asked), ...round, { role: "assistant", content: [{ type: "text", text: words }] }];
    });
    return {
      model: "some-model",
      messages: [...(system === undefined ? [] : [said("system", system)]), ...messages, said("user", last)],
      tools,
      sampling: { temperature },
      maxTokens,
    };
  });

// ---- Features of requests

type Feature = (request: Request, wire: WireId) => Request;

const odd = (wire: WireId): Opaque[] => [{ wire, kind: "odd_field", data: { x: [1] } }];
const other = (wire: WireId): WireId => (wire === "ollama" ? "anthropic" : "ollama");
const png = { type: "media", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
const with_ =
  (fields: Partial<Request>) =>
  (request: Request): Request => ({ ...request, ...fields });
const add =
  (...messages: Message[]) =>
  (request: Request): Request => ({ ...request, messages: [...request.messages, ...messages] });
const words = (role: "system" | "developer" | "user", ...texts: string[]): Message => ({
  role,
  content: texts.map((part) => ({ type: "text", text: part })),
});
const assistant = (...content: Part[]): Message => ({ role: "assistant", content });
const called = callOf("call_f", "lookup", '{"q":"x"}');
const result = (fields: object): Message => ({ role: "tool", id: "call_f", name: "lookup", output: "found", ...fields }) as Message;
const loop = (fields: object, ...before: Part[]) => add(assistant(...before, called), result(fields));
const tool =
  (fields: Partial<Tool>) =>
  (request: Request): Request => ({
    ...request,
    tools: [
      ...(request.tools ?? []),
      { name: `extra_tool_${request.tools?.length ?? 0}`, description: "x", parameters: { type: "object", properties: {} }, ...fields },
    ],
  });
const choose =
  (toolChoice: (first: string) => Request["toolChoice"]) =>
  (request: Request): Request => ({ ...request, toolChoice: toolChoice(request.tools![0]!.name)! });
const withoutCalls = (request: Request): Request => ({
  ...request,
  messages: request.messages.filter(
    (message) => message.role !== "tool" && !(message.role === "assistant" && message.content[0]?.type === "tool-call"),
  ),
});
const strictObject: JsonObject = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };

/** Each feature by the name of the field it needs. */
export const requestFeatures: Record<string, Feature> = {
  "messages: developer": (request) => ({
    ...request,
    messages: [words("developer", "Be brief."), ...request.messages.filter(({ role }) => role !== "system")],
  }),
  "messages: system in mid-conversation": add(
    assistant({ type: "text", text: "Well." }),
    words("user", "And?"),
    words("system", "Be kind."),
  ),
  "messages: several texts": add(assistant({ type: "text", text: "Well." }), words("user", "One", "Two")),
  "messages: two users in a row": add(words("user", "More")),
  "messages: a result, then the user": (request) => add(words("user", "Stop"))(loop({})(request)),
  "media: an image": add(assistant({ type: "text", text: "Well." }), { role: "user", content: [{ type: "text", text: "See" }, png] }),
  "media: an image's URL": add(assistant({ type: "text", text: "Well." }), {
    role: "user",
    content: [{ type: "media", mediaType: "image/*", url: "https://example.com/a.png" }],
  }),
  "media: a file": add(assistant({ type: "text", text: "Well." }), {
    role: "user",
    content: [{ type: "media", mediaType: "application/pdf", data: "JVBERg==", name: "a.pdf" }],
  }),
  "media: a sound": add(assistant({ type: "text", text: "Well." }), {
    role: "user",
    content: [{ type: "media", mediaType: "audio/wav", data: "UklGRiQAAABXQVZF" }],
  }),
  "thinking in history": add(assistant({ type: "thinking", text: "Hm." }, { type: "text", text: "Well." }), words("user", "And?")),
  "thinking before a call": loop({}, { type: "thinking", text: "Hm." }),
  "text before a call": loop({}, { type: "text", text: "Looking." }),
  "text after a call": add(assistant(called, { type: "text", text: "Looking." }), result({})),
  "result: an object": loop({ output: { a: [1, null] } }),
  "result: an error": loop({ output: "no such file", isError: true }),
  "result: an image": loop({ media: [png] }),
  "call: no result": add(assistant(called), words("user", "And?")),
  "result: no call": add(assistant({ type: "text", text: "Well." }), result({}), words("user", "And?")),
  "call: odd bytes": add(assistant(callOf("call_f", "lookup", '{"n": 12345678901234567890, "x": 1.0}')), result({})),
  "call: unreadable": add(
    assistant({
      type: "malformed",
      id: "call_f",
      raw: '{"name":"lookup","arguments":"{\\"a"}',
      code: "bad-arguments",
      reason: "the arguments are not the JSON text of an object",
    }),
    result({}),
  ),
  "tools: strict": tool({ parameters: strictObject, strict: true }),
  "tools: custom": tool({ kind: "custom", parameters: undefined as never, grammar: { syntax: "lark", definition: "start: X" } }),
  "tools: deferred": tool({ deferred: true }),
  "tools: a response's schema": tool({ response: { type: "object", properties: {} } }),
  "tools: a long name": tool({ name: `mcp.server/${"x".repeat(130)}` }),
  "tools: $ref, oneOf, const": tool({
    parameters: {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { oneOf: [{ const: 1 }, { type: "null" }] } },
      $defs: { A: { type: ["string", "null"] } },
    },
  }),
  "tools: none": (request) => {
    const { tools: _, ...rest } = withoutCalls(request);
    return rest;
  },
  "toolChoice: auto": choose(() => "auto"),
  "toolChoice: none": (request) => ({ ...withoutCalls(request), toolChoice: "none" }),
  "toolChoice: none, after calls": (request) => ({ ...loop({})(request), toolChoice: "none" }),
  "toolChoice: required": choose(() => "required"),
  "toolChoice: a name": choose((first) => ({ name: first })),
  "toolChoice: some": choose((first) => ({ allowed: [first] })),
  "toolChoice: some, required": choose((first) => ({ allowed: [first], required: true })),
  "parallelCalls: false": (request) => ({ ...request, toolChoice: "auto", parallelCalls: false }),
  "parallelCalls: true": (request) => ({ ...request, toolChoice: "auto", parallelCalls: true }),
  "stream: false": with_({ stream: false }),
  "stream: sse": with_({ stream: "sse" }),
  "stream: array": with_({ stream: "array" }),
  "stream: ndjson": with_({ stream: "ndjson" }),
  "thinking: off": with_({ thinking: { enabled: false } }),
  "thinking: on": with_({ thinking: { enabled: true } }),
  "thinking: minimal": with_({ thinking: { effort: "minimal" } }),
  "thinking: low": with_({ thinking: { effort: "low" } }),
  "thinking: medium": with_({ thinking: { effort: "medium" } }),
  "thinking: high": with_({ thinking: { effort: "high" } }),
  "thinking: max": with_({ thinking: { effort: "max" } }),
  "thinking: budget": with_({ thinking: { enabled: true, budget: 2048 }, maxTokens: 4096 }),
  "thinking: on, beside a temperature": with_({ thinking: { enabled: true }, sampling: { temperature: 0.5 } }),
  "thinking: shown": with_({ thinking: { effort: "high", show: true } }),
  "thinking: hidden": with_({ thinking: { effort: "high", show: false } }),
  "thinking: kept": with_({ thinking: { effort: "high", keep: true } }),
  ...Object.fromEntries(
    (["temperature", "topP", "topK", "minP", "seed", "presencePenalty", "frequencyPenalty", "repeatPenalty"] as const).map((key) => [
      `sampling: ${key}`,
      (request: Request): Request => ({
        ...request,
        sampling: { ...request.sampling, [key]: key === "topK" || key === "seed" ? 40 : 0.5 },
      }),
    ]),
  ),
  "no maxTokens": ({ maxTokens: _, ...request }) => request,
  stop: with_({ stop: ["END", "\n\n"] }),
  "stop: five": with_({ stop: ["a", "b", "c", "d", "e"] }),
  "output: any JSON": with_({ output: {} }),
  "output: a schema": with_({ output: { schema: strictObject } }),
  "output: a schema with a name, strict": with_({ output: { schema: strictObject, name: "answer", strict: true } }),
  "its own extra": (request, wire) => ({ ...request, extra: odd(wire) }),
  "another wire's extra": (request, wire) => ({ ...request, extra: odd(other(wire)) }),
  ...Object.fromEntries(
    (["its own", "another wire's"] as const).flatMap((whose): [string, Feature][] => {
      const stateOf = (wire: WireId) => ({ state: odd(whose === "its own" ? wire : other(wire)) });
      const then = (content: (Text | Media)[]) => add(assistant({ type: "text", text: "Well." }), { role: "user", content });
      return [
        [`${whose} state on a text`, (request, wire) => then([{ type: "text", text: "One", ...stateOf(wire) }])(request)],
        [`${whose} state on an image`, (request, wire) => then([{ ...png, ...stateOf(wire) }])(request)],
        [
          `${whose} state on a message`,
          (request, wire) => add({ ...assistant({ type: "text", text: "Well." }), ...stateOf(wire) }, words("user", "And?"))(request),
        ],
        [`${whose} state on a call`, (request, wire) => add(assistant({ ...called, ...stateOf(wire) }), result({}))(request)],
        [`${whose} state on a result`, (request, wire) => loop(stateOf(wire))(request)],
        [`${whose} state on a tool`, (request, wire) => tool(stateOf(wire))(request)],
      ];
    }),
  ),
};

// ---- Events

interface Words {
  kind: "text" | "thinking";
  words: string[];
}
type Segment = Words | { kind: "call"; name: string; json: string; cuts: number[] };

const segment: fc.Arbitrary<Segment> = fc.oneof(
  fc.record({ kind: fc.constantFrom("text" as const, "thinking" as const), words: fc.array(text, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("call" as const), name, json, cuts: fc.array(fc.nat(), { maxLength: 3 }) }),
);

/** Cuts a text into pieces, never inside a surrogate pair. */
function piecesOf(whole: string, cuts: readonly number[]): string[] {
  const chars = [...whole];
  const places = [0, ...cuts.map((cut) => cut % (chars.length + 1)).toSorted((a, b) => a - b), chars.length];
  return places
    .slice(1)
    .map((place, i) => chars.slice(places[i], place).join(""))
    .filter((piece) => piece !== "");
}

export const events: fc.Arbitrary<Event[]> = fc
  .record({
    segments: fc.array(segment, { maxLength: 6 }),
    reason: fc.constantFrom("stop" as const, "length" as const),
    inputTokens: fc.integer({ min: 1, max: 9999 }),
    outputTokens: fc.integer({ min: 1, max: 9999 }),
  })
  .map(({ segments, reason, inputTokens, outputTokens }) => {
    let index = 0;
    const body = segments
      .filter((segment, i) => segment.kind === "call" || segments[i - 1]?.kind !== segment.kind) // two of the same kind in a row would merge
      .flatMap((segment): Event[] => {
        if (segment.kind !== "call") {
          if (segment.kind === "text") return segment.words.map((words) => ({ type: "text", text: words }));
          const deltas = segment.words.map((words): Event => ({ type: "thinking-delta", text: words }));
          return [{ type: "thinking-start" }, ...deltas, { type: "thinking-end" }];
        }
        const [id, at] = [`call_y${index}`, index++];
        const deltas = piecesOf(segment.json, segment.cuts).map((piece): Event => ({ type: "tool-delta", id, json: piece }));
        const end = { id, index: at, name: segment.name };
        return [
          { type: "tool-start", ...end },
          ...deltas,
          { type: "tool-end", ...end, arguments: JSON.parse(segment.json) as JsonObject, json: segment.json },
        ];
      });
    const ending = index > 0 && reason !== "length" ? "tool-calls" : reason;
    return [
      { type: "start", model: "some-model" },
      ...body,
      { type: "usage", inputTokens, outputTokens },
      { type: "finish", reason: ending },
    ];
  });

// ---- Features of events

const whole = (...body: Event[]): Event[] => {
  const calls = body.some((event) => event.type === "tool-end" && !event.truncated);
  const last = body.at(-1)?.type === "finish" ? [] : [{ type: "finish", reason: calls ? "tool-calls" : "stop" } as const];
  return [{ type: "start", model: "some-model" }, ...body, ...last];
};
const callEvents = (fields: object = {}, args = '{"a":1}', index = 0): Event[] => {
  const head = { id: `call_y${index}`, index, name: "lookup" };
  return [
    { type: "tool-start", ...head },
    { type: "tool-delta", id: head.id, json: args },
    { type: "tool-end", ...head, arguments: JSON.parse(args), json: args, ...fields },
  ];
};
const cut: Event[] = [
  { type: "text", text: "Writing." },
  { type: "tool-start", id: "call_y0", index: 0, name: "lookup" },
  { type: "tool-delta", id: "call_y0", json: '{"a":"x' },
  { type: "tool-end", id: "call_y0", index: 0, name: "lookup", arguments: { a: "x" }, truncated: true },
  { type: "finish", reason: "length" },
];

const plainFeatures: Record<string, Event[]> = {
  "start: an id": [
    { type: "start", id: "answer-1", model: "some-model" },
    { type: "text", text: "x" },
    { type: "finish", reason: "stop" },
  ],
  "thinking in two parts": whole(
    { type: "thinking-start" },
    { type: "thinking-delta", text: "a" },
    { type: "thinking-end" },
    { type: "thinking-start" },
    { type: "thinking-delta", text: "b" },
    { type: "thinking-end" },
    { type: "text", text: "x" },
  ),
  refusal: whole({ type: "refusal", text: "I cannot." }),
  "text and refusal": whole({ type: "text", text: "Well. " }, { type: "refusal", text: "I cannot." }),
  "finish: content-filter": whole({ type: "text", text: "x" }, { type: "finish", reason: "content-filter" }),
  "finish: stop string": whole({ type: "text", text: "x" }, { type: "finish", reason: "stop", stop: "END" }),
  "finish: error": whole({ type: "text", text: "x" }, { type: "finish", reason: "error", error: { code: "overloaded", message: "busy" } }),
  "usage: all": whole(
    { type: "text", text: "x" },
    { type: "usage", inputTokens: 100, outputTokens: 50, thinkingTokens: 20, cachedTokens: 30, cacheWriteTokens: 10 },
  ),
  "call: cut": whole(...cut),
  "call: cut before its arguments": whole(
    ...cut
      .filter((event) => event.type !== "tool-delta")
      .map((event): Event => (event.type === "tool-end" ? { ...event, arguments: {} } : event)),
  ),
  "call: odd bytes": whole(...callEvents({}, '{"n": 12345678901234567890, "x": 1.0}')),
  "call: unreadable": whole(
    ...callEvents().slice(0, 1),
    { type: "tool-delta", id: "call_y0", json: '{"a' },
    {
      type: "malformed",
      id: "call_y0",
      raw: '{"name":"lookup","arguments":"{\\"a"}',
      code: "bad-arguments",
      reason: "the arguments are not the JSON text of an object",
    },
    { type: "finish", reason: "error", error: { code: "malformed-call", message: "the model wrote a tool call that cannot be read" } },
  ),
  control: whole({ type: "text", text: "x" }, { type: "control", raw: "<|end|>" }),
  "signature of gemini on a call": whole(...callEvents({ state: [{ wire: "gemini", kind: "thoughtSignature", data: "c2ln" }] })),
  "signature of anthropic on thinking": whole(
    { type: "thinking-start" },
    { type: "thinking-delta", text: "hm" },
    { type: "thinking-end", state: [{ wire: "anthropic", kind: "signature", data: "c2ln" }] },
    ...callEvents(),
  ),
  "encrypted_content of openai-responses on thinking": whole(
    { type: "thinking-start" },
    { type: "thinking-delta", text: "hm" },
    { type: "thinking-end", state: [{ wire: "openai-responses", kind: "encrypted_content", data: "c2ln" }] },
    ...callEvents(),
  ),
};

/** With the features that differ from wire to wire. */
export const eventFeatures = (wire: WireId): Record<string, Event[]> => ({
  ...plainFeatures,
  "its own state on a call": whole(
    ...callEvents({ state: odd(wire) }).map((event) => (event.type === "tool-start" ? { ...event, state: odd(wire) } : event)),
  ),
  "another wire's state on a call": whole(...callEvents({ state: odd(other(wire)) })),
  "its own extension": whole({ type: "text", text: "x" }, { type: "extension", wire, data: extensions[wire] }),
  "another wire's extension": whole({ type: "text", text: "x" }, { type: "extension", wire: other(wire), data: { odd_field: 1 } }),
});

/** An extension in the wire's own shape. */
const extensions: Record<WireId, JsonObject> = {
  "openai-chat": { choices: [{ delta: { odd_field: 1 } }] },
  "openai-responses": { type: "response.odd", odd_field: 1 },
  anthropic: { odd_field: 1 },
  gemini: { odd_field: 1 },
  ollama: { odd_field: 1 },
};
