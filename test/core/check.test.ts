// Requests written by hand in another API's form, and bytes instead of text: every wire and dialect names the mistake.
import { describe, expect, test } from "vitest";
import {
  type Dialect,
  getDialect,
  getWire,
  type JsonObject,
  listDialects,
  listWires,
  type Request,
  scanStream,
  scanText,
  schemaGrammar,
} from "../../src/index.ts";

const text = (role: string) => ({ role, content: [{ type: "text", text: "hi" }] });
const mistakes: [string, object, string][] = [
  ["no messages", {}, "messages must be a list"],
  ["a string as content", { messages: [text("user"), { role: "assistant", content: "hi" }] }, "messages[1].content must be a list"],
  ["missing content", { messages: [{ role: "user", content: null }] }, "messages[0].content must be a list"],
  ["an unknown role", { messages: [text("human")] }, "messages[0].role must be one of system"],
  [
    "OpenAI's images",
    { messages: [{ role: "user", content: [...text("user").content, { type: "image_url" }] }] },
    "messages[0].content[1].type must be one of text, media",
  ],
  ["nothing as content", { messages: [{ role: "user", content: [null] }] }, "messages[0].content[0].type must be one of text"],
  ["a tool that is no list", { messages: [text("user")], tools: { name: "a" } }, "tools must be a list"],
  ["nothing as a tool", { messages: [text("user")], tools: [null] }, "tools[0] must be like { name"],
  ["OpenAI's results", { messages: [{ role: "tool", tool_call_id: "a", content: "" }] }, "messages[0] must be { role: "],
  ["OpenAI's tools", { messages: [text("user")], tools: [{ type: "function", function: { name: "a" } }] }, "tools[0] must be like { name"],
];

describe.each(mistakes)("%s", (_, given, words) => {
  const request = { model: "m", ...given } as Request;

  test.each(listWires().map(({ id }) => id))("%s", (id) => {
    expect(() => getWire(id).encodeRequest(request)).toThrow(words);
  });

  test.each(listDialects().map(({ id }) => id))("%s", (id) => {
    expect(() => getDialect(id).render(request)).toThrow(words);
  });
});

describe("a value that nests too deep is named as the reason, before it exhausts the stack", () => {
  const nested = (levels: number): JsonObject => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
  const reason = "values must not nest deeper than 1024 levels";
  const uses = ({ renderTools, renderToolCalls, renderToolResults, instructions, render }: Dialect, value: JsonObject) => [
    () => renderTools([{ name: "f", parameters: value }]),
    () => instructions([{ name: "f", parameters: value }]),
    () => renderToolCalls([{ name: "f", arguments: value }]),
    () => renderToolResults([{ name: "f", output: value }]),
    () => render(requestOf(value)),
  ];
  const requestOf = (value: JsonObject): Request => ({
    model: "m",
    messages: [
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "assistant", content: [{ type: "tool-call", id: "a", name: "f", arguments: value }] },
      { role: "tool", id: "a", name: "f", output: value },
    ],
    tools: [{ name: "f", parameters: value }],
  });

  test.each(listDialects())("$id", (dialect) => {
    for (const use of uses(dialect, nested(10_000))) expect(use).toThrow(reason);
    for (const use of uses(dialect, nested(512))) expect(use).not.toThrow();
  });

  test.each(listWires())("$id", (wire) => {
    expect(() => wire.encodeRequest(requestOf(nested(10_000)))).toThrow(reason);
    expect(() => wire.encodeRequest(requestOf(nested(512)))).not.toThrow();
  });
});

describe("a value that is not text is refused", () => {
  const gemma4 = getDialect("gemma4");
  const bytes = new TextEncoder().encode("data: {}\n\n") as never;

  test("bytes for a scanner", async () => {
    expect(() => gemma4.createScanner().feed(bytes)).toThrow("TextDecoderStream");
    const events = scanStream(gemma4, new Response("hi").body as never);
    await expect(events.next()).rejects.toThrow("TextDecoderStream");
  });

  test.each(listWires().map(({ id }) => id))("bytes for the decoder of %s", (id) => {
    const { context } = getWire(id).encodeRequest({ model: "m", messages: [], stream: "sse" });
    expect(() => getWire(id).createStreamDecoder(context).feed(bytes)).toThrow("TextDecoderStream");
  });

  test("a dialect's name instead of the dialect", () => {
    expect(() => scanText("gemma4" as never, "hi")).toThrow('getDialect("gemma4")');
    expect(() => getDialect(undefined as never)).toThrow("unknown dialect");
  });
});

