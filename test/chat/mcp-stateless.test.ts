// MCP servers that speak only the revision 2026-07-28, which has no handshake and no session.
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChat, type McpTools, mcpTools } from "../../src/chat/index.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { kill } from "../children.ts";
import { closeLater, startServer } from "../servers.ts";
import { calls, says, toolCalls } from "./engines.ts";

const script = fileURLToPath(new URL("mcp-stateless-server.mjs", import.meta.url));

async function startHttp(): Promise<string> {
  const child = spawn(process.execPath, [script, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  closeLater(() => kill(child));
  const [url] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  return url.trim();
}

/** Calls one tool after the other, each in a step of its own. */
async function callAll(server: McpTools, asked: readonly [name: string, args?: object][], signal?: AbortSignal) {
  const engine = createScripted([...asked.map(([name, args = {}]) => [...calls(name, { ...args }), toolCalls]), says("ok")]);
  const chat = createChat({ engine, model: "m", tools: [server], maxRepairs: asked.length });
  const outputs: unknown[] = [];
  for await (const event of chat.send("go", { signal })) if (event.type === "tool-result") outputs.push(event.output);
  return { outputs, declared: engine.requests.map(({ tools }) => tools?.map(({ name }) => name)) };
}

describe.each(["stdio", "http"] as const)("a stateless server over %s", (kind) => {
  let server: McpTools;
  beforeAll(async () => {
    server = await mcpTools(kind === "stdio" ? { command: process.execPath, args: [script] } : { url: await startHttp() });
  });
  afterAll(() => server.close());

  test("is found out to be one, and has its name, its instructions and its tools", () => {
    expect(server).toMatchObject({ name: "stateless", instructions: "Ask me anything." });
    expect(server.tools.map(({ tool }) => tool.name)).toEqual(["learn", "region", "pid", "wait", "waited", "die"]);
  });

  test("is one process for all calls", async () => {
    const { outputs } = await callAll(server, [["pid"], ["pid"]]);
    expect(outputs).toEqual([outputs[0], outputs[0]]);
    expect(outputs[0]).toMatch(/^\d+$/);
  });

  test("gets an argument as a header where its tool wants it so", async () => {
    expect((await callAll(server, [["region", { name: "Österreich" }]])).outputs).toEqual(["in Österreich"]);
  });

  test("announces a new tool, which the model can call in the next step", async () => {
    const { outputs, declared } = await callAll(server, [["learn"], ["learnt"]]);
    expect(outputs).toEqual(["there is one more", "so I did"]);
    expect(declared.map((names) => names?.includes("learnt"))).toEqual([false, true, true]);
  });

  test("learns that a call was aborted", async () => {
    const abort = new AbortController();
    const waiting = callAll(server, [["wait"]], abort.signal);
    const waited = async () => (await callAll(server, [["waited"]])).outputs[0];
    await expect.poll(waited).toBe("waiting");
    abort.abort();
    await waiting;
    await expect.poll(waited).toBe("aborted");
  });

  test("ends during a call: the result says so", async () => {
    const { outputs } = await callAll(server, [["die"]]);
    expect(outputs).toEqual([expect.stringContaining("the MCP server stateless ended during this call")]);
  });
});

test("a command that died is started again, and spoken to as before", async () => {
  await using server = await mcpTools({ command: process.execPath, args: [script] });
  const { outputs } = await callAll(server, [["pid"], ["die"], ["pid"]]);
  expect(outputs[2]).toMatch(/^\d+$/);
  expect(outputs[2]).not.toBe(outputs[0]);
});

/** A stateless server whose tool `region` wants its argument as a header, too. What `meddle` answers, it does not get to see. */
async function meddled(meddle: (asked: { id: unknown; method: string }, response: ServerResponse) => boolean): Promise<string> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: "meddled", version: "1" });
      const properties = { name: { type: "string", "x-mcp-header": "Region" } };
      const inputSchema = fromJsonSchema<{ name: string }>({ type: "object", properties });
      server.registerTool("region", { inputSchema }, ({ name }) => ({ content: [{ type: "text", text: `in ${name}` }] }));
      return server;
    },
    { legacy: "reject" },
  );
  const { url } = await startServer(async (response, { method, headers, body }) => {
    if (body !== "" && meddle(JSON.parse(body), response)) return;
    const asked = { method, headers: headers as Record<string, string>, ...(body === "" ? {} : { body }) };
    const answer = await handler.fetch(new Request("http://localhost/mcp", asked));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) {
      const pieces = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
      pieces.on("error", () => {}).pipe(response);
    } else response.end();
  });
  return `${url}/mcp`;
}

const answer = (response: ServerResponse, id: unknown, said: object): true => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  return true;
};

test("a server that never says whether it will announce changes is used without", async () => {
  const url = await meddled(({ method }) => method === "subscriptions/listen");
  await using server = await mcpTools({ url, connectTimeout: 4000 });
  expect((await callAll(server, [["region", { name: "Tirol" }]])).outputs).toEqual(["in Tirol"]);
});

test("a server that refuses the handshake with a JSON-RPC error and the status 200 is found out to be stateless", async () => {
  const error = { code: -32601, message: "Method not found" };
  const url = await meddled(({ id, method }, response) => method === "initialize" && answer(response, id, { error }));
  await using server = await mcpTools({ url });
  expect(server.name).toBe("meddled");
});

// As from servers with a session. The SDK's own readers refused the whole list, and so the server.
test("what is outside the protocol is read leniently, also of a tool that wants headers", async () => {
  const inputSchema = { type: "object", properties: { name: { type: "string", "x-mcp-header": "Region" } } };
  const results: Readonly<Record<string, object>> = {
    "tools/list": { resultType: "complete", tools: [{ name: "bare" }, { name: "region", inputSchema }] },
    "tools/call": { content: [{ type: "hologram", of: "Tirol" }] },
  };
  const url = await meddled(({ id, method }, response) => method in results && answer(response, id, { result: results[method] }));
  await using server = await mcpTools({ url });
  expect(server.tools.map(({ tool }) => tool.name)).toEqual(["bare", "region"]);
  const hologram = '{"type":"hologram","of":"Tirol"}';
  expect((await callAll(server, [["bare"], ["region", { name: "Tirol" }]])).outputs).toEqual([hologram, hologram]);
});
