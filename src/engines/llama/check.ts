/** Checks a GGUF before llama.cpp loads it, since llama.cpp ends the process if a file is not what it expects. */
import { basename } from "node:path";
import { EngineError } from "../error.ts";
import { type Gguf, GgufError, type GgufTensor, type GgufValue, readGguf, textIn } from "../gguf.ts";

/** Throws an `EngineError` that says what is wrong. */
export async function checkGguf(path: string): Promise<Gguf> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new EngineError({ code: "bad-request", message: `cannot load ${basename(path)}: ${why}` }, { cause });
  };
  try {
    const file = await readGguf(path, { tensors: true });
    if (!file) return refuse("it is not a GGUF file");
    const wrong = objection(file);
    return wrong === undefined ? file : refuse(wrong);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    return refuse(error instanceof GgufError ? error.message : readingFault(error), error);
  }
}

function readingFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : message;
}

/** The first thing that llama.cpp could not handle. */
function objection(file: Gguf): string | undefined {
  return ofArchitecture(file) ?? ofVocabulary(file) ?? ofTensors(file);
}

// ---- Architecture

/** Architectures without attention, and so without heads. */
const RECURRENT = /^(mamba|rwkv|arwkv)/;
const MAX_COUNT = 2 ** 31;
const MAX_BLOCKS = 512;

function ofArchitecture({ metadata, types }: Gguf): string | undefined {
  const part = Number(metadata.get("split.no") ?? 0);
  if (part > 0) return `it is part ${part + 1} of ${metadata.get("split.count")}: name the first part instead`;
  const architecture = textIn(metadata, "general.architecture");
  if (!architecture) return "its metadata lacks general.architecture";
  const of = (key: string): GgufValue | undefined => metadata.get(`${architecture}.${key}`);
  const hasExperts = of("expert_feed_forward_length") !== undefined;
  const needed = ["context_length", "embedding_length", "block_count"];
  if (!RECURRENT.test(architecture)) needed.push("attention.head_count", ...(hasExperts ? [] : ["feed_forward_length"]));
  const missing = needed.find((key) => of(key) === undefined);
  if (missing) return `its metadata lacks ${architecture}.${missing}`;
  const counts = [...needed, "attention.head_count_kv", "attention.key_length", "attention.value_length"];
  const wrong = counts.find((key) => of(key) !== undefined && key !== "context_length" && !isCount(of(key)!));
  if (wrong && !RECURRENT.test(architecture)) return `its ${architecture}.${wrong} is not a valid count`;
  if (Number(of("block_count")) > MAX_BLOCKS) return `it claims to have ${of("block_count")} blocks`;
  const odd = ["rope.dimension_count", "attention.key_length"].find((key) => Number(of(key) ?? 0) % 2 === 1);
  if (odd) return `its ${architecture}.${odd} is odd`;
  // llama.cpp reads these keys as values of a fixed type.
  const split = Object.entries(SPLIT).find(([key, type]) => types.has(key) && types.get(key) !== type);
  return split && `its ${split[0]} has the wrong type`;
}

const SPLIT = { "split.no": 2, "split.count": 2, "split.tensors.count": 5 };

const isCount = (value: GgufValue): boolean => {
  const numbers = typeof value === "object" ? (value.numbers ?? []) : [value];
  const whole = numbers.every((n) => typeof n === "number" && Number.isInteger(n) && n >= 0 && n < MAX_COUNT);
  return whole && numbers.some((n) => n !== 0); // a list has one count per block, and 0 for blocks without attention
};

// ---- Vocabulary

/** Vocabularies that are unfit for prompts. */
const NO_TEXT: readonly string[] = ["none", "no_vocab", "bert"];
const BYTES = Array.from({ length: 256 }, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`);

function ofVocabulary({ metadata }: Gguf): string | undefined {
  const model = textIn(metadata, "tokenizer.ggml.model");
  if (model === undefined) return "its metadata lacks tokenizer.ggml.model";
  const tokens = metadata.get("tokenizer.ggml.tokens");
  if (NO_TEXT.includes(model) || typeof tokens !== "object" || !tokens.strings?.length) return "it has no vocabulary for text";
  const known = new Set(tokens.strings.map((token, i) => token || `[EMPTY_${i}]`)); // llama.cpp's name for an empty token
  if (known.size !== tokens.length) return `its vocabulary has ${tokens.length} tokens, but ${tokens.length - known.size} are duplicates`;
  if (model !== "llama") return undefined;
  const missing = BYTES.filter((byte, i) => !known.has(byte) && !(i < 128 && known.has(String.fromCharCode(i)))).length;
  return missing === 0 ? undefined : `its vocabulary lacks ${missing} of 256 bytes, so it cannot express every text`;
}

// ---- Tensors

/** For each ggml type: how many values a block has, and how many bytes. */
const TYPES: Readonly<Record<number, readonly [values: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
  40: [64, 36],
  41: [128, 18],
  42: [64, 18],
};

/** f32, f16 and bf16: the types that norms and biases may have. */
const NUMBERS: ReadonlySet<number> = new Set([0, 1, 30]);
const INTEGERS: ReadonlySet<number> = new Set([24, 25, 26, 27, 28]);
const WEIGHTS = /^(token_embd|output|blk\.\d+\.(attn|ffn)_(q|k|v|qkv|output|gate|up|down))\.weight$/;

function ofTensors({ tensors, dataAt, size, metadata }: Gguf): string | undefined {
  if (tensors.length === 0) return "it has no tensors";
  const split = metadata.get("split.count");
  const first = tensors.find(({ name }) => name === "token_embd.weight");
  const isWhole = split === undefined || split === 0;
  if (!first && isWhole) return "it has no token_embd.weight";
  if (isWhole && lacksLastBlock(tensors, metadata)) return "tensors are missing: it has fewer blocks than its metadata says";
  for (const tensor of tensors) {
    if (!NUMBERS.has(tensor.type) && (tensor.dims.length === 1 || (INTEGERS.has(tensor.type) && WEIGHTS.test(tensor.name)))) {
      return `its tensor ${tensor.name} has type ${tensor.type}, which llama.cpp cannot compute with`;
    }
    const length = lengthOf(tensor);
    if (typeof length === "string") return `its tensor ${tensor.name} ${length}`;
    if (dataAt + tensor.offset + length > size)
      return `it is cut off: ${tensor.name} ends at byte ${dataAt + tensor.offset + length}, but the file ends at ${size}`;
  }
  return undefined;
}

/** Models with blocks for multi-token prediction are not checked, since those blocks may be left out. */
function lacksLastBlock(tensors: readonly GgufTensor[], metadata: Gguf["metadata"]): boolean {
  const architecture = textIn(metadata, "general.architecture");
  const of = (key: string): GgufValue | undefined => metadata.get(`${architecture}.${key}`);
  const has = (block: number): boolean => tensors.some(({ name }) => name.startsWith(`blk.${block}.`));
  return !of("nextn_predict_layers") && has(0) && !has(Number(of("block_count")) - 1);
}

function lengthOf({ dims, type }: GgufTensor): number | string {
  const [values, bytes] = TYPES[type] ?? [0, 0];
  if (values === 0) return `has an unknown type, ${type}`;
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (dims.length === 0 || count === 0) return "is empty";
  return (dims[0] ?? 0) % values === 0 ? (count / values) * bytes : `has rows of ${dims[0]}, not a multiple of the block size ${values}`;
}
