// The tools of several MCP servers in one chat.
import { expect, test } from "vitest";
import type { ChatTool } from "../../../src/chat/index.ts";
import { type Connected, connectAll, toolsOf } from "../../../src/cli/chat/mcp.ts";
import { folder } from "../run.ts";

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

test("a server that is disabled in the file is not started", async () => {
  const file = folder().file("mcp.json", { mcpServers: { off: { command: "there-is-no-such-command", disabled: true } } });
  expect(await connectAll([file])).toEqual([]);
});
