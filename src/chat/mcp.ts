/**
 * The tools of an MCP server, as tools of a chat; this file needs no Node, and speaks streamable HTTP to the server at a URL:
 *
 *     await using server = await mcpTools({ url: "http://127.0.0.1:3001/mcp" });
 *     const chat = createChat({ engine, tools: server.tools });
 */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Json, JsonObject, Media } from "../core/nouns.ts";
import { checkOfJsonSchema } from "./check.ts";
import { type ChatTool, ToolAnswer } from "./tool.ts";
import { VERSION } from "./version.ts";

export type McpServer = (
  | {
      command: string;
      args?: readonly string[] | undefined;
      /** Beside the few variables that every program needs. */
      env?: Readonly<Record<string, string>> | undefined;
      cwd?: string | undefined;
    }
  | { url: string; headers?: Readonly<Record<string, string>> | undefined }
) &
  McpSettings;

export interface McpSettings {
  /** Before each name, for tools of several servers that have the same names. */
  prefix?: string | undefined;
  /** How long a call may take without a sign of life, in milliseconds. */
  timeout?: number | undefined;
  /** Ends the attempt to connect. */
  signal?: AbortSignal | undefined;
}

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

/** Throws if the server does not answer or is none. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (!("url" in server)) throw new Error("a web page starts no command: its MCP servers have a url");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { url, headers = {} } = server;
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport;
  return connected(server, { name: url, transport, why: ({ message }) => message });
}

export interface McpLine {
  /** What the server is called until it says so itself. */
  readonly name: string;
  readonly transport: Transport;
  /** Why it does not answer. */
  why(error: Error): string;
}

export async function connected(settings: McpSettings, { name, transport, why }: McpLine): Promise<McpTools> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client({ name: "dragoman", version: VERSION });
  try {
    await client.connect(transport, settings.signal ? { signal: settings.signal } : {});
    return {
      tools: await listTools(client, settings),
      name: client.getServerVersion()?.name ?? name,
      instructions: client.getInstructions(),
      close: () => client.close(),
      [Symbol.asyncDispose]: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw new Error(`the MCP server ${name} does not answer: ${why(error as Error)}`, { cause: error });
  }
}

async function listTools(client: Client, { prefix = "", timeout = TIMEOUT_MS }: McpSettings): Promise<ChatTool[]> {
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
