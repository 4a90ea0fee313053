// What only one SDK does: parts of the APIs beside the answer, histories that it keeps, state that it leaves to the server.
import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { GoogleGenAI } from "@google/genai";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { parameters, scenarios } from "./scenarios.ts";
import { HEARTBEATS, type Stub, startStub } from "./server.ts";

let stub: Stub;
let clients: { openai: OpenAI; anthropic: Anthropic; genai: GoogleGenAI; ollama: Ollama };
beforeAll(async () => {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  stub = await startStub();
  const { url } = stub;
  clients = {
    openai: new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 }),
    genai: new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: url } }),
    ollama: new Ollama({ host: url }),
  };
});
afterAll(() => stub.close());
beforeEach(() => void stub.take());

const { calls, text, thinking } = scenarios["thinking-text-calls"];
const question = { role: "user", content: "Hi" } as const;
const named = calls.map((call, i) => ({ type: "tool-call", id: `call_a${i}`, ...call }));

describe("lists of models", () => {
  const id = "some-model";
  test("openai", async () => expect((await clients.openai.models.list()).data).toMatchObject([{ id, object: "model" }]));
  test("@google/genai", async () => {
    const models = [];
    for await (const model of await clients.genai.models.list()) models.push(model);
    expect(models).toMatchObject([{ name: `models/${id}`, inputTokenLimit: 8192 }]);
  });
  test("ollama", async () => expect((await clients.ollama.list()).models).toMatchObject([{ name: id, model: id }]));
});

describe("tokens are counted", () => {
  test("@anthropic-ai/sdk", async () => {
    expect(await clients.anthropic.messages.countTokens({ model: "m", messages: [question] })).toMatchObject({ input_tokens: 7 });
    expect(stub.take()).toMatchObject([{ model: "m", messages: [{ role: "user" }] }]);
  });
  test("@google/genai", async () => {
    expect(await clients.genai.models.countTokens({ model: "m", contents: "Hi" })).toMatchObject({ totalTokens: 7 });
    expect(stub.take()).toMatchObject([{ model: "m", messages: [{ role: "user" }] }]);
  });
});

describe("a history that the SDK keeps comes back complete", () => {
  test.each(["", HEARTBEATS])("@google/genai chats%s", async (beats) => {
    const chat = clients.genai.chats.create({ model: `thinking-text-calls${beats}` });
    for await (const _ of await chat.sendMessageStream({ message: "Hi" }));
    const message = calls.map(({ name }, i) => ({ functionResponse: { id: `call_a${i}`, name, response: { output: "ok" } } }));
    let said = "";
    for await (const chunk of await chat.sendMessageStream({ message })) said += chunk.text ?? "";
    expect(said).toBe("Done.");
    const [, , answer, ...results] = [undefined, ...(stub.take()[1]?.messages ?? [])];
    const parts = answer?.role === "assistant" ? answer.content.filter((part) => part.type !== "text" || part.text !== "") : [];
    expect(parts).toMatchObject([{ type: "thinking", text: thinking }, { type: "text", text }, ...named]);
    expect(results).toMatchObject(calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name, output: "ok" })));
  });

  test("@anthropic-ai/sdk: the message is sent back as it came", async () => {
    const asked = { model: "thinking-text-calls", max_tokens: 9 };
    const { content } = await clients.anthropic.messages.stream({ ...asked, messages: [question] }).finalMessage();
    const results = calls.map((_, i) => ({ type: "tool_result" as const, tool_use_id: `call_a${i}`, content: "ok" }));
    const messages = [question, { role: "assistant" as const, content }, { role: "user" as const, content: results }];
    await clients.anthropic.messages.create({ ...asked, messages });
    const [, request] = stub.take();
    expect(request?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "thinking", text: thinking }, { type: "text", text }, ...named] },
      ...calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name, output: "ok" })),
    ]);
  });

  test("openai: chat", async () => {
    const asked = { model: "thinking-text-calls" };
    const { choices } = await clients.openai.chat.completions.create({ ...asked, messages: [question] });
    const results = calls.map((_, i) => ({ role: "tool" as const, tool_call_id: `call_a${i}`, content: "ok" }));
    await clients.openai.chat.completions.create({ ...asked, messages: [question, choices[0]!.message, ...results] });
    expect(stub.take()[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "thinking", text: thinking }, { type: "text", text }, ...named] },
      ...calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name, output: "ok" })),
    ]);
  });

  test("openai: Responses", async () => {
    const asked = { model: "thinking-text-calls", store: false, include: ["reasoning.encrypted_content" as const] };
    const { output } = await clients.openai.responses.stream({ ...asked, input: "Hi" }).finalResponse();
    const results = calls.map((_, i) => ({ type: "function_call_output" as const, call_id: `call_a${i}`, output: "ok" }));
    // The types of output and input items differ in what `parsed` adds.
    const items = output.flatMap((item) =>
      item.type === "reasoning" || item.type === "message" || item.type === "function_call" ? [item] : [],
    );
    await clients.openai.responses.create({ ...asked, input: [question, ...items, ...results] });
    expect(stub.take()[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "thinking", text: thinking }, { type: "text", text }, ...named] },
      ...calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name, output: "ok" })),
    ]);
  });

  test("ollama", async () => {
    const { message } = await clients.ollama.chat({ model: "thinking-text-calls", messages: [question] });
    const results = calls.map(({ name }) => ({ role: "tool", tool_name: name, content: "ok" }));
    await clients.ollama.chat({ model: "thinking-text-calls", messages: [question, message, ...results] });
    expect(stub.take()[1]?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "thinking", text: thinking }, { type: "text", text }, ...named] },
      ...calls.map(({ name }, i) => ({ role: "tool", id: `call_a${i}`, name, output: "ok" })),
    ]);
  });
});

