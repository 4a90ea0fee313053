// The official SDKs behind one interface: a question, a tool call, its result, an answer.
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI, type Part } from "@google/genai";
import { type Message, Ollama } from "ollama";
import OpenAI from "openai";

export interface Turn {
  text: string;
  call: { id: string; name: string; args: unknown } | undefined;
  usage: [input: number | undefined, output: number | undefined];
}

/** One conversation: `ask` begins it, `tell` gives the tool's result. */
export interface Conversation {
  ask(): Promise<Turn>;
  tell(result: string): Promise<Turn>;
}

export type StartConversation = (url: string, stream: boolean) => Conversation;

const MODEL = "asked/for:it";
const QUESTION = "Write test.txt";
const TOOL = {
  name: "write_file",
  description: "Writes a file",
  parameters: { type: "object" as const, properties: { path: { type: "string" }, content: { type: "string" } } },
};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function openaiChat(url: string, stream: boolean): Conversation {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }];
  let last = "";
  const turn = async (): Promise<Turn> => {
    const request = { model: MODEL, messages, tools: [{ type: "function" as const, function: TOOL }] };
    const options = { ...request, stream_options: { include_usage: true } };
    const answer = stream
      ? await client.chat.completions.stream(options).finalChatCompletion()
      : await client.chat.completions.create(request);
    const message = answer.choices[0]!.message;
    messages.push(message);
    const call = message.tool_calls?.[0];
    last = call?.id ?? "";
    return {
      text: message.content ?? "",
      call: call?.type === "function" ? { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) } : undefined,
      usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
    };
  };
  return {
    ask: turn,
    tell: (result) => {
      messages.push({ role: "tool", tool_call_id: last, content: result });
      return turn();
    },
  };
}

function openaiResponses(url: string, stream: boolean): Conversation {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "x", maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: QUESTION }];
  let last = "";
  const turn = async (): Promise<Turn> => {
    const request = { model: MODEL, input, store: false, tools: [{ type: "function" as const, strict: false, ...TOOL }] };
    const answer: OpenAI.Responses.Response = stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    input.push(...(answer.output as OpenAI.Responses.ResponseInputItem[]));
    const call = answer.output.find((item) => item.type === "function_call");
    last = call?.call_id ?? "";
    const said = answer.output.flatMap((item) => (item.type === "message" ? item.content : []));
    return {
      text: said.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
      call: call && { id: call.call_id, name: call.name, args: JSON.parse(call.arguments) },
      usage: [answer.usage?.input_tokens, answer.usage?.output_tokens],
    };
  };
  return {
    ask: turn,
    tell: (result) => {
      input.push({ type: "function_call_output", call_id: last, output: result });
      return turn();
    },
  };
}

function anthropic(url: string, stream: boolean): Conversation {
  const client = new Anthropic({ baseURL: url, apiKey: "x", maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: QUESTION }];
  const { parameters, ...tool } = TOOL;
  let last = "";
  const turn = async (): Promise<Turn> => {
    const request = { model: MODEL, max_tokens: 1000, messages, tools: [{ ...tool, input_schema: parameters }] };
    const answer = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
    messages.push({ role: "assistant", content: answer.content as Anthropic.ContentBlockParam[] });
    const call = answer.content.find((block) => block.type === "tool_use");
    last = call?.id ?? "";
    return {
      text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      call: call && { id: call.id, name: call.name, args: call.input },
      usage: [answer.usage.input_tokens, answer.usage.output_tokens],
    };
  };
  return {
    ask: turn,
    tell: (result) => {
      messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: last, content: result }] });
      return turn();
    },
  };
}

function gemini(url: string, stream: boolean): Conversation {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url } });
  const contents: Content[] = [{ role: "user", parts: [{ text: QUESTION }] }];
  const { parameters, ...tool } = TOOL;
  let last: Part["functionCall"];
  const turn = async (): Promise<Turn> => {
    const config = { tools: [{ functionDeclarations: [{ ...tool, parametersJsonSchema: parameters }] }] };
    const request = { model: MODEL, contents, config };
    const answers = stream ? await all(await client.models.generateContentStream(request)) : [await client.models.generateContent(request)];
    const parts = answers.flatMap((answer) => answer.candidates?.[0]?.content?.parts ?? []);
    contents.push({ role: "model", parts });
    last = parts.find(({ functionCall }) => functionCall)?.functionCall;
    const usage = answers.findLast((answer) => answer.usageMetadata)?.usageMetadata;
    return {
      text: parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""),
      call: last && { id: last.id ?? "", name: last.name ?? "", args: last.args },
      usage: [usage?.promptTokenCount, (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0)],
    };
  };
  return {
    ask: turn,
    tell: (result) => {
      const { id, name = "" } = last ?? {};
      contents.push({ role: "user", parts: [{ functionResponse: { ...(id ? { id } : {}), name, response: { output: result } } }] });
      return turn();
    },
  };
}

function ollama(url: string, stream: boolean): Conversation {
  const client = new Ollama({ host: url });
  const messages: Message[] = [{ role: "user", content: QUESTION }];
  const turn = async (): Promise<Turn> => {
    const request = { model: MODEL, messages, tools: [{ type: "function", function: TOOL }] };
    const answers = stream
      ? await all(await client.chat({ ...request, stream: true }))
      : [await client.chat({ ...request, stream: false })];
    const text = answers.map(({ message }) => message.content).join("");
    const thinking = answers.map(({ message }) => message.thinking ?? "").join("");
    const calls = answers.flatMap(({ message }) => message.tool_calls ?? []);
    messages.push({ role: "assistant", content: text, thinking, tool_calls: calls });
    const [call] = calls;
    const end = answers.at(-1);
    return {
      text,
      call: call && { id: "", name: call.function.name, args: call.function.arguments },
      usage: [end?.prompt_eval_count, end?.eval_count],
    };
  };
  return {
    ask: turn,
    tell: (result) => {
      messages.push({ role: "tool", content: result, tool_name: "write_file" });
      return turn();
    },
  };
}

export const SDKS: Readonly<Record<string, StartConversation>> = {
  "openai, chat": openaiChat,
  "openai, responses": openaiResponses,
  "@anthropic-ai/sdk": anthropic,
  "@google/genai": gemini,
  ollama,
};
