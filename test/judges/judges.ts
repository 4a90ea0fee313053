// The official SDKs, each reduced to what it made of one answer. A judge that only reads represents a client that runs every call which the
// SDK returns as readable; the others let the SDK run the tools.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { type ChatResponse, Ollama } from "ollama";
import OpenAI from "openai";
import type { FinishReason, JsonObject, Usage, WireId } from "../../src/core/nouns.ts";
import { type Call, parameters, toolNames } from "./scenarios.ts";

export interface Heard {
  text?: string;
  thinking?: string;
  /** The calls that were run, or would be. */
  ran: Call[];
  finish?: string | undefined;
  usage?: Usage;
}

export interface Judge {
  readonly name: string;
  readonly wire: WireId;
  readonly streams: boolean;
  /** Its words for the finish reasons; absent: it reports none. */
  readonly reasons?: Readonly<Record<Exclude<FinishReason, "error">, string>> & { readonly error?: string };
  /** The counts that it reports. */
  readonly counts?: readonly (keyof Usage)[];
  /** Reasons at which the SDK itself throws, in some versions. */
  readonly throwsAt?: readonly FinishReason[];
  /** Its SDK runs the tools, and asks again. */
  readonly runs?: true;
  /** Throws what the SDK throws; `ran` has what was run by then. */
  hear(url: string, model: string, ran: Call[]): Promise<Heard>;
}

const key = "some-key";
const prompt = "Hi";
const question = [{ role: "user", content: prompt }] as const;
const described = toolNames.map((name) => ({ name, description: `The tool ${name}.` }));

/** Like the simplest client: anything that parses to an object is run. */
function runnable(name: string, json: string): Call[] {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? [{ name, arguments: value as JsonObject }] : [];
  } catch {
    return [];
  }
}

const known = (usage: { [count in keyof Usage]: number | null | undefined }): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, count]) => typeof count === "number"));

// ---- openai, chat

const openai = (url: string) => new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const chatTools = described.map((fn) => ({ type: "function" as const, function: { ...fn, parameters } }));
const chatReasons = { stop: "stop", "tool-calls": "tool_calls", length: "length", "content-filter": "content_filter" } as const;
const chatUsage = (usage: OpenAI.CompletionUsage | null | undefined): Usage =>
  known({
    inputTokens: usage?.prompt_tokens,
    outputTokens: usage?.completion_tokens,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens,
    thinkingTokens: usage?.completion_tokens_details?.reasoning_tokens,
  });
const OPENAI_COUNTS = ["inputTokens", "outputTokens", "cachedTokens", "thinkingTokens"] as const;
/** Not a field of the official types. */
const reasoningOf = (said: object): string => ("reasoning_content" in said ? String(said.reasoning_content) : "");

function chatHeard({ choices: [choice], usage }: OpenAI.ChatCompletion): Heard {
  const { message, finish_reason } = choice!;
  const calls = (message.tool_calls ?? []).flatMap((call) => (call.type === "function" ? [call.function] : []));
  return {
    text: message.content ?? "",
    thinking: reasoningOf(message),
    ran: calls.flatMap((call) => runnable(call.name, call.arguments)),
    finish: finish_reason,
    usage: chatUsage(usage),
  };
}

const chatWhole: Judge = {
  name: "openai chat.completions.create",
  wire: "openai-chat",
  streams: false,
  reasons: chatReasons,
  counts: OPENAI_COUNTS,
  hear: async (url, model) => chatHeard(await openai(url).chat.completions.create({ model, messages: [...question], tools: chatTools })),
};

const chatChunks: Judge = {
  ...chatWhole,
  name: "openai chat.completions.create, streamed",
  streams: true,
  async hear(url, model) {
    const stream_options = { include_usage: true };
    const chunks = await openai(url).chat.completions.create({
      model,
      messages: [...question],
      tools: chatTools,
      stream: true,
      stream_options,
    });
    const calls: { name: string; json: string }[] = [];
    const heard: Heard = { text: "", thinking: "", ran: [] };
    for await (const { choices, usage } of chunks) {
      heard.usage = chatUsage(usage);
      for (const { delta, finish_reason } of choices) {
        heard.text += delta.content ?? "";
        heard.thinking += reasoningOf(delta);
        for (const { index, function: fn } of delta.tool_calls ?? []) {
          calls[index] ??= { name: fn?.name ?? "", json: "" };
          calls[index].json += fn?.arguments ?? "";
        }
        heard.finish = finish_reason ?? heard.finish;
      }
    }
    return { ...heard, ran: calls.flatMap(({ name, json }) => runnable(name, json)) };
  },
};

