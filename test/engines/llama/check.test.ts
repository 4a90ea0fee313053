// Damaged model files. Most of these would crash a process that loads them with llama.cpp; here they are errors.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/engines/error.ts";
import { readGguf } from "../../../src/engines/gguf.ts";
import { createLlama } from "../../../src/engines/llama/index.ts";
import { tempFolder } from "../../servers.ts";
import { type Lies, type Metadata, type ModelFile, randomModel, scriptedModel, type Tensor, vocabulary, writeGguf } from "./gguf.ts";

const folder = tempFolder();

const model = randomModel();
const whole = writeGguf(model);

async function complaint(bytes: Uint8Array): Promise<string> {
  const path = join(folder, "model.gguf");
  writeFileSync(path, bytes);
  const error = await createLlama({ model: path, gpu: false, threads: 1 }).then(
    (engine) => engine.close().then(() => "it was loaded"),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(EngineError);
  return (error as EngineError).message;
}

const withMetadata = (changes: Partial<Record<string, Metadata[string]>>): Buffer => {
  const entries = Object.entries({ ...model.metadata, ...changes }).filter(([, value]) => value !== undefined);
  return writeGguf({ ...model, metadata: Object.fromEntries(entries) as Metadata });
};
const withTensor = (name: string, change: Partial<Tensor>): Buffer => {
  const tensors: ModelFile["tensors"] = model.tensors.map((tensor) => (tensor.name === name ? { ...tensor, ...change } : tensor));
  return writeGguf({ ...model, tensors });
};

describe("a file that is not a model is an error", () => {
  test.each<[string, Uint8Array, RegExp]>([
    ["nothing", Buffer.alloc(0), /it is not a GGUF file/],
    ["another kind", Buffer.from("PK\x03\x04 a zip"), /it is not a GGUF file/],
    ["another magic", writeGguf(model, { magic: "GGML" }), /it is not a GGUF file/],
    ["an HTML page", Buffer.from("<!doctype html>"), /it is not a GGUF file/],
  ])("%s", async (_, bytes, message) => {
    expect(await complaint(bytes)).toMatch(message);
  });

  test("a folder, or no model at all", async () => {
    await expect(createLlama({ model: folder })).rejects.toThrow(/it is a folder/);
    for (const nothing of [{}, { model: "" }]) await expect(createLlama(nothing as never)).rejects.toThrow(/no model is named/);
  });
});

describe("a false header is an error", () => {
  test.each<[string, Lies, RegExp]>([
    ["a future version", { version: 4 }, /its GGUF version is 4/],
    ["more pairs than there are", { pairs: 1_000_000 }, /cut off|broken/],
    ["endless pairs", { pairs: 2n ** 63n }, /cut off|broken/],
    ["fewer pairs than there are", { pairs: 5 }, /cut off|broken|lacks|dimensions/],
    ["more tensors than there are", { tensorCount: 100_000 }, /cut off|broken|dimensions/],
    ["endless tensors", { tensorCount: 2n ** 63n }, /cut off|broken|dimensions/],
    ["no tensors", { tensorCount: 0 }, /it has no tensors/],
    ["tensors beyond the end of the file", { shift: 2n ** 40n }, /it is cut off: token_embd/],
    ["tensors at a wrong offset", { shift: 32 }, /cut off|cannot load/],
  ])("%s", async (_, lies, message) => {
    expect(await complaint(writeGguf(model, lies))).toMatch(message);
  });
});

describe("a truncated file is an error", () => {
  const places = [4, 20, 100, 1000, 5000, whole.length >> 1, whole.length - 1];
  test.each(places)("at byte %i", async (at) => {
    expect(await complaint(whole.subarray(0, at))).toMatch(/cut off/);
  });
});

describe("wrong metadata is an error", () => {
  const needed = ["context_length", "embedding_length", "block_count", "feed_forward_length", "attention.head_count"];
  const keys = ["general.architecture", ...needed.map((key) => `gemma3.${key}`), "tokenizer.ggml.model"];
  test.each(keys)("without %s", async (key) => {
    expect(await complaint(withMetadata({ [key]: undefined }))).toContain(`its metadata lacks ${key}`);
  });

  const counts = [...needed.slice(1), "attention.head_count_kv", "attention.key_length", "attention.value_length"];
  test.each(counts)("a %s of 0, or of text", async (key) => {
    for (const value of [0, "many"]) {
      expect(await complaint(withMetadata({ [`gemma3.${key}`]: value }))).toContain(`its gemma3.${key} is not a valid count`);
    }
  });

  test.each<[string, Record<string, Metadata[string]>, RegExp]>([
    ["a thousand blocks", { "gemma3.block_count": 1000 }, /claims to have 1000 blocks/],
    ["no heads in any block", { "gemma3.attention.head_count": { i32: [0, 0] } }, /is not a valid count/],
    ["an odd rotation dimension", { "gemma3.rope.dimension_count": 7 }, /is odd/],
    [
      "a later part of a split model",
      { "split.no": 1, "split.count": 3, "general.architecture": "" },
      /is part 2 of 3: name the first part/,
    ],
    ["parts counted in the wrong type", { "split.count": 3 }, /split.count has the wrong type/],
    ["an alignment of 7", { "general.alignment": 7 }, /alignment/],
    ["no tokens", { "tokenizer.ggml.tokens": [] }, /no vocabulary/],
    ["tokens that are numbers", { "tokenizer.ggml.tokens": { i32: [1, 2] } }, /no vocabulary/],
    ["no vocabulary", { "tokenizer.ggml.model": "none" }, /no vocabulary/],
    ["a duplicate token", { "tokenizer.ggml.tokens": vocabulary.map((token) => (token === "the" ? "th" : token)) }, /1 are duplicates/],
    ["no bytes", { "tokenizer.ggml.tokens": vocabulary.map((token) => token.replace("<0x", "<1x")) }, /lacks \d+ of 256 bytes/],
    ["one more block", { "gemma3.block_count": 3 }, /tensors are missing: it has fewer blocks than its metadata says/],
    // What llama.cpp itself refuses in words is told in its words.
    ["another architecture", { "general.architecture": "bert" }, /lacks bert.context_length/],
    ["too few scores", { "tokenizer.ggml.scores": { f32s: [1, 2] } }, /cannot load model.gguf: /],
  ])("%s", async (_, changes, message) => {
    expect(await complaint(withMetadata(changes))).toMatch(message);
  });
});

describe("a wrong tensor is an error", () => {
  test.each<[string, string, Partial<Tensor>, RegExp]>([
    ["of an unknown type", "token_embd.weight", { type: 99 }, /has an unknown type, 99/],
    ["of whole numbers", "blk.0.attn_q.weight", { type: 26 }, /llama.cpp cannot compute with/],
    ["of quantized norms", "output_norm.weight", { type: 8 }, /llama.cpp cannot compute with/],
    ["that are empty", "token_embd.weight", { dims: [64, 0] }, /is empty/],
    ["of five dimensions", "token_embd.weight", { dims: [2, 2, 2, 2, 2] }, /has 5 dimensions/],
    ["larger than any file", "token_embd.weight", { dims: [2 ** 40, 2 ** 12] }, /cut off/],
    ["with rows that are not whole blocks", "token_embd.weight", { dims: [63, 100], type: 8 }, /not a multiple of the block size 32/],
    ["the first is missing", "token_embd.weight", { name: "other.weight" }, /has no token_embd.weight/],
    ["of another shape", "output.weight", { dims: [32, 10] }, /cannot load model.gguf: /],
  ])("%s", async (_, name, change, message) => {
    expect(await complaint(withTensor(name, change))).toMatch(message);
  });
});

test.each([
  ["NVFP4", 40, 64, 36],
  ["Q1_0", 41, 128, 18],
  ["Q2_0", 42, 64, 18],
])("weights of a newer quantization are loaded: %s", async (name, type, values, bytes) => {
  const { metadata, tensors } = scriptedModel(["Hi", "<end_of_turn>"]);
  const quantized = tensors.map((tensor) => {
    if (tensor.name !== "blk.0.ffn_up.weight") return tensor;
    return { ...tensor, type, data: new Uint8Array((tensor.dims.reduce((a, b) => a * b) / values) * bytes) };
  });
  const path = join(folder, `${name}.gguf`);
  writeFileSync(path, writeGguf({ metadata, tensors: quantized }));
  const engine = await createLlama({ model: path, gpu: false, threads: 1 });
  await engine.close();
});

test("of a list with more numbers than any vocabulary, only the length is kept", async () => {
  const path = join(folder, "long.gguf");
  const long = { i32: Array.from({ length: (1 << 20) + 1 }, () => 1) };
  writeFileSync(path, writeGguf({ metadata: { short: { i32: [1, 2] }, long, behind: "it" }, tensors: [] }));
  const { metadata } = (await readGguf(path)) ?? {};
  expect(Object.fromEntries(metadata ?? [])).toEqual({
    short: { length: 2, numbers: [1, 2] },
    long: { length: long.i32.length },
    behind: "it",
  });
});

test("a vocabulary may have empty tokens", async () => {
  const tokens = vocabulary.map((token) => (token === "the" || token === "ing" ? "" : token));
  const path = join(folder, "empty.gguf");
  writeFileSync(path, withMetadata({ "tokenizer.ggml.tokens": tokens }));
  const engine = await createLlama({ model: path, gpu: false, threads: 1 });
  await engine.close();
});

test("the same file, unchanged, is loaded", async () => {
  const path = join(folder, "good.gguf");
  writeFileSync(path, whole);
  const engine = await createLlama({ model: path, gpu: false, threads: 1 });
  await engine.close();
});
