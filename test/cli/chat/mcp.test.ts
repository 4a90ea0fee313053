// The tools of several MCP servers in one chat.
import { expect, test } from "vitest";
import type { ChatTool } from "../../../src/chat/index.ts";
import { type Connected, toolsOf } from "../../../src/cli/chat/mcp.ts";

test("three servers of one name keep all their tools", () => {
  const read: ChatTool = { tool: { name: "read" }, readOnly: true, check: (args) => ({ arguments: args }) };
  const one = { label: "file server", server: { tools: [read] } } as unknown as Connected;
  expect(toolsOf([one, one, one, one]).map(({ tool }) => tool.name)).toEqual([
    "read",
    "file_server_read",
    "file_server_read_2",
    "file_server_read_3",
  ]);
});
