/**
 * One exchange as a file: what the client sent and got, what the upstream was sent and answered, byte for byte and with the time of each
 * piece, and the events between them.
 *
 *     { "version": 1, "client": { "request": { … }, "response": { "status": 200, … }, "pieces": [[12.1, "data: …"]] }, "upstream": [ … ], … }
 */
import type { Event, JsonObject } from "../../core/nouns.ts";
import type { Headers } from "../../wires/wire.ts";
import type { Exchange } from "../exchange.ts";

export interface Recording {
  readonly version: 1;
  /** When it began. */
  readonly at: string;
  readonly exchange: Omit<Exchange, "fault">;
  readonly client: Edge;
  /** Items of earlier answers that the client named by id, from the gateway's memory. */
  readonly items?: Readonly<Record<string, JsonObject>>;
  /** One for each request to the upstream, in order: the engine may try other URLs, or ask again. */
  readonly upstream: readonly Edge[];
  readonly events: readonly (readonly [ms: number, event: Event])[];
  /** The exchange was longer than a recording may be: the rest is missing. */
  readonly cut?: true;
}

export interface Edge {
  readonly request: { readonly method: string; readonly url: string; readonly headers: Headers; readonly body: string };
  /** When the request was complete, since the beginning of the exchange. */
  readonly ms: number;
  /** Absent: no answer came. */
  readonly response?: { readonly ms: number; readonly status: number; readonly headers: Headers };
  readonly pieces: readonly Piece[];
  /** The answer broke off. */
  readonly broken?: true;
}

/** Text, or base64 if the bytes are not valid UTF-8, for example because a piece ends inside a character. */
export type Piece = readonly [ms: number, text: string] | readonly [ms: number, bytes: { readonly base64: string }];

export const bytesOfPiece = ([, content]: Piece): Buffer =>
  typeof content === "string" ? Buffer.from(content, "utf8") : Buffer.from(content.base64, "base64");

export function pieceOf(ms: number, bytes: Buffer): Piece {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? [ms, text] : [ms, { base64: bytes.toString("base64") }];
}

export const textOfEdge = ({ pieces }: Edge): string => new TextDecoder().decode(Buffer.concat(pieces.map(bytesOfPiece)));

/** The gateway gave up on the upstream because nothing more came. */
export const fellSilent = ({ exchange }: Recording): boolean => exchange.error?.code === "timeout";

/** The gateway closed before the upstream's answer was complete. */
export const wasClosed = ({ exchange }: Recording): boolean => exchange.brokenOff === "gateway";

/** Whether a file name is that of a recording; no other files are read or deleted. */
export const isRecording = (name: string): boolean => /^\d{4}-\d\d-\d\dT[\d-]+Z_[\w-]+_req_[0-9a-f]+\.json$/.test(name);

/** Throws an error with a readable message. */
export function readRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error("it is not JSON", { cause: error });
  }
  const { version, client, upstream, events } = (value ?? {}) as Partial<Recording>;
  if (version !== 1 || !Array.isArray(upstream) || !Array.isArray(events) || ![client, ...upstream].every(isEdge))
    throw new Error("it is not a recording of version 1");
  return value as Recording;
}

const isEdge = (edge: Partial<Edge> | null | undefined): boolean => typeof edge?.request?.url === "string" && Array.isArray(edge.pieces);
