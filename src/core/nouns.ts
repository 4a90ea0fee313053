/**
 * The nouns that every translator shares: what is asked of a model (`Request`) and what comes back, piece by piece (`Event`).
 * Nothing here knows a dialect or a wire.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export type WireId = "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ollama";

/** A provider's private state: carried, never read, returned only to the wire that it came from. */
export interface Opaque {
  wire: WireId;
  kind: string;
  data: Json;
  /** Bookkeeping of its API: leaving it out needs no warning. */
  quiet?: true;
  /** The remaining fields of an object whose other fields are in the nouns. */
  part?: true;
}

export interface Text {
  type: "text";
  text: string;
  state?: Opaque[];
}

/** An image, a sound or a file, as base64 in `data` or by its `url`. */
export interface Media {
  type: "media";
  mediaType: string;
  data?: string;
  url?: string;
  name?: string;
  state?: Opaque[];
}

/** `text: ""` with `state`: thinking that its provider redacted or encrypted. */
export interface Thinking {
  type: "thinking";
  text: string;
  state?: Opaque[];
}

/** A call of a tool in an assistant's message. */
export interface ToolCall {
  type: "tool-call";
  id: string;
  name: string;
  arguments: JsonObject;
  /** The arguments' JSON text as the model wrote it; it is passed on instead of printing `arguments` again. */
  json?: string;
  /** The output ended inside this call: never run it. */
  truncated?: true;
  state?: Opaque[];
}

/** Meant as a call, but unreadable. */
export interface Malformed {
  type: "malformed";
  raw: string;
  code: MalformedCode;
  reason: string;
  id?: string;
  state?: Opaque[];
}

/** Why a call cannot be read (docs/events.md). */
export type MalformedCode = "no-name" | "bad-arguments" | "empty" | "too-long" | "too-deep";

/** A piece of what an assistant said. */
export type Part = Text | Media | Thinking | ToolCall | Malformed;

/** The outcome of a call. A string output is text; an object stays an object. */
export interface ToolResult {
  role: "tool";
  id: string;
  name: string;
  output: Json;
  media?: Media[];
  isError?: true;
  state?: Opaque[];
}

/** A message of the conversation. An assistant's parts are in the order in which they were said. */
export type Message =
  | { role: "system" | "developer" | "user"; content: (Text | Media)[]; state?: Opaque[] }
  | { role: "assistant"; content: Part[]; state?: Opaque[] }
  | ToolResult;

/** A tool that the model may call. `parameters` is a JSON Schema. */
export interface Tool {
  name: string;
  description?: string;
  parameters?: JsonObject;
  strict?: boolean;
  kind?: "function" | "custom";
  /** What the text of a custom tool must look like. */
  grammar?: { syntax: string; definition: string };
  /** The schema of what the tool returns. */
  response?: JsonObject;
  deferred?: true;
  state?: Opaque[];
}

/** Whether the model may call tools, must call one, and which. `allowed`: only these. */
export type ToolChoice = "auto" | "none" | "required" | { name: string } | { allowed: string[]; required?: true };

/** Something that the target cannot express. It is never dropped in silence. */
export interface Warning {
  code: string;
  message: string;
}

/** How much to think. */
export type Effort = "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export interface ThinkingSettings {
  enabled?: boolean | undefined;
  effort?: Effort | undefined;
  budget?: number | undefined;
  show?: boolean | undefined;
  keep?: boolean | undefined;
}

export interface Sampling {
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  minP?: number | undefined;
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  repeatPenalty?: number | undefined;
}

/** What is asked of a model, whatever its API. */
export interface Request {
  /** The wire that the request came in: to servers of the same wire, its own words are sent unchanged. */
  from?: WireId | undefined;
  model: string;
  messages: Message[];
  tools?: Tool[] | undefined;
  toolChoice?: ToolChoice | undefined;
  parallelCalls?: boolean | undefined;
  stream?: false | "sse" | "array" | "ndjson" | undefined;
  thinking?: ThinkingSettings | undefined;
  sampling?: Sampling | undefined;
  maxTokens?: number | undefined;
  stop?: string[] | undefined;
  /** Structured output; without a schema: any JSON. */
  output?:
    | { schema?: JsonObject | undefined; name?: string | undefined; description?: string | undefined; strict?: boolean | undefined }
    | undefined;
  /** Every field that this wire did not model; the same wire gets it back. */
  extra?: Opaque[] | undefined;
  warnings?: Warning[] | undefined;
}

export type ErrorCode =
  | "bad-request"
  | "auth"
  | "permission"
  | "not-found"
  | "too-large"
  | "context-length"
  | "rate-limit"
  | "overloaded"
  | "upstream"
  | "timeout"
  | "aborted"
  | "malformed-call"
  | "internal";

/** An error, whatever the API that reported it. */
export interface ErrorInfo {
  code: ErrorCode;
  message: string;
  status?: number;
  retryAfterMs?: number;
  upstream?: string;
  /** `answer`: how many of the used tokens were reserved for the answer. */
  tokens?: { used: number; limit: number; answer?: number };
  /** The wire's own code, where clients act on it. */
  native?: string;
  /** The field of the request that it is about. */
  param?: string;
}

/** Cumulative. `inputTokens` counts the whole prompt, cache reads and writes included; `outputTokens` all that was generated, thinking included. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  thinkingTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
}

export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "error";

export interface Finish {
  type: "finish";
  reason: FinishReason;
  /** The stop string that ended the output. */
  stop?: string;
  /** The upstream's own word for the reason. */
  native?: string;
  error?: ErrorInfo;
}

export interface ToolEnd {
  type: "tool-end";
  id: string;
  index: number;
  name: string;
  arguments: JsonObject;
  json?: string;
  /** The id that the model wrote, where it came too late to be `id`. */
  nativeId?: string;
  raw?: string;
  truncated?: true;
  state?: Opaque[];
}

/** One thing that happened in a model's answer (docs/events.md). */
export type Event =
  | { type: "start"; id?: string; model?: string }
  | { type: "text"; text: string; state?: Opaque[] }
  | { type: "thinking-start"; raw?: string; state?: Opaque[] }
  | { type: "thinking-delta"; text: string }
  | { type: "thinking-end"; raw?: string; state?: Opaque[] }
  /** `state`: what is known of the call's state so far; `tool-end` has all of it. */
  | { type: "tool-start"; id: string; index: number; name: string; state?: Opaque[] }
  /** The next piece of the arguments' JSON text. */
  | { type: "tool-delta"; id: string; json: string }
  | ToolEnd
  /** Meant as a call, but unreadable. `id`: that of its `tool-start`, if there was one, which this withdraws. */
  | { type: "malformed"; raw: string; code: MalformedCode; reason: string; id?: string }
  /** Markers, headers, stops, separators: neither text nor call. */
  | { type: "control"; raw: string }
  | { type: "refusal"; text: string }
  /** What only that wire knows: citations, server tools. */
  | { type: "extension"; wire: WireId; data: Json; quiet?: true }
  | ({ type: "usage" } & Usage)
  | Finish;

/** A call that is still being written, with its arguments so far. */
export interface OpenCall {
  type: "open-call";
  id: string;
  index: number;
  name: string;
  partial: JsonObject;
}

/** One answer: all its events, folded. */
export interface Response {
  id?: string;
  model?: string;
  /** In the order in which the model wrote them. */
  content: Part[];
  /** The call that is still being written. */
  open?: OpenCall;
  refusal?: string;
  extensions?: { wire: WireId; data: Json; quiet?: true }[];
  usage?: Usage;
  finish?: Omit<Finish, "type">;
}
