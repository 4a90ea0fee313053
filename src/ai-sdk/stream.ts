/**
 * Events as the AI SDK's stream parts: a call is `tool-input-start`, its deltas and, only if it is complete, `tool-input-end` and
 * `tool-call`. A truncated or unreadable call has no `tool-call`, so nothing runs it.
 */
import type {
  JSONObject,
  JSONValue,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
  SharedV3Warning,
} from "@ai-sdk/provider";
import type { Event, Json, Malformed, Opaque, Part, Response, ToolEnd, Usage } from "../core/nouns.ts";
import { failure } from "./failure.ts";

type Extensions = NonNullable<Response["extensions"]>;

/** Turns events into parts, one at a time. */
export class PartStream {
  /** The open block: the SDK requires its end before anything else begins. */
  #open: { type: "text" | "reasoning"; id: string } | undefined;
  #blocks = 0;
  readonly #prefix: string;
  #usage: Usage = {};
  readonly #extensions: Extensions = [];

  /** `prefix` distinguishes the ids of its blocks from those of other parts. */
  constructor(prefix = "") {
    this.#prefix = prefix;
  }

  take(event: Event): LanguageModelV3StreamPart[] {
    switch (event.type) {
      case "start":
        return [
          { type: "response-metadata", ...(event.id !== undefined && { id: event.id }), ...(event.model && { modelId: event.model }) },
        ];
      case "text":
        return [...this.#enter("text"), this.#delta(event.text), ...(event.state ? this.leave(event.state) : [])];
      case "refusal":
        return [...this.#enter("text"), this.#delta(event.text)];
      case "thinking-start":
        return [...this.leave(), ...this.#enter("reasoning")];
      case "thinking-delta":
        return [this.#delta(event.text)];
      case "thinking-end":
        return this.leave(event.state);
      case "tool-start":
        return [...this.leave(), { type: "tool-input-start", id: event.id, toolName: event.name }];
      case "tool-delta":
        return [{ type: "tool-input-delta", id: event.id, delta: event.json }];
      case "tool-end":
        return event.truncated ? [] : [{ type: "tool-input-end", id: event.id }, toolCall(event)];
      case "usage": {
        const { type: _, ...usage } = event;
        this.#usage = { ...this.#usage, ...usage };
        return [];
      }
      case "extension":
        this.#extensions.push({ wire: event.wire, data: event.data });
        return [];
      case "malformed":
        return [{ type: "error", error: unreadable(event) }];
      case "control":
        return [];
      case "finish":
        return [
          ...this.leave(),
          // Unreadable calls were reported when they appeared.
          ...(event.error && event.error.code !== "malformed-call" ? [{ type: "error" as const, error: failure(event.error) }] : []),
          {
            type: "finish",
            usage: usageOf(this.#usage),
            finishReason: finishReason(event),
            ...extensionsOf(this.#extensions),
          },
        ];
    }
  }

  #enter(type: "text" | "reasoning"): LanguageModelV3StreamPart[] {
    if (this.#open?.type === type) return [];
    const before = this.leave();
    this.#open = { type, id: `${this.#prefix}${this.#blocks++}` };
    return [...before, { type: `${type}-start`, id: this.#open.id }];
  }

  #delta(delta: string): LanguageModelV3StreamPart {
    const { type, id } = this.#open!;
    return { type: `${type}-delta`, id, delta };
  }

  /** Ends the open block. */
  leave(state?: Opaque[]): LanguageModelV3StreamPart[] {
    if (!this.#open) return [];
    const { type, id } = this.#open;
    this.#open = undefined;
    return [{ type: `${type}-end`, id, ...metadata(state) }];
  }
}

const toolCall = ({ id, name, json, arguments: given, state }: Pick<ToolEnd, "id" | "name" | "json" | "arguments" | "state">) => ({
  type: "tool-call" as const,
  toolCallId: id,
  toolName: name,
  input: json ?? JSON.stringify(given),
  ...metadata(state),
});

const unreadable = ({ reason, raw }: Pick<Malformed, "reason" | "raw">): Error =>
  failure({ code: "malformed-call", message: `the model wrote a tool call that cannot be read (${reason}): ${raw}` });

/** Warnings for malformed calls, for which an answer that is not streamed has no part. */
export const malformedWarnings = (content: readonly Part[]): SharedV3Warning[] =>
  content.flatMap((part) => (part.type === "malformed" ? [{ type: "other" as const, message: unreadable(part).message }] : []));

/** The parts of an answer that is not streamed. */
export function contentOf(content: readonly Part[], refusal: string | undefined): LanguageModelV3Content[] {
  const parts: LanguageModelV3Content[] = [];
  for (const part of content) {
    if (part.type === "text") parts.push({ type: "text", text: part.text, ...metadata(part.state) });
    else if (part.type === "thinking") parts.push({ type: "reasoning", text: part.text, ...metadata(part.state) });
    else if (part.type === "tool-call" && !part.truncated) parts.push(toolCall(part));
    else if (part.type === "media" && part.data !== undefined) parts.push({ type: "file", mediaType: part.mediaType, data: part.data });
  }
  if (refusal !== undefined) parts.push({ type: "text", text: refusal });
  return parts;
}

export const finishReason = ({
  reason,
  native,
}: {
  reason: LanguageModelV3FinishReason["unified"];
  native?: string;
}): LanguageModelV3FinishReason => ({
  unified: reason,
  raw: native,
});

export const usageOf = ({ inputTokens, outputTokens, thinkingTokens, cachedTokens, cacheWriteTokens }: Usage): LanguageModelV3Usage => ({
  inputTokens: {
    total: inputTokens,
    noCache: inputTokens === undefined ? undefined : inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0),
    cacheRead: cachedTokens,
    cacheWrite: cacheWriteTokens,
  },
  outputTokens: {
    total: outputTokens,
    text: outputTokens === undefined || thinkingTokens === undefined ? undefined : outputTokens - thinkingTokens,
    reasoning: thinkingTokens,
  },
});

const metadata = (state: Opaque[] | undefined): { providerMetadata?: SharedV3ProviderMetadata } =>
  state ? { providerMetadata: { dragoman: { state: carried(state) } } } : {};

/** Events that only the upstream's wire knows: citations, its own tools. */
export const extensionsOf = (extensions: Extensions): { providerMetadata?: SharedV3ProviderMetadata } =>
  extensions.length > 0 ? { providerMetadata: { dragoman: { extensions: carried(extensions) } } } : {};

/** The SDK's JSON types differ from ours only in being mutable. */
const carried = (list: readonly { readonly data: Json }[]): JSONObject[] => list.map((item) => ({ ...item, data: item.data as JSONValue }));
