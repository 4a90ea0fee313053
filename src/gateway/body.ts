/** The body of a request, as text: compressed or not, and never more than the limit, which counts what comes out. */
import type { Readable } from "node:stream";
import { pipeline, type Transform } from "node:stream";
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

export async function readBody(stream: Readable, { visit: { headers }, state: { bodyLimit: limit } }: Passage): Promise<string> {
  const type = headers["content-type"] ?? "";
  if (type !== "" && !JSON_TYPE.test(type)) throw new Refusal(415, "the body must be JSON: send content-type: application/json");
  if (Number(headers["content-length"]) > limit) throw tooLarge(limit);
  const encoding = (headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!decoder && encoding !== "identity") {
    throw new Refusal(415, `a body in the encoding "${encoding}" cannot be read; known: ${Object.keys(DECODERS).join(", ")}`);
  }
  const source = decoder ? pipeline(stream, decoder(), () => {}) : stream;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(400, decoder ? `the body is not ${encoding}, or was cut` : "the body was cut", { cause: error });
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `the body is larger than ${limit} bytes, the limit of this server (body_limit)`);
