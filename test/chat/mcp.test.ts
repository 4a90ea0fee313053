// A real MCP server, over its stdin and stdout and over HTTP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatTool, createChat, type McpTools, mcpTools } from "../../src/chat/index.ts";
import type { Message } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { everything } from "../everything.ts";
import { closeLater, freePort } from "../servers.ts";
import { calls, says, toolCalls } from "./engines.ts";

async function startHttp(): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [everything, "streamableHttp"], { env: { ...process.env, PORT: String(port) } });
  closeLater(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  for await (const line of child.stderr.setEncoding("utf8")) if (String(line).includes("listening")) break;
  return `http://127.0.0.1:${port}/mcp`;
}

async function resultOf(tools: readonly ChatTool[], name: string, args: Record<string, unknown>) {
  const engine = createScripted([[...calls(name, args), toolCalls], says("ok")]);
  const chat = createChat({ engine, model: "m", tools });
  await chat.send("go").turn();
  return chat.history.find((message) => message.role === "tool") as Message & { role: "tool" };
}

describe.each(["stdio", "streamable HTTP"])("the everything server over %s", (kind) => {
  let server: McpTools;
  beforeAll(async () => {
    server = await mcpTools(kind === "stdio" ? { command: process.execPath, args: [everything, "stdio"] } : { url: await startHttp() });
  });
  afterAll(() => server.close());

  test("has its tools, as they are declared", () => {
    const echo = server.tools.find(({ tool }) => tool.name === "echo");
    expect(echo?.tool).toMatchObject({ description: expect.stringContaining("Echo"), parameters: { required: ["message"] } });
    expect(server.tools.find(({ tool }) => tool.name === "get-structured-content")?.readOnly).toBe(true);
    expect(server.instructions).toEqual(expect.any(String));
    expect(server.name).toContain("everything");
  });

  test("text", async () => {
    expect(await resultOf(server.tools, "get-sum", { a: 2, b: 40 })).toMatchObject({ output: expect.stringContaining("42") });
  });

  test("images", async () => {
    const { output, media } = await resultOf(server.tools, "get-tiny-image", {});
    expect(output).toEqual(expect.any(String));
    expect(media).toMatchObject([{ type: "media", mediaType: "image/png", data: expect.stringMatching(/^iVBOR/) }]);
  });

  test("structured content once, not twice", async () => {
    const { output } = await resultOf(server.tools, "get-structured-content", { location: "Chicago" });
    expect(output).toEqual({ temperature: 36, conditions: "Light rain / drizzle", humidity: 82 });
  });

  test("resources", async () => {
    const { output } = await resultOf(server.tools, "get-resource-links", { count: 2 });
    expect(output).toMatch(/\[.*\]\(demo:\/\/resource/);
  });

  test("arguments that do not fit never reach it", async () => {
    expect(await resultOf(server.tools, "get-sum", { a: "two" })).toMatchObject({
      isError: true,
      output: expect.stringContaining("b: is missing"),
    });
  });

  test("an abort ends a call that takes long", async () => {
    const engine = createScripted([[...calls("trigger-long-running-operation", { duration: 100, steps: 2 }), toolCalls]]);
    const chat = createChat({ engine, model: "m", tools: server.tools });
    const abort = new AbortController();
    for await (const event of chat.send("go", { signal: abort.signal })) if (event.type === "tool-run") abort.abort();
    expect(chat.history.at(-1)).toMatchObject({ role: "tool", isError: true });
  });
});

test("names of several servers are kept apart by a prefix", async () => {
  await using server = await mcpTools({ command: process.execPath, args: [everything], prefix: "demo_" });
  expect(await resultOf(server.tools, "demo_echo", { message: "hi" })).toMatchObject({ output: "Echo: hi" });
});

test("a command that is no server: an error that says what it wrote", async () => {
  await expect(mcpTools({ command: process.execPath, args: ["-e", "console.error('no such thing'); process.exit(3)"] })).rejects.toThrow(
    /does not answer.*no such thing/s,
  );
  await expect(mcpTools({ command: "there-is-no-such-command" })).rejects.toThrow("does not answer");
  await expect(mcpTools({ url: `http://127.0.0.1:${await freePort()}/mcp` })).rejects.toThrow("does not answer");
});