const chatHelper: Judge = {
  ...chatWhole,
  name: "openai chat.completions.stream",
  streams: true,
  async hear(url, model) {
    const stream_options = { include_usage: true };
    const stream = openai(url).chat.completions.stream({ model, messages: [...question], tools: chatTools, stream_options });
    const { thinking: _, ...heard } = chatHeard(await stream.finalChatCompletion()); // it keeps the last fragment of an unknown field
    return heard;
  },
};

function chatRunner(streams: boolean): Judge {
  return {
    name: `openai chat.completions.runTools${streams ? ", streamed" : ""}`,
    wire: "openai-chat",
    streams,
    runs: true,
    throwsAt: ["length", "content-filter"],
    async hear(url, model, ran) {
      const tools = described.map(({ name, description }) => ({
        type: "function" as const,
        function: {
          name,
          description,
          parameters: { ...parameters },
          parse: (json: string) => JSON.parse(json) as JsonObject,
          function(args: JsonObject): string {
            ran.push({ name, arguments: args });
            return "ok";
          },
        },
      }));
      const { completions } = openai(url).chat;
      const asked = { model, messages: [...question], tools };
      await (streams ? completions.runTools({ ...asked, stream: true }) : completions.runTools(asked)).done();
      return { ran };
    },
  };
}

// ---- openai, Responses

const responsesTools = described.map((fn) => ({ type: "function" as const, ...fn, parameters, strict: false }));

function responsesHeard(response: OpenAI.Responses.Response): Heard {
  const { output, status, incomplete_details: cut, usage } = response;
  if (response.error) throw new Error(response.error.message);
  return {
    text: response.output_text,
    thinking: output
      .flatMap((item) => (item.type === "reasoning" ? item.summary : []))
      .map(({ text }) => text)
      .join(""),
    ran: output.flatMap((item) => (item.type === "function_call" ? runnable(item.name, item.arguments) : [])),
    finish: cut ? `${status}: ${cut.reason}` : status,
    usage: known({
      inputTokens: usage?.input_tokens,
      outputTokens: usage?.output_tokens,
      cachedTokens: usage?.input_tokens_details.cached_tokens,
      thinkingTokens: usage?.output_tokens_details.reasoning_tokens,
    }),
  };
}

const responsesWhole: Judge = {
  name: "openai responses.create",
  wire: "openai-responses",
  streams: false,
  reasons: {
    stop: "completed",
    "tool-calls": "completed",
    length: "incomplete: max_output_tokens",
    "content-filter": "incomplete: content_filter",
  },
  counts: OPENAI_COUNTS,
  hear: async (url, model) => responsesHeard(await openai(url).responses.create({ model, input: prompt, tools: responsesTools })),
};

const responsesHelper: Judge = {
  ...responsesWhole,
  name: "openai responses.stream",
  streams: true,
  async hear(url, model) {
    return responsesHeard(await openai(url).responses.stream({ model, input: prompt, tools: responsesTools }).finalResponse());
  },
};

// ---- @anthropic-ai/sdk

const anthropic = (url: string) => new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
const anthropicTools = described.map((fn) => ({ ...fn, input_schema: { ...parameters } }));

function anthropicHeard({ content, stop_reason, usage }: Anthropic.Message): Heard {
  const { input_tokens, cache_creation_input_tokens: written, cache_read_input_tokens: cached, output_tokens } = usage;
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    thinking: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    // The SDK repairs truncated input: only the reason tells.
    ran: content.flatMap((block) =>
      block.type === "tool_use" && stop_reason === "tool_use" ? [{ name: block.name, arguments: block.input as JsonObject }] : [],
    ),
    finish: stop_reason ?? undefined,
    usage: known({
      inputTokens: input_tokens + (written ?? 0) + (cached ?? 0),
      outputTokens: output_tokens,
      cachedTokens: cached,
      cacheWriteTokens: written,
    }),
  };
}

const anthropicWhole: Judge = {
  name: "@anthropic-ai/sdk messages.create",
  wire: "anthropic",
  streams: false,
  reasons: { stop: "end_turn", "tool-calls": "tool_use", length: "max_tokens", "content-filter": "refusal" },
  counts: ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens"],
  async hear(url, model) {
    const asked = { model, max_tokens: 99, messages: [...question], tools: anthropicTools };
    return anthropicHeard(await anthropic(url).messages.create(asked));
  },
};

const anthropicHelper: Judge = {
  ...anthropicWhole,
  name: "@anthropic-ai/sdk messages.stream",
  streams: true,
  async hear(url, model) {
    const asked = { model, max_tokens: 99, messages: [...question], tools: anthropicTools };
    return anthropicHeard(await anthropic(url).messages.stream(asked).finalMessage());
  },
};