describe("what a scanner cannot use is refused", () => {
  const gemma4 = getDialect("gemma4");

  test("OpenAI's tools, whose types it would not see", () => {
    const tools = [{ type: "function", function: { name: "a" } }] as never;
    expect(() => gemma4.createScanner({ tools })).toThrow("tools[0] must be like { name");
    expect(() => gemma4.createScanner({ tools: {} as never })).toThrow("tools must be a list");
  });
});

test("after its end a scanner reads nothing: a server may send a piece too many, and a scanner never throws", () => {
  const scanner = getDialect("gemma4").createScanner();
  scanner.feed("Hi");
  scanner.flush();
  expect(scanner.feed("there")).toEqual([]);
  expect(scanner.flush()).toEqual([]);
});

describe("a grammar does not pretend to hold what it was not told", () => {
  const tools = [{ name: "a" }];

  test.each(listDialects().map(({ id }) => id))("%s", (id) => {
    const { grammar } = getDialect(id);
    for (const choice of ["any", undefined, null, { type: "function", function: { name: "a" } }])
      expect(() => grammar?.(tools, choice as never)).toThrow('the tool choice must be "auto"');
    expect(() => grammar?.([{ function: { name: "a" } }] as never, "auto")).toThrow("tools[0] must be like { name");
    expect(() => grammar?.(tools, "auto", { variant: "x" })).toThrow(`unknown variant "x" of ${id}`);
    expect(() => grammar?.(tools, "auto", { output: "string" as never })).toThrow("a schema must be an object");
  });

  test.each([["string"], [undefined], [null], [[]]])("the schema %j", (schema) => {
    expect(() => schemaGrammar(schema as never)).toThrow("a schema must be an object");
  });
});

test("an option may be undefined", () => {
  const { gbnf } = getDialect("hermes").grammar?.([{ name: "a" }], "auto", { variant: "qwen3-0.6b" }) ?? {};
  const set = getDialect("hermes/qwen3-0.6b");
  expect(set.grammar?.([{ name: "a" }], "auto", { variant: undefined, parallelCalls: undefined, output: undefined }).gbnf).toBe(gbnf);
  const options = { tools: undefined, prompt: undefined, startInThinking: undefined, callsInThinking: undefined };
  const limits = { maxCallChars: undefined, maxDepth: undefined, mintId: undefined };
  expect(scanText(set, "<think>a</think>b", { ...options, ...limits })).toEqual(scanText(set, "<think>a</think>b"));
  const request: Request = { model: "", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };
  const none = { variant: undefined, addGenerationPrompt: undefined, thinking: undefined, bos: undefined, now: undefined };
  for (const dialect of listDialects()) expect(dialect.render(request, none)).toEqual(dialect.render(request));
});

describe("a setting of a request may be undefined", () => {
  const messages: Request["messages"] = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
  const plain: Request = { model: "m", messages, output: { schema: { type: "object" } } };
  const [schema, none] = [plain.output?.schema, undefined];
  const samplings = { topP: none, topK: none, minP: none, seed: none, presencePenalty: none, frequencyPenalty: none, repeatPenalty: none };
  const open: Request = {
    ...{ model: "m", messages, from: none, tools: none, toolChoice: none, parallelCalls: none, stream: none, maxTokens: none, stop: none },
    ...{ extra: none, warnings: none, output: { schema, name: none, description: none, strict: none } },
    thinking: { enabled: none, effort: none, budget: none, show: none, keep: none },
    sampling: { temperature: none, ...samplings },
  };

  test.each(listWires())("$id", (wire) => {
    expect(JSON.stringify(wire.encodeRequest(open))).toBe(JSON.stringify(wire.encodeRequest(plain)));
  });
  test.each(listDialects())("$id", (dialect) => expect(dialect.render(open)).toEqual(dialect.render(plain)));
});
