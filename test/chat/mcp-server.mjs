// An MCP server over stdin and stdout that does what servers do on bad days. Its tools: `learn` (from then on there is `learnt`), `forget`,
// `die`, `wait` (for the end of the call; says on stderr that it was told of it), `pid`, `where`.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "bad days", version: "1" }, { capabilities: { tools: { listChanged: true } } });
const names = new Set(["learn", "forget", "die", "wait", "pid", "where"]);
const said = (text) => ({ content: [{ type: "text", text }] });

const tools = {
  async learn() {
    names.add("learnt");
    await server.sendToolListChanged();
    return said("there is one more");
  },
  async forget() {
    names.delete("learnt");
    await server.sendToolListChanged();
    return said("there is one less");
  },
  learnt: () => said("so I did"),
  die() {
    console.error("out of coffee");
    process.exit(3);
  },
  wait: ({ signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        console.error("was told to stop");
        resolve(said("never seen"));
      });
    }),
  pid: () => said(String(process.pid)),
  where: () => said(`${process.cwd()} ${process.env.WHO ?? "nobody"} ${process.env.SECRET ?? "no secret"}`),
};

server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const all = [...names].map((name) => ({ name, inputSchema: { type: "object" } }));
  const from = Number(params?.cursor ?? 0);
  return { tools: all.slice(from, from + 4), ...(from + 4 < all.length ? { nextCursor: String(from + 4) } : {}) };
});
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }, extra) => tools[name](extra));
await server.connect(new StdioServerTransport());
