/** What every wire offers. One file per wire exports one `Wire`; nothing outside this folder knows an API's JSON or its stream. */
import type { ErrorInfo, Event, Finish, JsonObject, Request, Response, Warning, WireId } from "../core/nouns.ts";

/** An HTTP API: translates its requests, answers, streams and errors. */
export interface Wire {
  readonly id: WireId;

  // Towards a client: its requests come in, answers go out.

  /** Reads a client's request. Throws `BadRequest`. */
  decodeRequest(input: WireInput): Request;
  /** The body of a whole answer; `printBody` prints it. */
  encodeResponse(response: Response, request: Request, options?: EncoderOptions): unknown;
  /** Writes the stream of an answer, event by event. */
  createStreamEncoder(request: Request, options?: EncoderOptions): StreamEncoder;
  /** Whether this API has a finish reason for the error that ended an answer: then it is sent as an answer, not as an error. Absent: never. */
  hasReason?(finish: Finish): boolean;
  /** The answer that reports an error. */
  encodeError(error: ErrorInfo, request?: Request, options?: EncoderOptions): WireOutput & { status: number };

  // Towards a server: requests go out, its answers come in.

  /** The request for a server. `context` is needed to read the answer. */
  encodeRequest(request: Request, profile?: WireProfile): WireOutput & { path: string; context: WireContext };
  /** Reads the body of a whole answer. */
  decodeResponse(body: unknown, context?: WireContext): Response;
  /** Reads the stream of an answer. */
  createStreamDecoder(context?: WireContext): StreamDecoder;
  /** Reads an answer whose status is an error. */
  decodeError(status: number, headers: Headers, body: unknown): ErrorInfo;

  // Besides chat: lists of models, and token counts where the API has them (`decodeRequest` reads those requests, too).

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
  /** `false`: the model is never told about tools. */
  tools?: boolean;
}

/** JSON that is about to be printed: it may hold `undefined`, which is not printed, and `RawJson`. */
export type Draft = { [key: string]: unknown };

export type Headers = Readonly<Record<string, string>>;

export interface WireInput {
  path: string;
  query: Readonly<Record<string, string>>;
  /** With lower-case names. */
  headers: Headers;
  /** JSON text, or the parsed value. */
  body: unknown;
  /** What `EncoderOptions.keep` stored, for clients that send only an id: of an item, or of the answer that they continue from. */
  recall?: ((id: string) => JsonObject | undefined) | undefined;
}

export interface WireOutput {
  headers: Headers;
  body: unknown;
}

export interface EncoderOptions {
  now?: (() => Date) | undefined;
  mintId?: ((n: number) => string) | undefined;
  /** The HTTP status that an error is sent with, if it is not the wire's own for this error. */
  status?: number | undefined;
  /** Called for anything in the answer that this wire cannot express: a call that was cut, another provider's extension. */
  warn?: ((warning: Warning) => void) | undefined;
  /** How long the answer has taken so far and until its first content, in milliseconds. */
  spent?: (() => { ms: number; firstMs?: number | undefined }) | undefined;
  /** A rough count of the prompt's tokens, for a wire that must name a number before the server has counted them. */
  estimate?: (() => number) | undefined;
  /** Called with each item, and each turn, that the client may later refer to by id instead of sending it back. */
  keep?: ((id: string, item: Draft) => void) | undefined;
}

/** Each method returns the text to send next, which may be empty. */
export interface StreamEncoder {
  encode(event: Event): string;
  end(): string;
  heartbeat(): string;
}

/** Takes text: to read bytes, use one streaming `TextDecoder`. */
export interface StreamDecoder {
  feed(text: string): Event[];
  flush(): Event[];
}

/** How a server differs from most servers that speak its wire. An absent field: it does not differ. */
export interface WireProfile {
  /** openai-chat: sends nothing that the official API would refuse (`top_k`, `reasoning_content`), even though many other servers accept it. */
  readonly official?: boolean;
  /** openai-chat: the field for thinking in earlier messages. Absent: the one that the server itself, or the client, used. */
  readonly thinkingField?: "reasoning_content" | "reasoning";
  /** openai-chat: the field for the answer's token limit. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** openai-chat, openai-responses: `false`: the role is sent as `system`. */
  readonly developerRole?: boolean;
  /** openai-chat, openai-responses: `false`: custom tools are sent as functions with one string. */
  readonly customTools?: boolean;
  /** openai-chat, openai-responses: `false`: only the tools that may be called are sent. */
  readonly allowedTools?: boolean;
  /** openai-chat, openai-responses: `false`: a tool that must be called is sent alone, with the choice `required`. */
  readonly namedTool?: boolean;
  /** openai-chat: `true`: prompt-cache marks of Anthropic's clients (`cache_control`) are sent along. */
  readonly cacheMarks?: boolean;
  /** gemini: `false`: declarations in the older `parameters` dialect instead of JSON Schema. */
  readonly jsonSchema?: boolean;
  /** `false`: a system text in mid-conversation becomes a labelled text, and neighbouring messages of one role are merged, for templates. */
  readonly systemAnywhere?: boolean;
  /** anthropic: thinking that no Anthropic server signed is sent, too: compatible servers accept it, the official API refuses it. */
  readonly unsignedThinking?: boolean;
  /** The answer's token limit, where the API demands one and the request has none. */
  readonly maxTokens?: number;
}

/** What decoding the answer needs to know of the request. Plain data, so that it can be recorded. */
export interface WireContext {
  /** Tools that were renamed in this request: from the name that was sent to ours. */
  readonly names: Readonly<Record<string, string>>;
  /** What the request says and this wire cannot express. */
  readonly warnings: readonly Warning[];
  /** The original schemas of tools whose optional values the server was told to write as null: those nulls are removed from the calls. */
  readonly nulls?: Readonly<Record<string, JsonObject>>;
  /** The output was asked for inside an object, and must be taken out of it. */
  readonly wrapped?: true;
  /** The ids of the calls in the request: the answer's calls get other ids, and minted ids count on from there. */
  readonly ids?: readonly string[];
}
