// The tools of an MCP server, used by a model.
//
//   node examples/mcp.mjs "npx -y @modelcontextprotocol/server-everything" "What is 2 + 40?" [model]
//   node examples/mcp.mjs http://127.0.0.1:3001/mcp "What is 2 + 40?" [model]
import { createChat, mcpTools } from "dragoman/chat";
import { engineFor } from "./engine.mjs";

const [server, question = "What can you do?", model] = process.argv.slice(2);
if (server === undefined) {
  console.error('usage: node examples/mcp.mjs "<command>" or <url> [question] [model]');
  process.exit(2);
}
const [command, ...args] = server.split(" ");

const mcp = await mcpTools(/^https?:/.test(server) ? { url: server } : { command, args });
console.log(`${mcp.name}: ${mcp.tools.map(({ tool }) => tool.name).join(", ")}`);

const engine = await engineFor(model);
const chat = createChat({ engine, tools: [mcp], system: mcp.instructions });
for await (const event of chat.send(question)) {
  if (event.type === "text") process.stdout.write(event.text);
  if (event.type === "tool-end") console.log(`${event.name} ${JSON.stringify(event.arguments)}`);
  if (event.type === "tool-result")
    console.log(`-> ${JSON.stringify(event.output)}${event.media ? ` and ${event.media.length} images` : ""}`);
}
console.log();

await mcp.close();
await engine.close();
