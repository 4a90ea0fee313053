// Nothing is silently dropped, with the SDKs' own types as the list of everything that can be sent: each field and each member of each
// union passes through its own wire, and reaches every other wire or causes a warning. Exceptions are listed here, with the reason.
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { Request, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { PATHS } from "./helpers.ts";
import { leaves, SdkTypes, type Variant } from "./sdk-types.ts";

const ROOTS = `\
import type { BetaMessage, MessageCreateParamsNonStreaming as Beta } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { Candidate, Content, GenerateContentConfig, GenerateContentResponse, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
import type { ChatRequest, ChatResponse } from "ollama";
import type OpenAI from "openai";

export interface Roots {
  "openai-chat": OpenAI.ChatCompletionCreateParamsNonStreaming;
  "openai-responses": OpenAI.Responses.ResponseCreateParamsNonStreaming;
  anthropic: Beta;
  gemini: Gemini;
  ollama: ChatRequest;
  "openai-chat answers": Omit<OpenAI.ChatCompletion, "created">;
  "openai-responses answers": Omit<OpenAI.Responses.Response, Repeated | "created_at" | "error" | "incomplete_details" | "status">;
  "anthropic answers": BetaMessage;
  "gemini answers": GeminiAnswer;
  "ollama answers": ChatResponse;
}
/** What an answer says anew from its request. */
type Repeated = "instructions" | "tools" | "tool_choice" | "parallel_tool_calls" | "temperature" | "top_p" | "max_output_tokens" | "reasoning";
/** As it goes over HTTP. */
interface Gemini extends Pick<GenerateContentConfig, "cachedContent" | "labels" | "serviceTier" | "modelArmorConfig" | "store"> {
  contents: Content[];
  systemInstruction?: { parts: { text: string }[] };
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
  safetySettings?: SafetySetting[];
}
interface GeminiAnswer extends Pick<GenerateContentResponse, "createTime" | "modelStatus" | "modelVersion" | "responseId" | "usageMetadata"> {
  candidates: Candidate[];
}
`;

const BYTES = "AAAA";
const LINK = "https://x.example/y.png";
const types = new SdkTypes(resolve("test/wires/roots.ts"), ROOTS, {
  model: "m",
  n: 1,
  candidateCount: 1,
  role: "user",
  id: "c",
  name: "f",
  allowedFunctionNames: "f",
  images: BYTES,
  format: "json",
  type: "function",
  arguments: "{}",
  parameters: { type: "object", properties: {} },
  parametersJsonSchema: { type: "object", properties: {} },
  call_id: "c",
  tool_call_id: "c",
  tool_use_id: "c",
  data: BYTES,
  url: LINK,
  max_tokens: 4096,
  budget_tokens: 2048,
  thoughtSignature: BYTES,
  responseMimeType: "application/json",
  index: 0,
  prompt_tokens: 7,
  completion_tokens: 7,
  input_tokens: 7,
  output_tokens: 7,
  total_tokens: 14,
  promptTokenCount: 7,
  candidatesTokenCount: 7,
  finishReason: "STOP",
  done_reason: "stop",
  // An answer that ended normally, unless the end is what is tried.
  "ChatCompletionMessage.refusal": null,
  "Choice.logprobs": null,
  "Choice.finish_reason": "stop",
  "BetaMessage.stop_reason": "end_turn",
  "BetaMessage.stop_details": null,
  "BetaMessage.stop_sequence": null,
  "GenerateContentResponseUsageMetadata.promptTokenCount": 7,
  "Candidate.content": { role: "model", parts: [{ text: "Hi" }] },
  "Candidate.finishReason": "STOP",
  "Candidate.index": 0,
  "ChatResponse.done": true,
  // Required in practice, whatever the types say.
  "ChatCompletionAllowedTools.tools": [{ type: "function", function: { name: "f" } }],
  "ToolChoiceAllowed.tools": [{ type: "function", name: "f" }],
  file_data: `data:application/pdf;base64,${BYTES}`,
  "File.file_data": `data:application/pdf;base64,${BYTES}`,
  "JSONSchema.schema": { type: "object" },
  "ResponseInputImage.image_url": LINK,
  "ResponseInputImageContent.image_url": LINK,
  "ResponseInputFile.file_url": "https://x.example/y.pdf",
  "ResponseInputFileContent.file_url": "https://x.example/y.pdf",
  "ItemReference.type": "item_reference",
  "Blob.mimeType": "image/png",
  "Blob.data": BYTES,
  "Blob_2.mimeType": "image/png",
  "Blob_2.data": BYTES,
  "FunctionResponseBlob.mimeType": "image/png",
  "FunctionResponseBlob.data": BYTES,
  "FileData.fileUri": LINK,
  "FunctionResponsePart.inlineData": { mimeType: "image/png", data: BYTES },
  "FunctionCall.name": "f",
  "FunctionResponse.name": "f",
  "FunctionResponse.response": { output: "ok" },
  "FunctionDeclaration.name": "f",
  "Tool.function": { name: "f" },
  "ToolCall.function": { name: "f", arguments: {} },
});

// ---- What a value needs around it to be a request

interface Said {
  role?: string;
  content?: unknown;
  parts?: Record<string, unknown>[];
}
const has = (message: Said, type: string): boolean => JSON.stringify(message.content ?? "").includes(`"type":"${type}"`);

const AROUND: Record<WireId, (body: Record<string, unknown>) => void> = {
  "openai-chat"(body) {
    if (JSON.stringify(body.tool_choice ?? "").includes("custom")) body.tools = [{ type: "custom", custom: { name: "f" } }];
    else if (!body.tools) body.tools = [{ type: "function", function: { name: "f" } }];
  },
  "openai-responses"(body) {
    body.model ??= "m";
    body.input ??= "Hi";
    if (JSON.stringify(body.tool_choice ?? "").includes("custom")) body.tools = [{ type: "custom", name: "f" }];
    else if (!JSON.stringify([body.tools, body.input]).includes('"name":"f"'))
      body.tools = [...((body.tools as unknown[]) ?? []), { type: "function", name: "f", parameters: {}, strict: false }];
    if (JSON.stringify(body.tools ?? "").includes("defer_loading")) body.tools = [...(body.tools as unknown[]), { type: "tool_search" }];
  },
  anthropic(body) {
    const user = { role: "user", content: "Hi" };
    body.messages = (body.messages as Said[]).flatMap((message) => {
      if (message.role === "assistant") return [user, message, has(message, "tool_use") ? RESULT : user];
      return has(message, "tool_result") ? [user, CALL, message] : message.role === "system" ? [user, message] : [message];
    });
    body.tools = [...((body.tools as unknown[]) ?? []), { name: "f", input_schema: { type: "object" } }];
  },
  gemini(body) {
    const contents = body.contents as Said[];
    for (const content of contents) {
      content.parts ??= [{}];
      for (const part of content.parts)
        if (!/"(text|\w+Data|function\w+|tool\w+|executableCode|codeExecutionResult)":/.test(JSON.stringify(part))) part.text = "x";
      content.role = /"(functionCall|thought|executableCode|codeExecutionResult|toolCall)"/.test(JSON.stringify(content.parts))
        ? "model"
        : "user";
    }
    body.contents = [{ role: "user", parts: [{ text: "Hi" }] }, ...contents];
    if (!JSON.stringify(body.tools ?? "").includes('"f"'))
      body.tools = [{ functionDeclarations: [{ name: "f" }] }, ...((body.tools as unknown[]) ?? [])];
  },
  ollama(body) {
    body.messages ??= [{ role: "user", content: "Hi" }];
  },
};
const CALL = { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: { a: 1 } }] };
const RESULT = { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "ok" }] };

