/**
 * Reads the metadata and the list of tensors of a GGUF file, but no tensor data. Nothing in the file is trusted before it is checked: a
 * length may be any number.
 *
 *     GGUF  version u32  tensors u64  pairs u64  { key string  type u32  value }*  { name string  dims u32 u64*  type u32  offset u64 }*
 */
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { type Clues, detectDialect } from "../dialects/detect.ts";

/** `message` completes the sentence "cannot read the file: …". */
export class GgufError extends Error {
  override readonly name = "GgufError";
}

export type GgufValue = string | number | boolean | GgufList;

/** Of a list of lists, or of a great many numbers, only the length is kept. */
export interface GgufList {
  readonly length: number;
  readonly numbers?: readonly number[];
  readonly strings?: readonly string[];
}

export interface GgufTensor {
  readonly name: string;
  readonly dims: readonly number[];
  /** The number of its ggml type. */
  readonly type: number;
  /** Relative to `dataAt`. */
  readonly offset: number;
}

export interface Gguf {
  /** Of the whole file, in bytes. */
  readonly size: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  /** The GGUF type numbers of the metadata's values. */
  readonly types: ReadonlyMap<string, number>;
  /** Empty unless requested. */
  readonly tensors: readonly GgufTensor[];
  /** Where the tensors' data begins. */
  readonly dataAt: number;
}

/** Some models have a second template for tools, which is preferred. */
export const templateOf = ({ metadata }: Gguf): string | undefined =>
  textIn(metadata, "tokenizer.chat_template.tool_use") ?? textIn(metadata, "tokenizer.chat_template");

/**
 * The clues to the dialect of the model in a file. The file's own name may have been changed by more people than the name inside, but it
 * also says more: what was quantized, and from what.
 */
export function cluesIn(path: string, file: Gguf): Clues {
  const inside = textIn(file.metadata, "general.name");
  const template = templateOf(file);
  const model = !inside || detectDialect({ model: basename(path) }) ? path : inside;
  return { model, ...(template === undefined ? {} : { template }) };
}

export function textIn(metadata: Gguf["metadata"], key: string): string | undefined {
  const value = metadata.get(key);
  return typeof value === "string" ? value : undefined;
}

const STRING = 8;
const ARRAY = 9;
/** How to read the types of fixed size, by their numbers. */
const SCALARS: readonly (readonly [size: number, read: (bytes: Buffer) => number | boolean] | undefined)[] = [
  [1, (bytes) => bytes.readUInt8()],
  [1, (bytes) => bytes.readInt8()],
  [2, (bytes) => bytes.readUInt16LE()],
  [2, (bytes) => bytes.readInt16LE()],
  [4, (bytes) => bytes.readUInt32LE()],
  [4, (bytes) => bytes.readInt32LE()],
  [4, (bytes) => bytes.readFloatLE()],
  [1, (bytes) => bytes.readUInt8() !== 0],
  undefined,
  undefined,
  [8, (bytes) => Number(bytes.readBigUInt64LE())],
  [8, (bytes) => Number(bytes.readBigInt64LE())],
  [8, (bytes) => bytes.readDoubleLE()],
];

/** The metadata of real models has some ten megabytes, mostly the vocabulary. */
const MAX_HEAD = 1 << 27;
const MAX_KEY = 1 << 16;
const MAX_TEXT = 1 << 22;
const MAX_DEPTH = 8;
/** More than a vocabulary has. The head of a file has room for a hundred times as many, and reading those would take half a minute. */
const MAX_NUMBERS = 1 << 20;
const MAX_DIMS = 4;
const MAGIC = Buffer.from("GGUF");
const CUT = "it is cut off, or its metadata is broken";
const BROKEN = "its metadata is broken";

/** `undefined`: another kind of file. Throws `GgufError` if the file cannot be read. */
export async function readGguf(path: string, options: { tensors?: boolean } = {}): Promise<Gguf | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead < MAGIC.length || !buffer.equals(MAGIC)) return undefined;
    return await readHead(new Bytes(file, MAGIC.length, Math.min(size, MAX_HEAD)), size, options.tensors ?? false);
  } finally {
    await file.close();
  }
}

