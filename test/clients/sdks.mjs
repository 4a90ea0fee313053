// The official SDKs: a round trip with a tool, streamed and whole, in front of upstreams of all wires.
import { createHome, startGateway } from "./processes.mjs";
import { startUpstream, WIRES } from "./upstream/server.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

const KEY = "sk-clients-canary";
const PROMPT = "How is the weather?";
const TOOL = {
  name: "get_weather",
  description: "The weather of a place",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const CITY = `Å "quoted" \\ \u2028 世界 🐉`;
const RESULT = "12 °C, „Regen“";
const END = "It rains.";

/** Thinks and calls; then, given the result, says so. */
const script = ({ text }) =>
  text.includes("Regen")
    ? { text: END }
    : { thinking: "Let me look.", text: "I look.", calls: [{ name: TOOL.name, args: { city: CITY } }] };

/**
 * Each takes the gateway's URL and whether to stream, runs the tool itself if the SDK does not, and returns the arguments that the tool got
 * and the last answer.
 */
const chat = (load) => async (url, stream) => {
  const { default: OpenAI } = await load();
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [{ type: "function", function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema } }];
  const messages = [{ role: "user", content: PROMPT }];
  const ask = async () => {
    const body = { model: "any", messages, tools };
    const { choices } = stream
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body);
    return choices[0].message;
  };
  const first = await ask();
  const [call] = first.tool_calls;
  messages.push(first, { role: "tool", tool_call_id: call.id, content: RESULT });
  return { args: JSON.parse(call.function.arguments), said: (await ask()).content };
};

const responses = (load) => async (url, stream) => {
  const { default: OpenAI } = await load();
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY, maxRetries: 0 });
  const tools = [{ type: "function", name: TOOL.name, description: TOOL.description, parameters: TOOL.schema, strict: false }];
  const input = [{ role: "user", content: PROMPT }];
  const ask = () => {
    const body = { model: "any", input, tools, store: false };
    return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body);
  };
  const { output } = await ask();
  const call = output.find(({ type }) => type === "function_call");
  input.push(...output, { type: "function_call_output", call_id: call.call_id, output: RESULT });
  return { args: JSON.parse(call.arguments), said: (await ask()).output_text };
};

const anthropic = async (url, stream) => {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({ baseURL: url, apiKey: KEY, maxRetries: 0 });
  const tools = [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }];
  const messages = [{ role: "user", content: PROMPT }];
  const ask = () => {
    const body = { model: "any", max_tokens: 1000, messages, tools };
    return stream ? client.messages.stream(body).finalMessage() : client.messages.create(body);
  };
  const { content } = await ask();
  const call = content.find(({ type }) => type === "tool_use");
  messages.push(
    { role: "assistant", content },
    { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: RESULT }] },
  );
  return { args: call.input, said: (await ask()).content.find(({ type }) => type === "text").text };
};

const genai = (load) => async (url, stream) => {
  const { GoogleGenAI } = await load();
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
  const config = {
    tools: [{ functionDeclarations: [{ name: TOOL.name, description: TOOL.description, parametersJsonSchema: TOOL.schema }] }],
  };
  const session = client.chats.create({ model: "any", config });
  const ask = async (message) => {
    if (!stream) {
      const { functionCalls = [], candidates } = await session.sendMessage({ message });
      return { calls: functionCalls, said: spoken(candidates) };
    }
    const answer = { calls: [], said: "" };
    for await (const { functionCalls = [], candidates } of await session.sendMessageStream({ message })) {
      answer.calls.push(...functionCalls);
      answer.said += spoken(candidates);
    }
    return answer;
  };
  const { calls } = await ask(PROMPT);
  const [{ id, name, args }] = calls;
  const { said } = await ask([{ functionResponse: { id, name, response: { output: RESULT } } }]);
  return { args, said };
};

const spoken = (candidates = []) => (candidates[0]?.content?.parts ?? []).map(({ text = "", thought }) => (thought ? "" : text)).join("");

