// An MCP server over stdin and stdout that misbehaves as servers do. Its tools: `learn` (from then on there is `learnt`), `forget`, `die`,
// `wait` (until the call is cancelled, which it reports on stderr), `pid`, `where`; and, only as tasks, `research`, `fail`, and `brood` and
// `hatch`, which never end (`brooding` reports the state of the last); `hatch` becomes a task at `crack`.
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const taskStore = new InMemoryTaskStore();
const capabilities = { tools: { listChanged: true }, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
const server = new Server({ name: "bad days", version: "1" }, { capabilities, taskStore });
const names = new Set(["learn", "forget", "die", "wait", "pid", "where", "research", "fail", "brood", "hatch", "crack", "brooding"]);
const said = (text) => ({ content: [{ type: "text", text }] });

/** How a task ends, after its first poll. */
const tasks = {
  research: (id) => taskStore.storeTaskResult(id, "completed", said("all of it")),
  fail: (id) => taskStore.updateTaskStatus(id, "failed", "the library is closed"),
  brood: () => {},
  hatch: () => {},
};
let brooding;
let crack;
const cracked = new Promise((resolve) => {
  crack = resolve;
});

async function begin(name, store) {
  if (name === "hatch") await cracked;
  const task = await store.createTask({ ttl: 60_000, pollInterval: 20 });
  if (name === "brood" || name === "hatch") brooding = task.taskId;
  setTimeout(() => tasks[name](task.taskId), 30);
  return { task };
}

const tools = {
  brooding: async () => said((brooding && (await taskStore.getTask(brooding))?.status) ?? "not yet"),
  crack: () => said(String(crack())),
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
  const all = [...names].map((name) => ({
    name,
    inputSchema: { type: "object" },
    ...(name in tasks ? { execution: { taskSupport: "required" } } : {}),
  }));
  const from = Number(params?.cursor ?? 0);
  return { tools: all.slice(from, from + 4), ...(from + 4 < all.length ? { nextCursor: String(from + 4) } : {}) };
});
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }, extra) =>
  name in tasks ? begin(name, extra.taskStore) : tools[name](extra),
);
await server.connect(new StdioServerTransport());
