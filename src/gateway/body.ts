/** The body of a request, as text: compressed or not, and never more than the limit, which counts what comes out. */
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Passage } from "./passage.ts";
import { Refusal } from "./refusal.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A web page can send any other type without asking first. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

const UTF8 = new TextDecoder();

/** By its events and without a promise: either costs more than most bodies. */
export type BodyRead = (error: Error | null, body?: string) => void;

export function readBody(stream: Readable, { visit: { headers }, state: { bodyLimit: limit } }: Passage, done: BodyRead): void {
  const type = headers["content-type"] ?? "";
  if (type !== "" && !JSON_TYPE.test(type)) done(new Refusal(415, "the body must be JSON: send content-type: application/json"));
  else if (Number(headers["content-length"]) > limit) done(tooLarge(limit));
  else {
    const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
    const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
    if (encoding === "identity") collect(stream, limit, "the body was cut", done);
    else if (decoder)
      collect(
        pipeline(stream, decoder(), () => {}),
        limit,
        `the body is not ${encoding}, or was cut`,
        done,
      );
    else done(new Refusal(415, `a body in the encoding "${encoding}" cannot be read; known: ${Object.keys(DECODERS).join(", ")}`));
  }
}

function collect(source: Readable, limit: number, problem: string, done: BodyRead): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let over = false;
  const end = (error: Error | null, body?: string): void => {
    if (over) return;
    over = true;
    chunks.length = 0;
    done(error, body);
  };
  source.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) end(tooLarge(limit));
    else if (!over) chunks.push(chunk);
  });
  source.on("end", () => end(null, over ? "" : UTF8.decode(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))));
  source.on("error", (cause) => end(new Refusal(400, problem, { cause })));
}

const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `the body is larger than ${limit} bytes, the limit of this server (body_limit)`, { headers: { connection: "close" } });
