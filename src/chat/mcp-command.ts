/**
 * MCP servers that are a command: it is started, and spoken to over its stdin and stdout.
 *
 *     await using server = await mcpTools({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] });
 */
import { type McpServer, type McpTools, mcpTools as toolsAtUrl } from "./mcp.ts";

/** Of what a command wrote to stderr, for the error that says why it does not answer. */
const MAX_STDERR = 2000;

/** Throws if the server does not start or is none. */
export async function mcpTools(server: McpServer): Promise<McpTools> {
  if (typeof server !== "object" || server === null) throw new Error("an MCP server is { command, args } or { url }");
  if ("url" in server) return toolsAtUrl(server);
  if (!server.command) throw new Error("an MCP server has a command or a url");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { openSession } = await import("./mcp-session.ts");
  const { command, args = [], env = {}, cwd } = server;
  return openSession(server, {
    name: [command, ...args].join(" "),
    open() {
      const transport = new StdioClientTransport({
        command,
        args: [...args],
        env: { ...env },
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
      return { transport, why };
    },
    lost: () => undefined, // a command that ends closes the connection
  });
}
