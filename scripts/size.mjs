// What a web page pays: each entry bundled on its own, minified and gzipped, against its limit in bytes.
import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const core = readdirSync("dist/core")
  .filter((file) => file.endsWith(".js"))
  .map((file) => `core/${file}`);
const dialects = ["functiongemma", "gemma4", "json"].map((id) => `dialects/${id}.js`);

const entries = [
  {
    name: "core, scan helpers, three dialects",
    limit: 16_000,
    files: [...core, ...dialects],
    helpers: "scanText, scanStream, scannerStream",
  },
  { name: "dragoman/dialects/gemma4", limit: 8_000, files: ["dialects/gemma4.js"] },
];

async function gzippedSize({ files, helpers }) {
  const lines = files.map((file, i) => `export * as m${i} from "./dist/${file}";`); // "as": a name in two files is counted twice, not dropped
  if (helpers) lines.push(`export { ${helpers} } from "./dist/index.js";`);
  const { outputFiles } = await build({
    stdin: { contents: lines.join("\n"), resolveDir: "." },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  return gzipSync(outputFiles[0].contents, { level: 9 }).length;
}

for (const entry of entries) {
  const size = await gzippedSize(entry);
  const over = size > entry.limit;
  if (over) process.exitCode = 1;
  console.log(`${entry.name.padEnd(36)} ${String(size).padStart(6)} of ${entry.limit} bytes${over ? "  OVER THE LIMIT" : ""}`);
}
