// The size of what the demo page loads, and Dragoman's share of it: minified and gzipped, in bytes, without the model and the WebAssembly.
import { gzipSync } from "node:zlib";
import { build as bundle } from "esbuild";
import { build } from "vite";

const row = (name, code) => {
  const bytes = Buffer.from(code);
  console.log(
    `${name.padEnd(44)} ${String(bytes.length).padStart(10)} bytes, ${String(gzipSync(bytes, { level: 9 }).length).padStart(9)} gzipped`,
  );
};

const { output } = await build({ configFile: "examples/web/vite.config.mjs", logLevel: "error", build: { write: false } });
for (const { fileName, code, source } of output) row(fileName.replace(/-[\w-]{8}(?=\.\w+$)/, ""), code ?? source);

const page = `
  export { createChat, defineTool } from "./dist/chat/browser.js";
  export { createWllama } from "./dist/engines/text/wllama.js";
  export { gemma4 } from "./dist/dialects/gemma4.js";`;
const withGrammar = `${page} export { withGrammar } from "./dist/index.js";`;
const shares = [
  ["Dragoman in it", withGrammar],
  ["without the grammar", page],
  ["with every dialect instead", `${page} export { getDialect } from "./dist/index.js";`],
  ["and with detection", `${page} export { getDialect, detectDialect } from "./dist/index.js";`],
];
for (const [name, contents] of shares) {
  const options = { bundle: true, minify: true, format: "esm", platform: "browser", target: "es2023", write: false };
  const stdin = { contents, resolveDir: "." };
  const { outputFiles } = await bundle({ ...options, stdin, external: ["node:*", "@modelcontextprotocol/*"] });
  row(name, outputFiles[0].contents);
}
