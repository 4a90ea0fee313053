// A real MCP server, over stdin and stdout and over HTTP.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { getEventListeners, once } from "node:events";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatTool, createChat, type McpTools, mcpTools } from "../../src/chat/index.ts";
import { answerOf } from "../../src/chat/mcp-answer.ts";
import type { Message } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { kill } from "../children.ts";
import { everything } from "../everything.ts";
import { closeLater, nobody, signalOf, startServer, tempFolder } from "../servers.ts";
import { calls, says, toolCalls } from "./engines.ts";

/** Polling must outlast a busy machine: the default is one second. */
const PATIENT = { timeout: 30_000 };

/** The server accepts any port, but does not report which. */
const telling = `import { Server } from "node:net";
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  return listen.apply(this.once("listening", () => console.error("port " + this.address().port)), args);
};`;

async function startHttp(kind: "streamableHttp" | "sse"): Promise<string> {
  const preload = `data:text/javascript,${encodeURIComponent(telling)}`;
  const child = spawn(process.execPath, ["--import", preload, everything, kind], { env: { ...process.env, PORT: "0" } });
  closeLater(() => kill(child));
  let said = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(said)));
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      said += piece; // to the end: a server whose output is not read stops
      const [, port] = /^port (\d+)\n/m.exec(said) ?? [];
      if (port !== undefined) resolve(port);
    });
  });
  return `http://127.0.0.1:${port}/${kind === "sse" ? "sse" : "mcp"}`;
}

async function resultOf(tools: readonly ChatTool[], name: string, args: Record<string, unknown>) {
  const engine = createScripted([[...calls(name, args), toolCalls], says("ok")]);
  const chat = createChat({ engine, model: "m", tools });
  await chat.send("go").turn();
  return chat.history.find((message) => message.role === "tool") as Message & { role: "tool" };
}

