// The promises of a chat, each tested on an engine with scripted answers.
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import {
  type Chat,
  type ChatEvent,
  type ChatOptions,
  type ContextPolicy,
  createChat,
  defineTool,
  readChat,
  ToolAnswer,
} from "../../src/chat/index.ts";
import type { Event, Message } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { createScripted, type Script } from "../../src/engines/scripted.ts";
import { all } from "../events.ts";
import { signalOf } from "../servers.ts";
import { calls, says, speaking, stop, toolCalls } from "./engines.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const assistant = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });

const painted: string[] = [];
const paint = defineTool({
  name: "paint",
  description: "Paints the page.",
  parameters: { type: "object", properties: { color: { type: "string", enum: ["red", "blue"] } }, required: ["color"] },
  run({ color }) {
    painted.push(color);
    return { color };
  },
});

const scriptedChat = (scripts: readonly Script[], options: Partial<ChatOptions> = {}) => {
  const engine = createScripted(scripts);
  return { engine, chat: createChat({ engine, model: "m", tools: [paint], ...options }) };
};

/** Every call of a history has one result, and every result its call. */
function paired(history: readonly Message[]): boolean {
  const asked = history.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => ("id" in part ? [part.id] : [])) : [],
  );
  const answered = history.flatMap((message) => (message.role === "tool" ? [message.id] : []));
  return new Set(asked).size === asked.length && JSON.stringify(asked) === JSON.stringify(answered);
}
const resultsOf = (chat: Chat) => chat.history.filter((message) => message.role === "tool");

