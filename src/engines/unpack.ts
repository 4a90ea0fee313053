/** Bodies that come compressed: those of clients, and those of servers that were asked not to. */
import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

const { createBrotliDecompress, createGunzip, createInflate } = zlib;
/** Node has it since 22.15. Codex compresses so, where it is signed in to ChatGPT. */
const { createZstdDecompress: zstd } = zlib as { createZstdDecompress?: () => Transform };

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  ...(zstd && { zstd }),
};

export const ENCODINGS = Object.keys(UNPACKERS);

/** `content-encoding` as it came; `undefined`: nothing is compressed. */
export function encodingOf(header: string | undefined): string | undefined {
  const encoding = header?.trim().toLowerCase();
  return encoding === "" || encoding === "identity" ? undefined : encoding;
}

/** `undefined`: nobody here reads that. */
export const unpackerOf = (encoding: string): Transform | undefined =>
  Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding]?.() : undefined;