describe.each(["stdio", "streamableHttp", "sse"] as const)("the everything server over %s", (kind) => {
  let server: McpTools;
  beforeAll(async () => {
    server = await mcpTools(kind === "stdio" ? { command: process.execPath, args: [everything, "stdio"] } : { url: await startHttp(kind) });
  });
  afterAll(() => server.close());

  test("offers its tools as they are declared", () => {
    const echo = server.tools.find(({ tool }) => tool.name === "echo");
    expect(echo?.tool).toMatchObject({ description: expect.stringContaining("Echo"), parameters: { required: ["message"] } });
    expect(server.tools.find(({ tool }) => tool.name === "get-structured-content")?.readOnly).toBe(true);
    expect(server.instructions).toEqual(expect.any(String));
    expect(server.name).toContain("everything");
  });

  test("text results", async () => {
    expect(await resultOf(server.tools, "get-sum", { a: 2, b: 40 })).toMatchObject({ output: expect.stringContaining("42") });
  });

  test("image results", async () => {
    const { output, media } = await resultOf(server.tools, "get-tiny-image", {});
    expect(output).toEqual(expect.any(String));
    expect(media).toMatchObject([{ type: "media", mediaType: "image/png", data: expect.stringMatching(/^iVBOR/) }]);
  });

  test("structured content is returned once, not twice", async () => {
    const { output } = await resultOf(server.tools, "get-structured-content", { location: "Chicago" });
    expect(output).toEqual({ temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });
  });

  test("resource links", async () => {
    const { output } = await resultOf(server.tools, "get-resource-links", { count: 2 });
    expect(output).toMatch(/\[.*\]\(demo:\/\/resource/);
  });

  test("arguments that do not fit never reach the server", async () => {
    expect(await resultOf(server.tools, "get-sum", { a: "two" })).toMatchObject({
      isError: true,
      output: expect.stringContaining("b: is missing"),
    });
  });

  test("an abort ends a long call", async () => {
    const engine = createScripted([[...calls("trigger-long-running-operation", { duration: 100, steps: 2 }), toolCalls]]);
    const chat = createChat({ engine, model: "m", tools: server.tools });
    const abort = new AbortController();
    for await (const event of chat.send("go", { signal: abort.signal })) if (event.type === "tool-run") abort.abort();
    expect(chat.history.at(-1)).toMatchObject({ role: "tool", isError: true });
  });
});

test("a prefix keeps the tool names of several servers apart", async () => {
  await using server = await mcpTools({ command: process.execPath, args: [everything], prefix: "demo_" });
  expect(await resultOf(server.tools, "demo_echo", { message: "hi" })).toMatchObject({ output: "Echo: hi" });
});

// Recorded answers of servers made with Python's two kits (fastmcp 4.0, mcp 2.3) and of the MCP project's file and memory servers.
test.each([
  [["slept"], { result: "slept" }, "slept"],
  [['{"a": 1}'], { result: '{"a": 1}' }, '{"a": 1}'],
  [["5.0"], { result: 5 }, 5],
  [['["a","b"]'], { result: ["a", "b"] }, ["a", "b"]],
  [["a", "b"], { result: ["a", "b"] }, ["a", "b"]],
  [['{\n  "a": 1\n}', '{\n  "b": "é"\n}'], { result: [{ a: 1 }, { b: "é" }] }, [{ a: 1 }, { b: "é" }]],
  [['{\n  "x": 1,\n  "y": 2.0\n}'], { x: 1, y: 2 }, { x: 1, y: 2 }],
  [["hello\n"], { content: "hello\n" }, "hello\n"],
  [['[\n  {\n    "name": "A"\n  }\n]'], { entities: [{ name: "A" }] }, [{ name: "A" }]],
  [[], { result: [] }, { result: [] }],
  [["Two are open."], { result: ["a", "b"] }, { text: "Two are open.", structured: { result: ["a", "b"] } }],
])("a result given as text and as data is returned once: %j", (texts, structuredContent, output) => {
  const content = texts.map((text) => ({ type: "text" as const, text }));
  expect(answerOf({ content, structuredContent })).toMatchObject({ output, isError: false });
});

// ---- Faulty servers

const badDays = { command: process.execPath, args: [fileURLToPath(new URL("mcp-server.mjs", import.meta.url))] };

/** Calls the tools one after another, each in a step of one turn; returns the results, and the tools declared in each step. */
async function callAll(server: McpTools, names: readonly string[], signal?: AbortSignal) {
  const engine = createScripted([...names.map((name) => [...calls(name, {}), toolCalls]), says("ok")]);
  const chat = createChat({ engine, model: "m", tools: [server], maxRepairs: names.length });
  const results: { output: unknown; isError?: true }[] = [];
  for await (const event of chat.send("go", { signal })) if (event.type === "tool-result") results.push(event);
  return { results, declared: engine.requests.map(({ tools }) => tools?.map(({ name }) => name)) };
}

test("tools that a server adds are there in the next step, and tools that it removes are gone", async () => {
  await using server = await mcpTools(badDays);
  const { results, declared } = await callAll(server, ["learnt", "learn", "learnt", "forget", "learnt"]);
  expect(results.map(({ output }) => output)).toEqual([
    expect.stringContaining("There is no tool learnt"),
    "there is one more",
    "so I did",
    "there is one less",
    expect.stringContaining("There is no tool learnt"),
  ]);
  expect(declared.map((names) => names?.includes("learnt"))).toEqual([false, false, true, true, false, false]);
});

test("a server that dies: its current call says so, and the next call starts it again", async () => {
  await using server = await mcpTools(badDays);
  const { results } = await callAll(server, ["pid", "learn", "die", "pid", "die", "pid", "pid"]);
  const [before, , death, second, again, third, fourth] = results;
  for (const hit of [death, again]) {
    expect(hit).toMatchObject({
      isError: true,
      output: expect.stringMatching(/the MCP server bad days ended during this call.*out of coffee/s),
    });
  }
  expect(new Set([before, second, third].map((result) => result?.output)).size).toBe(3);
  expect(fourth?.output).toBe(third?.output);
  expect(server.tools.map(({ tool }) => tool.name)).not.toContain("learnt"); // the new one never learnt it
});

test("a server that does not come back is tried once with each call, and the error says why", async () => {
  const folder = tempFolder();
  const once = `import { existsSync, writeFileSync } from "node:fs";
if (existsSync("was-here")) { console.error("not twice"); process.exit(1); }
writeFileSync("was-here", "");
await import(${JSON.stringify(pathToFileURL(badDays.args[0] ?? "").href)});`;
  await using server = await mcpTools({ command: process.execPath, args: ["--input-type=module", "-e", once], cwd: folder });
  const { results } = await callAll(server, ["die", "pid", "pid"]);
  for (const result of results.slice(1)) {
    expect(result).toMatchObject({ isError: true, output: expect.stringMatching(/^the MCP server bad days does not answer.*not twice/s) });
  }
});

test("a server that never answers is given up, with its name in the error", async () => {
  const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"], connectTimeout: 300 };
  await expect(mcpTools(silent)).rejects.toThrow(/the MCP server .*process\.stdin\.resume.* does not answer: it took longer than 0\.3 s/);
});

test("a server whose tool list never ends is given up", async () => {
  const endless = `process.stdin.on("data", (chunk) => {
  for (const line of String(chunk).split("\\n").filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    const answers = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "endless", version: "1" } },
      "tools/list": { tools: [], nextCursor: "more" + id } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }));
  }
});`;
  const server = { command: process.execPath, args: ["-e", endless], connectTimeout: 2000 };
  await expect(mcpTools(server)).rejects.toThrow("it took longer than 2 s");
});

test("nor is such a list read on after a refresh was given up", async () => {
  const endless = `let lists = 0;
process.stdin.on("data", (chunk) => {
  for (const line of String(chunk).split("\\n").filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    if (method === "tools/list") lists++;
    const answers = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo: { name: "endless", version: "1" } },
      "tools/list": lists === 1 ? { tools: [{ name: "lists" }] } : { tools: [], nextCursor: "more" + id },
      "tools/call": { content: [{ type: "text", text: String(lists) }] } };
    if (method === "tools/call") console.log(JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }));
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }));
  }
});`;
  await using server = await mcpTools({ command: process.execPath, args: ["-e", endless], connectTimeout: 2000 });
  const lists = async () => Number((await resultOf(server.tools, "lists", {})).output);
  expect(await lists()).toBe(1);
  await server.refresh();
  const read = await lists();
  for (let n = 0; n < 10; n++) await lists();
  expect(await lists()).toBe(read); // one page per call otherwise, at least
});

test("a server that says no end of its list, but gives the same page again, has listed all", async () => {
  await using server = await mcpTools(sayingJust([{ name: "one" }, { name: "two" }], {}, ""));
  expect(server.tools.map(({ tool }) => tool.name)).toEqual(["one", "two"]);
});

/** A server that sends exactly these answers, valid or not; a result with a `code` is an error. */
function sayingJust(tools: readonly object[], results: Readonly<Record<string, object>> = {}, nextCursor?: string) {
  const source = `const [tools, results, nextCursor] = ${JSON.stringify([tools, results, nextCursor])};
process.stdin.on("data", (chunk) => {
  for (const line of String(chunk).split("\\n").filter(Boolean)) {
    const { id, method, params } = JSON.parse(line);
    const answers = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } },
      "tools/list": { tools, ...(nextCursor !== null && { nextCursor }) }, "tools/call": results[params?.name] };
    const answer = answers[method];
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, [answer.code ? "error" : "result"]: answer }));
  }
});`;
  return { command: process.execPath, args: ["-e", source] };
}

test("an invalid tool declaration does not hide other tools", async () => {
  const inputSchema = { type: "object", properties: { a: { type: "string" } } };
  const odd = [
    { name: "bare" },
    { name: "empty", description: null, inputSchema: {} },
    { name: "union", inputSchema: { anyOf: [{ required: ["a"] }, { required: ["b"] }] } },
    { name: "text", inputSchema: { type: "string" } },
    { description: "has no name" },
    { name: "good", inputSchema, outputSchema: { type: "array" } },
    { name: "good", inputSchema },
  ];
  await using server = await mcpTools(sayingJust(odd));
  const parameters = { type: "object" };
  expect(server.tools.map(({ tool }) => tool)).toEqual([
    { name: "bare", parameters },
    { name: "empty", parameters },
    { name: "union", parameters: { ...parameters, anyOf: [{ required: ["a"] }, { required: ["b"] }] } },
    { name: "text", parameters },
    { name: "good", parameters: inputSchema },
  ]);
});

// The SDK's own readers refused each of these, which hid what the tool had done.
test("results outside the protocol are passed on as far as possible", async () => {
  const text = { type: "text", text: "no such branch" };
  const outputSchema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  const said = {
    unstructured: { content: [text] },
    unlike: { content: [], structuredContent: { ok: "yes" } },
    failed: { content: [text], structuredContent: { error: 404 }, isError: true },
    list: { content: [], structuredContent: [1, 2] },
    newer: { content: [{ type: "hologram", data: "AA==" }, text] },
    words: { content: "plain words" },
    first: { toolResult: 7 },
    image: { content: [{ type: "image", data: "AA==" }] },
    refused: { code: -32_042, message: "sign in first", data: { url: "https://example.com/in" } },
  };
  const names = Object.keys(said);
  await using server = await mcpTools(
    sayingJust(
      names.map((name) => ({ name, outputSchema })),
      said,
    ),
  );
  const { results } = await callAll(server, names);
  const told = results.map(({ output, isError }) => ({ output, isError }));
  expect(Object.fromEntries(names.map((name, i) => [name, told[i]]))).toEqual({
    unstructured: { output: "no such branch" },
    unlike: { output: { ok: "yes" } },
    failed: { output: { text: "no such branch", structured: { error: 404 } }, isError: true },
    list: { output: [1, 2] },
    newer: { output: '{"type":"hologram","data":"AA=="}\nno such branch' },
    words: { output: "plain words" },
    first: { output: 7 },
    image: { output: "" },
    refused: { output: 'MCP error -32042: sign in first: {"url":"https://example.com/in"}', isError: true },
  });
  expect(results[names.indexOf("image")]).toMatchObject({ media: [{ type: "media", mediaType: "image/*", data: "AA==" }] });
});

test("many calls in one turn leave no listeners on its signal", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error): void => void warnings.push(warning);
  process.on("warning", hear);
  await using server = await mcpTools(badDays);
  const { results } = await callAll(server, Array(12).fill("pid"));
  const atOnce = Array.from({ length: 12 }, (_, i) => calls("pid", {}, `call_${i}`, i)).flat();
  const chat = createChat({ engine: createScripted([[...atOnce, toolCalls], says("ok")]), model: "m", tools: [server] });
  await chat.send("go").turn();
  await setImmediate(); // Node emits warnings later
  process.off("warning", hear);
  expect(results).toHaveLength(12);
  expect(chat.history.filter(({ role }) => role === "tool")).toHaveLength(12);
  expect(warnings).toEqual([]);
});