describe("a turn", () => {
  test("runs the call, gives the model its result, and ends with the model's answer", async () => {
    const { engine, chat } = scriptedChat([[...calls("paint", { color: "red" }), toolCalls], says("It is red.")], { system: "You paint." });
    const events = await all(chat.send("make it red"));
    expect(events.map(({ type }) => type)).toEqual(
      "tool-start tool-delta tool-end finish tool-run tool-result text finish turn-end".split(" "),
    );
    expect(chat.history).toEqual([
      user("make it red"),
      {
        role: "assistant",
        content: [{ type: "tool-call", id: "call_0", name: "paint", arguments: { color: "red" }, json: '{"color":"red"}' }],
      },
      { role: "tool", id: "call_0", name: "paint", output: { color: "red" } },
      assistant("It is red."),
    ]);
    expect(engine.requests[0]).toMatchObject({
      model: "m",
      tools: [paint.tool],
      messages: [{ role: "system", content: [{ type: "text", text: "You paint." }] }, user("make it red")],
    });
    expect(chat.turns).toEqual([{ from: 0, to: 4, steps: 2, model: "m", reason: "stop", usage: {} }]);
  });

  test("text() and turn() return the outcome", async () => {
    const say = (text: string): Event => ({ type: "text", text });
    const { chat } = scriptedChat([[say("Let me see. "), ...calls("paint", { color: "red" }), toolCalls], says("Done."), says("Bye.")]);
    expect(await chat.send("red").text()).toBe("Done.");
    expect(await chat.send("bye").turn()).toMatchObject({ from: 4, to: 6, reason: "stop" });
    const failing = scriptedChat([[{ type: "finish", reason: "error", error: { code: "upstream", message: "no luck" } }]]).chat;
    await expect(failing.send("x").text()).rejects.toThrow("no luck");
  });

  test("usage is summed over its steps", async () => {
    const usage = (inputTokens: number, outputTokens: number): Event => ({ type: "usage", inputTokens, outputTokens });
    const { chat } = scriptedChat([
      [...calls("paint", { color: "red" }), usage(10, 1), usage(10, 5), toolCalls],
      [{ type: "text", text: "Red." }, usage(20, 3), stop],
    ]);
    expect((await chat.send("red").turn()).usage).toEqual({ inputTokens: 30, outputTokens: 8 });
  });

  test("calls of one answer run concurrently, and their results are in order", async () => {
    const first = signalOf();
    const order: string[] = [];
    const wait = defineTool({
      name: "wait",
      parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      async run({ n }) {
        // The first can only end while the second runs.
        if (n === 1) await first.promise;
        else first.resolve();
        order.push(`ended ${n}`);
        return n;
      },
    });
    const { chat } = scriptedChat([[...calls("wait", { n: 1 }, "a", 0), ...calls("wait", { n: 2 }, "b", 1), toolCalls], says("ok")], {
      tools: [wait],
    });
    await chat.send("go").turn();
    expect(order).toContain("ended 2");
    expect(resultsOf(chat).map(({ id, output }) => [id, output])).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
  });

  test("a result is reported and in the history as soon as it comes, whatever else still runs", async () => {
    const slow = signalOf();
    const tools = [
      defineTool({ name: "slow", run: () => slow.promise.then(() => "slow") }),
      defineTool({ name: "fast", run: () => "fast" }),
    ];
    const { chat } = scriptedChat([[...calls("slow", {}, "a", 0), ...calls("fast", {}, "b", 1), toolCalls], says("ok")], { tools });
    const told: string[] = [];
    for await (const event of chat.send("go")) {
      if (event.type !== "tool-result") continue;
      told.push(event.name);
      if (event.name === "fast") expect(resultsOf(chat).map(({ id }) => id)).toEqual(["b"]);
      slow.resolve();
    }
    expect(told).toEqual(["fast", "slow"]);
    expect(paired(chat.history)).toBe(true);
  });

  test("an engine that throws, or gives no finish, is an error and not an abort; text before it is kept", async () => {
    const broken = (generate: () => AsyncGenerator<Event>) => createChat({ engine: { ...createScripted([]), generate }, model: "m" });
    const throws = broken(async function* () {
      yield { type: "text", text: "Well" };
      throw new Error("out of memory");
    });
    expect(await throws.send("go").turn()).toMatchObject({ reason: "error", error: { code: "internal", message: "out of memory" } });
    expect(throws.history).toEqual([user("go"), assistant("Well")]);
    const ends = broken(async function* () {
      yield { type: "text", text: "Well" };
    });
    expect(await ends.send("go").turn()).toMatchObject({ reason: "error", error: { message: "the engine ended without a finish event" } });
  });

  test("text() throws the error", async () => {
    const { chat } = scriptedChat([[{ type: "finish", reason: "error", error: { code: "rate-limit", message: "slow", retryAfterMs: 5 } }]]);
    await expect(chat.send("go").text()).rejects.toMatchObject({ name: "EngineError", info: { code: "rate-limit", retryAfterMs: 5 } });
  });

  test("text() also returns a refusal", async () => {
    const { chat } = scriptedChat([
      [
        { type: "refusal", text: "I cannot." },
        { type: "finish", reason: "content-filter" },
      ],
    ]);
    expect(await chat.send("hi").text()).toBe("I cannot.");
  });

  test("text() throws if there are only calls", async () => {
    const forever = scriptedChat([[...calls("paint", { color: "red" }), toolCalls]], { tools: [paint], maxSteps: 1 });
    await expect(forever.chat.send("go").text()).rejects.toThrow("maxSteps");
    const open = scriptedChat([[...calls("ask", {}), toolCalls]], { tools: [defineTool({ name: "ask" })] });
    await expect(open.chat.send("go").text()).rejects.toThrow("give them with chat.answer");
  });

  test("ends after maxSteps, with a result for every call", async () => {
    const again = [...calls("paint", { color: "red" }), toolCalls];
    const { chat, engine } = scriptedChat([again, again, again], { maxSteps: 2 });
    expect(await chat.send("go").turn()).toMatchObject({ reason: "max-steps", steps: 2 });
    expect(engine.requests).toHaveLength(2);
    expect(paired(chat.history)).toBe(true);
  });

  test("only one turn runs at a time", async () => {
    const { chat } = scriptedChat([says("Hi")]);
    const events = chat.send("hi")[Symbol.asyncIterator]();
    await events.next();
    await expect(chat.send("again").turn()).rejects.toThrow("still running");
    expect(() => chat.undo()).toThrow("still running");
  });

  test("tools: false declares no tools, and runs none", async () => {
    const { chat, engine } = scriptedChat([says("Hi"), [...calls("paint", { color: "red" }), toolCalls], says("Red."), says("No tools.")]);
    await chat.send("hi", { tools: false }).turn();
    expect(engine.requests[0]).not.toHaveProperty("tools");
    await chat.send("red").turn();
    await chat.send("in words", { tools: false }).turn();
    // Once declared they stay declared, so that the cached prefix does not change.
    expect(engine.requests.at(-1)).toMatchObject({ tools: [paint.tool], toolChoice: "none" });
    const disobedient = scriptedChat([[...calls("paint", { color: "blue" }), toolCalls], says("Sorry.")]).chat;
    painted.length = 0;
    await disobedient.send("in words", { tools: false }).turn();
    expect(painted).toEqual([]);
    expect(resultsOf(disobedient)).toMatchObject([{ isError: true, output: expect.stringContaining("switched off") }]);
  });

  test("the model is the engine's first, unless one is named", async () => {
    const engine = createScripted([says("Hi")], { models: [{ id: "first" }, { id: "second" }] });
    await createChat({ engine }).send("hi").turn();
    expect(engine.requests[0]?.model).toBe("first");
  });
});

