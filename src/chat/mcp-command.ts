/**
 * MCP servers that are started as a command and spoken to over its stdin and stdout.
 *
 *     await using server = await mcpTools({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 */

import { type McpServer, type McpTools, mcpTools as toolsAtUrl } from "./mcp.ts";
import type { McpConnection } from "./mcp-session.ts";

/** How much of the command's stderr is kept, for the error message when it does not answer. */
const MAX_STDERR = 2000;

/** Throws if the command does not start, or is not an MCP server. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (typeof server !== "object" || server === null) throw new Error("an MCP server must be { command, args } or { url }");
  if ("url" in server) return toolsAtUrl(server);
  if (!server.command) throw new Error("an MCP server needs a command or a url");
  const { ProtocolError } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const { openSession } = await import("./mcp-session.ts");
  const { command, args = [], env = {}, cwd } = server;
  /** The SDK finds out how a server speaks by starting the command once more, except for a transport that it does not know. */
  class CommandTransport extends StdioClientTransport {}
  const open = (): McpConnection => {
    const transport = new CommandTransport({
      command,
      args: [...args],
      env: { ...env },
      stderr: "pipe", // it must not write into the terminal of a chat
      ...(cwd === undefined ? {} : { cwd }),
    });
    let said = "";
    transport.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-MAX_STDERR);
    });
    const why = ({ code, message }: NodeJS.ErrnoException): string => {
      const reason = code === "ENOENT" ? "there is no such command" : message;
      return said.trim() ? `${reason}\n${said.trim()}` : reason;
    };
    return { transport, why };
  };
  return openSession(server, {
    name: [command, ...args].join(" "),
    ways: [{ open }, { open, isStateless: true }],
    refused: (error) => error instanceof ProtocolError,
    lost: () => undefined, // a command that ends closes the connection
  });
}
