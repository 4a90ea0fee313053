// For `npm run web` from the root. In a project of your own, `npm install dragoman @wllama/wllama` replaces the aliases.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "./",
  resolve: {
    alias: [
      { find: /^dragoman\/chat$/, replacement: at("dist/chat/browser.js") },
      { find: /^dragoman\/engines\/wllama$/, replacement: at("dist/engines/text/wllama.js") },
      { find: /^dragoman\/models\//, replacement: at("models/") },
    ],
  },
  build: { target: "es2023", outDir: at("dist-web"), emptyOutDir: true, chunkSizeWarningLimit: 10_000 },
  server: { host: "127.0.0.1", fs: { allow: [at(".")] } },
});