describe("a wrong call is not run, and the model is told why", () => {
  const bad = [...calls("paint", { color: 7, size: 1 }), toolCalls];

  test("arguments that the schema refuses, then right ones", async () => {
    painted.length = 0;
    const { chat } = scriptedChat([bad, [...calls("paint", { color: "blue" }), toolCalls], says("Blue.")]);
    expect(await chat.send("blue").turn()).toMatchObject({ reason: "stop", steps: 3 });
    expect(painted).toEqual(["blue"]);
    expect(resultsOf(chat)[0]).toMatchObject({ isError: true, output: expect.stringContaining('color: must be one of "red","blue"') });
    expect(paired(chat.history)).toBe(true);
  });

  test("but not for ever", async () => {
    const { chat, engine } = scriptedChat([bad, bad, bad, bad], { maxRepairs: 2 });
    expect(await chat.send("blue").turn()).toMatchObject({ reason: "error", error: { code: "malformed-call" }, steps: 3 });
    expect(engine.requests).toHaveLength(3);
    expect(paired(chat.history)).toBe(true);
  });

  test("an unknown tool", async () => {
    const { chat } = scriptedChat([[...calls("erase", {}), toolCalls], says("Sorry.")]);
    await chat.send("erase it").turn();
    expect(resultsOf(chat)).toMatchObject([{ name: "erase", isError: true, output: expect.stringContaining("The tools are: paint.") }]);
  });

  test("a truncated call, beside a complete one", async () => {
    painted.length = 0;
    const engine = speaking(
      "gemma4",
      ['<|tool_call>call:paint{color:<|"|>red<|"|>}<tool_call|><|tool_call>call:paint{color:<|"|>blu', "Red, but not blue."],
      { length: [0] },
    );
    const chat = createChat({ engine, model: "m", tools: [paint] });
    expect(await chat.send("both").turn()).toMatchObject({ reason: "stop", steps: 2 });
    expect(painted).toEqual(["red"]);
    expect(resultsOf(chat)).toMatchObject([{ output: { color: "red" } }, { isError: true, output: expect.stringContaining("cut off") }]);
    expect(paired(chat.history)).toBe(true);
  });

  test("an unreadable call", async () => {
    painted.length = 0;
    const engine = speaking("gemma4", [
      "<|tool_call>paint red please<tool_call|>",
      '<|tool_call>call:paint{color:<|"|>red<|"|>}<tool_call|>',
      "Red.",
    ]);
    const chat = createChat({ engine, model: "m", tools: [paint] });
    expect(await chat.send("red").turn()).toMatchObject({ reason: "stop", steps: 3 });
    expect(painted).toEqual(["red"]);
    expect(resultsOf(chat)[0]).toMatchObject({ isError: true, output: expect.stringContaining("cannot be read") });
    expect(paired(chat.history)).toBe(true);
  });

  test("calls of an answer that broke off or was filtered", async () => {
    painted.length = 0;
    const finishes: Event[] = [
      { type: "finish", reason: "error", error: { code: "upstream", message: "connection lost" } },
      { type: "finish", reason: "content-filter" },
    ];
    for (const finish of finishes) {
      const { chat } = scriptedChat([[...calls("paint", { color: "red" }), finish]]);
      expect((await chat.send("red").turn()).reason).toBe(finish.type === "finish" ? finish.reason : "");
      expect(paired(chat.history)).toBe(true);
    }
    expect(painted).toEqual([]);
  });
});