const ollama = async (url, stream) => {
  const { Ollama } = await import("ollama");
  const client = new Ollama({ host: url, headers: { authorization: `Bearer ${KEY}` } });
  const tools = [{ type: "function", function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema } }];
  const messages = [{ role: "user", content: PROMPT }];
  const ask = async () => {
    if (!stream) return (await client.chat({ model: "any", messages, tools })).message;
    const whole = { role: "assistant", content: "", thinking: "", tool_calls: [] };
    for await (const { message } of await client.chat({ model: "any", messages, tools, stream: true })) {
      whole.content += message.content;
      whole.thinking += message.thinking ?? "";
      whole.tool_calls.push(...(message.tool_calls ?? []));
    }
    return whole;
  };
  const first = await ask();
  const [call] = first.tool_calls;
  messages.push(first, { role: "tool", content: RESULT, tool_name: call.function.name });
  return { args: call.function.arguments, said: (await ask()).content };
};

/** The AI SDK runs the tool itself. */
const aiSdk = (loadAi, provide) => async (url, stream) => {
  const { generateText, streamText, tool, stepCountIs, isStepCount, jsonSchema } = await loadAi();
  let args;
  const execute = (input) => {
    args = input;
    return RESULT;
  };
  const asked = {
    model: await provide(url),
    prompt: PROMPT,
    tools: { [TOOL.name]: tool({ description: TOOL.description, inputSchema: jsonSchema(TOOL.schema), execute }) },
    stopWhen: (stepCountIs ?? isStepCount)(3),
    maxRetries: 0,
    onError: () => {}, // it would be printed, although it is also thrown
  };
  const said = stream ? await streamText(asked).text : (await generateText(asked)).text;
  return { args, said };
};

const aiProviders = (load) => ({
  "openai-compatible": async (url) =>
    (await load("openai-compatible")).createOpenAICompatible({ name: "gateway", baseURL: `${url}/v1`, apiKey: KEY })("any"),
  openai: async (url) => (await load("openai")).createOpenAI({ baseURL: `${url}/v1`, apiKey: KEY })("any"),
  anthropic: async (url) => (await load("anthropic")).createAnthropic({ baseURL: `${url}/v1`, apiKey: KEY })("any"),
  google: async (url) => (await load("google")).createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: KEY })("any"),
});

const aiClients = (version, loadAi, load) =>
  Object.fromEntries(Object.entries(aiProviders(load)).map(([name, provide]) => [`ai ${version}, ${name}`, aiSdk(loadAi, provide)]));

const SDKS = {
  "openai 7 chat": chat(() => import("openai")),
  "openai 7 responses": responses(() => import("openai")),
  "openai 6 chat": chat(() => import("openai-6")),
  "openai 6 responses": responses(() => import("openai-6")),
  "@anthropic-ai/sdk": anthropic,
  "@google/genai 3": genai(() => import("@google/genai")),
  "@google/genai 2": genai(() => import("genai-2")),
  ollama,
  ...aiClients(
    7,
    () => import("ai"),
    (name) => import(`@ai-sdk/${name}`),
  ),
  ...aiClients(
    6,
    () => import("ai-6"),
    (name) => import(`ai-6-${name}`),
  ),
};

async function roundTrips(ask, wire) {
  const place = createHome();
  const upstream = await startUpstream(wire, script);
  let gateway;
  try {
    gateway = await startGateway({
      home: place.home,
      args: ["--upstream", upstream.url, "--upstream-wire", wire, "--key", "env:GATE"],
      env: { GATE: KEY },
    });
    for (const stream of [true, false]) {
      const how = stream ? "streamed" : "whole";
      const { args, said } = await ask(gateway.url, stream);
      if (args?.city !== CITY) return `${how}: the tool got ${JSON.stringify(args)}`;
      if (said !== END) return `${how}: it said ${JSON.stringify(said)}`;
    }
    return await gateway.recordings();
  } finally {
    await gateway?.close();
    upstream.close();
    place.drop();
  }
}

export const sdkRuns = () =>
  Object.entries(SDKS).flatMap(([client, ask]) =>
    Object.keys(WIRES).map((wire) => ({ client, title: "a tool, streamed and whole", wire, run: () => roundTrips(ask, wire) })),
  );
