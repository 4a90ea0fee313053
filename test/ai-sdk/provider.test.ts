import { describe, expect, it } from "vitest";
import { createDragoman, toolsInBand } from "../../src/ai-sdk/index.ts";
import type { Event, Request } from "../../src/core/nouns.ts";
import { createScripted, type Engine } from "../../src/engines/index.ts";
import { ai7, versions } from "./versions.ts";

const call = (id: string, index: number, city: string): Event[] => [
  { type: "tool-start", id, index, name: "weather" },
  { type: "tool-delta", id, json: '{"city":' },
  { type: "tool-delta", id, json: `"${city}"}` },
  { type: "tool-end", id, index, name: "weather", arguments: { city }, json: `{"city":"${city}"}` },
];
const finish = (reason: "stop" | "tool-calls" | "length"): Event => ({ type: "finish", reason });

/** Thinks with a signature, asks for two cities at once, then answers from the results. */
const rounds: Event[][] = [
  [
    { type: "start", id: "answer_1", model: "real-model" },
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Two cities." },
    { type: "thinking-end", state: [{ wire: "anthropic", kind: "signature", data: "sealed" }] },
    { type: "text", text: "Let me look." },
    ...call("a", 0, "Oslo"),
    ...call("b", 1, "Rome"),
    { type: "usage", inputTokens: 100, outputTokens: 20, thinkingTokens: 5, cachedTokens: 60 },
    finish("tool-calls"),
  ],
  [
    { type: "text", text: "Cold and " },
    { type: "text", text: "warm." },
    { type: "usage", inputTokens: 150, outputTokens: 4 },
    finish("stop"),
  ],
];

const cut: Event[] = [
  { type: "tool-start", id: "a", index: 0, name: "weather" },
  { type: "tool-delta", id: "a", json: '{"city":"Os' },
  { type: "tool-end", id: "a", index: 0, name: "weather", arguments: { city: "Os" }, truncated: true },
  finish("length"),
];

