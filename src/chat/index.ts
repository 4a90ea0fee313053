/** `dragoman/chat`: a conversation with a model that uses tools. */
export { fileTools } from "./files.ts";
export { mcpTools } from "./mcp-command.ts";
export * from "./shared.ts";
