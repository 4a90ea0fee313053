/** Looks at a GGUF before llama.cpp does, which ends the process where a file is not what it expects. */
import { basename } from "node:path";
import { EngineError } from "../error.ts";
import { type Gguf, GgufError, type GgufTensor, type GgufValue, readGguf, textIn } from "../gguf.ts";

/** Throws `EngineError` with what is wrong. */
export async function checkGguf(path: string): Promise<Gguf> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new EngineError({ code: "bad-request", message: `cannot load ${basename(path)}: ${why}` }, { cause });
  };
  try {
    const file = await readGguf(path, { tensors: true });
    if (!file) return refuse("it is no GGUF");
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

/** What llama.cpp would stumble over. */
function objection(file: Gguf): string | undefined {
  return ofArchitecture(file) ?? ofVocabulary(file) ?? ofTensors(file);
}

// ---- Architecture

/** Without attention, and so without heads. */
const RECURRENT = /^(mamba|rwkv|arwkv)/;
/** What is no language model. */
const OTHERS: Readonly<Record<string, string>> = {
  clip: "it only sees images, for another model",
  "wavtokenizer-dec": "it only makes sounds",
};

function ofArchitecture({ metadata }: Gguf): string | undefined {
  const architecture = textIn(metadata, "general.architecture");
  if (!architecture) return "it does not say its general.architecture";
  if (Object.hasOwn(OTHERS, architecture)) return OTHERS[architecture];
  const keys = ["context_length", "embedding_length", "block_count"];
  if (!RECURRENT.test(architecture)) keys.push("feed_forward_length", "attention.head_count");
  for (const key of keys.map((key) => `${architecture}.${key}`)) {
    const value = metadata.get(key);
    if (value === undefined) return `it does not say its ${key}`;
    if (!isCount(value)) return `its ${key} is no count`;
  }
  const blocks = metadata.get(`${architecture}.block_count`);
  const [heads, kvHeads] = ["head_count", "head_count_kv"].map((key) => metadata.get(`${architecture}.attention.${key}`));
  for (const list of [heads, kvHeads]) {
    if (typeof list === "object" && list.length !== blocks) return `it has ${blocks} blocks, and heads for ${list.length}`;
  }
  if (typeof heads === "number" && typeof kvHeads === "number" && (kvHeads === 0 || heads % kvHeads !== 0))
    return `${heads} heads cannot share ${kvHeads} keys`;
  return undefined;
}

const MAX_COUNT = 2 ** 31;
const isCount = (value: GgufValue): boolean => {
  const numbers = typeof value === "object" ? (value.numbers ?? []) : [value];
  return (
    numbers.length > 0 &&
    numbers.every((n) => typeof n === "number" && Number.isInteger(n) && n >= 0 && n < MAX_COUNT) &&
    numbers.some((n) => n !== 0)
  );
};

// ---- Vocabulary

const BYTE = 6;

function ofVocabulary({ metadata }: Gguf): string | undefined {
  const model = textIn(metadata, "tokenizer.ggml.model");
  if (model === undefined) return "it does not say its tokenizer.ggml.model";
  const tokens = metadata.get("tokenizer.ggml.tokens");
  if (typeof tokens !== "object" || tokens.numbers || tokens.length === 0) return "it has no vocabulary";
  for (const key of ["tokenizer.ggml.scores", "tokenizer.ggml.token_type"]) {
    const list = metadata.get(key);
    if (list === undefined) continue;
    if (typeof list !== "object" || !list.numbers) return `its ${key} is no list of numbers`;
    if (list.length !== tokens.length) return `its vocabulary has ${tokens.length} tokens, and its ${key} ${list.length}`;
  }
  for (const [key, id] of metadata) {
    if (!/^tokenizer\.ggml\.\w+_token_id$/.test(key)) continue;
    if (typeof id !== "number" || id >= tokens.length) return `its ${key} is no token of its vocabulary`;
  }
  const types = metadata.get("tokenizer.ggml.token_type");
  if (model === "llama" && typeof types === "object" && types.numbers) {
    const bytes = types.numbers.filter((type) => type === BYTE).length;
    if (bytes !== 256) return `its vocabulary has ${bytes} of 256 bytes, so not every text can be said in it`;
  }
  return undefined;
}

// ---- Tensors

/** Of ggml's types: how many values a block has, and how many bytes. */
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
};

function ofTensors({ tensors, dataAt, size, metadata }: Gguf): string | undefined {
  if (tensors.length === 0) return "it has no tensors";
  const split = metadata.get("split.count");
  const first = tensors.find(({ name }) => name === "token_embd.weight");
  if (!first && (split === undefined || split === 0)) return "it has no token_embd.weight";
  for (const tensor of tensors) {
    const length = lengthOf(tensor);
    if (typeof length === "string") return `its tensor ${tensor.name} ${length}`;
    if (dataAt + tensor.offset + length > size)
      return `it is cut off: ${tensor.name} ends at byte ${dataAt + tensor.offset + length}, and the file at ${size}`;
  }
  return undefined;
}

function lengthOf({ dims, type }: GgufTensor): number | string {
  const [values, bytes] = TYPES[type] ?? [0, 0];
  if (values === 0) return `is of an unknown type, ${type}`;
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (dims.length === 0 || count === 0) return "is empty";
  return (dims[0] ?? 0) % values === 0 ? (count / values) * bytes : `has rows of ${dims[0]}, which blocks of ${values} do not fill`;
}
