/**
 * Turns the AI SDK's call options (`LanguageModelV3CallOptions`) into a `Request`. Private state of an upstream is carried in the SDK's
 * provider options:
 *
 *     { type: "reasoning", text: "…", providerOptions: { dragoman: { state: [{ wire: "anthropic", kind: "signature", data: "…" }] } } }
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3Message,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolChoice,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
  SharedV3ProviderOptions,
  SharedV3Warning,
} from "@ai-sdk/provider";
import { isObject } from "../core/json.ts";
import type {
  Json,
  JsonObject,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Sampling,
  Text,
  ThinkingSettings,
  Tool,
  ToolChoice,
  ToolResult,
} from "../core/nouns.ts";
import { objectOf } from "../wires/read.ts";

/** `providerOptions.dragoman` of a call: settings that the SDK does not have. */
export interface DragomanCallOptions {
  thinking?: ThinkingSettings;
  parallelCalls?: boolean;
  minP?: number;
  repeatPenalty?: number;
}

export interface Asked {
  request: Request;
  /** What the SDK asked for that no engine supports. */
  warnings: SharedV3Warning[];
}

export function readCall(model: string, options: LanguageModelV3CallOptions): Asked {
  const warnings: SharedV3Warning[] = [];
  const unsupported = (feature: string): void => void warnings.push({ type: "unsupported", feature });
  const own = readOwn(options.providerOptions?.dragoman ?? {}, unsupported);
  const format = options.responseFormat;
  const tools = readTools(options, unsupported);
  const thinking = own.thinking ?? readReasoning((options as { reasoning?: Reasoning }).reasoning);
  const request: Request = {
    model,
    messages: options.prompt.flatMap((message) => readMessage(message, unsupported)),
    ...(tools.length > 0 && { tools }),
    ...(options.toolChoice && { toolChoice: readChoice(options.toolChoice) }),
    ...(own.parallelCalls !== undefined && { parallelCalls: own.parallelCalls }),
    ...(thinking && { thinking }),
    ...readSampling(options, own),
    ...(options.maxOutputTokens !== undefined && { maxTokens: options.maxOutputTokens }),
    ...(options.stopSequences && { stop: options.stopSequences }),
    ...(format?.type === "json" && {
      output: { ...(format.schema && { schema: format.schema as JsonObject }), ...(format.name !== undefined && { name: format.name }) },
    }),
  };
  return { request, warnings };
}

/** The SDK's own setting from `ai` 7 on. */
type Reasoning = "provider-default" | "none" | NonNullable<ThinkingSettings["effort"]>;

function readReasoning(reasoning: Reasoning = "provider-default"): ThinkingSettings | undefined {
  if (reasoning === "provider-default") return undefined;
  return reasoning === "none" ? { enabled: false } : { effort: reasoning };
}

const KINDS: Readonly<Record<keyof DragomanCallOptions, "object" | "boolean" | "number">> = {
  thinking: "object",
  parallelCalls: "boolean",
  minP: "number",
  repeatPenalty: "number",
};

/** Unknown options cause a warning, since other providers spell these options differently. */
function readOwn(given: object, unsupported: (feature: string) => void): DragomanCallOptions {
  const isOurs = ([key, value]: [string, unknown]): boolean =>
    Object.hasOwn(KINDS, key) && typeof value === KINDS[key as keyof typeof KINDS];
  const all = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  for (const entry of all) if (!isOurs(entry)) unsupported(`providerOptions.dragoman.${entry[0]}: ${JSON.stringify(entry[1])}`);
  return Object.fromEntries(all.filter(isOurs));
}

function readSampling(options: LanguageModelV3CallOptions, own: DragomanCallOptions): { sampling?: Sampling } {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = options;
  const { minP, repeatPenalty } = own;
  const given = Object.entries({ temperature, topP, topK, minP, seed, presencePenalty, frequencyPenalty, repeatPenalty });
  const said = given.filter(([, value]) => value !== undefined);
  return said.length > 0 ? { sampling: Object.fromEntries(said) as Sampling } : {};
}

export const readTools = ({ tools = [] }: LanguageModelV3CallOptions, unsupported: (feature: string) => void): Tool[] =>
  tools.flatMap((tool): Tool[] => {
    if (tool.type !== "function") {
      unsupported(`the provider's own tool ${tool.id}`);
      return [];
    }
    const { name, description, inputSchema, strict } = tool;
    return [
      {
        name,
        ...(description !== undefined && { description }),
        parameters: inputSchema as JsonObject,
        ...(strict !== undefined && { strict }),
      },
    ];
  });

const readChoice = (choice: LanguageModelV3ToolChoice): ToolChoice => (choice.type === "tool" ? { name: choice.toolName } : choice.type);