function anthropicRunner(streams: boolean, eager = false): Judge {
  return {
    name: `@anthropic-ai/sdk toolRunner${streams ? ", streamed" : ""}${eager ? ", eager" : ""}`,
    wire: "anthropic",
    streams,
    runs: true,
    async hear(url, model, ran) {
      const tools = described.map((fn) =>
        betaTool({
          ...fn,
          inputSchema: parameters,
          run(args) {
            ran.push({ name: fn.name, arguments: args as JsonObject });
            return "ok";
          },
        }),
      );
      const asked = { model, max_tokens: 99, messages: [...question], tools };
      const { messages } = anthropic(url).beta;
      if (streams) await messages.toolRunner({ ...asked, stream: true, ...(eager ? { runToolsEagerly: true } : {}) }).runUntilDone();
      else await messages.toolRunner(asked).runUntilDone();
      return { ran };
    },
  };
}

// ---- @google/genai

const genai = (url: string) => new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
const declarations = described.map((fn) => ({ ...fn, parametersJsonSchema: parameters }));

function geminiHeard(chunks: readonly GenerateContentResponse[]): Heard {
  const candidates = chunks.flatMap(({ candidates }) => candidates ?? []);
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  const textOf = (thought: boolean) => parts.map((part) => ((part.thought ?? false) === thought ? (part.text ?? "") : "")).join("");
  const usage = chunks.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata;
  const thinkingTokens = usage?.thoughtsTokenCount;
  const finishes = candidates.flatMap(({ finishReason }) => finishReason ?? []);
  return {
    text: textOf(false),
    thinking: textOf(true),
    ran: parts.flatMap(({ functionCall: call }) => (call ? [{ name: call.name ?? "", arguments: call.args as JsonObject }] : [])),
    finish: finishes.join(" "),
    usage: known({
      inputTokens: usage?.promptTokenCount,
      outputTokens: (usage?.candidatesTokenCount ?? 0) + (thinkingTokens ?? 0),
      thinkingTokens,
      cachedTokens: usage?.cachedContentTokenCount,
    }),
  };
}

const geminiWhole: Judge = {
  name: "@google/genai generateContent",
  wire: "gemini",
  streams: false,
  reasons: { stop: "STOP", "tool-calls": "STOP", length: "MAX_TOKENS", "content-filter": "SAFETY", error: "MALFORMED_FUNCTION_CALL" },
  counts: ["inputTokens", "outputTokens", "thinkingTokens", "cachedTokens"],
  async hear(url, model) {
    const config = { tools: [{ functionDeclarations: declarations }] };
    return geminiHeard([await genai(url).models.generateContent({ model, contents: prompt, config })]);
  },
};

const geminiStream: Judge = {
  ...geminiWhole,
  name: "@google/genai generateContentStream",
  streams: true,
  async hear(url, model) {
    const config = { tools: [{ functionDeclarations: declarations }] };
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of await genai(url).models.generateContentStream({ model, contents: prompt, config })) chunks.push(chunk);
    return geminiHeard(chunks);
  },
};

function geminiRunner(streams: boolean): Judge {
  return {
    name: `@google/genai callable tools${streams ? ", streamed" : ""}`,
    wire: "gemini",
    streams,
    runs: true,
    async hear(url, model, ran) {
      const callable = {
        tool: async () => ({ functionDeclarations: declarations }),
        callTool: async (calls: { id?: string; name?: string; args?: Record<string, unknown> }[]): Promise<Part[]> =>
          calls.map(({ id, name = "", args }) => {
            ran.push({ name, arguments: args as JsonObject });
            return { functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output: "ok" } } };
          }),
      };
      const asked = { model, contents: prompt, config: { tools: [callable] } };
      if (streams) for await (const _ of await genai(url).models.generateContentStream(asked));
      else await genai(url).models.generateContent(asked);
      return { ran };
    },
  };
}

// ---- ollama

const ollamaTools = described.map((fn) => ({ type: "function", function: { ...fn, parameters } }));

function ollamaHeard(lines: readonly ChatResponse[]): Heard {
  const last = lines.findLast(({ done }) => done);
  return {
    text: lines.map(({ message }) => message.content).join(""),
    thinking: lines.map(({ message }) => message.thinking ?? "").join(""),
    ran: lines.flatMap(({ message }) =>
      (message.tool_calls ?? []).map(({ function: fn }) => ({ name: fn.name, arguments: fn.arguments as JsonObject })),
    ),
    finish: last?.done_reason,
    usage: known({ inputTokens: last?.prompt_eval_count, outputTokens: last?.eval_count }),
  };
}