describe("what a tool returns", () => {
  const resultWith = async (run: () => unknown) => {
    const tool = defineTool({ name: "act", run });
    const { chat } = scriptedChat([[...calls("act", {}), toolCalls], says("ok")], { tools: [tool] });
    await chat.send("act").turn();
    const { role: _, id: __, name: ___, ...rest } = resultsOf(chat)[0] as Message & { role: "tool" };
    return rest;
  };

  test.each([
    ["text", () => "fine", { output: "fine" }],
    ["an object, as JSON prints it", () => ({ at: new Date(0), nothing: undefined }), { output: { at: "1970-01-01T00:00:00.000Z" } }],
    ["nothing", () => undefined, { output: "done" }],
    ["a promise", async () => [1], { output: [1] }],
    [
      "an image",
      () => new ToolAnswer("a dot", { media: [{ type: "media", mediaType: "image/png", data: "AA==" }] }),
      { output: "a dot", media: [{ type: "media", mediaType: "image/png", data: "AA==" }] },
    ],
    [
      "an image without text",
      () => new ToolAnswer(undefined, { media: [{ type: "media", mediaType: "image/png", data: "AA==" }] }),
      { output: "done", media: [{ type: "media", mediaType: "image/png", data: "AA==" }] },
    ],
    ["a value that JSON cannot hold", () => new ToolAnswer({ n: 1n }), { isError: true }],
    ["an error result", () => new ToolAnswer("no", { isError: true }), { output: "no", isError: true }],
    [
      "what it throws",
      () => {
        throw new Error("disk full");
      },
      { output: "disk full", isError: true },
    ],
    [
      "what it throws, with the cause",
      () => {
        throw new TypeError("fetch failed", { cause: Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }) });
      },
      { output: "fetch failed: ECONNREFUSED", isError: true },
    ],
    [
      "a thrown value that is not an Error",
      () => {
        throw { code: "EBUSY" };
      },
      { output: "EBUSY", isError: true },
    ],
    [
      "a thrown object",
      () => {
        throw { status: 404 };
      },
      { output: '{"status":404}', isError: true },
    ],
    [
      "an AggregateError",
      () => Promise.any([Promise.reject(new Error("no route")), Promise.reject(new Error("no name"))]),
      { output: "All promises were rejected: no route: no name", isError: true },
    ],
    [
      "a thrown error whose message already has its cause",
      () => {
        throw new Error("no answer (closed)", { cause: new Error("closed") });
      },
      { output: "no answer (closed)", isError: true },
    ],
    ["an error inside another value", () => ({ error: new Error("bad") }), { output: { error: { message: "bad" } } }],
    ["a promise inside another value", () => [Promise.resolve(1)], { output: expect.stringContaining("await it"), isError: true }],
    ["a map inside another value", () => ({ found: new Map() }), { output: expect.stringContaining("Map"), isError: true }],
    [
      "an image as bytes",
      () => new ToolAnswer("", { media: [{ type: "media", mediaType: "image/png", data: new Uint8Array(3) as never }] }),
      { output: expect.stringContaining("base64"), isError: true },
    ],
    ["bytes", () => new Uint8Array(9), { output: expect.stringContaining("as base64 in the media of a ToolAnswer"), isError: true }],
    [
      "a single image, not in a list",
      () => new ToolAnswer("", { media: {} as never }),
      { output: expect.stringContaining("a list"), isError: true },
    ],
    ["something JSON cannot hold", () => 1n, { isError: true }],
    ["a map", () => new Map([["a", 1]]), { output: "the tool returned an object (Map) that JSON cannot hold", isError: true }],
    ["an unread Response", () => new Response("x"), { output: expect.stringContaining("(Response)"), isError: true }],
    ["an error", () => new Error("bad"), { output: "bad", isError: true }],
    ["an error with fields", () => Object.assign(new Error("no file"), { code: "ENOENT" }), { output: "no file", isError: true }],
    [
      "a generator",
      async function* () {
        yield "one";
      },
      { output: expect.stringContaining("(AsyncGenerator)"), isError: true },
    ],
    ["an object without members", () => ({}), { output: {} }],
    ["a date", () => new Date(0), { output: "1970-01-01T00:00:00.000Z" }],
    ["a function", () => () => 1, { isError: true, output: expect.stringContaining("function") }],
  ])("%s", async (_, run, result) => {
    expect(await resultWith(run)).toMatchObject(result);
  });

  test("an answer from another copy of this package", async () => {
    vi.resetModules();
    const { ToolAnswer: Other } = await import("../../src/chat/index.ts");
    expect(Other).not.toBe(ToolAnswer);
    expect(await resultWith(() => new Other("no", { isError: true }))).toEqual({ output: "no", isError: true });
  });

  test("changes that it makes to its arguments do not reach the history", async () => {
    const change = (args: { color: string }) => {
      args.color = "blue";
    };
    const tool = defineTool({ name: "change", parameters: { type: "object" }, run: (args) => change(args as { color: string }) });
    const { chat } = scriptedChat([[...calls("change", { color: "red" }), toolCalls], says("ok")], { tools: [tool] });
    await chat.send("go").turn();
    expect(chat.history[1]).toMatchObject({ content: [{ arguments: { color: "red" } }] });
  });
});

describe("a mistake is reported at once, with what to do", () => {
  const engine = createScripted([]);
  test.each([
    ["no engine", () => createChat({} as never), "a chat needs an engine"],
    ["a URL as engine", () => createChat({ engine: "http://127.0.0.1" as never }), "a chat needs an engine"],
    ["tools given by name", () => createChat({ engine, tools: { paint } as never }), "the tools of a chat must be a list"],
    ["a list among the tools", () => createChat({ engine, tools: [[paint]] as never }), "spread it"],
    ["an unknown tool", () => createChat({ engine, tools: [undefined] as never }), "make it with defineTool"],
    ["a saved chat as text", () => createChat({ engine, data: "{}" as never }), "readChat(JSON.parse(text))"],
    ["messages in another form", () => createChat({ engine, data: { messages: [] } as never }), "what chat.save() returned"],
    ["nothing to send", () => createChat({ engine }).send(undefined as never), "a message is text, or a list"],
    ["a part of another API", () => createChat({ engine }).send([{ type: "image_url" } as never]), "type must be one of text, media"],
    ["an image without bytes", () => createChat({ engine }).send([{ type: "media", mediaType: "image/png" }]), "must have data"],
    ["strings in a list", () => createChat({ engine }).send(["hi"] as never), "a message is text, or a list"],
  ])("%s", (_, make, words) => {
    expect(make).toThrow(words);
  });
});

describe("approval", () => {
  test("is asked for one call after another, and a refusal goes to the model", async () => {
    painted.length = 0;
    const asked: unknown[] = [];
    const { chat } = scriptedChat(
      [[...calls("paint", { color: "red" }, "a"), ...calls("paint", { color: "blue" }, "b", 1), toolCalls], says("Only blue.")],
      {
        approve: (call) => {
          asked.push(call.arguments);
          return call.arguments.color === "blue" ? true : "not before lunch";
        },
      },
    );
    expect(await chat.send("both").turn()).toMatchObject({ reason: "stop" });
    expect(asked).toEqual([{ color: "red" }, { color: "blue" }]);
    expect(painted).toEqual(["blue"]);
    expect(resultsOf(chat)).toMatchObject([
      { isError: true, output: expect.stringContaining("not before lunch") },
      { output: { color: "blue" } },
    ]);
  });
});

