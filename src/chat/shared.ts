/** The part of `dragoman/chat` that is the same in a web page and in Node. */
export {
  type Asking,
  Chat,
  type ChatEvent,
  type ChatOptions,
  createChat,
  type RequestSettings,
  type SendOptions,
} from "./chat.ts";
export type { Check, Checked } from "./check.ts";
export { type Block, type ContextPolicy, type ContextSettings, dropOldest, type Room } from "./context.ts";
export { type ChatData, readChat, type Turn, type TurnReason } from "./data.ts";
export type { OpenResult } from "./history.ts";
export type { Arguments, StandardSchema } from "./infer.ts";
export type { McpServer, McpTools } from "./mcp.ts";
export { Reply } from "./reply.ts";
export type { Approval, Approve } from "./run.ts";
export { type ChatTool, defineTool, ToolAnswer, type ToolContext, type ToolDefinition, type ToolSet } from "./tool.ts";
