/** What every wire offers. One file per wire holds one such object; nothing outside this room knows an API's JSON or its stream. */
import type { ErrorInfo, Event, Finish, JsonObject, Request, Response, Warning, WireId } from "../core/nouns.ts";

export interface Wire {
  readonly id: WireId;

  // Towards a client: its requests come in, answers go out.

  /** Throws `BadRequest`. */
  decodeRequest(input: WireInput): Request;
  encodeResponse(response: Response, request: Request, options?: EncoderOptions): unknown;
  createStreamEncoder(request: Request, options?: EncoderOptions): StreamEncoder;
  /** Whether this API has a reason for what ended an answer as an error: then it is an answer all the same. Absent: it never has. */
  hasReason?(finish: Finish): boolean;
  encodeError(error: ErrorInfo, request?: Request, options?: EncoderOptions): WireOutput & { status: number };

  // Towards a server: requests go out, its answers come in.

  encodeRequest(request: Request, profile?: WireProfile): WireOutput & { path: string; context: WireContext };
  decodeResponse(body: unknown, context?: WireContext): Response;
  createStreamDecoder(context?: WireContext): StreamDecoder;
  decodeError(status: number, headers: Headers, body: unknown): ErrorInfo;

  // Beside the chat: lists of models, and counting tokens where the API has it (its requests are read by `decodeRequest`, too).

  readonly modelsPath: string;
  encodeModels(models: readonly ModelInfo[]): unknown;
  decodeModels(body: unknown): ModelInfo[];
  encodeTokenCount?(count: { tokens: number }): unknown;
  encodeTokenCountRequest?(request: Request, profile?: WireProfile): WireOutput & { path: string; context: WireContext };
  decodeTokenCount?(body: unknown): number;
}

export interface ModelInfo {
  id: string;
  name?: string;
  /** Seconds since 1970. */
  created?: number;
  contextLength?: number;
  /** `false`: it never hears of tools. */
  tools?: boolean;
}

/** JSON on its way out: it may hold `undefined`, which is not printed, and `RawJson`. */
export type Draft = { [key: string]: unknown };

export type Headers = Readonly<Record<string, string>>;

export interface WireInput {
  path: string;
  query: Readonly<Record<string, string>>;
  /** With lower-case names. */
  headers: Headers;
  /** JSON text, or what it stands for. */
  body: unknown;
  /** What was kept of an answer (`EncoderOptions.keep`), for clients that send an id instead: of an item, or of the answer that they go on from. */
  recall?: ((id: string) => JsonObject | undefined) | undefined;
}

export interface WireOutput {
  headers: Headers;
  body: unknown;
}

export interface EncoderOptions {
  now?: () => Date;
  mintId?: (n: number) => string;
  /** What an error is sent with, where that is not the wire's own status for it. */
  status?: number | undefined;
  /** Hears what the answer holds and this wire cannot say: a call that was cut, another provider's extension. */
  warn?: (warning: Warning) => void;
  /** How long the answer took so far, in milliseconds, and until its first content. */
  spent?: (() => { ms: number; firstMs?: number | undefined }) | undefined;
  /** How many tokens the prompt has, roughly: for a wire that says so before anybody has counted them. */
  estimate?: () => number;
  /** Hears each item, and each turn, that the client may name later instead of sending it back. */
  keep?: ((id: string, item: Draft) => void) | undefined;
}

/** Each method gives the text to send next, which may be empty. */
export interface StreamEncoder {
  encode(event: Event): string;
  end(): string;
  heartbeat(): string;
}

/** Takes text: whoever reads bytes uses one streaming `TextDecoder`. */
export interface StreamDecoder {
  feed(text: string): Event[];
  flush(): Event[];
}

/** What a server wants otherwise. Everything absent: as most servers that speak the wire take it. */
export interface WireProfile {
  /** openai-chat: nothing that the official API would refuse (`top_k`, `reasoning_content`), however many other servers take it. */
  readonly official?: boolean;
  /** openai-chat: the spelling of thinking in old messages. Absent: as the server itself, or the client, spelled it. */
  readonly thinkingField?: "reasoning_content" | "reasoning";
  /** openai-chat: how the limit of the answer is called. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** openai-chat, openai-responses: `false`: the role is sent as `system`. */
  readonly developerRole?: boolean;
  /** openai-chat, openai-responses: `false`: custom tools go as functions with one string. */
  readonly customTools?: boolean;
  /** openai-chat, openai-responses: `false`: which tools may be called is said by sending no others. */
  readonly allowedTools?: boolean;
  /** openai-chat, openai-responses: `false`: a tool that must be called is the only one that is sent, and one must be called. */
  readonly namedTool?: boolean;
  /** openai-chat: `true`: the marks that Anthropic's clients set for the prompt's cache (`cache_control`) go along. */
  readonly cacheMarks?: boolean;
  /** gemini: `false`: declarations in the older `parameters` dialect instead of JSON Schema. */
  readonly jsonSchema?: boolean;
  /** `false`: a system text in mid-conversation becomes a labelled text, and neighbours of one role one message, as templates want it. */
  readonly systemAnywhere?: boolean;
  /** anthropic: thinking that no Anthropic server signed is sent, too: compatible servers take it, the official API refuses. */
  readonly unsignedThinking?: boolean;
  /** The answer's limit where the API demands one and the request has none. */
  readonly maxTokens?: number;
}

/** What the answer is read with. Plain data: it may be recorded. */
export interface WireContext {
  /** Tools that go by another name in this request: the name that was sent, then ours. */
  readonly names: Readonly<Record<string, string>>;
  /** What the request said and this wire cannot. */
  readonly warnings: readonly Warning[];
  /** Tools of which the server was told that what may be absent may be null, and their schemas without that: such nulls are taken out again. */
  readonly nulls?: Readonly<Record<string, JsonObject>>;
  /** The output was asked for inside of an object, and is taken out of it again. */
  readonly wrapped?: true;
  /** The ids of the calls that the request holds: those of the answer are others, and minted ones count on from there. */
  readonly ids?: readonly string[];
}