describe("an abort keeps what was said, and every call has a result", () => {
  const forever: Script = (async function* (): AsyncGenerator<Event> {
    yield { type: "text", text: "Once upon" };
    await new Promise(() => {});
  })();

  test("while the model speaks", async () => {
    const { chat } = scriptedChat([forever, says("Hello.")]);
    const abort = new AbortController();
    const events: ChatEvent[] = [];
    for await (const event of chat.send("a story", { signal: abort.signal })) {
      events.push(event);
      if (event.type === "text") abort.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: "turn-end", turn: { reason: "aborted" } });
    expect(chat.history).toEqual([user("a story"), assistant("Once upon")]);
    expect(getEventListeners(abort.signal, "abort")).toEqual([]);
    expect(await chat.send("hi").text()).toBe("Hello.");
  });

  test("in the middle of a call", async () => {
    const { chat } = scriptedChat([[...calls("paint", { color: "red" }).slice(0, 2)]]);
    for await (const event of chat.send("red")) if (event.type === "tool-delta") break;
    expect(chat.history).toMatchObject([{}, { content: [{ type: "tool-call", truncated: true }] }, { role: "tool", isError: true }]);
    expect(paired(chat.history)).toBe(true);
    expect(chat.turns).toMatchObject([{ reason: "aborted", from: 0, to: 3 }]);
  });

  test("a tool that has started is never recorded as not run, however the turn ends", async () => {
    const written: string[] = [];
    const slow = defineTool({
      name: "slow",
      description: "",
      run: () => {
        written.push("slow");
        return new Promise<string>(() => {});
      },
    });
    const quick = defineTool({ name: "quick", description: "", run: () => void written.push("quick") });
    const { chat } = scriptedChat([[...calls("slow", {}), ...calls("quick", {}, "call_1", 1), toolCalls]], { tools: [slow, quick] });
    for await (const event of chat.send("go")) if (event.type === "tool-run") break;
    expect(written).toEqual(["slow", "quick"]);
    expect(resultsOf(chat).map(({ output }) => output)).toEqual(["It was stopped by the user.", "done"]);
    expect(paired(chat.history)).toBe(true);
  });

  test("while a tool runs, whether or not it obeys the signal", async () => {
    const abort = new AbortController();
    const deaf = defineTool({
      name: "deaf",
      run: () => {
        abort.abort();
        return new Promise(() => {});
      },
    });
    const { chat } = scriptedChat([[...calls("paint", { color: "red" }, "a"), ...calls("deaf", {}, "b", 1), toolCalls]], {
      tools: [paint, deaf],
    });
    expect(await chat.send("go", { signal: abort.signal }).turn()).toMatchObject({ reason: "aborted" });
    expect(resultsOf(chat)).toMatchObject([{ id: "a" }, { id: "b", isError: true }]);
    expect(paired(chat.history)).toBe(true);
  });

  test("while the user is asked for approval", async () => {
    const abort = new AbortController();
    const { chat } = scriptedChat([[...calls("paint", { color: "red" }), toolCalls]], {
      approve: () => {
        abort.abort();
        return new Promise<boolean>(() => {});
      },
    });
    expect(await chat.send("go", { signal: abort.signal }).turn()).toMatchObject({ reason: "aborted" });
    expect(paired(chat.history)).toBe(true);
  });

  test.each([
    ["tokens are counted", { countTokens: () => new Promise<never>(() => {}) }, undefined],
    ["a policy runs", {}, () => new Promise<never>(() => {})],
    ["models are listed", { models: () => new Promise<never>(() => {}) }, undefined],
  ])("while %s", async (_, hanging, policy) => {
    const abort = new AbortController();
    const engine = { ...createScripted([says("Hi")]), ...hanging };
    const chat = createChat({ engine, context: { limit: 10, policy } });
    const turn = chat.send("hello ".repeat(50), { signal: abort.signal }).turn();
    setImmediate(() => abort.abort());
    expect(await turn).toMatchObject({ reason: "aborted" });
    expect(() => chat.undo()).not.toThrow();
  });

  test("while a schema validates the arguments", async () => {
    const abort = new AbortController();
    const validate = () => {
      abort.abort();
      return new Promise<never>(() => {});
    };
    const parameters = { "~standard": { version: 1, vendor: "slow", validate } } as const;
    const tool = defineTool({ name: "look", parameters, jsonSchema: { type: "object" }, run: () => "never" });
    const { chat } = scriptedChat([[...calls("look", {}), toolCalls]], { tools: [tool] });
    expect(await chat.send("go", { signal: abort.signal }).turn()).toMatchObject({ reason: "aborted" });
    expect(resultsOf(chat)).toMatchObject([{ isError: true, output: expect.stringContaining("Not run") }]);
  });

  test("before it began", async () => {
    const { chat } = scriptedChat([says("Hi")]);
    expect(await chat.send("hi", { signal: AbortSignal.abort() }).turn()).toMatchObject({ reason: "aborted" });
    expect(chat.history).toEqual([user("hi")]);
  });
});