test("nor do calls that share one signal", async () => {
  await using server = await mcpTools(badDays);
  const { signal } = new AbortController();
  const symbols = Object.getOwnPropertySymbols(signal);
  const pid = server.tools.find(({ tool }) => tool.name === "pid");
  const call = { type: "tool-call" as const, id: "1", name: "pid", arguments: {} };
  for (let i = 0; i < 3; i++) await pid?.run?.({}, { call, signal, history: [] });
  expect(getEventListeners(signal, "abort").length).toBeLessThan(2); // one, shared by all that wait
  expect(Object.getOwnPropertySymbols(signal)).toEqual(symbols); // Node has one for dependent signals
});

test("a tool that runs as a task gives its result or its error, and is cancelled on an abort", async () => {
  await using server = await mcpTools(badDays);
  const { results } = await callAll(server, ["research", "fail"]);
  expect(results).toMatchObject([{ output: "all of it" }, { isError: true, output: expect.stringContaining("the library is closed") }]);
  const abort = new AbortController();
  const brood = callAll(server, ["brood"], abort.signal);
  const brooding = async () => (await callAll(server, ["brooding"])).results[0]?.output;
  await expect.poll(brooding, PATIENT).toBe("working");
  abort.abort();
  expect((await brood).results).toMatchObject([{ isError: true }]);
  await expect.poll(brooding, PATIENT).toBe("cancelled");
});

