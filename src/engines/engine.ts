/** What every engine offers: a request in, events out. `dragoman/engines` has those that need no runtime of their own. */
import type { Event, Request, Warning, WireId } from "../core/nouns.ts";
import type { Dialect, Prompt } from "../dialects/dialect.ts";
import type { Headers, ModelInfo } from "../wires/wire.ts";

export interface Engine {
  /** Exactly one `finish`, last; nothing is thrown, whatever goes wrong: an error is a `finish`, too. An abort ends with the code `aborted`. */
  generate(request: Request, options?: GenerateOptions): AsyncIterable<Event>;
  countTokens(request: Request, options?: CallOptions): Promise<TokenCount>;
  models(options?: CallOptions): Promise<ModelInfo[]>;
  close(): Promise<void>;
  /** What `generate` makes of a request, for whoever looks for a fault: nothing is sent. */
  preview?(request: Request): Promise<Preview>;

  /** `generate` for whoever wants each piece of an answer when it comes, without a promise on the way. `hear` may not throw. */
  tell?(request: Request, options: GenerateOptions, hear: Hear): Telling;
  /** What the server behind it speaks, where there is one. */
  readonly wire?: WireId;
  /** A request of that wire which the nouns do not model (embeddings), as bytes. Throws `EngineError`. */
  send?(path: string, options: SendOptions): Promise<RawAnswer>;
  /** What the server says of a model. Absent where nobody can be asked, as with cloud APIs. */
  about?(model: string, options?: CallOptions): Promise<About>;
  /** The same engine for a model of this dialect; `auto`: as it finds out by itself. Only engines that read and write a dialect have it. */
  speaking?(dialect: Dialect | "auto"): Engine;
}

/** Servers of open models, each with habits of its own. */
export type ServerId = "llama-server" | "vllm" | "sglang" | "ollama";

export interface About {
  server?: ServerId | undefined;
  /** Other names of the model: its path, its name at a hub. */
  names?: readonly string[];
  /** Its chat template. */
  template?: string | undefined;
  /** How many tokens it takes, prompt and answer together. */
  context?: number | undefined;
  /** Whether it sees images. */
  vision?: boolean | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Headers of the client that travel on; never credentials. */
  headers?: Headers | undefined;
  tap?: UpstreamTap | undefined;
}

/** Hears what goes to a server and what comes back, byte for byte, without the credentials. */
export interface UpstreamTap {
  sent?(request: { method: string; url: string; headers: Headers; body: string | Uint8Array }): void;
  answered?(answer: { status: number; headers: Headers }): void;
  received?(bytes: Uint8Array): void;
  /** Nothing more comes. `whole`: the answer is complete; otherwise it broke off, or nobody wanted more of it. */
  over?(whole: boolean): void;
}

export interface GenerateOptions extends CallOptions {
  /** The wire in which somebody else sent the request: to a server that speaks it, all settings go as that one put them. */
  from?: WireId | undefined;
  /** Hears at once that the model has taken the request, or refused it: long before the first event, where a prompt is long. */
  onAnswer?: ((answer: Answer) => void) | undefined;
  /** Hears what is known only while the answer comes, or when it has come. */
  onWarning?: ((warning: Warning) => void) | undefined;
  /** Hears in which dialect the answer is read (`id`, or `id/variant`), where that is not the server's business. */
  onDialect?: ((dialect: string) => void) | undefined;
}

/** Hears the events that came in one piece; the last of all is the `finish`. */
export type Hear = (events: readonly Event[]) => void;

/** An answer that is being told. */
export interface Telling {
  pause(): void;
  resume(): void;
  /** Nothing more is heard, and the server is told so. */
  stop(): void;
}

export interface Answer {
  ok: boolean;
  /** Headers of the server that travel back: the ids of requests. */
  headers: Headers;
  /** What the request said and the server's wire cannot. */
  warnings: readonly Warning[];
}

/** The prompt, where the engine renders one; else what the server is sent, without credentials. */
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