test.each([
  ["required", "auto"],
  [{ name: "paint" }, "auto"],
  [{ allowed: ["paint"], required: true }, { allowed: ["paint"] }],
  ["none", "none"],
] as const)("a required call is made once per turn, then the model may answer in words: %j", async (toolChoice, then) => {
  const turn = [[...calls("paint", { color: "red" }), toolCalls], says("Red.")];
  const { chat, engine } = scriptedChat([...turn, ...turn], { toolChoice: toolChoice as never });
  expect(await chat.send("red").turn()).toMatchObject({ reason: "stop", steps: 2 });
  await chat.send("again").turn();
  expect(engine.requests.map((request) => request.toolChoice)).toEqual([toolChoice, then, toolChoice, then]);
});

test("a required call that was wrong must be made again", async () => {
  const bad = [...calls("paint", { color: "loud" }), toolCalls];
  const { chat, engine } = scriptedChat([bad, bad, [...calls("paint", { color: "red" }), toolCalls], says("done")], {
    toolChoice: "required",
  });
  expect(await chat.send("paint").text()).toBe("done");
  expect(engine.requests.map(({ toolChoice }) => toolChoice)).toEqual(["required", "required", "required", "auto"]);
});

describe("tools that run elsewhere", () => {
  const remote = defineTool({ name: "remote" });
  const script = [...calls("remote", {}, "a"), ...calls("paint", { color: "red" }, "b", 1), toolCalls];

  test("end the turn; answer() continues with their results, in the order of the calls", async () => {
    const { chat } = scriptedChat([script, says("ok")], { tools: [paint, remote] });
    expect(await chat.send("go").turn()).toMatchObject({ reason: "tool-calls" });
    await expect(chat.answer([]).turn()).rejects.toThrow("a");
    expect(await chat.answer([{ id: "a", output: "here" }]).text()).toBe("ok");
    expect(resultsOf(chat)).toMatchObject([
      { id: "a", name: "remote", output: "here" },
      { id: "b", output: { color: "red" } },
    ]);
    expect(paired(chat.history)).toBe(true);
    await expect(chat.answer([{ id: "a", output: "" }]).turn()).rejects.toThrow("no call is waiting");
  });

  test("their results must be JSON, like those of tools that run here", async () => {
    const { chat } = scriptedChat([[...calls("open", {}), toolCalls], says("ok")], { tools: [defineTool({ name: "open" })] });
    await chat.send("go").turn();
    await expect(chat.answer([{ id: "call_0", output: new Map() as never }]).turn()).rejects.toThrow("JSON cannot hold");
    await chat.answer([{ id: "call_0", output: undefined as never }]).turn();
    expect(resultsOf(chat)).toEqual([{ role: "tool", id: "call_0", name: "open", output: "done" }]);
    expect(readChat(JSON.parse(JSON.stringify(chat.save())))).toEqual(chat.save());
  });

  test("resume() is refused while calls wait for results", async () => {
    const { chat, engine } = scriptedChat([script, says("ok")], { tools: [paint, remote] });
    await chat.send("go").turn();
    await expect(chat.resume().turn()).rejects.toThrow("these calls still need results, give them with chat.answer: a");
    expect(engine.requests).toHaveLength(1);
  });

  test("undo takes back an answer and its results, but not those of tools that ran here; also after saving", async () => {
    const options = { tools: [paint, remote] };
    const { chat } = scriptedChat([script, says("ok")], options);
    await chat.send("go").turn();
    const before = structuredClone(chat.history);
    await chat.answer([{ id: "a", output: "here" }]).turn();
    const { chat: again } = scriptedChat([says("ok"), says("well"), says("fine")], { ...options, data: readChat(chat.save()) });
    for (const one of [chat, again]) {
      one.undo();
      expect(one.history).toEqual(before);
    }
    expect(await again.answer([{ id: "a", output: "there" }]).text()).toBe("ok");
    expect(resultsOf(again)).toMatchObject([{ id: "a", output: "there" }, { id: "b" }]);
    again.undo();
    await again.send("never mind").turn();
    expect(resultsOf(again)).toMatchObject([
      { id: "a", isError: true },
      { id: "b", output: { color: "red" } },
    ]);
    again.undo();
    expect(again.history).toEqual(before);
  });

  test("a user's message after results stays there, however the next turn ends", async () => {
    const failed: Event = { type: "finish", reason: "error", error: { code: "overloaded", message: "busy" } };
    const { chat } = scriptedChat([[...calls("paint", { color: "red" }), toolCalls], [failed]], { maxSteps: 1 });
    expect(await chat.send("red").turn()).toMatchObject({ reason: "max-steps" });
    expect(await chat.send("two").turn()).toMatchObject({ reason: "error" });
    expect(chat.history.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
  });

  test("calls without results in a loaded file get them right after the answer, not at the end", async () => {
    const asked: Message = { role: "assistant", content: [{ type: "tool-call", id: "a", name: "paint", arguments: {} }] };
    const data = readChat({ version: 1, messages: [user("red"), asked, user("and?")], turns: [] });
    const { chat, engine } = scriptedChat([says("ok")], { data });
    await chat.send("now").turn();
    expect(engine.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "user"]);
  });

  test("a new message instead of the results leaves errors as their results", async () => {
    const { chat } = scriptedChat([[...calls("remote", {}, "a"), toolCalls], says("ok")], { tools: [remote] });
    await chat.send("go").turn();
    await chat.send("never mind").turn();
    expect(resultsOf(chat)).toMatchObject([{ id: "a", isError: true }]);
    expect(paired(chat.history)).toBe(true);
  });
});