const ollamaWhole: Judge = {
  name: "ollama chat",
  wire: "ollama",
  streams: false,
  reasons: { stop: "stop", "tool-calls": "stop", length: "length", "content-filter": "stop" },
  counts: ["inputTokens", "outputTokens"],
  async hear(url, model) {
    return ollamaHeard([await new Ollama({ host: url }).chat({ model, messages: [...question], tools: ollamaTools })]);
  },
};

const ollamaStream: Judge = {
  ...ollamaWhole,
  name: "ollama chat, streamed",
  streams: true,
  async hear(url, model) {
    const lines: ChatResponse[] = [];
    const stream = await new Ollama({ host: url }).chat({ model, messages: [...question], tools: ollamaTools, stream: true });
    for await (const line of stream) lines.push(line);
    return ollamaHeard(lines);
  },
};

// ---- ai, with its providers

const aiReasons = {
  stop: "stop",
  "tool-calls": "tool-calls",
  length: "length",
  "content-filter": "content-filter",
  error: "error",
} as const;

const providers: readonly {
  name: string;
  wire: WireId;
  counts: readonly (keyof Usage)[];
  model(url: string, id: string): LanguageModel;
}[] = [
  {
    name: "@ai-sdk/openai, chat",
    wire: "openai-chat",
    counts: OPENAI_COUNTS,
    model: (url, id) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).chat(id),
  },
  {
    name: "@ai-sdk/openai-compatible",
    wire: "openai-chat",
    counts: OPENAI_COUNTS,
    model: (url, id) => createOpenAICompatible({ name: "stub", apiKey: key, baseURL: `${url}/v1`, includeUsage: true })(id),
  },
  {
    name: "@ai-sdk/openai, Responses",
    wire: "openai-responses",
    counts: OPENAI_COUNTS,
    model: (url, id) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).responses(id),
  },
  {
    name: "@ai-sdk/anthropic",
    wire: "anthropic",
    counts: ["inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens"],
    model: (url, id) => createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(id),
  },
  {
    name: "@ai-sdk/google",
    wire: "gemini",
    counts: OPENAI_COUNTS,
    model: (url, id) => createGoogleGenerativeAI({ apiKey: key, baseURL: `${url}/v1beta` })(id),
  },
];

function aiJudge({ name, wire, counts, model: modelOf }: (typeof providers)[number], streams: boolean): Judge {
  return {
    name: `ai ${streams ? "streamText" : "generateText"}, ${name}`,
    wire,
    streams,
    runs: true,
    reasons: aiReasons,
    counts,
    async hear(url, model, ran) {
      const made = described.map(({ name, description }) => {
        const execute = (args: JsonObject): string => {
          ran.push({ name, arguments: args });
          return "ok";
        };
        return [name, tool({ description, inputSchema: jsonSchema<JsonObject>(parameters), execute })] as const;
      });
      const asked = {
        model: modelOf(url, model),
        prompt,
        tools: Object.fromEntries(made),
        stopWhen: stepCountIs(2),
        maxRetries: 0,
        providerOptions: { openai: { store: false } }, // otherwise it refers to the items of its history by id, which this server does not keep
      };
      const [first] = streams ? await streamedSteps(asked) : (await generateText(asked)).steps;
      const { text, reasoningText: thinking = "", finishReason: finish, usage } = first!;
      return {
        text,
        ...(name === "@ai-sdk/openai, chat" ? {} : { thinking }), // it does not know thinking
        ran,
        finish,
        usage: known({
          inputTokens: usage.inputTokens,
          outputTokens: usage.outputTokens,
          cachedTokens: usage.inputTokenDetails.cacheReadTokens,
          cacheWriteTokens: usage.inputTokenDetails.cacheWriteTokens,
          thinkingTokens: usage.outputTokenDetails.reasoningTokens,
        }),
      };
    },
  };
}

async function streamedSteps(asked: Parameters<typeof streamText>[0]) {
  const failures: unknown[] = [];
  const result = streamText({ ...asked, onError: ({ error }) => void failures.push(error) });
  await result.consumeStream();
  if (failures.length > 0) throw failures[0];
  return result.steps;
}

export const judges: readonly Judge[] = [
  chatWhole,
  chatChunks,
  chatHelper,
  chatRunner(false),
  chatRunner(true),
  responsesWhole,
  responsesHelper,
  anthropicWhole,
  anthropicHelper,
  anthropicRunner(false),
  anthropicRunner(true),
  anthropicRunner(true, true),
  geminiWhole,
  geminiStream,
  geminiRunner(false),
  geminiRunner(true),
  ollamaWhole,
  ollamaStream,
  ...providers.flatMap((provider) => [aiJudge(provider, false), aiJudge(provider, true)]),
];