/**
 * Skipped: model names, what is refused, and `none` as a tool choice, which has tests of its own. Ollama's functions need a name, although its
 * types make it optional.
 */
const SKIPPED =
  /\.(model=|background|previous_response_id|conversation|prompt[<.]|prompt$|thread<BetaThreadContinue|betas|user_profile_id|(tool_choice|function_call|mode)="none")|<ChatRequest>\.tools\[\]<Tool>\.function\./i;

const tried = (root: string): Variant[] => types.variants(root).filter(({ at }) => !SKIPPED.test(at));

function bodyOf(id: WireId, value: unknown): Record<string, unknown> {
  const body = structuredClone(value) as Record<string, unknown>;
  AROUND[id](body);
  return body;
}
const decode = (id: WireId, body: object): Request =>
  getWire(id).decodeRequest({ path: PATHS[id] ?? "/api/chat", query: {}, headers: {}, body });

// ---- The same wire

/** What comes back differently: the place, what is tried, and why. */
const OTHERWISE: Record<WireId, readonly (readonly [RegExp, why: string])[]> = {
  "openai-chat": [
    [/\.functions?\b|function_call|ChatCompletionFunctionMessage/, "the API's words before there were tools: the same is said with tools"],
    [/^\.n=/, "one answer is what there is"],
    [/^\.max_tokens=/, "called max_completion_tokens now"],
    [/^\.stop=/, "a list of one"],
    [/^\.messages\[0\]\.refusal=/, "a part of the content"],
    [/^\.response_format\.type="text"/, "the default"],
  ],
  "openai-responses": [
    [/\.output\[0\]\.(type="input_text"|text=)/, "a text that is alone is a string"],
    [/\.(detail="auto"|defer_loading=false|format\.type="text"|status="completed") /, "the default"],
    [/\.status=.*ReasoningItem/, "reasoning with a status is refused"],
    [/\.file_url=.*\.file_data\)$/, "bytes need no link beside them"],
  ],
  anthropic: [
    [/\.(is_error=false|defer_loading=false|type="custom") /, "the default"],
    [/^\.output_format/, "called output_config.format now"],
  ],
  gemini: [
    [/candidateCount/, "one answer is what there is"],
    [/_UNSPECIFIED|(thought|streamFunctionCallArguments)=false/, "the default"],
    [/streamFunctionCallArguments=true/, "calls come whole, and a warning tells"],
  ],
  ollama: [],
};

