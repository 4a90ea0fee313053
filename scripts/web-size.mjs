// What the demo page has to load, and what of it is Dragoman's: minified and gzipped, in bytes. The model and the WebAssembly come on top.
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

const page = 'export { createChat, defineTool } from "./dist/chat/index.js"; export { createWllama } from "./dist/engines/text/wllama.js";';
const shares = { "Dragoman in it": ["ajv", "ajv/*", "ajv-formats"], "with ajv, which checks arguments": [] };
for (const [name, external] of Object.entries(shares)) {
  const options = { bundle: true, minify: true, format: "esm", platform: "browser", target: "es2023", write: false };
  const stdin = { contents: page, resolveDir: "." };
  const { outputFiles } = await bundle({ ...options, stdin, external: ["node:*", "@modelcontextprotocol/*", ...external] });
  row(name, outputFiles[0].contents);
}
