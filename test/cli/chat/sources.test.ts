// Which model a conversation begins with by default.
import { expect, test } from "vitest";
import { type SourceFlags, sourcesOf, speakerOf, speakersOf } from "../../../src/cli/chat/sources.ts";
import { readSettings } from "../../../src/cli/serve-settings.ts";
import { collect } from "../../../src/core/fold.ts";
import { all } from "../../events.ts";
import { sse, startServer } from "../../servers.ts";
import { startModel } from "./upstream.ts";

/** The models that a chat may use, first one first, if these servers run on the machine. */
async function modelsWith(urls: readonly string[], flags: SourceFlags = {}): Promise<string[]> {
  const found = Object.fromEntries(urls.map((url) => [new URL(url).host, { urls: [url] }]));
  const sources = await sourcesOf(flags, async () => found);
  const speakers = await speakersOf(sources);
  expect(speakerOf(speakers, undefined)).toBe(speakers[0]);
  await Promise.all(sources.map(({ engine }) => engine.close()));
  return speakers.map(({ model }) => model.id);
}

test("the embedded one; servers on the machine come after it", async () => {
  const { url } = await startModel(() => ["Hi"]);
  const empty = await startModel(() => [], []);
  const locked = await startServer((response) => void response.writeHead(401).end());
  expect(await modelsWith([])).toEqual(["dragoman-tiny"]);
  expect(await modelsWith([url])).toEqual(["dragoman-tiny", "small", "large"]);
  expect(await modelsWith([empty.url, `${locked.url}/v1`])).toEqual(["dragoman-tiny"]);
});

test("the embedded model is used on request, whatever else runs", async () => {
  const { url } = await startModel(() => ["Hi"]);
  expect(await modelsWith([url], { model: "embedded" })).toEqual(["dragoman-tiny"]);
});

test("calls that a server left in the text are rescued, as in `dragoman serve`", async () => {
  const said = '<tool_call>\n{"name": "calculate", "arguments": {"expression": "17*3"}}\n</tool_call>';
  const props = { default_generation_settings: { params: {}, n_ctx: 4096 }, model_path: "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf" };
  const answers: Readonly<Record<string, unknown>> = {
    "/props": props,
    "/v1/models": { object: "list", data: [{ id: "qwen", object: "model" }] },
  };
  const { url } = await startServer((response, { url: asked }) => {
    const [path = ""] = asked.split("?");
    if (path in answers) return void response.setHeader("content-type", "application/json").end(JSON.stringify(answers[path]));
    if (path !== "/v1/chat/completions") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      sse({ choices: [{ index: 0, delta: { content: said } }] }, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"),
    );
  });
  const [source] = await sourcesOf({ upstream: `${url}/v1` });
  const tools = [{ name: "calculate", parameters: { type: "object", properties: { expression: { type: "string" } } } }];
  const request = { model: "qwen", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "17*3?" }] }], tools };
  expect(collect(await all(source!.engine.generate(request)))).toMatchObject({
    content: [{ type: "tool-call", name: "calculate" }],
    finish: { reason: "tool-calls" },
  });
  await source!.engine.close();
});

test("--context and --dialect count for servers found on the machine, too", async () => {
  const { url } = await startModel(() => ["Hi"]);
  const machine = async () => ({ there: { urls: [url], wire: "completions" as const } });
  const sources = await sourcesOf({ context: 4096, dialect: "hermes" }, machine);
  const found = sources.find(({ name }) => name === "there");
  expect(found?.context).toBe(4096);
  const request = { model: "small", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }] };
  expect(await found?.engine.preview?.(request)).toMatchObject({ dialect: "hermes" });
  await Promise.all(sources.map(({ engine }) => engine.close()));
  const settings = await readSettings({ context: 4096, dialect: "hermes" }, machine);
  expect(settings.models).toEqual([{ name: "*", context: 4096, dialect: "hermes" }]);
});

test("what is said about an upstream that is not given is refused, not ignored", async () => {
  const machine = async () => ({});
  for (const read of [sourcesOf, readSettings]) {
    await expect(read({ upstreamKey: "env:KEY" }, machine)).rejects.toThrow("--upstream-key works only with --upstream");
    await expect(read({ upstreamWire: "ollama" }, machine)).rejects.toThrow("--upstream-wire works only with --upstream");
  }
});
