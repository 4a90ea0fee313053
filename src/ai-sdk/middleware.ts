/**
 * Tools for a model that has none: the system text explains them in a dialect's own form, and calls are read from the text of the answer.
 *
 *     const model = wrapLanguageModel({ model: anyTextModel, middleware: toolsInBand({ dialect: "hermes" }) });
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3Middleware,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
  SharedV3Warning,
} from "@ai-sdk/provider";
import { collect } from "../core/fold.ts";
import type { Event, JsonObject, Tool, ToolResult } from "../core/nouns.ts";
import type { Dialect, Scanner, ScannerOptions } from "../dialects/dialect.ts";
import { getDialect } from "../dialects/registry.ts";
import { bytesOf } from "../dialects/scan/scan.ts";
import { scanText } from "../dialects/scan/streams.ts";
import { Ending, idsBehind } from "../engines/ending.ts";
import { callsAsText, formatText, type PartMake, resultsAsText } from "../engines/inband/text.ts";
import { placeAmong } from "../wires/calls.ts";
import { inlineText, readResult, readToolCall, readTools } from "./prompt.ts";
import { contentOf, malformedWarnings, PartStream } from "./stream.ts";

export interface InBandOptions<Version> {
  /** The model's own dialect, if it has one; otherwise one that is easy to follow: `hermes` or `json`. */
  dialect: string | Dialect;
  /** `v4` for the `ai` package from version 7 on. */
  version?: Version;
}

type Hooks = Pick<Required<LanguageModelV3Middleware>, "transformParams" | "wrapGenerate" | "wrapStream">;

/** Each version of the SDK has its own types for the same thing: these fit all of them. */
interface Middleware<Version> {
  readonly specificationVersion: Version;
  transformParams(options: { params: unknown }): Promise<never>;
  wrapGenerate(options: { doGenerate: unknown; params: unknown }): Promise<never>;
  wrapStream(options: { doStream: unknown; params: unknown }): Promise<never>;
}

/** Middleware that gives tools to a model that has none: they are explained in the text, and calls are read out of the answer. */
export function toolsInBand<Version extends "v3" | "v4" = "v3">({ dialect, version }: InBandOptions<Version>): Middleware<Version> {
  const speech = typeof dialect === "string" ? getDialect(dialect) : dialect;
  /** By the transformed parameters. */
  const asked = new WeakMap<LanguageModelV3CallOptions, InBandCall>();
  const hooks: Hooks = {
    async transformParams({ params }) {
      const call = new InBandCall(speech, params);
      const transformed = call.params();
      asked.set(transformed, call);
      return transformed;
    },
    wrapGenerate: async ({ doGenerate, params }) => asked.get(params)!.readAnswer(await doGenerate()),
    wrapStream: async ({ doStream, params }) => asked.get(params)!.readStream(await doStream()),
  };
  return { specificationVersion: version ?? "v3", ...hooks } as unknown as Middleware<Version>;
}

/** The text that an event carries, unless it is thinking. */
function asText(event: Event): Event[] {
  if (event.type.startsWith("thinking")) return [event];
  const text = bytesOf(event);
  return text === "" ? [] : [{ type: "text", text }];
}

/** One call of the SDK, and how its answer is read. */
class InBandCall {
  readonly #dialect: Dialect;
  readonly #params: LanguageModelV3CallOptions;
  readonly #tools: Tool[];
  readonly #warnings: SharedV3Warning[] = [];
  /** Ids are unique in the conversation, and the same if the request is repeated. */
  readonly #idOf: (n: number) => string;
  #calls = 0;

