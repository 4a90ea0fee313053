/**
 * What a GGUF file says about itself: its name, its architecture, its chat template. Only the metadata at its head is walked, never a
 * tensor, and nothing of what the file claims is believed before it is checked: a length may be any number.
 *
 *     GGUF  version u32  tensors u64  pairs u64  { key string  type u32  value }*
 */
import { type FileHandle, open } from "node:fs/promises";
import { Complaint } from "./complaint.ts";

export interface GgufFacts {
  name?: string;
  architecture?: string;
  template?: string;
  /** Some models have a second template, for tools. */
  toolTemplate?: string;
}

const WANTED: Readonly<Record<string, keyof GgufFacts>> = {
  "general.name": "name",
  "general.architecture": "architecture",
  "tokenizer.chat_template": "template",
  "tokenizer.chat_template.tool_use": "toolTemplate",
};

/** Sizes of the types with a fixed size, by their numbers. */
const SIZES: readonly (number | undefined)[] = [1, 1, 2, 2, 4, 4, 4, 1, undefined, undefined, 8, 8, 8];
const STRING = 8;
const ARRAY = 9;

/** Metadata of real models has some ten megabytes: the vocabulary. */
const MAX_METADATA = 1 << 26;
const MAX_KEY = 1 << 16;
const MAX_TEXT = 1 << 22;
const MAX_DEPTH = 8;
const MAGIC = Buffer.from("GGUF");

/** The facts of a GGUF file; undefined: it is another kind of file. */
export async function readGguf(path: string): Promise<GgufFacts | undefined> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (bytesRead < MAGIC.length || !buffer.equals(MAGIC)) return undefined;
    return await readFacts(new Bytes(file, MAGIC.length, Math.min(size, MAX_METADATA)));
  } finally {
    await file.close();
  }
}

async function readFacts(bytes: Bytes): Promise<GgufFacts> {
  const version = await bytes.u32();
  if (version !== 2 && version !== 3) throw new Complaint(`its GGUF version is ${version}; 2 and 3 can be read, in little-endian order`);
  await bytes.u64(); // how many tensors
  const pairs = await bytes.u64();
  const facts: GgufFacts = {};
  for (let i = 0; i < pairs; i++) {
    const key = await bytes.text(MAX_KEY);
    const type = await bytes.u32();
    const fact = Object.hasOwn(WANTED, key) ? WANTED[key] : undefined;
    if (fact && type === STRING) facts[fact] = await bytes.text(MAX_TEXT);
    else await skip(bytes, type);
  }
  return facts;
}

async function skip(bytes: Bytes, type: number, depth = 0): Promise<void> {
  const size = SIZES[type];
  if (size !== undefined) return bytes.skip(size);
  if (type === STRING) return bytes.skip(await bytes.u64());
  if (type !== ARRAY || depth === MAX_DEPTH) throw new Complaint("its metadata is broken");
  const of = await bytes.u32();
  const count = await bytes.u64();
  const each = SIZES[of];
  if (each !== undefined) return bytes.skip(count * each);
  for (let i = 0; i < count; i++) await skip(bytes, of, depth + 1); // each takes bytes, so the end of the file ends it
}

const CHUNK = 1 << 20;

/** A file from one place to another, a chunk at a time. */
class Bytes {
  readonly #file: FileHandle;
  readonly #end: number;
  /** The place of the chunk in the file, and the place in the chunk. */
  #base: number;
  #at = 0;
  #chunk: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, from: number, end: number) {
    this.#file = file;
    this.#base = from;
    this.#end = end;
  }

  async u32(): Promise<number> {
    return (await this.#take(4)).readUInt32LE();
  }

  /** Where it is more than a number can hold, it is more than any file has. */
  async u64(): Promise<number> {
    return Number((await this.#take(8)).readBigUInt64LE());
  }

  async text(max: number): Promise<string> {
    const length = await this.u64();
    if (length > max) throw new Complaint("its metadata is broken");
    return (await this.#take(length)).toString("utf8");
  }

  skip(length: number): void {
    this.#check(length);
    this.#at += length;
  }

  async #take(length: number): Promise<Buffer> {
    this.#check(length);
    if (this.#at + length > this.#chunk.length) await this.#fill(length);
    const taken = this.#chunk.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  #check(length: number): void {
    if (this.#base + this.#at + length > this.#end) throw new Complaint("it is cut off, or its metadata is broken");
  }

  async #fill(length: number): Promise<void> {
    this.#base += this.#at;
    this.#at = 0;
    const buffer = Buffer.alloc(Math.min(Math.max(length, CHUNK), this.#end - this.#base));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, this.#base);
    this.#chunk = buffer.subarray(0, bytesRead);
    if (bytesRead < length) throw new Complaint("it is cut off, or its metadata is broken");
  }
}
