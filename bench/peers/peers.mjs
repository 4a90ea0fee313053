// The peers, with the same interface as our dialects. They are installed on first use, outside the project's own packages.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { tagsIn } from "../scanners.mjs";
import { TOOLS } from "../workloads.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const LOCK = here("package-lock.json");
const INSTALLED = here("node_modules/.package-lock.json");
const BUNDLE = here("node_modules/.cache/peers.mjs");

/** Returns the reason if they cannot be installed. */
export async function installPeers(say) {
  try {
    if (!existsSync(INSTALLED) || statSync(INSTALLED).mtimeMs < statSync(LOCK).mtimeMs) {
      say("installing the peers into bench/peers (50 MB, once) …");
      const flags = [
        "--ignore-scripts",
        "--omit=optional",
        "--omit=peer",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
        "--fetch-retries=1",
      ];
      const { status, stderr, error } = spawnSync("npm", ["ci", ...flags], {
        cwd: here("."),
        encoding: "utf8",
        shell: process.platform === "win32",
      });
      if (error) throw error;
      if (status !== 0) throw new Error(stderr.match(/^npm error (?!code |errno |syscall ).+$/m)?.[0] ?? `npm ci ended with ${status}`);
    }
    await bundle();
    return undefined;
  } catch (error) {
    return error.message;
  }
}

const ENTRY = `
export { getDialectDefinition } from "@oh-my-pi/pi-ai/dialect/factory";
export { hermesProtocol, morphXmlProtocol, qwen3CoderProtocol, yamlXmlProtocol } from "@ai-sdk-tool/parser";`;

/** oh-my-pi is written for Bun, so its scanners are bundled without what only the rest of it needs. */
async function bundle() {
  const nothing = /^bun(:|$)|^@oh-my-pi\/pi-natives|package\.json$/;
  const onlyScanners = {
    name: "only-scanners",
    setup(builder) {
      builder.onResolve({ filter: nothing }, ({ path }) => ({ path, namespace: "nothing", sideEffects: false }));
      builder.onLoad({ filter: /.*/, namespace: "nothing" }, () => ({ contents: "module.exports = {}", loader: "js" }));
      builder.onResolve({ filter: /.*/ }, async ({ path, pluginData, ...options }) => {
        if (pluginData === "resolved") return undefined;
        const found = await builder.resolve(path, { ...options, pluginData: "resolved" });
        return found.errors.length > 0 ? found : { ...found, sideEffects: false };
      });
    },
  };
  await build({
    stdin: { contents: ENTRY, resolveDir: here(".") },
    bundle: true,
    format: "esm",
    platform: "node",
    loader: { ".md": "text" },
    outfile: BUNDLE,
    plugins: [onlyScanners],
    external: ["@ai-sdk-tool/parser"],
    logLevel: "silent",
  });
}

const OH_MY_PI = ["gemma", "hermes", "qwen3", "kimi", "deepseek", "glm", "harmony", "minimax", "anthropic", "gemini"];
const AI_SDK = {
  hermes: "hermesProtocol",
  "qwen3-coder": "qwen3CoderProtocol",
  "morph-xml": "morphXmlProtocol",
  "yaml-xml": "yamlXmlProtocol",
};

export const peerNames = [...OH_MY_PI.map((id) => `oh-my-pi ${id}`), ...Object.keys(AI_SDK).map((id) => `ai-sdk ${id}`)];

export async function loadPeer(name) {
  const [who, id] = name.split(" ");
  return who === "oh-my-pi" ? { name, ...(await ohMyPi(id)) } : { name, ...(await aiSdk(AI_SDK[id])) };
}

async function ohMyPi(id) {
  const { getDialectDefinition } = await import(BUNDLE);
  const dialect = getDialectDefinition(id);
  const render = (calls) =>
    dialect.renderAssistantToolCalls(
      calls.map((call, i) => ({ type: "toolCall", id: `call_${i}`, ...call })),
      { tools: TOOLS },
    );
  return {
    sentinel: true,
    marks: tagsIn(render([{ name: "f", arguments: { a: "x" } }]) + dialect.renderThinking("x")),
    render,
    create: () => dialect.createScanner({ tools: TOOLS, parseThinking: true }),
    say(event, check) {
      if (event.type === "text") check.text(event.text);
      else if (event.type === "toolEnd") check.call(event.name, event.arguments);
    },
  };
}

async function aiSdk(protocolName) {
  const { [protocolName]: createProtocol } = await import(BUNDLE);
  const protocol = createProtocol();
  const tools = TOOLS.map(({ name, description, parameters }) => ({ type: "function", name, description, inputSchema: parameters }));
  const render = (calls) =>
    calls
      .map((call, i) => ({ type: "tool-call", toolCallId: `call_${i}`, toolName: call.name, input: JSON.stringify(call.arguments) }))
      .map((call) => protocol.formatToolCall(call))
      .join("\n");
  return {
    sentinel: true,
    marks: tagsIn(render([{ name: "write_file", arguments: { path: "x" } }])),
    render,
    create: () => withoutStreams(() => protocol.createStreamParser({ tools })),
    say(event, check) {
      if (event.type === "text-delta") check.text(event.delta);
      else if (event.type === "tool-call") check.call(event.toolName, JSON.parse(event.input));
    },
  };
}

/** The parser without the `TransformStream` around it, which costs many times more than the parsing. */
function withoutStreams(make) {
  const { TransformStream } = globalThis;
  let transformer;
  globalThis.TransformStream = class {
    constructor(given) {
      transformer = given;
    }
  };
  try {
    make();
  } finally {
    globalThis.TransformStream = TransformStream;
  }
  let out = [];
  const controller = { enqueue: (part) => out.push(part), error: (error) => out.push(error), terminate() {} };
  const take = () => {
    const said = out;
    out = [];
    return said;
  };
  transformer.start?.(controller);
  return {
    feed(text) {
      transformer.transform({ type: "text-delta", id: "1", delta: text }, controller);
      return take();
    },
    flush() {
      transformer.transform({ type: "text-end", id: "1" }, controller);
      transformer.transform({ type: "finish", finishReason: { unified: "stop" }, usage: {} }, controller);
      transformer.flush?.(controller);
      return take();
    },
  };
}
