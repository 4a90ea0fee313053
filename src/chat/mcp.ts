/**
 * The tools of an MCP server as tools of a chat. This file needs no Node: it connects to a server at a URL over streamable HTTP, or, if the
 * server is too old for that, over the older HTTP+SSE:
 *
 *     await using server = await mcpTools({ url: "http://127.0.0.1:3001/mcp" });
 *     const chat = createChat({ engine, tools: [server] });
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Disposing } from "../engines/disposing.ts";
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

/** The statuses with which a server from before 2025 refuses the POST of a newer client. */
const TOO_NEW: ReadonlySet<number> = new Set([400, 404, 405]);

/** Throws if the server does not answer, or is not an MCP server. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (!("url" in server)) throw new Error("a web page cannot start a command: give the url of an MCP server");
  const { StreamableHTTPClientTransport, StreamableHTTPError } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { SSEClientTransport, SseError } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const { openSession } = await import("./mcp-session.ts");
  const { url, headers = {} } = server;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`the URL of an MCP server must be an http or https URL; it is ${url}`);
  const requestInit = { headers };
  const why = (error: Error): string => {
    const { message, cause } = error;
    // The SDK's message has the server's body but not the status. A body in HTML is left out.
    if (error instanceof StreamableHTTPError && error.code && error.code > 0) {
      const said = message.replace(/^.*endpoint: /, "");
      return `it answers ${error.code}, ${/^\s*</.test(said) ? "" : said}`.replace(/, $/, "");
    }
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  };
  /** The old server's refusal of streamable HTTP. */
  let refusal: Error | undefined;
  return openSession(server, {
    name: url,
    open() {
      if (refusal) {
        const first = refusal;
        const whyNot = (error: Error): string => why(error instanceof SseError && error.code ? first : error);
        return { transport: new SSEClientTransport(new URL(url), { requestInit }) as Transport, onError: "close", why: whyNot };
      }
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit }) as Transport;
      // Over HTTP nothing tells the client that the server has ended, but a broken stream is a hint.
      return { transport, onError: "ask", why };
    },
    // As in the specification: a server from before 2025 refuses the POST, and says over an SSE stream where to post.
    turn(error) {
      if (refusal || !(error instanceof StreamableHTTPError) || !TOO_NEW.has(error.code ?? 0)) return false;
      refusal = error;
      return true;
    },
    lost(error) {
      if (error instanceof TypeError) return "gone"; // what fetch throws
      if (!(error instanceof StreamableHTTPError)) return undefined;
      const { code = 0 } = error;
      return code === 404 || code === 400 ? "forgotten" : code >= 500 ? "gone" : undefined;
    },
  });
}
