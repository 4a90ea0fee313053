/**
 * The tools of an MCP server as tools of a chat. This file needs no Node: it connects to a server at a URL over streamable HTTP, with a
 * session or, since the revision 2026-07-28, without; or, if the server is too old for either, over HTTP+SSE:
 *
 *     await using server = await mcpTools({ url: "http://127.0.0.1:3001/mcp" });
 *     const chat = createChat({ engine, tools: [server] });
 */
import type { Disposing } from "../engines/disposing.ts";
import type { McpConnection, McpWay } from "./mcp-session.ts";
import type { ChatTool, ToolSet } from "./tool.ts";

export type McpServer = (
  | {
      command: string;
      args?: readonly string[] | undefined;
      /** Added to the few variables that every program needs. */
      env?: Readonly<Record<string, string>> | undefined;
      cwd?: string | undefined;
    }
  | { url: string; headers?: Readonly<Record<string, string>> | undefined }
) &
  McpSettings;

export interface McpSettings {
  /** Put before each tool's name, in case several servers have tools of the same name. */
  prefix?: string | undefined;
  /** How long a call may take without reporting progress, in milliseconds. Default: 300,000. */
  timeout?: number | undefined;
  /** How long the server may take to start and list its tools, in milliseconds. Default: 60,000, since some install themselves first. */
  connectTimeout?: number | undefined;
  /** Aborts the first attempt to connect. */
  signal?: AbortSignal | undefined;
}

/** If the server ends, it is connected or started again when one of its tools is used. */
export interface McpTools extends ToolSet, Disposing {
  /** As the server listed them last. A chat that has this object as a tool set follows changes. */
  readonly tools: readonly ChatTool[];
  /** What the server calls itself. */
  readonly name: string;
  /** The server's instructions for the model; put them into the system text. */
  readonly instructions: string | undefined;
  /** Asks for the list again if the server has announced a change. */
  refresh(): Promise<void>;
  /** Ends the connection, and the command if there is one. */
  close(): Promise<void>;
}

/** The statuses with which a server refuses the POST of a client that is too new for it, or too old. */
const REFUSED: ReadonlySet<number> = new Set([400, 404, 405]);

/** Throws if the server does not answer, or is not an MCP server. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (!("url" in server)) throw new Error("a web page cannot start a command: give the url of an MCP server");
  const { ProtocolError, SdkHttpError, SSEClientTransport, SseError, StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/client"
  );
  const { openSession } = await import("./mcp-session.ts");
  const { url, headers = {} } = server;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`the URL of an MCP server must be an http or https URL; it is ${url}`);
  const { origin, pathname, username, password } = new URL(url);
  if (username || password) throw new Error("the URL of an MCP server must not contain a name and password: send them as a header");
  const requestInit = { headers };
  const why = (error: Error): string => {
    const { message, cause } = error;
    // The SDK's message has the server's body but not the status. A body in HTML is left out.
    if (error instanceof SdkHttpError) {
      const said = message.replace(/^.*endpoint: /, "");
      return `it answers ${error.status}, ${/^\s*</.test(said) ? "" : said}`.replace(/, $/, "");
    }
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  };
  // Over HTTP nothing tells the client that the server has ended, but a broken stream is a hint.
  const open = (): McpConnection => ({ transport: new StreamableHTTPClientTransport(new URL(url), { requestInit }), onError: "ask", why });
  // A server from before 2025 refuses the POST, and says over an SSE stream where to post.
  const events: McpWay = {
    open: () => ({ transport: new SSEClientTransport(new URL(url), { requestInit }), onError: "close", why }),
  };
  return openSession(server, {
    name: origin + pathname, // the rest may hold a key
    ways: [{ open }, { open, isStateless: true }, events],
    refused(error, next) {
      if (error instanceof SdkHttpError) return REFUSED.has(error.status);
      if (error instanceof ProtocolError) return next !== events; // it may come with 200; but a server that old does not speak JSON-RPC here
      return error instanceof SseError && error.code !== undefined;
    },
    lost(error) {
      if (error instanceof TypeError) return "gone"; // what fetch throws
      if (!(error instanceof SdkHttpError)) return undefined;
      const { status } = error;
      return status === 404 || status === 400 ? "forgotten" : status >= 500 ? "gone" : undefined;
    },
  });
}
