/** Decompresses bodies: those of clients, and those of servers that compress although they were asked not to. */
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

const { createBrotliDecompress, createGunzip, createInflate } = zlib;
/** Node has zstd since 22.15. Codex uses it when signed in to ChatGPT. */
const { createZstdDecompress: zstd } = zlib as { createZstdDecompress?: () => Transform };

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  ...(zstd && { zstd }),
};

export const ENCODINGS = Object.keys(UNPACKERS);

/** `header`: the received `content-encoding`. `undefined`: the body is not compressed. */
export function encodingOf(header: string | undefined): string | undefined {
  const encoding = header?.trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? undefined : encoding;
}

/** `undefined`: the encoding is not supported. */
export const unpackerOf = (encoding: string): Transform | undefined =>
  Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding]?.() : undefined;
