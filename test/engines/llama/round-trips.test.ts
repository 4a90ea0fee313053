// The official SDKs, through the gateway, with a model in process: a question, a call, its result, an answer. On a small model that always
// says the same, and on the embedded one, which does not.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Anthropic } from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import { OpenAI } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLlama, EMBEDDED, type LlamaOptions } from "../../../src/engines/llama/index.ts";
import { createGateway, type Gateway } from "../../../src/gateway/index.ts";
import { tempFolder } from "../../servers.ts";
import { speaker, writeGguf } from "./gguf.ts";

const folder = tempFolder();

const question = "What is the weather in Paris?";
const result = { temperature: 18, condition: "sunny" };
const about = { name: "get_weather", description: "Get the current weather of a city" };
const parameters = { type: "object" as const, properties: { city: { type: "string", description: "The city" } }, required: ["city"] };
const model = "any";

/** What a client received: the call, then the answer to its result. */
interface Heard {
  name: string | undefined;
  args: unknown;
  answer: string;
}

const trips: Record<string, (url: string) => Promise<Heard>> = {
  async "openai, chat"(url) {
    const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
    const tools = [{ type: "function" as const, function: { ...about, parameters } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: question }];
    const { message } = (await client.chat.completions.create({ model, messages, tools })).choices[0]!;
    const call = message.tool_calls?.[0];
    if (call?.type !== "function") throw new Error(`no call: ${message.content}`);
    messages.push(message, { role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });
    const last = await client.chat.completions.create({ model, messages, tools });
    return { name: call.function.name, args: JSON.parse(call.function.arguments), answer: last.choices[0]?.message.content ?? "" };
  },

  async "openai, chat, streamed"(url) {
    const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
    const tools = [{ type: "function" as const, function: { ...about, parameters } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: question }];
    const { message } = (await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()).choices[0]!;
    const call = message.tool_calls?.[0];
    if (call?.type !== "function") throw new Error(`no call: ${message.content}`);
    messages.push(message, { role: "tool", tool_call_id: call.id, content: JSON.stringify(result) });
    const last = await client.chat.completions.stream({ model, messages, tools }).finalContent();
    return { name: call.function.name, args: JSON.parse(call.function.arguments), answer: last ?? "" };
  },

  async "openai, responses"(url) {
    const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 });
    const tools = [{ type: "function" as const, ...about, parameters, strict: false }];
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: question }];
    const { output } = await client.responses.create({ model, input, tools });
    const call = output.find((item) => item.type === "function_call");
    if (!call) throw new Error("no call");
    input.push(call, { type: "function_call_output", call_id: call.call_id, output: JSON.stringify(result) });
    const last = await client.responses.create({ model, input, tools });
    return { name: call.name, args: JSON.parse(call.arguments), answer: last.output_text };
  },

  async anthropic(url) {
    const client = new Anthropic({ apiKey: "x", baseURL: url, maxRetries: 0 });
    const tools = [{ ...about, input_schema: parameters }];
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: question }];
    const { content } = await client.messages.stream({ model, max_tokens: 200, messages, tools }).finalMessage();
    const call = content.find((block) => block.type === "tool_use");
    if (!call) throw new Error("no call");
    messages.push({ role: "assistant", content });
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: JSON.stringify(result) }] });
    const last = await client.messages.create({ model, max_tokens: 200, messages, tools });
    return { name: call.name, args: call.input, answer: last.content.map((block) => (block.type === "text" ? block.text : "")).join("") };
  },

  async "@google/genai"(url) {
    const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url } });
    const config = { tools: [{ functionDeclarations: [{ ...about, parametersJsonSchema: parameters }] }] };
    const asked = { role: "user", parts: [{ text: question }] };
    const first = await client.models.generateContent({ model, contents: [asked], config });
    const call = first.functionCalls?.[0];
    const said = first.candidates?.[0]?.content;
    if (!call || !said) throw new Error(`no call: ${first.text}`);
    const told = {
      role: "user",
      parts: [{ functionResponse: { ...(call.id ? { id: call.id } : {}), name: about.name, response: result } }],
    };
    let answer = "";
    const stream = await client.models.generateContentStream({ model, contents: [asked, said, told], config });
    for await (const chunk of stream) answer += chunk.text ?? "";
    return { name: call.name, args: call.args, answer };
  },

  async ollama(url) {
    const client = new Ollama({ host: url });
    const tools = [{ type: "function", function: { ...about, parameters } }];
    const messages: Parameters<typeof client.chat>[0]["messages"] = [{ role: "user", content: question }];
    const { message } = await client.chat({ model, messages, tools });
    const call = message.tool_calls?.[0]?.function;
    messages!.push(message, { role: "tool", tool_name: about.name, content: JSON.stringify(result) });
    const last = await client.chat({ model, messages, tools });
    return { name: call?.name, args: call?.arguments, answer: last.message.content };
  },
};

function roundTrips(options: () => LlamaOptions): void {
  let gateway: Gateway;
  let url: string;
  beforeAll(async () => {
    gateway = createGateway({ upstreams: { here: await createLlama(options()) }, port: 0 });
    ({ url } = await gateway.listen(0));
  }, 60_000);
  afterAll(() => gateway.close());

  test.each(Object.entries(trips))("%s: a call, and an answer from its result", async (_, trip) => {
    const { name, args, answer } = await trip(url);
    expect({ name, args }).toEqual({ name: "get_weather", args: { city: "Paris" } });
    expect(answer).toMatch(/sunny|18/);
  });
}

describe("the SDKs on a model that says fixed tokens", () => {
  roundTrips(() => {
    const path = join(folder, "speaker.gguf");
    writeFileSync(path, writeGguf(speaker()));
    return { model: path, gpu: false, threads: 1 };
  });
});

if (existsSync(EMBEDDED)) {
  describe.each(["functiongemma", "gemma4"])("the SDKs on the embedded model, in %s", (dialect) => {
    roundTrips(() => ({ model: "embedded", dialect }));
  });
} else test.skip("the SDKs on the embedded model (models/tiny/dragoman-tiny.gguf is missing)", () => {});
