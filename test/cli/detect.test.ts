// `dragoman detect` on names and files; a file may be wrong in every way.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Detection } from "../../src/index.ts";
import { dragoman, folder } from "./run.ts";

const files = folder();
const home = dirname(files.file("x", ""));

function detected(...args: string[]): Detection {
  const { code, stdout, stderr } = dragoman(["detect", "--json", ...args]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Detection;
}

// ---- GGUF, written by hand

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number | bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const string = (key: string, value: string) => Buffer.concat([text(key), u32(8), text(value)]);
const number = (key: string, value: number) => Buffer.concat([text(key), u32(4), u32(value)]);
const strings = (key: string, values: string[]) => Buffer.concat([text(key), u32(9), u32(8), u64(values.length), ...values.map(text)]);
const numbers = (key: string, count: number) => Buffer.concat([text(key), u32(9), u32(6), u64(count), Buffer.alloc(4 * count)]);

function gguf(
  name: string,
  pairs: Buffer[],
  { version = 3, count = BigInt(pairs.length) }: { version?: number; count?: bigint } = {},
): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.concat([Buffer.from("GGUF"), u32(version), u64(1), u64(count), ...pairs]));
  return path;
}

const GLM = "[gMASK]<sop><tool_call>{{ name }}<arg_key>{{ k }}</arg_key>";
const vocabulary = [
  number("llama.context_length", 4096),
  strings(
    "tokenizer.ggml.tokens",
    Array.from({ length: 50_000 }, (_, i) => `token ${i}`),
  ),
  numbers("tokenizer.ggml.scores", 400_000), // longer than a chunk
];

describe("names", () => {
  test("are explained in words", () => {
    expect(dragoman(["detect", "qwen2.5:7b-instruct-q4_0"])).toEqual({
      code: 0,
      stderr: "",
      stdout: `\
dialect     hermes
variant     qwen2.5-7b-instruct
confidence  likely
why         the name says Qwen2.5
sampling    temperature 0.7, topP 0.8, topK 20, repeatPenalty 1.05 (generation_config.json of Qwen/Qwen2.5-7B-Instruct)
`,
    });
  });
  test("an unknown variant is not reported as the reference", () => {
    expect(dragoman(["detect", "Hermes-4-70B"]).stdout).toMatch(/^variant {5}unknown$/m);
  });
  test("a name may look like a file", () => {
    expect(detected("Qwen3-Coder-30B-A3B-Q4_K_M.gguf")).toMatchObject({ id: "qwen3-coder", variant: "qwen3-coder-30b-a3b-instruct" });
  });
  test("--sample decides if the name does not, or if there is none", () => {
    const sample = files.file("output.txt", "[TOOL_CALLS]f[ARGS]{}");
    expect(detected("mystery", "--sample", sample)).toMatchObject({ id: "mistral" });
    expect(detected("--sample", sample)).toMatchObject({ id: "mistral" });
    const { code, stderr } = dragoman(["detect", "--sample", files.file("prose.txt", "Hello.")]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "dragoman: cannot tell which dialect this output is in: it has no mark of any\n",
    });
  });
  test("a vendor's name may be that of a file here", () => {
    expect(detected("package.json/Qwen3-8B")).toMatchObject({ id: "hermes" });
  });
});

describe("files", () => {
  test("a GGUF, by the template after its vocabulary", () => {
    const path = gguf("a/model.gguf", [string("general.architecture", "glm4moe"), ...vocabulary, string("tokenizer.chat_template", GLM)]);
    expect(detected(path)).toMatchObject({ id: "glm", variant: "glm-4.7-flash", confidence: "certain" });
  });
  test("a GGUF, by its template for tools", () => {
    const templates = [string("tokenizer.chat_template", "{{ messages }}"), string("tokenizer.chat_template.tool_use", GLM)];
    expect(detected(gguf("b/model.gguf", templates))).toMatchObject({ id: "glm" });
  });
  test("a GGUF, by the name inside", () => {
    expect(detected(gguf("c/sha256-dde5aa3f", [string("general.name", "Qwen3 8B Instruct")]))).toMatchObject({ id: "hermes" });
  });
  test("a GGUF, by its file name", () => {
    expect(detected(gguf("d/gpt-oss-20b-mxfp4.gguf", [string("general.name", "Model")]))).toMatchObject({ id: "harmony" });
  });
  test("a tokenizer_config.json, with one template or several", () => {
    expect(detected(files.file("tokenizer_config.json", { chat_template: GLM }))).toMatchObject({ id: "glm" });
    const chat_template = [
      { name: "default", template: "{{ messages }}" },
      { name: "tool_use", template: GLM },
    ];
    expect(detected(files.file("other.json", { chat_template }))).toMatchObject({ id: "glm" });
  });
  test("a template, and a folder with one", () => {
    mkdirSync(join(home, "GLM-4.7"));
    const path = files.file("GLM-4.7/chat_template.jinja", GLM);
    for (const model of [path, dirname(path)]) expect(detected(model)).toMatchObject({ id: "glm", confidence: "certain" });
  });
  test("a folder with a template of any name, or with a GGUF that is not an mmproj", () => {
    mkdirSync(join(home, "j"));
    files.file("j/template.jinja", GLM);
    gguf("k/model.gguf", [string("tokenizer.chat_template", GLM)]);
    gguf("k/a-mmproj.gguf", [string("general.architecture", "clip")]);
    for (const model of ["j", "k"]) expect(detected(join(home, model))).toMatchObject({ id: "glm", confidence: "certain" });
  });
});

