/**
 * Tokenizes prompts of the generator with llama.cpp and with tokenizer.py, and compares:
 *
 *     node models/tiny/check-tokenizer.mjs models/tiny/dragoman-tiny.gguf [300]
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { getLlama } from "node-llama-cpp";

const [file, count = "300"] = process.argv.slice(2);
const here = fileURLToPath(new URL(".", import.meta.url));
const script = `
import json, sys
from generate import Generator
from tokenizer import Tokenizer
generator, tokenizer = Generator(4), Tokenizer.load()
for _ in range(int(sys.argv[1])):
    text = "".join(text for text, _ in generator.conversation()["spans"])
    print(json.dumps({"text": text, "ids": tokenizer.encode(text)}))
`;
const { stdout } = spawnSync(process.platform === "win32" ? "python" : "python3", ["-c", script, count], {
  cwd: here,
  encoding: "utf8",
  maxBuffer: 1 << 28,
});
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error" });
const model = await llama.loadModel({ modelPath: file });
let different = 0;
const lines = stdout.split("\n").filter(Boolean);
for (const line of lines) {
  const { text, ids } = JSON.parse(line);
  const theirs = model.tokenize(text, true);
  if (theirs.length === ids.length && theirs.every((id, i) => id === ids[i])) continue;
  different++;
  const at = ids.findIndex((id, i) => id !== theirs[i]);
  console.log(
    `at token ${at}: ${JSON.stringify(ids.slice(at - 3, at + 5))} here, ${JSON.stringify(theirs.slice(at - 3, at + 5))} in llama.cpp: ${JSON.stringify(model.detokenize(theirs.slice(at - 3, at + 8), true))}`,
  );
}
console.log(`${lines.length} prompts, ${different} tokenized differently`);
await llama.dispose();
process.exit(lines.length > 0 && different === 0 ? 0 : 1);