test("a tool that says it runs as a task, but answers at once, has its result passed on", async () => {
  const hasty = { name: "hasty", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };
  await using server = await mcpTools(sayingJust([hasty], { hasty: { content: [{ type: "text", text: "done already" }] } }));
  expect(await resultOf(server.tools, "hasty", {})).toMatchObject({ output: "done already" });
});

test("a task aborted before it has an id is cancelled once it has one, without blocking the call", async () => {
  await using server = await mcpTools(badDays);
  const hatch = server.tools.find(({ tool }) => tool.name === "hatch");
  const abort = new AbortController();
  const call = { type: "tool-call" as const, id: "1", name: "hatch", arguments: {} };
  const hatching = Promise.resolve(hatch?.run?.({}, { call, signal: abort.signal, history: [] }));
  const brooding = async () => (await callAll(server, ["brooding"])).results[0]?.output;
  expect(await brooding()).toBe("not yet");
  abort.abort(new Error("no time"));
  await expect(hatching).rejects.toThrow("no time");
  expect(await brooding()).toBe("not yet");
  await callAll(server, ["crack"]);
  await expect.poll(brooding, PATIENT).toBe("cancelled");
});

test("a command gets the given folder and variables, and none of our environment", async () => {
  process.env.SECRET = "of ours";
  const folder = realpathSync(tmpdir());
  await using server = await mcpTools({ ...badDays, cwd: folder, env: { WHO: "somebody" } });
  expect((await callAll(server, ["where"])).results[0]?.output).toBe(`${folder} somebody no secret`);
});

