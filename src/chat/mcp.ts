/**
 * The tools of an MCP server, as tools of a chat:
 *
 *     await using server = await mcpTools({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 *     const chat = createChat({ engine, tools: server.tools });
 *
 * A `command` is started and spoken to over its stdin and stdout; a `url` is spoken to over streamable HTTP.
 */
import { readFileSync } from "node:fs";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Json, JsonObject, Media } from "../core/nouns.ts";
import { checkOfJsonSchema } from "./check.ts";
import { type ChatTool, ToolAnswer } from "./tool.ts";

export type McpServer = (
  | {
      command: string;
      args?: readonly string[] | undefined;
      /** Beside the few variables that every program needs. */
      env?: Readonly<Record<string, string>> | undefined;
      cwd?: string | undefined;
    }
  | { url: string; headers?: Readonly<Record<string, string>> | undefined }
) & {
  /** Before each name, for tools of several servers that have the same names. */
  prefix?: string | undefined;
  /** How long a call may take without a sign of life, in milliseconds. */
  timeout?: number | undefined;
  /** Ends the attempt to connect. */
  signal?: AbortSignal | undefined;
};

export interface McpTools extends AsyncDisposable {
  readonly tools: readonly ChatTool[];
  /** What the server calls itself. */
  readonly name: string;
  /** What the server would like the model to know: for the system text. */
  readonly instructions: string | undefined;
  /** Ends the connection, and the command with it. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 300_000;
/** Of what a command wrote to stderr, for the error that says why it did not start. */
const MAX_STDERR = 2000;

/** Throws if the server does not start or is none. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  const client = new Client({ name: "dragoman", version });
  const { transport, stderr } = await transportTo(server);
  try {
    await client.connect(transport, server.signal ? { signal: server.signal } : {});
    const tools = await listTools(client, server);
    return {
      tools,
      name: client.getServerVersion()?.name ?? nameOf(server),
      instructions: client.getInstructions(),
      close: () => client.close(),
      [Symbol.asyncDispose]: () => client.close(),
    };
  } catch (error) {
    await client.close();
    const said = stderr().trim();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such command" : message;
    throw new Error(`the MCP server ${nameOf(server)} does not answer: ${why}${said ? `\n${said}` : ""}`, {
      cause: error,
    });
  }
}

const nameOf = (server: McpServer): string => ("url" in server ? server.url : [server.command, ...(server.args ?? [])].join(" "));

async function transportTo(server: McpServer): Promise<{ transport: Transport; stderr: () => string }> {
  if ("url" in server) {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { url, headers = {} } = server;
    return { transport: new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport, stderr: () => "" };
  }
  const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { command, args = [], env = {}, cwd } = server;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "pipe", // a terminal belongs to whoever chats in it
    ...(cwd === undefined ? {} : { cwd }),
  });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-MAX_STDERR);
  });
  return { transport, stderr: () => said };
}

async function listTools(client: Client, { prefix = "", timeout = TIMEOUT_MS }: McpServer): Promise<ChatTool[]> {
  const tools: ChatTool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    for (const { name, description, inputSchema, annotations } of page.tools) {
      const parameters = inputSchema as JsonObject;
      tools.push({
        tool: { name: prefix + name, ...(description === undefined ? {} : { description }), parameters },
        readOnly: annotations?.readOnlyHint === true,
        check: checkOf(parameters),
        run: (args, { signal }) => call(client, name, args as JsonObject, { signal, timeout }),
      });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** A schema that cannot be compiled is the server's to check. */
function checkOf(parameters: JsonObject): ChatTool["check"] {
  try {
    return checkOfJsonSchema(parameters);
  } catch {
    return (args) => ({ arguments: args });
  }
}

async function call(
  client: Client,
  name: string,
  args: JsonObject,
  options: { signal: AbortSignal; timeout: number },
): Promise<ToolAnswer> {
  // A server that reports progress is alive.
  const live = { ...options, resetTimeoutOnProgress: true, onprogress: () => {} };
  const result = (await client.callTool({ name, arguments: args }, undefined, live)) as CallToolResult;
  return answerOf(result);
}

function answerOf({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const texts: string[] = [];
  const media: Media[] = [];
  for (const block of content) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "image" || block.type === "audio") media.push({ type: "media", mediaType: block.mimeType, data: block.data });
    else if (block.type === "resource_link") texts.push(`[${block.name}](${block.uri})`);
    else if ("text" in block.resource) texts.push(block.resource.text);
    else {
      const { blob, mimeType = "application/octet-stream", uri } = block.resource;
      media.push({ type: "media", mediaType: mimeType, data: blob, name: uri });
    }
  }
  return new ToolAnswer(outputOf(texts.join("\n"), structuredContent as JsonObject | undefined), { media, isError: isError === true });
}

/** Servers say the same twice, as data and as text for those who read no data. */
function outputOf(text: string, structured: JsonObject | undefined): Json {
  if (!structured) return text;
  return text === "" || isSame(text, structured) ? structured : { text, structured };
}

function isSame(text: string, value: Json): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
