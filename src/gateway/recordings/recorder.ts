/** Writes each exchange to a file that only the user can read, without secrets, and keeps a limited number of files. */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Event, JsonObject } from "../../core/nouns.ts";
import type { Exchange } from "../exchange.ts";
import type { OpenTap, Tap } from "../tap.ts";
import { type Edge, isRecording, type Piece, pieceOf, type Recording } from "./recording.ts";
import { Secrets } from "./secrets.ts";

export interface RecorderOptions {
  folder: string;
  /** Never written: the keys of the gateway and of its upstreams. */
  secrets?: readonly string[] | undefined;
  /** The limit for one recording, counted before it is encoded as JSON. */
  maxBytes?: number | undefined;
  /** When there are more, the oldest are deleted. */
  maxFiles?: number | undefined;
  /** Called when a recording could not be written; the exchange is not affected. */
  onProblem?: ((error: Error) => void) | undefined;
}

export interface Recorder {
  readonly tap: OpenTap;
  /** Adds keys that became known later; they are not written from now on. */
  hide(secrets: readonly string[]): void;
  /** Resolves when all exchanges that have ended are written. */
  flush(): Promise<void>;
}

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 1000;
const KINDS: ReadonlySet<string> = new Set(["generate", "count", "pass"]);

/** Writes the exchanges of a gateway to files. */
export function createRecorder(options: RecorderOptions): Recorder {
  const { folder, secrets = [], maxBytes = MAX_BYTES, maxFiles = MAX_FILES, onProblem } = options;
  const cleaner = new Secrets(secrets);
  let work: Promise<void> = Promise.resolve();
  const keep = (exchange: Exchange, recording: Recording): void => {
    work = work
      .then(() => write(folder, exchange, JSON.stringify(cleaned(recording, cleaner)), maxFiles))
      .catch((error) => onProblem?.(error));
  };
  return {
    tap: (exchange) => (KINDS.has(exchange.kind) ? new Recordist(cleaner, maxBytes, (recording) => keep(exchange, recording)) : undefined),
    hide: (more) => cleaner.add(more),
    flush: () => work,
  };
}

const EXCHANGE_WORDS: ReadonlySet<string> = new Set(["id", "wire", "kind", "outcome", "brokenOff"]);
const EVENT_WORDS: ReadonlySet<string> = new Set(["type", "wire"]);
const FINISH_WORDS: ReadonlySet<string> = new Set(["type", "reason"]);

/**
 * The recording without secrets. Its JSON text is not searched as a whole: local servers take any key, such as `ollama` or `1000`, and with
 * the format's own words and numbers replaced, the recording could not be read.
 */
function cleaned({ exchange, client, items, upstream, events, ...rest }: Recording, secrets: Secrets): Recording {
  return {
    ...rest,
    exchange: secrets.fields(exchange, EXCHANGE_WORDS),
    client: cleanEdge(client, secrets),
    ...(items ? { items: secrets.value(items) } : {}),
    upstream: upstream.map((edge) => cleanEdge(edge, secrets)),
    events: events.map(([ms, event]) => [ms, secrets.fields(event, event.type === "finish" ? FINISH_WORDS : EVENT_WORDS)]),
  };
}

function cleanEdge({ request, response, pieces, ...rest }: Edge, secrets: Secrets): Edge {
  const { url, headers, body } = request;
  return {
    request: { ...request, url: secrets.clean(url), headers: secrets.headers(headers), body: secrets.clean(body) },
    ...rest,
    ...(response ? { response: { ...response, headers: secrets.headers(response.headers) } } : {}),
    pieces: pieces.map(([ms, content]): Piece => (typeof content === "string" ? [ms, secrets.clean(content)] : [ms, content])),
  };
}