async function readHead(bytes: Bytes, size: number, withTensors: boolean): Promise<Gguf> {
  const version = await bytes.u32();
  if (version > 0 && version % 0x10000 === 0) throw new GgufError("its numbers are big-endian; only little-endian files can be read");
  if (version !== 2 && version !== 3) throw new GgufError(`its GGUF version is ${version}; only 2 and 3 can be read`);
  const count = await bytes.u64();
  const pairs = await bytes.u64();
  const metadata = new Map<string, GgufValue>();
  const types = new Map<string, number>();
  for (let i = 0; i < pairs; i++) {
    const key = await bytes.text(MAX_KEY);
    const type = await bytes.u32();
    const value = await readValue(bytes, type);
    if (value === undefined) continue;
    metadata.set(key, value);
    types.set(key, type);
  }
  const tensors: GgufTensor[] = [];
  for (let i = 0; withTensors && i < count; i++) tensors.push(await readTensor(bytes));
  const alignment = metadata.get("general.alignment") ?? 32;
  if (typeof alignment !== "number" || alignment < 8 || alignment > 1 << 20 || !Number.isInteger(Math.log2(alignment))) {
    throw new GgufError("its general.alignment is not a power of two");
  }
  return { size, metadata, types, tensors, dataAt: Math.ceil(bytes.at / alignment) * alignment };
}

/** `undefined`: skipped, because it is too long to be useful. */
async function readValue(bytes: Bytes, type: number, depth = 0): Promise<GgufValue | undefined> {
  const scalar = SCALARS[type];
  if (scalar) return scalar[1](await bytes.take(scalar[0]));
  if (type === STRING) {
    const length = await bytes.u64();
    return length > MAX_TEXT ? bytes.skip(length) : (await bytes.take(length)).toString("utf8");
  }
  if (type !== ARRAY || depth === MAX_DEPTH) throw new GgufError(BROKEN);
  const of = await bytes.u32();
  const length = await bytes.u64();
  const each = SCALARS[of];
  if (each) {
    const [size, read] = each;
    if (length > MAX_NUMBERS) {
      bytes.skip(length * size);
      return { length };
    }
    const all = await bytes.take(length * size);
    return { length, numbers: Array.from({ length }, (_, i) => Number(read(all.subarray(i * size, (i + 1) * size)))) };
  }
  const strings: string[] = [];
  for (let i = 0; i < length; i++) {
    const value = await readValue(bytes, of, depth + 1); // each value takes bytes, so the end of the file ends the loop
    if (typeof value === "string") strings.push(value);
  }
  return of === STRING ? { length, strings } : { length };
}

async function readTensor(bytes: Bytes): Promise<GgufTensor> {
  const name = await bytes.text(MAX_KEY);
  const count = await bytes.u32();
  if (count > MAX_DIMS) throw new GgufError(`its tensor ${name} has ${count} dimensions`);
  const dims: number[] = [];
  for (let i = 0; i < count; i++) dims.push(await bytes.u64());
  return { name, dims, type: await bytes.u32(), offset: await bytes.u64() };
}

const CHUNK = 1 << 20;

/** Reads a range of a file, a chunk at a time. */
class Bytes {
  readonly #file: FileHandle;
  readonly #end: number;
  /** The position of the chunk in the file, and the position in the chunk. */
  #base: number;
  #at = 0;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, from: number, end: number) {
    this.#file = file;
    this.#base = from;
    this.#end = end;
  }

  /** The position in the file. */
  get at(): number {
    return this.#base + this.#at;
  }

  async u32(): Promise<number> {
    return (await this.take(4)).readUInt32LE();
  }

  /** A value that a number cannot represent exactly is larger than any file, so it fails the checks anyway. */
  async u64(): Promise<number> {
    return Number((await this.take(8)).readBigUInt64LE());
  }

  async text(max: number): Promise<string> {
    const length = await this.u64();
    if (length > max) throw new GgufError(BROKEN);
    return (await this.take(length)).toString("utf8");
  }

  skip(length: number): undefined {
    this.#check(length);
    this.#at += length;
  }

  async take(length: number): Promise<Buffer> {
    this.#check(length);
    if (this.#at + length > this.#chunk.length) await this.#fill(length);
    const taken = this.#chunk.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  #check(length: number): void {
    if (this.at + length > this.#end) throw new GgufError(CUT);
  }

  async #fill(length: number): Promise<void> {
    this.#base += this.#at;
    this.#at = 0;
    const buffer = Buffer.alloc(Math.min(Math.max(length, CHUNK), this.#end - this.#base));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#base);
    this.#chunk = buffer.subarray(0, bytesRead);
    if (bytesRead < length) throw new GgufError(CUT);
  }
}
