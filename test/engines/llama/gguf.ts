// Writes a GGUF: a model with random weights, Gemma 3's architecture, and an SPM vocabulary with the control tokens of two dialects. Its
// output means nothing, but it is loaded, prompted, streamed, constrained and stopped like any other.

/** A metadata value: numbers are u32, lists have one type. */
export type Value =
  | string
  | number
  | boolean
  | { f32: number }
  | { i32: readonly number[] }
  | { f32s: readonly number[] }
  | readonly string[];
export type Metadata = Record<string, Value>;

export interface Tensor {
  name: string;
  dims: readonly number[];
  /** The number of the ggml type: 0 is f32. */
  type: number;
  data: Uint8Array;
}

export interface ModelFile {
  metadata: Metadata;
  tensors: Tensor[];
}

// ---- Bytes

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const f32 = (values: readonly number[]): Buffer => Buffer.from(Float32Array.from(values).buffer);
const text = (value: string): Buffer => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

/** The number of a type, and the bytes of a value of it. */
function typed(value: Value): readonly [type: number, bytes: Buffer] {
  if (typeof value === "string") return [8, text(value)];
  if (typeof value === "number") return [4, u32(value)];
  if (typeof value === "boolean") return [7, Buffer.from([value ? 1 : 0])];
  if ("i32" in value) return list(5, value.i32.length, Buffer.from(Int32Array.from(value.i32).buffer));
  if ("f32s" in value) return list(6, value.f32s.length, f32(value.f32s));
  if ("f32" in value) return [6, f32([value.f32])];
  return list(8, value.length, Buffer.concat(value.map(text)));
}
const list = (type: number, length: number, bytes: Buffer) => [9, Buffer.concat([u32(type), u64(length), bytes])] as const;

const ALIGNMENT = 32;
const padding = (length: number): Buffer => Buffer.alloc((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT);

export interface Lies {
  version?: number;
  magic?: string;
  /** How many pairs and tensors the header claims. */
  pairs?: number | bigint;
  tensorCount?: number | bigint;
  /** Added to the offsets of the tensors. */
  shift?: number | bigint;
}

export function writeGguf({ metadata, tensors }: ModelFile, lies: Lies = {}): Buffer {
  const { version = 3, magic = "GGUF", pairs = Object.keys(metadata).length, tensorCount = tensors.length, shift = 0 } = lies;
  const head = [Buffer.from(magic), u32(version), u64(tensorCount), u64(pairs)];
  for (const [key, value] of Object.entries(metadata)) {
    const [type, bytes] = typed(value);
    head.push(text(key), u32(type), bytes);
  }
  const body: Buffer[] = [];
  let offset = 0;
  for (const { name, dims, type, data } of tensors) {
    head.push(text(name), u32(dims.length), ...dims.map(u64), u32(type), u64(BigInt(offset) + BigInt(shift)));
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    body.push(bytes, padding(bytes.length));
    offset += bytes.length + padding(bytes.length).length;
  }
  const header = Buffer.concat(head);
  return Buffer.concat([header, padding(header.length), ...body]);
}

// ---- Models

const CONTROL = [
  ...["<start_of_turn>", "<end_of_turn>", "<start_function_declaration>", "<end_function_declaration>", "<start_function_call>"],
  ...["<end_function_call>", "<start_function_response>", "<end_function_response>", "<escape>", "<|turn>", "<turn|>", "<|channel>"],
  ...["<channel|>", "<|think|>", "<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>", '<|"|>'],
];
const BYTES = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);
/** How SPM writes a blank. */
const ASCII = ["▁", ...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))];
const WORDS = ["he", "th", "in", "er", "the", "call", "ing", "am", "model"];

export const vocabulary: readonly string[] = ["<pad>", "<eos>", "<bos>", "<unk>", ...CONTROL, ...BYTES, ...ASCII, "\n", ...WORDS];

/** Token types: 1 normal, 2 unknown, 3 control, 6 byte. */
const kindOf = (token: string, id: number): number => (id === 3 ? 2 : id < 4 + CONTROL.length ? 3 : BYTES.includes(token) ? 6 : 1);

interface Size {
  width: number;
  blocks: number;
  heads: number;
  kvHeads: number;
  head: number;
  ff: number;
  context: number;
}

