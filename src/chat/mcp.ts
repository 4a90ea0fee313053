/**
 * The tools of an MCP server, as tools of a chat; this file needs no Node, and speaks streamable HTTP to the server at a URL, or, to one that
 * is too old for that, the HTTP with events that came before it:
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
  /** How long a call may take without a sign of life, in milliseconds: 300,000 unless told. */
  timeout?: number | undefined;
  /** How long the server may take to start and to list its tools, in milliseconds: 60,000 unless told, for some install themselves first. */
  connectTimeout?: number | undefined;
  /** Ends the first attempt to connect. */
  signal?: AbortSignal | undefined;
}

/** A server that ends is connected again, or started again, when one of its tools is used. */
export interface McpTools extends ToolSet, Disposing {
  /** As the server listed them last; a chat that is given the server follows it when they change. */
  readonly tools: readonly ChatTool[];
  /** What the server calls itself. */
  readonly name: string;
  /** What the server would like the model to know: for the system text. */
  readonly instructions: string | undefined;
  /** Asks for the list again, if the server has said that it changed. */
  refresh(): Promise<void>;
  /** Ends the connection, and the command with it. */
  close(): Promise<void>;
}

/** How a server of before 2025 answers what is posted to it. */
const TOO_NEW: ReadonlySet<number> = new Set([400, 404, 405]);

/** Throws if the server does not answer or is none. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (!("url" in server)) throw new Error("a web page starts no command: its MCP servers have a url");
  const { StreamableHTTPClientTransport, StreamableHTTPError } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { SSEClientTransport, SseError } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const { openSession } = await import("./mcp-session.ts");
  const { url, headers = {} } = server;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`the URL of an MCP server must be an http or https URL; it is ${url}`);
  const requestInit = { headers };
  const why = (error: Error): string => {
    const { message, cause } = error;
    // Of a refusal, the SDK's words hold what the server said, but not the status; a page for people says nothing more.
    if (error instanceof StreamableHTTPError && error.code && error.code > 0) {
      const said = message.replace(/^.*endpoint: /, "");
      return `it answers ${error.code}, ${/^\s*</.test(said) ? "" : said}`.replace(/, $/, "");
    }
    return cause instanceof Error ? `${message}: ${cause.message}` : message;
  };
  /** What the server said to somebody who is too new for it. */
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
      // Nothing tells a client over HTTP that the server has ended, but a stream that breaks is a hint.
      return { transport, onError: "ask", why };
    },
    // As the specification has it: a server of before 2025 refuses what is posted to it, and says over a stream where to post.
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
