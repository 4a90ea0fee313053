/** `dragoman/chat` in a web page: without file tools, and with MCP servers at a URL only. */
export { mcpTools } from "./mcp.ts";
export * from "./shared.ts";
