// src/ -> dist/: one ESM file and one .d.ts per source file. Nothing is bundled, so one neutral build serves both the library and the
// command line. web/ -> dist/web/: the gateway's page, in one script. This is a script because tsdown's own command warns about Node 20
// every time.
import { cpSync } from "node:fs";
import { build } from "tsdown";

try {
  await build({
    config: false,
    entry: [
      "src/index.ts",
      "src/dialects/*.ts",
      "src/wires/*.ts",
      "src/template/index.ts",
      "src/engines/index.ts",
      "src/engines/browser.ts",
      "src/engines/llama/index.ts",
      "src/engines/text/wllama.ts",
      "src/engines/text/mediapipe.ts",
      "src/chat/index.ts",
      "src/chat/browser.ts",
      "src/gateway/index.ts",
      "src/ai-sdk/index.ts",
      "src/cli/main.ts",
    ],
    unbundle: true,
    platform: "neutral",
    target: "es2023",
    deps: { neverBundle: [/^node:/] },
    dts: true,
    inputOptions: { checks: { pluginTimings: false } }, // or a slow machine would fail the build with a warning
    logLevel: "warn",
    failOnWarn: true,
  });
  await build({
    config: false,
    entry: ["web/main.ts"],
    outDir: "dist/web",
    platform: "browser",
    target: "es2023",
    minify: true,
    dts: false,
    logLevel: "warn",
    failOnWarn: true,
  });
  for (const file of ["index.html", "style.css"]) cpSync(`web/${file}`, `dist/web/${file}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