describe("history is plain data", () => {
  const first = [...calls("paint", { color: "red" }), toolCalls];

  test("saved as JSON and read again, it is the same conversation", async () => {
    const { chat } = scriptedChat([first, says("Red.")], { system: "Paint." });
    await chat.send("red").turn();
    const text = JSON.stringify(chat.save());
    const { chat: again, engine } = scriptedChat([says("You are welcome.")], { data: readChat(JSON.parse(text)) });
    expect(again.save()).toEqual(chat.save());
    await again.send("thanks").turn();
    expect(engine.requests[0]?.messages).toEqual([
      { role: "system", content: [{ type: "text", text: "Paint." }] },
      ...chat.history,
      user("thanks"),
    ]);
    expect(again.turns).toHaveLength(2);
  });

  test("later changes to a message that was sent do not reach it", async () => {
    const { chat } = scriptedChat([says("Red.")]);
    const words = { type: "text" as const, text: "red" };
    await chat.send([words]).turn();
    words.text = "blue";
    expect(chat.history[0]).toEqual(user("red"));
  });

  test("a fork continues independently", async () => {
    const { chat } = scriptedChat([says("One."), says("Two.")]);
    await chat.send("1").turn();
    const fork = chat.fork();
    await fork.send("2").turn();
    expect([chat.history.length, fork.history.length]).toEqual([2, 4]);
  });

  test("undo takes back a turn; resume asks again", async () => {
    const failed: Event = { type: "finish", reason: "error", error: { code: "overloaded", message: "busy" } };
    const { chat, engine } = scriptedChat([says("One."), [failed], says("Two.")]);
    await chat.send("1").turn();
    expect(await chat.send("2").turn()).toMatchObject({ reason: "error", error: { code: "overloaded" } });
    expect(await chat.resume().text()).toBe("Two.");
    expect(engine.requests.at(-1)?.messages.at(-1)).toEqual(user("2"));
    chat.undo();
    expect(chat.history.at(-1)).toEqual(user("2"));
    expect(chat.undo()).toMatchObject({ from: 2 });
    expect(chat.history).toEqual([user("1"), assistant("One.")]);
  });

  test("ids are unique, even if the model counts from zero each time", async () => {
    const { chat } = scriptedChat([first, first, says("Red twice.")]);
    await chat.send("red").turn();
    expect(resultsOf(chat).map(({ id }) => id)).toEqual(["call_0", "call_0_1"]);
    expect(paired(chat.history)).toBe(true);
  });

  test.each([
    [null, "must be an object"],
    [{ version: 2 }, "version is 2"],
    [{ version: 1, messages: {} }, "messages must be a list"],
    [{ version: 1, messages: [{ role: "robot" }] }, "messages[0].role"],
    [{ version: 1, messages: [{ role: "user", content: [{ type: "song" }] }] }, "messages[0].content[0].type"],
    [{ version: 1, messages: [{ role: "tool", id: "a" }], turns: [] }, "messages[0] must have"],
    [
      { version: 1, messages: [{ role: "tool", id: "a", name: "f", output: "", media: [{ type: "text", text: "" }] }] },
      "messages[0].media[0].type must be one of media",
    ],
    [{ version: 1, messages: [{ role: "user", content: [{ type: "text" }] }] }, "messages[0].content[0].text must be a string"],
    [
      { version: 1, messages: [{ role: "user", content: [{ type: "tool-call" }] }] },
      "messages[0].content[0].type must be one of text, media",
    ],
    [
      { version: 1, messages: [{ role: "assistant", content: [{ type: "tool-call", id: "a", name: "f" }] }] },
      "arguments must be an object",
    ],
    [{ version: 1, messages: [], turns: [{}] }, "turns[0] must have from and to"],
    [{ version: 1, messages: [], turns: [{ from: 0, to: 1 }] }, "turns[0] must have from and to"],
    [{ version: 1, messages: [], turns: [{ from: 0, to: 0, steps: 1 }] }, "turns[0] must have steps, model and reason"],
  ])("data that no chat has saved is refused: %j", (value, why) => {
    expect(() => readChat(value)).toThrow(why);
  });
});

test("a plain object is refused as a tool, with how to make it one", () => {
  const plain = { name: "f", run: () => 1 };
  expect(() => createChat({ engine: speaking("functiongemma", []), tools: [plain as never] })).toThrow("make it with defineTool");
});