describe("a history that the SDK leaves to the server", () => {
  test("@anthropic-ai/sdk: threads start again, with the whole history", async () => {
    const thread = clients.anthropic.beta.messages.thread({ model: "text", max_tokens: 9, messages: [question] });
    await thread.send();
    await thread.send({ role: "user", content: "And now?" });
    const [first, second] = stub.take();
    expect(first?.messages).toHaveLength(1);
    expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
  test("@anthropic-ai/sdk: so does its tool runner", async () => {
    const run = () => "ok";
    const tools = calls.map(({ name }) => betaTool({ name, description: "", inputSchema: parameters, run }));
    const asked = { model: "thinking-text-calls", max_tokens: 9, messages: [question], tools };
    const message = await clients.anthropic.beta.messages.toolRunner(asked).runUntilDone();
    expect(message.content).toMatchObject([{ type: "text", text: "Done." }]);
    expect(stub.take()[1]?.tools).toHaveLength(calls.length);
  });
  test("openai: an unknown previous_response_id is passed on, for the server that made it", async () => {
    await clients.openai.responses.create({ model: "text", input: "Hi", previous_response_id: "resp_1" });
    expect(stub.take()[0]?.extra).toContainEqual({ wire: "openai-responses", kind: "previous_response_id", data: "resp_1" });
  });
  test("ai with @ai-sdk/openai refers to items by id unless store is false: the kept items are put in", async () => {
    const run = tool({ inputSchema: jsonSchema(parameters), execute: () => "ok" });
    const tools = Object.fromEntries(calls.map(({ name }) => [name, run]));
    const model = createOpenAI({ apiKey: "k", baseURL: `${stub.url}/v1` }).responses("thinking-text-calls");
    await generateText({ model, prompt: "Hi", tools, stopWhen: stepCountIs(2), maxRetries: 0 });
    const [, second] = stub.take();
    const said = [{ type: "thinking", text: thinking }, { type: "text", text }, ...named];
    expect(second?.messages).toMatchObject([{ role: "user" }, { role: "assistant", content: said }, { role: "tool" }, { role: "tool" }]);
    expect(second).not.toHaveProperty("warnings");
  });
});

describe("a refusal arrives", () => {
  const refusal = "I cannot.";
  test.each([true, false])("openai: chat, streamed: %s", async (stream) => {
    const { completions } = clients.openai.chat;
    const asked = { model: "refusal", messages: [question] };
    const { choices } = stream ? await completions.stream(asked).finalChatCompletion() : await completions.create(asked);
    expect(choices).toMatchObject([{ message: { refusal }, finish_reason: "stop" }]);
  });
  test.each([true, false])("openai: Responses, streamed: %s", async (stream) => {
    const asked = { model: "refusal", input: "Hi" };
    const { output } = stream ? await clients.openai.responses.stream(asked).finalResponse() : await clients.openai.responses.create(asked);
    expect(output).toMatchObject([{ type: "message", content: [{ type: "refusal", refusal }] }]);
  });
  test.each([true, false])("@anthropic-ai/sdk, streamed: %s", async (stream) => {
    const { messages } = clients.anthropic;
    const asked = { model: "refusal", max_tokens: 9, messages: [question] };
    const message = stream ? await messages.stream(asked).finalMessage() : await messages.create(asked);
    expect(message).toMatchObject({ content: [], stop_reason: "refusal", stop_details: { type: "refusal", explanation: refusal } });
  });
  test("@google/genai and ollama have none: it is text", async () => {
    expect((await clients.genai.models.generateContent({ model: "refusal", contents: "Hi" })).text).toBe(refusal);
    expect((await clients.ollama.chat({ model: "refusal", messages: [question] })).message.content).toBe(refusal);
  });
});

test("@anthropic-ai/sdk: the stop string is reported", async () => {
  const asked = { model: "stop-string", max_tokens: 9, messages: [question] };
  const stopped = { stop_reason: "stop_sequence", stop_sequence: "END" };
  expect(await clients.anthropic.messages.create(asked)).toMatchObject(stopped);
  expect(await clients.anthropic.messages.stream(asked).finalMessage()).toMatchObject(stopped);
});

describe("openai: custom tools", () => {
  test.each([true, false])("a call arrives, streamed: %s", async (stream) => {
    const tools = [{ type: "custom" as const, name: "write_file" }];
    const asked = { model: "one-call", input: "Hi", tools };
    const { output } = stream ? await clients.openai.responses.stream(asked).finalResponse() : await clients.openai.responses.create(asked);
    expect(output).toMatchObject([{ type: "custom_tool_call", call_id: "call_a0", name: "write_file" }]);
  });
});
