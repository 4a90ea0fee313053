/** The interface of every engine: a request in, events out. `dragoman/engines` has the engines that need no extra runtime. */
import type { Event, Request, Warning, WireId } from "../core/nouns.ts";
import type { Dialect, Prompt } from "../dialects/dialect.ts";
import type { Headers, ModelInfo } from "../wires/wire.ts";

/** Sends requests to models and gives their answers as events. */
export interface Engine {
  /** Ends with exactly one `finish` and never throws: an error is a `finish`, too. An abort is an error with the code `aborted`. */
  generate(request: Request, options?: GenerateOptions): AsyncIterable<Event>;
  /** How many tokens the prompt of this request has. */
  countTokens(request: Request, options?: CallOptions): Promise<TokenCount>;
  /** The models that requests may name. */
  models(options?: CallOptions): Promise<ModelInfo[]>;
  /** Ends connections and frees what the engine holds. */
  close(): Promise<void>;
  /** What `generate` would send, for debugging; nothing is sent. */
  preview?(request: Request): Promise<Preview>;

  /** `generate` with a callback: each piece of the answer is delivered at once, without a promise. `hear` must not throw. */
  tell?(request: Request, options: GenerateOptions, hear: Hear): Telling;
  /** The wire of the engine's server, if it has one. */
  readonly wire?: WireId;
  /** Sends a request of that wire that the nouns do not model (embeddings), as bytes. Throws `EngineError`. */
  send?(path: string, options: SendOptions): Promise<RawAnswer>;
  /** What the server reports about a model. Absent if the server has no such API, as with cloud APIs. */
  about?(model: string, options?: CallOptions): Promise<About>;
  /** The same engine for a model of this dialect; `auto`: the one it detects. Only engines that read and write a dialect have this. */
  speaking?(dialect: Dialect | "auto"): Engine;
}

/** Servers of open models that differ in their APIs. */
export type ServerId = "llama-server" | "vllm" | "sglang" | "ollama";

export interface About {
  server?: ServerId | undefined;
  /** Other names of the model: its path, its name on a hub. */
  names?: readonly string[];
  /** Its chat template. */
  template?: string | undefined;
  /** Its context size in tokens, prompt and answer together. */
  context?: number | undefined;
  /** Whether it accepts images. */
  vision?: boolean | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Headers of the client to pass on; never credentials. */
  headers?: Headers | undefined;
  tap?: UpstreamTap | undefined;
}

/** Receives what is sent to a server and what comes back, byte for byte, without the credentials. */
export interface UpstreamTap {
  sent?(request: { method: string; url: string; headers: Headers; body: string | Uint8Array }): void;
  /** `url`: set if it is not the answer to the last request that was sent. */
  answered?(answer: { status: number; headers: Headers; url?: string | undefined }): void;
  received?(bytes: Uint8Array): void;
  /** The exchange is over. `whole`: the answer is complete; otherwise it broke off or was aborted. */
  over?(whole: boolean): void;
}

export interface GenerateOptions extends CallOptions {
  /** The wire in which a client sent the request: a server that speaks it gets all settings unchanged. */
  from?: WireId | undefined;
  /** Called as soon as the model accepts or refuses the request; if the prompt is long, that is long before the first event. */
  onAnswer?: ((answer: Answer) => void) | undefined;
  /** Called for warnings that arise only during or after the answer. */
  onWarning?: ((warning: Warning) => void) | undefined;
  /** Called with the dialect in which the answer is read (`id`, or `id/variant`), if the engine and not the server reads it. */
  onDialect?: ((dialect: string) => void) | undefined;
}

/** Receives the events of one piece of the answer; the very last event is the `finish`. */
export type Hear = (events: readonly Event[]) => void;

/** An answer that is being delivered to a `Hear`. */
export interface Telling {
  pause(): void;
  resume(): void;
  /** No more events are delivered, and the request is aborted. */
  stop(): void;
}

export interface Answer {
  ok: boolean;
  /** Headers of the server to pass back, such as request ids. */
  headers: Headers;
  /** What could not be sent as the request has it. */
  warnings: readonly Warning[];
}

/** The prompt, if the engine renders one; otherwise the body for the server, without credentials. */
export type Preview = { dialect: string; prompt: Prompt } | { wire: WireId; url: string; body: unknown };

export interface TokenCount {
  tokens: number;
  /** `false`: an estimate. */
  exact: boolean;
}

export interface SendOptions extends CallOptions {
  body: string | Uint8Array;
}

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: AsyncIterable<Uint8Array>;
}
