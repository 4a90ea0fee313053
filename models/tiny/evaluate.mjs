/**
 * Exact match of calls in llama.cpp, over test sets in both formats, with the grammar of the declared tools and without:
 *
 *     npm run build && node models/tiny/evaluate.mjs models/tiny/dragoman-tiny.gguf SET.jsonl ... [--only grammar] [--failures FILE]
 *
 * A line of a set: {"id", "category"?, "tools": [OpenAI's], "messages": [OpenAI's], "expect": {"calls": [{"name", "arguments"}]} | {"text": true}}
 */
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { getLlama } from "node-llama-cpp";
import { createLlama } from "../../dist/engines/llama/index.js";
import { collect, getDialect, getWire, scanText } from "../../dist/index.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    failures: { type: "string" },
    dialects: { type: "string", default: "functiongemma,gemma4" },
    limit: { type: "string" },
  },
});
const [file, ...sets] = positionals;
const modes = values.only ? values.only.split(",") : ["plain", "grammar"];

/** The model's answer without a grammar. */
async function plainly() {
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, logLevel: "error" });
  const model = await llama.loadModel({ modelPath: file });
  const context = await model.createContext({ contextSize: 4096, threads: 1 });
  const sequence = context.getSequence();
  return async (dialect, engine, request) => {
    await sequence.clearHistory();
    const said = [];
    const stops = new Set(dialect.stops.flatMap((stop) => model.tokenize(stop, true)));
    for await (const token of sequence.evaluate(engine.promptTokens(request), { temperature: 0, yieldEogToken: true })) {
      said.push(token);
      if (said.length >= 400 || stops.has(token) || model.isEogToken(token)) break;
    }
    const { prompt } = await engine.preview(request);
    return collect(scanText(dialect, model.detokenize(said, true), { prompt, tools: request.tools ?? [] }));
  };
}

async function held(engine, request) {
  const events = [];
  for await (const event of engine.generate({ ...request, maxTokens: 400 })) events.push(event);
  return collect(events);
}

/** In any order. */
function sameCalls(calls, expected) {
  const rest = [...calls];
  return (
    calls.length === expected.length &&
    expected.every((one) => {
      const at = rest.findIndex((other) => isDeepStrictEqual(one, other));
      return at >= 0 && rest.splice(at, 1);
    })
  );
}

/** ok, wrong or malformed; and in what. */
function judge(response, expect) {
  const calls = response.content.flatMap((part) => (part.type === "tool-call" ? [{ name: part.name, arguments: part.arguments }] : []));
  const malformed = response.content.some((part) => part.type === "malformed" || part.truncated);
  const said = response.content.some((part) => part.type === "text" && part.text.trim() !== "");
  if (expect.calls ? sameCalls(calls, expect.calls) : calls.length === 0 && said && !malformed) return { verdict: "ok", calls };
  return { verdict: malformed ? "malformed" : "wrong", calls };
}

const plain = modes.includes("plain") ? await plainly() : undefined;
const failures = [];
for (const id of values.dialects.split(",")) {
  const dialect = getDialect(id);
  const engine = await createLlama({ model: file, dialect: id, gpu: false, threads: 1, parallel: 1, sampling: { temperature: 0 } });
  for (const set of sets) {
    const cases = readFileSync(set, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .slice(0, Number(values.limit ?? 1e9));
    for (const mode of modes) {
      const counts = new Map();
      for (const { id: name, category, tools, messages, expect } of cases) {
        const body = {
          model: "tiny",
          messages,
          ...(tools?.length ? { tools: tools.map((tool) => (tool.function ? tool : { type: "function", function: tool })) } : {}),
        };
        const request = getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
        const response =
          mode === "plain"
            ? await plain(dialect, engine, request)
            : await held(engine, mode === "required" ? { ...request, toolChoice: "required" } : request);
        const { verdict, calls } = judge(response, expect);
        for (const group of new Set(["all", expect.text ? "text" : "calls", ...(category ? [category] : [])])) {
          const count = counts.get(group) ?? { all: 0, ok: 0, malformed: 0 };
          counts.set(group, count);
          count.all++;
          if (verdict === "ok") count.ok++;
          if (verdict === "malformed") count.malformed++;
        }
        if (verdict !== "ok")
          failures.push({
            set: basename(set),
            dialect: id,
            mode,
            id: name,
            verdict,
            user: messages.at(-1)?.content,
            expect,
            calls,
            said: response.content,
          });
      }
      for (const [group, { all, ok, malformed }] of counts)
        console.log(
          `${basename(set).padEnd(24)} ${id.padEnd(14)} ${mode.padEnd(9)} ${group.padEnd(18)} ${String(ok).padStart(4)} / ${String(all).padStart(4)}  ${((100 * ok) / all).toFixed(1).padStart(5)}%  malformed ${malformed}`,
        );
    }
  }
  await engine.close();
}
if (values.failures) writeFileSync(values.failures, failures.map((failure) => `${JSON.stringify(failure)}\n`).join(""));
process.exit(0);
