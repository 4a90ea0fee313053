// An MCP server of the revision 2026-07-28 that refuses the handshake of older clients, over stdin and stdout or, with `http`, over HTTP
// (it prints its URL). Its tools: `learn` (from then on there is `learnt`), `region` (which wants its argument as a header, too), `pid`, and
// `wait` (until the call is aborted, which `waited` reports).
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const isHttp = process.argv[2] === "http";
const said = (text) => ({ content: [{ type: "text", text }] });
let hasLearnt = false;
let waits = "never called";

function makeServer() {
  const server = new McpServer({ name: "stateless", version: "1" }, { instructions: "Ask me anything." });
  const tool = (name, run, properties = {}) =>
    server.registerTool(name, { description: name, inputSchema: fromJsonSchema({ type: "object", properties }) }, run);
  const learnt = () => tool("learnt", () => said("so I did"));
  tool("learn", () => {
    hasLearnt = true;
    if (isHttp) handler.notify.toolsChanged();
    else learnt();
    return said("there is one more");
  });
  tool("region", ({ name }) => said(`in ${name}`), { name: { type: "string", "x-mcp-header": "Region" } });
  tool("pid", () => said(String(process.pid)));
  tool("wait", (_, { mcpReq: { signal } }) => {
    waits = "waiting";
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        waits = "aborted";
        resolve(said("never seen"));
      });
    });
  });
  tool("waited", () => said(waits));
  tool("die", () => process.exit(3));
  if (hasLearnt) learnt();
  return server;
}

const handler = createMcpHandler(makeServer, { legacy: "reject" });
if (isHttp) {
  createServer(async (request, response) => {
    const left = new AbortController();
    response.on("close", () => left.abort());
    const { method, headers } = request;
    const body = method === "POST" ? Readable.toWeb(request) : undefined;
    const answer = await handler.fetch(
      new Request(`http://localhost${request.url}`, { method, headers, body, duplex: "half", signal: left.signal }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body)
      Readable.fromWeb(answer.body)
        .on("error", () => {})
        .pipe(response);
    else response.end();
  }).listen(0, "127.0.0.1", function () {
    console.log(`http://127.0.0.1:${this.address().port}/mcp`);
  });
} else serveStdio(makeServer, { legacy: "reject" });
