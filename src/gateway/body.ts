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

export async function readBody(stream: Readable, { visit: { headers }, state: { bodyLimit: limit } }: Passage): Promise<string> {
  const type = headers["content-type"] ?? "";
  if (type !== "" && !JSON_TYPE.test(type)) throw new Refusal(415, "the body must be JSON: send content-type: application/json");
  if (Number(headers["content-length"]) > limit) throw tooLarge(limit);
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity") return UTF8.decode(await collected(stream, limit, "the body was cut"));
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!decoder) throw new Refusal(415, `a body in the encoding "${encoding}" cannot be read; known: ${Object.keys(DECODERS).join(", ")}`);
  const source = pipeline(stream, decoder(), () => {});
  return UTF8.decode(await collected(source, limit, `the body is not ${encoding}, or was cut`));
}

/** By its events: iterating over a stream costs more than most bodies. */
function collected(source: Readable, limit: number, problem: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    source.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else {
        chunks.length = 0;
        reject(tooLarge(limit));
      }
    });
    source.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    source.on("error", (cause) => reject(new Refusal(400, problem, { cause })));
  });
}

const tooLarge = (limit: number): Refusal =>
  new Refusal(413, `the body is larger than ${limit} bytes, the limit of this server (body_limit)`, { headers: { connection: "close" } });