describe.each(versions)("an engine as a model of $name", ({ ai }) => {
  const toolset = (ran: string[]) => ({
    weather: ai.tool({
      description: "Weather now",
      inputSchema: ai.jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
      execute: async ({ city }) => {
        ran.push(city);
        return { city, sky: "clear" };
      },
    }),
  });

  const said = (requests: readonly Request[]) => requests.at(-1)!.messages.slice(1);
  const history = [
    {
      role: "assistant",
      content: [
        { type: "thinking", text: "Two cities.", state: [{ wire: "anthropic", kind: "signature", data: "sealed" }] },
        { type: "text", text: "Let me look." },
        { type: "tool-call", id: "a", name: "weather", arguments: { city: "Oslo" } },
        { type: "tool-call", id: "b", name: "weather", arguments: { city: "Rome" } },
      ],
    },
    { role: "tool", id: "a", name: "weather", output: { city: "Oslo", sky: "clear" } },
    { role: "tool", id: "b", name: "weather", output: { city: "Rome", sky: "clear" } },
  ];

  it("runs parallel calls, and sends thinking, its signature and the results back", async () => {
    const engine = createScripted(rounds);
    const ran: string[] = [];
    const model = createDragoman(engine)("any");
    const result = await ai.generateText({ model, prompt: "Oslo and Rome?", tools: toolset(ran), stopWhen: ai.stepCountIs(3) });
    expect(ran).toEqual(["Oslo", "Rome"]);
    expect(result.text).toBe("Cold and warm.");
    expect(result.steps[0]!.reasoningText).toBe("Two cities.");
    expect(result.steps[0]!.response.modelId).toBe("real-model");
    expect(result.steps[0]!.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
    expect(result.steps[0]!.usage.inputTokenDetails).toMatchObject({ cacheReadTokens: 60, noCacheTokens: 40 });
    expect(result.finishReason).toBe("stop");
    expect(said(engine.requests)).toEqual(history);
  });

  it("is a provider for registries and as a fallback, and has no other kinds of models", async () => {
    const dragoman = createDragoman(createScripted(() => [{ type: "text", text: "Hi" }, finish("stop")]));
    const registry = ai.createProviderRegistry({ dragoman });
    const custom = ai.customProvider({ languageModels: {}, fallbackProvider: dragoman });
    for (const model of [registry.languageModel("dragoman:any"), custom.languageModel("any")])
      expect((await ai.generateText({ model, prompt: "Hello" })).text).toBe("Hi");
    for (const none of [dragoman.embeddingModel, dragoman.imageModel])
      expect(() => none("any")).toThrow(/No such (embedding|image)Model: any/);
  });

  it("warns about unknown options, and passes on late warnings of the engine", async () => {
    const scripted = createScripted(() => [{ type: "text", text: "Hi" }, finish("stop")]);
    const engine: Engine = {
      ...scripted,
      async *generate(request, options) {
        yield* scripted.generate(request, options);
        options?.onWarning?.({ code: "late", message: "a call was read out of the text" });
      },
    };
    const providerOptions = { dragoman: { reasoningEffort: "low", thinking: "low", minP: 0.1 } };
    const { warnings } = await ai.generateText({ model: createDragoman(engine)("any"), prompt: "Hello", providerOptions });
    expect(warnings).toEqual([
      { type: "unsupported", feature: 'providerOptions.dragoman.reasoningEffort: "low"' },
      { type: "unsupported", feature: 'providerOptions.dragoman.thinking: "low"' },
      { type: "other", message: "a call was read out of the text" },
    ]);
    expect(scripted.requests[0]).toMatchObject({ sampling: { minP: 0.1 } });
  });

  it("sends a call's state back with the call, and not with its result", async () => {
    const state = [{ wire: "openai-responses" as const, kind: "id", data: "fc_a" }];
    const [start, ...rest] = call("a", 0, "Oslo");
    const signed = [{ ...start!, state } as Event, ...rest.slice(0, -1), { ...rest.at(-1)!, state } as Event];
    const engine = createScripted([[...signed, finish("tool-calls")], rounds[1]!]);
    const result = ai.streamText({
      model: createDragoman(engine)("any"),
      prompt: "Oslo?",
      tools: toolset([]),
      stopWhen: ai.stepCountIs(3),
    });
    expect(await result.text).toBe("Cold and warm.");
    const [asked, answer] = said(engine.requests);
    expect(asked).toMatchObject({ role: "assistant", content: [{ type: "tool-call", id: "a", state }] });
    expect(answer).toEqual({ role: "tool", id: "a", name: "weather", output: { city: "Oslo", sky: "clear" } });
  });

  it("streams text, thinking and tool input as they come", async () => {
    const engine = createScripted(rounds);
    const ran: string[] = [];
    const result = ai.streamText({
      model: createDragoman(engine)("any"),
      prompt: "Oslo and Rome?",
      tools: toolset(ran),
      stopWhen: ai.stepCountIs(3),
    });
    const inputs: Record<string, string> = {};
    let reasoning = "";
    for await (const part of result.fullStream) {
      if (part.type === "tool-input-delta") inputs[part.id] = (inputs[part.id] ?? "") + part.delta;
      if (part.type === "reasoning-delta") reasoning += part.text;
    }
    expect(inputs).toEqual({ a: '{"city":"Oslo"}', b: '{"city":"Rome"}' });
    expect(reasoning).toBe("Two cities.");
    expect(ran).toEqual(["Oslo", "Rome"]);
    expect(await result.text).toBe("Cold and warm.");
    expect(said(engine.requests)).toEqual(history);
  });

  it("never runs a call that the token limit cut off", async () => {
    const ran: string[] = [];
    const result = await ai.generateText({ model: createDragoman(createScripted([cut]))("any"), prompt: "Oslo?", tools: toolset(ran) });
    expect(result.finishReason).toBe("length");
    const stream = ai.streamText({ model: createDragoman(createScripted([cut]))("any"), prompt: "Oslo?", tools: toolset(ran) });
    await stream.consumeStream();
    expect(await stream.finishReason).toBe("length");
    expect(ran).toEqual([]);
  });

  it("reports an unreadable call, and runs the one beside it", async () => {
    const raw = '<tool_call>{"nam';
    const broken: Event = { type: "malformed", raw, code: "no-name", reason: "there is no name" };
    const beside: Event[] = [broken, ...call("a", 0, "Oslo"), finish("tool-calls")];
    const ran: string[] = [];
    const whole = await ai.generateText({ model: createDragoman(createScripted([beside]))("any"), prompt: "Oslo?", tools: toolset(ran) });
    expect(whole.warnings).toEqual([{ type: "other", message: expect.stringContaining(raw) }]);
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    const stream = ai.streamText({ model: createDragoman(createScripted([beside]))("any"), prompt: "Oslo?", tools: toolset(ran), onError });
    await stream.consumeStream();
    expect(errors).toMatchObject([{ message: expect.stringContaining(raw) }]);
    expect(ran).toEqual(["Oslo", "Oslo"]);
    const alone: Event[] = [broken, { type: "finish", reason: "error", error: { code: "malformed-call", message: "unreadable" } }];
    const refused = ai.generateText({ model: createDragoman(createScripted([alone]))("any"), prompt: "Oslo?" });
    await expect(refused).rejects.toMatchObject({ message: "unreadable" });
  });

  it("passes on tool choice, sampling, limits, stops and structured output", async () => {
    const answer: Event[] = [{ type: "text", text: '{"sky":"clear"}' }, finish("stop")];
    const engine = createScripted([[...call("a", 0, "Oslo"), finish("tool-calls")], answer]);
    const model = createDragoman(engine)("m");
    await ai.generateText({
      model,
      prompt: "x",
      tools: toolset([]),
      toolChoice: { type: "tool", toolName: "weather" },
      temperature: 0.5,
      topK: 3,
      seed: 7,
      maxOutputTokens: 9,
      stopSequences: ["END"],
      providerOptions: { dragoman: { thinking: { effort: "low" }, parallelCalls: false, minP: 0.1 } },
    });
    expect(engine.requests[0]).toMatchObject({
      model: "m",
      toolChoice: { name: "weather" },
      sampling: { temperature: 0.5, topK: 3, seed: 7, minP: 0.1 },
      maxTokens: 9,
      stop: ["END"],
      thinking: { effort: "low" },
      parallelCalls: false,
    });
    const schema = ai.jsonSchema<{ sky: string }>({ type: "object", properties: { sky: { type: "string" } } });
    const { output } = await ai.generateText({ model, prompt: "x", output: ai.Output.object({ schema }) });
    expect(output).toEqual({ sky: "clear" });
    expect(engine.requests[1]!.output!.schema).toMatchObject({ properties: { sky: { type: "string" } } });
  });

  it("passes images to the engine as bytes", async () => {
    const engine = createScripted([[{ type: "text", text: "A dot." }, finish("stop")]]);
    const file = { type: "file" as const, data: new Uint8Array([1, 2, 3]), mediaType: "image/png" };
    await ai.generateText({
      model: createDragoman(engine)("m"),
      messages: [{ role: "user", content: [{ type: "text", text: "What?" }, file] }],
    });
    expect(engine.requests[0]!.messages[0]!).toMatchObject({
      content: [{ type: "text" }, { type: "media", mediaType: "image/png", data: "AQID" }],
    });
  });

  it("throws an error that comes before anything else, after the SDK's own retries", async () => {
    const failing: Event[] = [
      { type: "finish", reason: "error", error: { code: "overloaded", message: "busy", status: 503, retryAfterMs: 1 } },
    ];
    const engine = createScripted([failing, [{ type: "text", text: "Hi" }, finish("stop")]]);
    expect((await ai.generateText({ model: createDragoman(engine)("m"), prompt: "x" })).text).toBe("Hi");
    const broken: Event[] = [{ type: "finish", reason: "error", error: { code: "bad-request", message: "no such thing", status: 400 } }];
    const refused = ai.generateText({ model: createDragoman(createScripted([broken]))("m"), prompt: "x" });
    await expect(refused).rejects.toMatchObject({ message: "no such thing", statusCode: 400 });
  });

  it("reports an error in the middle of a stream, and keeps what came before", async () => {
    const events: Event[] = [
      { type: "text", text: "Half" },
      { type: "finish", reason: "error", error: { code: "upstream", message: "it broke off" } },
    ];
    const errors: unknown[] = [];
    const result = ai.streamText({
      model: createDragoman(createScripted([events]))("m"),
      prompt: "x",
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe("Half");
    expect(errors).toMatchObject([{ message: "it broke off" }]);
  });

  it("stops the engine when the program aborts", async () => {
    const gate = new AbortController();
    const engine = createScripted(async function* () {
      yield { type: "text", text: "one" } as const;
      await new Promise(() => {});
    });
    const result = ai.streamText({ model: createDragoman(engine)("m"), prompt: "x", abortSignal: gate.signal, onError: () => {} });
    const seen: string[] = [];
    for await (const part of result.fullStream) {
      seen.push(part.type);
      if (part.type === "text-delta") gate.abort();
    }
    expect(seen).toContain("abort");
  });
});

describe("what only ai 7 has", () => {
  const hello: Event[] = [{ type: "text", text: "Hello" }, finish("stop")];

  it.each([
    ["high", { effort: "high" }],
    ["none", { enabled: false }],
    ["provider-default", undefined],
  ] as const)("reasoning %s", async (reasoning, thinking) => {
    const engine = createScripted([hello]);
    await ai7.generateText({ model: createDragoman(engine)("m"), prompt: "x", reasoning });
    expect(engine.requests[0]!.thinking).toEqual(thinking);
  });

  it("the model's own options take precedence", async () => {
    const engine = createScripted([hello]);
    const providerOptions = { dragoman: { thinking: { budget: 100 } } };
    await ai7.generateText({ model: createDragoman(engine)("m"), prompt: "x", reasoning: "low", providerOptions });
    expect(engine.requests[0]!.thinking).toEqual({ budget: 100 });
  });

  it("text files, files stored at a provider, and files with half a media type are handled", async () => {
    const engine = createScripted([hello]);
    const { warnings } = await ai7.generateText({
      model: createDragoman(engine)("m"),
      messages: [
        {
          role: "user",
          content: [
            { type: "file", data: { type: "text", text: "h\u00e9" }, mediaType: "text", filename: "a.txt" },
            { type: "file", data: { type: "reference", reference: { openai: "file-1" } }, mediaType: "image/png" },
            { type: "file", data: new Uint8Array([1, 2, 3]), mediaType: "image" },
          ],
        },
      ],
    });
    expect(engine.requests[0]!.messages[0]).toMatchObject({
      content: [
        { type: "media", mediaType: "text/plain", name: "a.txt", data: "aMOp" },
        { type: "media", mediaType: "image/*", data: "AQID" },
      ],
    });
    expect(warnings).toEqual([{ type: "unsupported", feature: 'a file stored at its provider: {"openai":"file-1"}' }]);
  });

  it.each([
    ["a model with tools", (model: Parameters<typeof ai7.wrapLanguageModel>[0]["model"]) => model],
    [
      "a model with tools in band",
      (model: Parameters<typeof ai7.wrapLanguageModel>[0]["model"]) =>
        ai7.wrapLanguageModel({ model, middleware: toolsInBand({ dialect: "hermes", version: "v4" }) }),
    ],
  ])("a text file in a tool result reaches %s", async (_, wrap) => {
    const engine = createScripted([hello]);
    const value = [{ type: "file" as const, data: { type: "text" as const, text: "rainy" }, mediaType: "text/plain" }];
    await ai7.generateText({
      model: wrap(createDragoman(engine)("m")),
      messages: [
        { role: "user", content: "Oslo?" },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "look", input: {} }] },
        { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "look", output: { type: "content", value } }] },
      ],
    });
    expect(JSON.stringify(engine.requests[0]!.messages).match(/rainy/g)).toHaveLength(1);
  });
});

it("an engine wrapped in an options object is refused, with the right form", () => {
  expect(() => createDragoman({ engine: createScripted([]) } as never)).toThrow("createDragoman takes an engine");
});
