// MCP servers that speak only the revision 2026-07-28, which has no handshake and no session.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChat, type McpTools, mcpTools } from "../../src/chat/index.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { kill } from "../children.ts";
import { closeLater } from "../servers.ts";
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
