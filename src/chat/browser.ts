/** `dragoman/chat` in a web page: without the tools for files, and with MCP servers that have a URL. */
export { mcpTools } from "./mcp.ts";
export * from "./shared.ts";