async function write(folder: string, { wire, id }: Exchange, text: string, maxFiles: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, "-")}_${wire}_${id}.json`;
  const draft = join(folder, `.${name}`);
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await rename(draft, join(folder, name));
  } catch (error) {
    await rm(draft, { force: true }); // on a full disk drafts would stay forever
    throw error;
  }
  const names = (await readdir(folder)).filter(isRecording).toSorted();
  // By force: another gateway that records into this folder may have deleted it.
  await Promise.all(names.slice(0, Math.max(0, names.length - maxFiles)).map((one) => rm(join(folder, one), { force: true })));
}

interface Draft {
  request: Edge["request"];
  ms: number;
  response?: NonNullable<Edge["response"]>;
  readonly pieces: { readonly ms: number; readonly bytes: Buffer }[];
  broken?: true;
}

const EMPTY: Edge["request"] = { method: "", url: "", headers: {}, body: "" };

/** Records one exchange. */
class Recordist implements Tap {
  readonly #secrets: Secrets;
  readonly #done: (recording: Recording) => void;
  readonly #at = new Date().toISOString();
  readonly #began = performance.now();
  #lastUs = -1;
  readonly #client: Draft = { request: EMPTY, ms: 0, pieces: [] };
  readonly #upstream: Draft[] = [];
  readonly #items: Record<string, JsonObject> = {};
  readonly #events: [number, Event][] = [];
  #room: number;

  constructor(secrets: Secrets, maxBytes: number, done: (recording: Recording) => void) {
    this.#secrets = secrets;
    this.#room = maxBytes;
    this.#done = done;
  }

  asked(request: Edge["request"]): void {
    this.#client.request = this.#kept(request);
    this.#client.ms = this.#ms;
  }
  recalled(id: string, item: JsonObject): void {
    if (this.#takes(JSON.stringify(item).length)) this.#items[id] = item;
  }
  replied(response: { status: number; headers: Readonly<Record<string, string>> }): void {
    this.#client.response = { ms: this.#ms, ...response };
  }
  wrote(bytes: string | Uint8Array): void {
    this.#keep(this.#client, bytes);
  }
  event(event: Event): void {
    // Events repeat the text of the bytes, so they count toward the limit as well.
    if (this.#takes(JSON.stringify(event).length)) this.#events.push([this.#ms, event]);
  }

  readonly upstream: NonNullable<Tap["upstream"]> = {
    sent: ({ method, url, headers, body }) => {
      const text = typeof body === "string" ? body : new TextDecoder().decode(body);
      this.#upstream.push({ request: this.#kept({ method, url, headers, body: text }), ms: this.#ms, pieces: [] });
    },
    answered: ({ url, ...response }) => {
      const drafts = this.#upstream;
      const at = drafts.findLastIndex(({ request }) => request.url === url);
      if (at >= 0) drafts.push(...drafts.splice(at, 1)); // the last one is the one whose answer reached the client
      const last = drafts.at(-1);
      if (last) last.response = { ms: this.#ms, ...response };
    },
    received: (bytes) => {
      const last = this.#upstream.at(-1);
      if (last) this.#keep(last, bytes);
    },
    over: (whole) => {
      const last = this.#upstream.at(-1);
      if (last && !whole) last.broken = true;
    },
  };

  ended({ fault: _, ...exchange }: Exchange): void {
    this.#done({
      version: 1,
      at: this.#at,
      exchange,
      client: this.#edge(this.#client),
      ...(Object.keys(this.#items).length > 0 ? { items: this.#items } : {}),
      upstream: this.#upstream.map((draft) => this.#edge(draft)),
      events: this.#events,
      ...(this.#room < 0 ? { cut: true as const } : {}),
    });
  }

  /** No two moments are equal: what came first decides how a recording is replayed. */
  get #ms(): number {
    this.#lastUs = Math.max(this.#lastUs + 1, Math.round((performance.now() - this.#began) * 1000));
    return this.#lastUs / 1000;
  }

  /** Once the limit is reached nothing more is kept: a recording with a gap in the middle would mislead. */
  #takes(size: number): boolean {
    if (this.#room >= 0) this.#room -= size;
    return this.#room >= 0;
  }

  #kept(request: Edge["request"]): Edge["request"] {
    return this.#takes(request.body.length) ? request : { ...request, body: "" };
  }

  #keep({ pieces }: Draft, bytes: string | Uint8Array): void {
    if (bytes.length > 0 && this.#takes(bytes.length)) pieces.push({ ms: this.#ms, bytes: Buffer.from(bytes as Uint8Array) });
  }

  #edge({ request, ms, response, pieces, broken }: Draft): Edge {
    const cleaned = this.#secrets.pieces(pieces.map(({ bytes }) => bytes));
    const kept = pieces.map((piece, i): Piece => pieceOf(piece.ms, cleaned[i]!));
    return { request, ms, ...(response ? { response } : {}), pieces: kept, ...(broken ? { broken } : {}) };
  }
}