/** A single text equals a list of one. */
const plain = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value) => {
    if (typeof value !== "string") return value;
    if (key === "content" || key === "system") return [{ text: value }];
    return key === "input" ? [{ content: [{ text: value }] }] : value;
  });
const ONLY_TEXT = /\.type="(text|input_text|output_text|message)"$/;

/** Everything that was sent and did not come back; an empty value is no loss. */
function lostOf(sent: unknown, got: unknown): string[] {
  const there = leaves(plain(got));
  const lost = [...leaves(plain(sent))].filter(([at, said]) => said !== "null" && said !== there.get(at));
  return lost
    .map(([at, said]) => ({ at, what: `${at}=${said}` }))
    .flatMap(({ at, what }) => (!there.has(at) && ONLY_TEXT.test(what) ? [] : what));
}

describe.each(listWires().map(({ id }) => id))("everything that requests of %s can express", (id) => {
  const all = tried(id);
  test("comes back to the same wire", () => {
    const wire = getWire(id);
    const lost = new Set<string>();
    for (const { at, value } of all) {
      const body = bodyOf(id, value);
      for (const place of lostOf(body, JSON.parse(printBody(wire.encodeRequest(decode(id, body)).body)))) {
        const what = `${place} (${at})`;
        if (!OTHERWISE[id].some(([known]) => known.test(what))) lost.add(what);
      }
    }
    expect([...lost]).toEqual([]);
  });

  test("reaches every other wire, or causes a warning", () => {
    const silent = new Set<string>();
    for (const { at, value, without } of all) {
      if (without === undefined || /tool_changes|definition/.test(at) || QUIET[id].some((known) => known.test(at))) continue;
      const [request, less] = [decode(id, bodyOf(id, value)), decode(id, bodyOf(id, without))];
      for (const other of listWires()) {
        if (other.id === id) continue;
        const [sent, before] = [request, less].map((asked) => other.encodeRequest(asked, { official: true }));
        const told = [...(request.warnings ?? []), ...sent!.context.warnings].map(({ message }) => message);
        const isNew = told.length !== before!.context.warnings.length || printBody(sent!.body) !== printBody(before!.body);
        if (!isNew && !told.some((message) => isAbout(message, at))) silent.add(`${at} to ${other.id}`);
      }
    }
    expect([...silent]).toEqual([]);
  });
});

/** Whether a warning names what is tried, or the object around it. */
const isAbout = (message: string, at: string): boolean =>
  /\(\w+\) of |\[\d\] of |sent as a (label|function)|schema of a tool's result/.test(message) ||
  [...at.matchAll(/\.(\w{3,})/g)].some(
    ([, key]) => !/^(messages|contents?|input|parts|tools|type|text)$/.test(key!) && message.includes(key!),
  );

/** Any of these keys or types on the path. */
const about = (words: string): RegExp => new RegExp(`[.<](${words.replaceAll(" ", "|")})(?!\\w)`);