test("in a folder, a file without a template is skipped, and the folder's name may decide", () => {
  for (const name of ["DeepSeek-V3.2", "l", "m"]) {
    mkdirSync(join(home, name));
    files.file(`${name}/tokenizer_config.json`, { tokenizer_class: "X" });
  }
  gguf("l/model.gguf", [string("tokenizer.chat_template", GLM)]);
  files.file("m/template.jinja", GLM);
  expect(detected(join(home, "DeepSeek-V3.2"))).toMatchObject({ id: "deepseek-v3.2", confidence: "likely" });
  for (const model of ["l", "m"]) expect(detected(join(home, model))).toMatchObject({ id: "glm", confidence: "certain" });
});

describe("an undetected model is one line, and exit code 2", () => {
  const hint = 'or the model has no tools; "dragoman dialects" lists the known dialects';
  const nowhere = gguf("e/x.gguf", [string("general.architecture", "bert\x1b[31m"), string("general.name", "Nomic Embed")]);
  const odd = gguf("f/x.gguf", [string("tokenizer.chat_template", "{{ messages }}")]);
  const bare = files.file("bare.json", "{}");
  const broken = files.file("broken.jinja.json", "{");
  const page = files.file("page.gguf", "<html>");

  test.each<[string, string | RegExp]>([
    ["bge-m3", `cannot tell what bge-m3 speaks: the name is not known, ${hint}`],
    ["\x1b[31m", `cannot tell what \\x1b[31m speaks: the name is not known, ${hint}`],
    [nowhere, `cannot tell what ${nowhere} speaks: the name is not known (its architecture is bert\\x1b[31m), ${hint}`],
    [odd, `cannot tell what ${odd} speaks: neither its name nor its template is known, ${hint}`],
    ["./models/missing.gguf", "there is no file ./models/missing.gguf, and its name is not known either"],
    ["missing.gguf", "there is no file missing.gguf, and its name is not known either"],
    [page, `cannot tell what ${page} speaks: the file is not a GGUF, and the name is not known, ${hint}`],
    ["docs/examples", `cannot tell what docs/examples speaks: nothing in this folder has a template, and the name is not known, ${hint}`],
    ["owner/missing", `cannot tell what owner/missing speaks: the name is not known, ${hint}`],
    ["nowhere.json", "cannot read nowhere.json: there is no such file"],
    ["nowhere.jinja", "cannot read nowhere.jinja: there is no such file"],
    [bare, `${bare} has no "chat_template"; if there is a chat_template.jinja, give that`],
    ["", "give the name or the file of a model (as in dragoman detect qwen3:8b)"],
    ["x".repeat(5000), `cannot tell what ${"x".repeat(5000)} speaks: the name is not known, ${hint}`],
    ["README.md/x", `cannot tell what README.md/x speaks: the name is not known, ${hint}`],
    [broken, /broken\.jinja\.json is not JSON: \P{Cc}*$/u],
  ])("%j", (model, message) => {
    const { code, stdout, stderr } = dragoman(["detect", model]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    if (typeof message === "string") expect(stderr).toBe(`dragoman: ${message}\n`);
    else expect(stderr.trimEnd()).toMatch(message);
  });
});

describe("a hostile GGUF is one line, and exit code 2", () => {
  const huge = 2n ** 64n - 1n;
  const cut = "it is cut off, or its metadata is broken";
  const nested = Buffer.concat([text("k"), u32(9), ...Array.from({ length: 100 }, () => Buffer.concat([u32(9), u64(1)]))]);

  test.each<[string, string, string]>([
    ["nothing after the magic", gguf("g/1", [], { version: 3, count: 1n }), cut],
    ["a future version", gguf("g/2", [], { version: 4 }), "its GGUF version is 4; only 2 and 3 can be read"],
    ["another byte order", gguf("g/3", [], { version: 3 << 24 }), "its numbers are big-endian; only little-endian files can be read"],
    ["more pairs than there are", gguf("g/4", [number("a", 1)], { count: huge }), cut],
    ["an endless key", gguf("g/5", [u64(huge)]), "its metadata is broken"],
    ["an endless string", gguf("g/6", [Buffer.concat([text("k"), u32(8), u64(huge)])]), cut],
    ["an endless template", gguf("g/7", [Buffer.concat([text("tokenizer.chat_template"), u32(8), u64(1n << 30n)])]), cut],
    ["an endless list", gguf("g/8", [Buffer.concat([text("k"), u32(9), u32(12), u64(huge)])]), cut],
    ["an endless list of strings", gguf("g/9", [Buffer.concat([text("k"), u32(9), u32(8), u64(huge), text("a")])]), cut],
    ["deeply nested lists", gguf("g/10", [nested]), "its metadata is broken"],
    ["an unknown type", gguf("g/11", [Buffer.concat([text("k"), u32(99)])]), "its metadata is broken"],
  ])("%s", (_, path, message) => {
    expect(dragoman(["detect", path])).toEqual({ code: 2, stdout: "", stderr: `dragoman: cannot read ${path}: ${message}\n` });
  });

  test("__proto__ is an ordinary key", () => {
    expect(
      detected(gguf("h/x", [string("__proto__", "x"), string("constructor", "x"), string("general.name", "gpt-oss-20b")])),
    ).toMatchObject({
      id: "harmony",
    });
  });
});