test("closing ends everything: no call reconnects, and running calls are not waited for", async () => {
  const server = await mcpTools(badDays);
  const engine = createScripted([[...calls("wait", {}), toolCalls], [...calls("pid", {}), toolCalls], says("ok")]);
  const chat = createChat({ engine, model: "m", tools: [server] });
  for await (const event of chat.send("go")) if (event.type === "tool-run" && event.name === "wait") void server.close();
  const results = chat.history.filter(({ role }) => role === "tool");
  expect(results).toHaveLength(2);
  for (const result of results)
    expect(result).toMatchObject({ isError: true, output: "the connection to the MCP server bad days was closed" });
});

// ---- Over HTTP

/** A server whose process can be replaced by a new one that does not know the old sessions. */
async function exchangeable() {
  const start = async (answer: (signal: AbortSignal) => Promise<string>) => {
    const server = new Server({ name: "of HTTP", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "tell", inputSchema: { type: "object" } }] }));
    server.setRequestHandler(CallToolRequestSchema, async (_, { signal }) => ({ content: [{ type: "text", text: await answer(signal) }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
    await server.connect(transport as Transport);
    return transport;
  };
  const called = signalOf<AbortSignal>();
  let process = await start(async () => "from the first");
  let refuses = false;
  const { url, seen, server } = await startServer(async (response, { body }, request) => {
    if (refuses && body.includes("tools/call")) response.writeHead(400).end("not today");
    else await process.handleRequest(request, response, body === "" ? undefined : JSON.parse(body));
  });
  return {
    url: `${url}/mcp`,
    seen,
    exchange: async () => {
      process = await start(async () => "from the second");
    },
    /** It accepts calls and does not answer. */
    hang: async () => {
      process = await start((signal) => new Promise(() => called.resolve(signal)));
    },
    /** The signal of the first unanswered call. */
    called: called.promise,
    /** It accepts connections, but no calls. */
    refuse: async () => {
      refuses = true;
      process = await start(async () => "never seen");
    },
    die: () => server.closeAllConnections(),
  };
}

test("a server that has forgotten the session is connected to again, and the call repeated", async () => {
  const { url, exchange } = await exchangeable();
  await using server = await mcpTools({ url });
  expect((await callAll(server, ["tell"])).results[0]?.output).toBe("from the first");
  await exchange();
  expect((await callAll(server, ["tell", "tell"])).results.map(({ output }) => output)).toEqual(["from the second", "from the second"]);
});

test("a server that breaks off ends the call at once, and the next call reconnects", async () => {
  const { url, hang, called, exchange, die } = await exchangeable();
  await hang();
  await using server = await mcpTools({ url });
  const hit = callAll(server, ["tell"]);
  await called;
  await exchange();
  die();
  expect((await hit).results[0]).toMatchObject({
    isError: true,
    output: expect.stringContaining("the MCP server of HTTP ended during this call"),
  });
  expect((await callAll(server, ["tell"])).results[0]?.output).toBe("from the second");
});

test("a server that refuses every call is not retried for ever", async () => {
  const { url, seen, refuse } = await exchangeable();
  await using server = await mcpTools({ url });
  await refuse();
  const { results } = await callAll(server, ["tell"]);
  expect(results[0]).toMatchObject({ isError: true, output: expect.stringContaining("not today") });
  expect(seen.filter(({ body }) => body.includes("tools/call"))).toHaveLength(2);
});

test("a call refused over HTTP reports the answer, but of an HTML page only the status", async () => {
  const page = "<!DOCTYPE html><p>Sign in";
  const answers = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "locked", version: "1" } },
  };
  const { url } = await startServer((response, { body }) => {
    const { id, method, params } = body === "" ? {} : JSON.parse(body);
    const result = { ...answers, "tools/list": { tools: [{ name: "read" }, { name: "write" }] }, ping: {} }[method as "initialize"];
    if (method === "tools/call")
      return void response.writeHead(params.name === "read" ? 401 : 503).end(params.name === "read" ? "expired" : page);
    if (!result) return void response.writeHead(id === undefined && body ? 202 : 405).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await using server = await mcpTools({ url });
  const { results } = await callAll(server, ["read", "write"]);
  expect(results.map(({ output }) => output)).toEqual([
    "the call of the MCP server locked failed: it answers 401, expired",
    expect.stringMatching(/ended during this call.*\(it answers 503\)$/),
  ]);
});

test("an abort reaches the server", async () => {
  const { url, hang, called } = await exchangeable();
  await hang();
  await using server = await mcpTools({ url });
  const abort = new AbortController();
  const hit = callAll(server, ["tell"], abort.signal);
  const signal = await called;
  abort.abort();
  expect((await hit).results[0]).toMatchObject({ isError: true });
  if (!signal.aborted) await once(signal, "abort");
});

test("for a URL that is not an MCP server, the error is its first answer, without HTML", async () => {
  const { url } = await startServer((response, { method }) => {
    if (method === "POST") response.writeHead(404).end("<!DOCTYPE html><p>Cannot POST");
    else response.writeHead(405).end();
  });
  await expect(mcpTools({ url })).rejects.toThrow(/does not answer: it answers 404$/);
});

test("headers are sent with every request", async () => {
  const { url, seen } = await exchangeable();
  await using server = await mcpTools({ url, headers: { authorization: "Bearer x" } });
  await callAll(server, ["tell"]);
  expect(new Set(seen.map(({ headers }) => headers.authorization))).toEqual(new Set(["Bearer x"]));
});

test("for a command that is not a server, the error has its output", async () => {
  await expect(mcpTools({ command: process.execPath, args: ["-e", "console.error('no such thing'); process.exit(3)"] })).rejects.toThrow(
    /does not answer.*no such thing/s,
  );
  await expect(mcpTools({ command: "there-is-no-such-command" })).rejects.toThrow("does not answer");
  await expect(mcpTools({ url: `${nobody}/mcp` })).rejects.toThrow("does not answer");
  const closed = await startServer(
    (response, { url }) => void response.writeHead(url === "/mcp" ? 401 : 404).end(url === "/mcp" ? "no" : ""),
  );
  await expect(mcpTools({ url: `${closed.url}/mcp` })).rejects.toThrow(/does not answer: it answers 401, no$/);
  await expect(mcpTools({ url: `${closed.url}/` })).rejects.toThrow(/does not answer: it answers 404$/);
  await expect(mcpTools({ url: "http://me:canary@127.0.0.1/mcp" })).rejects.toThrow(
    "must not contain a name and password: send them as a header",
  );
  await expect(mcpTools({ url: `${closed.url}/mcp?key=canary` })).rejects.toThrow(
    /^the MCP server http:\/\/127\.0\.0\.1:\d+\/mcp does not answer: (?!.*canary)/,
  );
  await expect(mcpTools({ url: "localhost:3001/mcp" })).rejects.toThrow("must be an http or https URL; it is localhost:3001/mcp");
  await expect(mcpTools("npx a-server" as never)).rejects.toThrow("{ command, args } or { url }");
  await expect(mcpTools({} as never)).rejects.toThrow("an MCP server needs a command or a url");
});
