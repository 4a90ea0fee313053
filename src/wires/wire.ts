/** What every wire offers. One file per wire holds one such object; nothing outside this room knows an API's JSON or its stream. */
import type { ErrorInfo, Event, Request, Response, WireId } from "../core/nouns.ts";

export interface Wire {
  readonly id: WireId;

  // Towards a client: its requests come in, answers go out.

  /** Throws `BadRequest`. */
  decodeRequest(input: WireInput): Request;
  encodeResponse(response: Response, request: Request): unknown;
  createStreamEncoder(request: Request, options?: StreamEncoderOptions): StreamEncoder;
  encodeError(error: ErrorInfo, request?: Request): WireOutput & { status: number };

  // Towards a server: requests go out, its answers come in.

  encodeRequest(request: Request, profile?: WireProfile): WireOutput & { path: string; context: WireContext };
  decodeResponse(body: unknown, context: WireContext): Response;
  createStreamDecoder(context: WireContext): StreamDecoder;
  decodeError(status: number, headers: Headers, body: unknown): ErrorInfo;
}

type Headers = Readonly<Record<string, string>>;

export interface WireInput {
  path: string;
  query: Readonly<Record<string, string>>;
  /** With lower-case names. */
  headers: Headers;
  /** JSON text, or what it stands for. */
  body: unknown;
}

export interface WireOutput {
  headers: Headers;
  body: unknown;
}

export interface StreamEncoderOptions {
  now?: () => Date;
  mintId?: (n: number) => string;
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

/** What a server can and cannot do. */
export type WireProfile = Readonly<Record<string, unknown>>;

/** What the answer is read with: renamed tools, bridged tools, ids. */
export type WireContext = Readonly<Record<string, unknown>>;
