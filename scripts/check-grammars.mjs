// Every dialect's grammars in real llama.cpp: each compiles, accepts the true calls and refuses the false ones. node-llama-cpp is no
// dependency; without it nothing is checked. Elsewhere installed: NODE_LLAMA_CPP=/path/to/node_modules/node-llama-cpp/dist/index.js
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const bfcl = "../shared/bfcl.jsonl";
const place = process.env.NODE_LLAMA_CPP;

const runtime = await import(place ? pathToFileURL(place).href : "node-llama-cpp").catch((error) => {
  console.log(`skipped: node-llama-cpp is not there (${error.code ?? error.message})`);
  process.exit();
});

/** The sources as they are, without a build. */
async function sources() {
  const folder = mkdtempSync(join(tmpdir(), "grammars-"));
  const outfile = join(folder, "sources.mjs");
  const contents = 'export * from "./src/index.ts"; export * from "./test/dialects/grammar-cases.ts";';
  await build({ stdin: { contents, resolveDir: ".", loader: "ts" }, bundle: true, platform: "node", format: "esm", outfile });
  const loaded = await import(pathToFileURL(outfile).href);
  rmSync(folder, { recursive: true });
  return loaded;
}

const { listDialects, schemaGrammar, bfclCases, ownCases, isUntyped, mutations, trueText, falseText } = await sources();
const llama = await runtime.getLlama({ gpu: false, build: "never", skipDownload: true });
const cases = [...ownCases, ...(existsSync(bfcl) ? bfclCases(bfcl, 100) : [])];

async function objections(dialect, one, choice) {
  const { gbnf } = dialect.grammar(one.tools, choice);
  if (gbnf === "") return []; // no trigger
  const grammar = await llama.createGrammar({ grammar: gbnf });
  const takes = (text) => grammar._testText(text);
  if (choice === "none") return takes(trueText(dialect, one)) || !takes("Hi < there {") ? ["none"] : [];
  return [
    ...[1, 2].filter((times) => !takes(trueText(dialect, one, times))).map((times) => `refuses the true call, ${times} times`),
    ...mutations(one, isUntyped(dialect))
      .filter((wrong) => takes(falseText(dialect, wrong)))
      .map((wrong) => `accepts a wrong one: ${wrong.what}`),
  ];
}

for (const dialect of listDialects().filter(({ grammar }) => grammar)) {
  let bad = 0;
  for (const one of cases) {
    for (const choice of ["auto", "required", { name: one.name }, "none"]) {
      const found = await objections(dialect, one, choice).catch((error) => [`does not compile: ${error.message}`]);
      for (const what of found) console.log(`  ${dialect.id}, ${one.id}, ${JSON.stringify(choice)}: ${what}`);
      bad += found.length;
    }
  }
  console.log(`${dialect.id.padEnd(16)} ${cases.length} tools, ${bad === 0 ? "all right" : `${bad} WRONG`}`);
  if (bad > 0) process.exitCode = 1;
}

for (const one of ownCases)
  for (const { parameters = {} } of one.tools) await llama.createGrammar({ grammar: schemaGrammar(parameters).gbnf });
await llama.dispose();
