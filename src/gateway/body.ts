/** Reads the body of a request as text. It may be compressed; the limit counts decompressed bytes. */
import type { Readable, Transform } from "node:stream";
import { ENCODINGS, encodingOf, unpackerOf } from "../engines/http/unpack.ts";
import type { Headers } from "../wires/wire.ts";
import type { Passage } from "./passage.ts";
import { Refusal } from "./refusal.ts";

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
/**
 * Whether a browser sent this for a web page. A page can send bodies of other types than JSON without a preflight, but its browser adds
 * these headers. Programs may send any type: curl calls the body of `-d` a form, also in the examples of Ollama's own documentation, and
 * LiteLLM's Ollama client calls it a stream of bytes.
 */
const isOfPage = ({ origin, "sec-fetch-site": site }: Headers): boolean => (origin ?? site) !== undefined;

const UTF8 = new TextDecoder();

/** A callback: the body is read by stream events, because async iteration or a promise costs more time than reading most bodies. */
type BodyRead = (error: Error | null, body?: string) => void;

/** If the body cannot be read, the request is refused, and the rest is drained so that a client that is still sending gets the error. */
export function readBody(stream: Readable, passage: Passage, done: (body: string) => void): void {
  read(stream, passage, (error, body = "") => {
    if (!error) return done(body);
    drain(stream);
    passage.refuse(error);
  });
}

function read(stream: Readable, { visit: { headers }, state: { bodyLimit: limit } }: Passage, done: BodyRead): void {
  const type = headers["content-type"] ?? "";
  if (type !== "" && !JSON_TYPE.test(type) && isOfPage(headers))
    done(new Refusal(415, "the body must be JSON: send content-type: application/json"));
  else if (Number(headers["content-length"]) > limit) done(tooLarge(limit));
  else {
    const encoding = encodingOf(headers["content-encoding"]);
    const decoder = encoding === undefined ? undefined : unpackerOf(encoding);
    if (encoding === undefined) collect({ stream, limit, problem: "the connection was lost before the whole body had arrived" }, done);
    else if (decoder) collect({ stream, decoder, limit, problem: `the body is not valid ${encoding}, or was cut short` }, done);
    else done(new Refusal(415, `unsupported content-encoding "${encoding}"; supported: ${ENCODINGS.join(", ")}`));
  }
}

interface Source {
  readonly stream: Readable;
  readonly decoder?: Transform;
  readonly limit: number;
  /** The message for a stream that fails. */
  readonly problem: string;
}

function collect({ stream, decoder, limit, problem }: Source, done: BodyRead): void {
  const source = decoder ? stream.pipe(decoder) : stream;
  const chunks: Buffer[] = [];
  let length = 0;
  let over = false;
  const end = (error: Error | null, body?: string): void => {
    if (over) return;
    over = true;
    chunks.length = 0;
    if (error && decoder) {
      stream.unpipe(decoder);
      decoder.destroy(); // or it would go on, and a few bytes may become gigabytes
    }
    done(error, body);
  };
  source.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) end(tooLarge(limit));
    else if (!over) chunks.push(chunk);
  });
  source.on("end", () => end(null, over ? "" : UTF8.decode(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))));
  const broken = (cause: Error): void => end(new Refusal(400, problem, { cause }));
  source.on("error", broken);
  if (decoder) stream.on("error", broken);
}

const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `the body is larger than ${limit} bytes, the limit of this server (body_limit)`);

const DRAIN_MS = 5000;

/** Reads and discards the rest of the body, for a limited time. */
function drain(stream: Readable): void {
  const timer = setTimeout(() => stream.destroy(), DRAIN_MS);
  stream.once("close", () => clearTimeout(timer));
  stream.resume();
}
