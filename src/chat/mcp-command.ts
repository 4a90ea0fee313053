/**
 * MCP servers that are a command: it is started, and spoken to over its stdin and stdout.
 *
 *     await using server = await mcpTools({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 */
import { connected, type McpServer, type McpTools, mcpTools as toolsAtUrl } from "./mcp.ts";

/** Of what a command wrote to stderr, for the error that says why it did not start. */
const MAX_STDERR = 2000;

/** Throws if the server does not start or is none. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if ("url" in server) return toolsAtUrl(server);
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
  const why = ({ code, message }: NodeJS.ErrnoException): string => {
    const reason = code === "ENOENT" ? "there is no such command" : message;
    return said.trim() ? `${reason}\n${said.trim()}` : reason;
  };
  return connected(server, { name: [command, ...args].join(" "), transport, why });
}