function readMessage(message: LanguageModelV3Message, unsupported: (feature: string) => void): Message[] {
  const state = stateOf(message.providerOptions);
  switch (message.role) {
    case "system":
      return [{ role: "system", content: [{ type: "text", text: message.content }], ...state }];
    case "user": {
      const content = message.content.flatMap((part): (Text | Media)[] =>
        part.type === "text" ? [readText(part)] : readFile(part, unsupported),
      );
      return [{ role: "user", content, ...state }];
    }
    case "tool":
      return message.content.flatMap((part) => {
        if (part.type === "tool-result") return [readResult(part)];
        unsupported("the approval of a provider's own tool");
        return [];
      });
    case "assistant": {
      const content: Part[] = [];
      for (const part of message.content) {
        if (part.type === "text") content.push(readText(part));
        else if (part.type === "file") content.push(...readFile(part, unsupported));
        else if (part.type === "reasoning") content.push({ type: "thinking", text: part.text, ...stateOf(part.providerOptions) });
        else if (part.type === "tool-call") {
          content.push(readToolCall(part));
        } else unsupported("the result of a provider's own tool");
      }
      return [{ role: "assistant", content, ...state }];
    }
  }
}

/** Input that is not an object is a call that the SDK could not parse; its text is kept. */
export function readToolCall({
  toolCallId: id,
  toolName: name,
  input,
  providerOptions,
}: LanguageModelV3ToolCallPart): Extract<Part, { type: "tool-call" | "malformed" }> {
  if (isObject(input)) return { type: "tool-call", id, name, arguments: input, ...stateOf(providerOptions) };
  const raw = typeof input === "string" ? input : JSON.stringify(input ?? null);
  return { type: "malformed", raw, code: "bad-arguments", reason: `the arguments of ${name} are not an object`, id };
}

const readText = (part: { text: string; providerOptions?: SharedV3ProviderOptions }) => ({
  type: "text" as const,
  text: part.text,
  ...stateOf(part.providerOptions),
});

/** From `ai` 7 on, a file may also be text, or a reference to a provider's file; the types of version 3 lack both. */
type FileData = LanguageModelV3FilePart["data"] | { type: "text"; text: string } | { type: "reference"; reference: object };

function readFile({ data, mediaType, filename }: Omit<LanguageModelV3FilePart, "type">, unsupported: (feature: string) => void): Media[] {
  const media = { type: "media" as const, mediaType: fullType(mediaType), ...(filename !== undefined && { name: filename }) };
  const given = data as FileData;
  if (given instanceof URL) return [{ ...media, url: given.href }];
  if (typeof given === "string") return [{ ...media, data: given }];
  if (given instanceof Uint8Array) return [{ ...media, data: base64(given) }];
  if (given.type === "text") return [{ ...media, data: base64(new TextEncoder().encode(given.text)) }];
  unsupported(`a file stored at its provider: ${JSON.stringify(given.reference)}`);
  return [];
}

/** `ai` 7 accepts `image` alone as a media type. */
const fullType = (mediaType: string): string =>
  mediaType.includes("/") ? mediaType : mediaType === "text" ? "text/plain" : `${mediaType}/*`;

/** The text of a file of `ai` 7 that consists of text. */
export function inlineText(part: object): string[] {
  const { data } = part as { data?: FileData };
  return typeof data === "object" && "type" in data && data.type === "text" ? [data.text] : [];
}

/** In slices: the number of arguments of a call is limited. */
function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** Ignores `providerOptions`: the SDK copies them from the call to its result, but their state belongs to the call. */
export function readResult({ toolCallId: id, toolName: name, output }: LanguageModelV3ToolResultPart): ToolResult {
  return { role: "tool", id, name, ...readOutput(output) };
}

function readOutput(output: LanguageModelV3ToolResultOutput): Pick<ToolResult, "output" | "media" | "isError"> {
  switch (output.type) {
    case "text":
    case "json":
      return { output: output.value as Json };
    case "error-text":
    case "error-json":
      return { output: output.value as Json, isError: true };
    case "execution-denied":
      return { output: output.reason ?? "The user did not allow this call.", isError: true };
    case "content": {
      const texts: string[] = [];
      const media: Media[] = [];
      for (const part of output.value) {
        if (part.type === "text") texts.push(part.text);
        else if (part.type === "file-data" || part.type === "image-data") {
          const { data, mediaType } = part;
          media.push({ type: "media", mediaType, data, ...("filename" in part && part.filename !== undefined && { name: part.filename }) });
        } else if (part.type === "image-url") media.push({ type: "media", mediaType: "image/*", url: part.url });
        else if (part.type === "file-url")
          media.push({ type: "media", mediaType: part.mediaType ?? "application/octet-stream", url: part.url });
        else if ("fileId" in part) texts.push(JSON.stringify(part));
        else texts.push(...inlineText(part));
      }
      return { output: texts.join("\n"), ...(media.length > 0 && { media }) };
    }
  }
}

const stateOf = (options: SharedV3ProviderOptions | undefined): { state?: Opaque[] } => {
  const state = options?.dragoman?.state;
  return Array.isArray(state) ? { state: state.flatMap((item: unknown) => (isOpaque(item) ? [item] : [])) } : {};
};

/** The program may have put anything there. */
function isOpaque(value: unknown): value is Opaque {
  const { wire, kind } = objectOf(value);
  return typeof wire === "string" && typeof kind === "string";
}