describe("promptOf", () => {
  test("is the exact prompt of every step, whatever followed", async () => {
    const engine = speaking("functiongemma", [
      "<start_function_call>call:paint{color:<escape>red<escape>}<end_function_call>",
      "Red.",
      "Bye.",
    ]);
    const chat = createChat({ engine, model: "m", tools: [paint] });
    const turn = await chat.send("make it red").turn();
    await chat.send("bye").turn();
    const textOf = async (step?: number) => {
      const { sent } = await chat.promptOf(turn, step);
      return sent && "prompt" in sent ? promptText(sent.prompt) : "";
    };
    expect(await textOf(0)).toMatch(/^<start_of_turn>developer\n.*declaration:paint.*make it red<end_of_turn>\n<start_of_turn>model\n$/s);
    expect(await textOf()).toMatch(/<start_function_response>response:paint\{color:<escape>red<escape>\}<end_function_response>$/);
    expect((await chat.promptOf(turn, 0)).request).toEqual(engine.requests[0]);
    expect((await chat.promptOf()).request).toEqual(engine.requests[2]);
    await expect(chat.promptOf(turn, 3)).rejects.toThrow("the turn has no step 3: it has 2");
    await expect(chat.promptOf(turn, -4)).rejects.toThrow("no step");
    // A loaded chat has only its history: it returns what it would send.
    const loaded = createChat({ engine, model: "m", tools: [paint], data: chat.save() });
    expect(await loaded.promptOf(loaded.turns[0], 0)).toEqual(await chat.promptOf(turn, 0));
  });

  test("there is none before the first turn", async () => {
    await expect(scriptedChat([]).chat.promptOf()).rejects.toThrow("no turn");
  });

  test("an unknown turn has none", async () => {
    const { chat } = scriptedChat([says("Hi")]);
    await chat.send("hi").turn();
    await expect(chat.promptOf(1 as never)).rejects.toThrow("does not belong to the chat");
  });
});

describe("the context window", () => {
  const long = (n: number) => `${n} ${"word ".repeat(200)}`;
  const scripts = (n: number): Script[] => Array.from({ length: n }, (_, i) => says(long(i)));

  test("the oldest turns are left out whole and stay out; the history keeps them", async () => {
    const { chat, engine } = scriptedChat(scripts(8), { context: { limit: 3000 }, system: "Paint." });
    const left: number[] = [];
    for (let i = 0; i < 8; i++) for await (const event of chat.send(long(i))) if (event.type === "left-out") left.push(event.messages);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(4);
    expect(chat.history).toHaveLength(16);
    for (const { messages } of engine.requests) expect([messages[0]?.role, messages[1]?.role]).toEqual(["system", "user"]);
    expect((await chat.promptOf()).request).toEqual(engine.requests.at(-1));
  });

  test("within one long turn, calls are left out with their results, and the question stays", async () => {
    const big = defineTool({ name: "big", run: () => long(0) });
    const step = [...calls("big", {}), toolCalls];
    const { chat, engine } = scriptedChat([step, step, step, step, step, step, says("ok")], { context: { limit: 2000 }, tools: [big] });
    await chat.send("go").turn();
    for (const { messages } of engine.requests) {
      expect(messages[0]).toEqual(user("go"));
      expect(paired(messages)).toBe(true);
    }
    expect(engine.requests.at(-1)?.messages.length).toBeLessThan(13);
    expect(paired(chat.history)).toBe(true);
  });

  test("if the server's limit is lower than known, it is asked once more, with less", async () => {
    const tooLong: Event = { type: "finish", reason: "error", error: { code: "context-length", message: "too long" } };
    const { chat, engine } = scriptedChat([...scripts(3), [tooLong], says("ok")], { context: { limit: 1_000_000 } });
    for (let i = 0; i < 3; i++) await chat.send(long(i)).turn();
    expect(await chat.send("and?").text()).toBe("ok");
    expect(engine.requests[4]?.messages.length).toBeLessThan(engine.requests[3]?.messages.length ?? 0);
    expect(engine.requests[4]?.messages.at(-1)).toEqual(user("and?"));
  });

  test("a custom policy may replace what it leaves out", async () => {
    const { chat, engine } = scriptedChat(scripts(4), {
      context: { limit: 1500, policy: (blocks) => [{ messages: [user("(earlier: words)")], tokens: 5 }, ...blocks.slice(-1)] },
    });
    for (let i = 0; i < 4; i++) await chat.send(long(i)).turn();
    expect(engine.requests.at(-1)?.messages[0]).toEqual(user("(earlier: words)"));
  });

  test("a custom policy may also shorten messages, in that request only", async () => {
    const short = (message: Message): Message => (message.role === "assistant" ? assistant("[shortened]") : message);
    const policy: ContextPolicy = (blocks) => blocks.map(({ messages }) => ({ messages: messages.map(short), tokens: 5 }));
    const { chat, engine } = scriptedChat([says("a".repeat(4000)), says("ok")], { context: { limit: 500, policy } });
    await chat.send("one").turn();
    await chat.send("two").turn();
    expect(engine.requests[1]?.messages).toEqual([user("one"), assistant("[shortened]"), user("two")]);
  });
});