const metadataOf = (tokens: readonly string[], { width, blocks, heads, kvHeads, head, ff, context }: Size): Metadata => ({
  "general.architecture": "gemma3",
  "general.name": "Random FunctionGemma",
  "gemma3.context_length": context,
  "gemma3.embedding_length": width,
  "gemma3.block_count": blocks,
  "gemma3.feed_forward_length": ff,
  "gemma3.attention.head_count": heads,
  "gemma3.attention.head_count_kv": kvHeads,
  "gemma3.attention.key_length": head,
  "gemma3.attention.value_length": head,
  "gemma3.attention.layer_norm_rms_epsilon": { f32: 1e-6 },
  "gemma3.rope.freq_base": { f32: 10_000 },
  "tokenizer.ggml.model": "llama",
  "tokenizer.ggml.tokens": tokens,
  "tokenizer.ggml.scores": { f32s: tokens.map((token, id) => (WORDS.includes(token) ? -id : -1000)) },
  "tokenizer.ggml.token_type": { i32: tokens.map(kindOf) },
  "tokenizer.ggml.padding_token_id": 0,
  "tokenizer.ggml.eos_token_id": 1,
  "tokenizer.ggml.bos_token_id": 2,
  "tokenizer.ggml.unknown_token_id": 3,
  "tokenizer.ggml.add_bos_token": true,
  "tokenizer.ggml.add_space_prefix": false,
});

/** A tensor's value, by its row and its place in the row. */
type Fill = (row: number, at: number) => number;

function modelOf(tokens: readonly string[], size: Size, fill: (name: string) => Fill): ModelFile {
  const { width, blocks, heads, kvHeads, head, ff } = size;
  const tensor = (name: string, dims: readonly number[], value: Fill): Tensor => {
    const [row = 1] = dims;
    const data = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, i) => value(Math.floor(i / row), i % row));
    return { name: `${name}.weight`, dims, type: 0, data: new Uint8Array(data.buffer) };
  };
  const matrix = (name: string, ...dims: number[]) => tensor(name, dims, fill(name));
  const norm = (name: string, length = width) => tensor(name, [length], () => 1);
  const block = (at: string): Tensor[] => [
    ...[norm(`${at}.attn_norm`), norm(`${at}.attn_q_norm`, head), norm(`${at}.attn_k_norm`, head)],
    ...[norm(`${at}.post_attention_norm`), norm(`${at}.ffn_norm`), norm(`${at}.post_ffw_norm`)],
    ...[matrix(`${at}.attn_q`, width, heads * head), matrix(`${at}.attn_k`, width, kvHeads * head)],
    ...[matrix(`${at}.attn_v`, width, kvHeads * head), matrix(`${at}.attn_output`, heads * head, width)],
    ...[matrix(`${at}.ffn_gate`, width, ff), matrix(`${at}.ffn_up`, width, ff), matrix(`${at}.ffn_down`, ff, width)],
  ];
  const ends = [matrix("token_embd", width, tokens.length), matrix("output", width, tokens.length), norm("output_norm")];
  return { metadata: metadataOf(tokens, size), tensors: [...ends, ...Array.from({ length: blocks }, (_, i) => block(`blk.${i}`)).flat()] };
}

/** The same weights for the same seed. The vocabulary is filled up with unused tokens to the requested size. */
export function randomModel(seed = 1, size = vocabulary.length): ModelFile {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
  const more = Array.from({ length: size - vocabulary.length }, (_, i) => `{${i}}`);
  return modelOf([...vocabulary, ...more], { width: 64, blocks: 2, heads: 2, kvHeads: 1, head: 32, ff: 96, context: 2048 }, () => random);
}

/**
 * A model that says these tokens, whatever the prompt: each is followed by the next, and the first follows a line break, with which prompts
 * end, or the token named by `after`. So no token may occur twice. They need not be in the vocabulary. If a grammar forbids the next one,
 * the model may say anything.
 */
export function scriptedModel(script: readonly string[], after: Readonly<Record<string, readonly string[]>> = {}): ModelFile {
  const scripts = Object.entries({ "\n": script, ...after });
  const tokens = [...new Set([...vocabulary, ...scripts.flatMap(([, said]) => said)])];
  const next = new Map(
    scripts.flatMap(([start, said]) => said.map((token, i) => [tokens.indexOf(said[i - 1] ?? start), tokens.indexOf(token)])),
  );
  const size = { width: 512, blocks: 1, heads: 1, kvHeads: 1, head: 32, ff: 32, context: 2048 };
  return modelOf(tokens, size, (name) => {
    if (name === "token_embd") return (row, at) => (row === at ? 1 : 0);
    if (name === "output") return (row, at) => (next.get(at) === row ? 1 : 0);
    return () => 0;
  });
}

/** A model that asks for the weather in Paris and, given the result, says it. */
export const speaker = (): ModelFile =>
  scriptedModel(
    ["<start_function_call>", "call:get_weather{city:", "<escape>", "Paris<escape>}", "<end_function_call>", "<start_function_response>"],
    { "<end_function_response>": ["It is ", "sunny", " in Paris.", "<end_of_turn>"] },
  );