/** Bookkeeping of the API, defaults, and what is the same or has no type elsewhere. */
const QUIET: Record<WireId, readonly RegExp[]> = {
  "openai-chat": [
    about(
      "prompt_cache_key prompt_cache_retention prompt_cache_options prompt_cache_breakpoint metadata safety_identifier service_tier store stream_options user",
    ),
    about(
      "n stream=false parallel_tool_calls=true strict=false ResponseFormatText format<Text> tools\\[\\]<ChatCompletionFunctionTool>$ input_audio",
    ),
    about('tool_choice="auto" function_call="auto" ChatCompletionAllowedToolChoice json_schema<JSONSchema>.strict'),
  ],
  "openai-responses": [
    about(
      "prompt_cache_key prompt_cache_retention prompt_cache_options prompt_cache_breakpoint metadata safety_identifier service_tier store stream_options user",
    ),
    about(
      "include id status phase caller detail annotations logprobs stream=false parallel_tool_calls=true strict=false format<Text> ResponseFormatText",
    ),
    about('type="message" defer_loading call_id execution pending_safety_checks acknowledged_safety_checks environment max_output_length'),
    about(
      'tool_choice="auto" ToolChoiceAllowed text<ResponseTextConfig>$ reasoning<Reasoning>$ summary strict=true model ResponseReasoningItem',
    ),
    about("NamespaceTool>.tools\\[\\]<Function>.parameters$ tools\\[\\]<FunctionTool>$"),
  ],
  anthropic: [
    about("cache_control metadata service_tier context_management thread eager_input_streaming caller citations"),
    about(
      'stream=false is_error=false strict=false defer_loading=false disable_parallel_tool_use=false type="custom" output_config<BetaOutputConfig>$',
    ),
    about("BetaToolChoiceAuto media_type display transformations tool<BetaToolChangeToolDefinitionParam>"),
  ],
  gemini: [
    /_UNSPECIFIED|<(Part|Tool|FunctionDeclaration|ThinkingConfig|ToolConfig|FunctionCallingConfig|GenerationConfig)>$/,
    about(
      "role candidateCount includeThoughts nullable args streamFunctionCallArguments=false allowedFunctionNames fileData<FileData>.mimeType",
    ),
    about('mode="AUTO" parametersJsonSchema parameters<Schema>.type parameters<Schema>.properties'),
  ],
  ollama: [about("keep_alive stream options<Partial>$")],
};

// ---- Answers

/** What of an answer comes back differently, and why. */
const SAID_OTHERWISE: Record<WireId, readonly (readonly [RegExp, why: string])[]> = {
  "openai-chat": [
    [/function_call/, "the API's words before there were tools"],
    [/finish_reason="(stop|tool_calls)"/, "whether there are calls decides"],
    [/custom/i, "what kind of tool it is, the request tells"],
  ],
  "openai-responses": [
    [/CustomToolCall|\.namespace/, "what kind of tool it is, and in which namespace, the request tells"],
    [/\.status=/, "what is whole is complete, and what is not is no call"],
    [/\.id=.*ResponseOutputRefusal/, "the fields of a refusal have no part to stand on"],
    [/^\.text\.format/, "said anew from the request"],
  ],
  anthropic: [[/^\.stop_reason="(end_turn|tool_use)"/, "whether there are calls decides"]],
  gemini: [
    [/partialArgs|willContinue/, "pieces of a call are put together"],
    [/\.role=/, "it is the model's"],
    [/\.thought=false/, "the default"],
    [/totalTokenCount=/, "the sum"],
  ],
  ollama: [[/\.role=/, "it is the model's"]],
};

test.each(listWires().map(({ id }) => id))("everything that answers of %s can express comes back to clients of the same wire", (id) => {
  const wire = getWire(id);
  const request: Request = {
    model: "m",
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    tools: [{ name: "p", kind: "custom" }],
  };
  const lost = new Set<string>();
  for (const { at, value } of types.variants(`${id} answers`)) {
    const got = wire.encodeResponse(wire.decodeResponse(structuredClone(value)), request);
    for (const place of lostOf(value, JSON.parse(JSON.stringify(got)))) {
      const what = `${place} (${at})`;
      if (!SAID_OTHERWISE[id].some(([known]) => known.test(what))) lost.add(what);
    }
  }
  expect([...lost]).toEqual([]);
});