  constructor(dialect: Dialect, params: LanguageModelV3CallOptions) {
    this.#dialect = dialect;
    this.#params = params;
    const { toolChoice: choice = { type: "auto" }, prompt } = params;
    const tools = readTools(params, (feature) => this.#warnings.push({ type: "unsupported", feature }));
    this.#tools = choice.type === "none" ? [] : choice.type === "tool" ? tools.filter(({ name }) => name === choice.toolName) : tools;
    if (choice.type === "required" || choice.type === "tool") {
      this.#warnings.push({
        type: "unsupported",
        feature: "toolChoice",
        details: "tools in band are only offered: a call cannot be enforced",
      });
    }
    this.#idOf = idsBehind(prompt.flatMap((message) => (message.role === "assistant" ? idsIn(message.content) : [])));
  }

  params(): LanguageModelV3CallOptions {
    const { tools: _, toolChoice: __, prompt, responseFormat: format, ...rest } = this.#params;
    const messages = prompt.map((message, at) => this.#asText(message, prompt[at - 1]));
    if (!this.#mayCall) return { ...rest, ...(format && { responseFormat: format }), prompt: messages };
    const texts = [
      this.#dialect.instructions(this.#tools),
      ...(format?.type === "json" ? [formatText(format.schema as JsonObject | undefined)] : []),
    ];
    return { ...rest, prompt: instructed(messages, texts.join("\n\n")) };
  }

  readAnswer(result: LanguageModelV3GenerateResult): LanguageModelV3GenerateResult {
    const content = result.content.flatMap((part): LanguageModelV3Content[] => (part.type === "text" ? this.#readText(part.text) : [part]));
    const called = content.some(({ type }) => type === "tool-call");
    return { ...result, content, finishReason: ended(result.finishReason, called), warnings: [...this.#warnings, ...result.warnings] };
  }

  readStream(result: LanguageModelV3StreamResult): LanguageModelV3StreamResult {
    return { ...result, stream: result.stream.pipeThrough(this.#reader()) };
  }

  #readText(text: string): LanguageModelV3Content[] {
    const ending = new Ending();
    const { content } = collect(ending.flush(this.#said(scanText(this.#dialect, text, this.#scannerOptions()))));
    this.#warnings.push(...malformedWarnings(content));
    return contentOf(content, undefined);
  }

  /** Scans each block of text from its start to its end; all other parts pass unchanged. */
  #reader(): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
    const parts = new PartStream("in-band-");
    let block: { readonly scanner: Scanner; readonly ending: Ending } | undefined;
    let called = false;
    /** The end of the open block, also if the model's stream lacks it: the scanner may still hold text, or a call. */
    const end = (): LanguageModelV3StreamPart[] => {
      const rest = block ? block.ending.flush(this.#said(block.scanner.flush())) : [];
      block = undefined;
      return [...rest.flatMap((event) => parts.take(event)), ...parts.leave()];
    };
    const read = (part: LanguageModelV3StreamPart): LanguageModelV3StreamPart[] => {
      switch (part.type) {
        case "stream-start":
          return [{ ...part, warnings: [...this.#warnings, ...part.warnings] }];
        case "text-start":
          return end();
        case "text-delta":
          block ??= { scanner: this.#dialect.createScanner(this.#scannerOptions()), ending: new Ending() };
          return block.ending.see(this.#said(block.scanner.feed(part.delta))).flatMap((event) => parts.take(event));
        case "text-end":
          return end();
        case "finish": {
          const rest = end();
          const hasCall = called || rest.some(({ type }) => type === "tool-call");
          return [...rest, { ...part, finishReason: ended(part.finishReason, hasCall) }];
        }
        default:
          return [part];
      }
    };
    return new TransformStream({
      transform(part, controller) {
        for (const out of read(part)) {
          called ||= out.type === "tool-call";
          controller.enqueue(out);
        }
      },
      flush(controller) {
        for (const out of end()) controller.enqueue(out);
      },
    });
  }

  get #mayCall(): boolean {
    return this.#tools.length > 0;
  }

  /** Where no call may be made, a call in the text is only quoted. */
  #said(events: Event[]): Event[] {
    return this.#mayCall ? events : events.flatMap(asText);
  }

  /** Where no call may be made, nothing waits to become one: an answer in JSON may begin like a call. */
  #scannerOptions(): ScannerOptions {
    const mintId = () => this.#idOf(this.#calls++);
    return { tools: this.#tools, mintId, ...(!this.#mayCall && { callsInThinking: "ignore", maxCallChars: 1 }) };
  }

  #asText(message: LanguageModelV3Message, before: LanguageModelV3Message | undefined): LanguageModelV3Message {
    switch (message.role) {
      case "tool":
        return { role: "user", content: this.#resultsAsText(message.content, before?.role === "assistant" ? idsIn(before.content) : []) };
      case "assistant":
        return { ...message, content: callsAsText(message.content, this.#dialect, PARTS) };
      default:
        return message;
    }
  }

  #resultsAsText(parts: ToolPart[], ids: readonly string[]): UserPart[] {
    const results: ToolResult[] = [];
    const files: UserPart[] = [];
    const given = parts.filter((part) => part.type === "tool-result");
    const placeOf = placeAmong(ids);
    for (const part of given.toSorted((one, other) => placeOf(one.toolCallId) - placeOf(other.toolCallId))) {
      const { output } = part;
      if (output.type === "content") files.push(...(output.value as { type: string }[]).filter(isFile));
      const result = readResult(part);
      results.push(result);
      for (const { mediaType, data, url } of result.media ?? []) files.push({ type: "file", mediaType, data: data ?? new URL(url!) });
    }
    return [{ type: "text", text: resultsAsText(results, this.#dialect) }, ...files];
  }
}

type PartsOf<Role> = Extract<LanguageModelV3Message, { role: Role }>["content"];
type AssistantPart = PartsOf<"assistant">[number];
type ToolPart = PartsOf<"tool">[number];
type UserPart = PartsOf<"user">[number];

const idsIn = (parts: AssistantPart[]): string[] => parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));

/**
 * From `ai` 7 on, a file in a result has the form of a user's file and is passed on as it is; a text file becomes part of the result's
 * text.
 */
const isFile = (part: { type: string }): part is Extract<UserPart, { type: "file" }> =>
  part.type === "file" && inlineText(part).length === 0;

const PARTS: PartMake<AssistantPart> = {
  callOf(part) {
    if (part.type !== "tool-call") return undefined;
    const call = readToolCall(part);
    return call.type === "malformed" ? call.raw : call;
  },
  textOf: (part) => (part.type === "text" && !part.providerOptions ? part.text : undefined),
  say: (text) => ({ type: "text", text }),
};

/** Adds the instructions to the system message, or as a new one. */
function instructed(messages: LanguageModelV3Message[], instructions: string): LanguageModelV3Message[] {
  const [first, ...rest] = messages;
  return first?.role === "system"
    ? [{ ...first, content: `${first.content}\n\n${instructions}` }, ...rest]
    : [{ role: "system", content: instructions }, ...messages];
}

const ended = (finish: LanguageModelV3FinishReason, called: boolean): LanguageModelV3FinishReason =>
  called && finish.unified === "stop" ? { ...finish, unified: "tool-calls" } : finish;
