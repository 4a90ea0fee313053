// A server that speaks OpenAI's wire and gives the answers of a test.
import { type Seen, sse, startServer } from "../../servers.ts";

export interface Said {
  role: string;
  content: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** What the model does: say, think, call; `wait` never ends. */
export type Doing = string | { think: string } | { call: string; with: unknown } | { wait: true };

export interface Upstream {
  url: string;
  seen: Seen[];
  /** The bodies of the requests. */
  bodies(): { model: string; messages: Said[]; tools?: { function: { name: string } }[] }[];
}

/** `answer` gets the last message. The list of models can be stopped from being answered. */
export async function startModel(
  answer: (last: Said, n: number) => readonly Doing[],
  models = ["small", "large"],
  isListing = () => true,
): Promise<Upstream> {
  const server = await startServer((response, { url, body }) => {
    if (url === "/v1/models")
      return void (isListing() && response.end(JSON.stringify({ object: "list", data: models.map((id) => ({ id, object: "model" })) })));
    if (!url.startsWith("/v1/chat")) return void response.writeHead(404).end();
    const { messages } = JSON.parse(body) as { messages: Said[] };
    const doings = answer(messages.at(-1)!, chats().length - 1);
    const chunk = (delta: unknown, finish_reason: string | null = null) => ({
      id: "c",
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    });
    const chunks = doings.flatMap((doing, index): unknown[] => {
      if (typeof doing === "string") return doing.split(/(?<= )/).map((content) => chunk({ content }));
      if ("think" in doing) return [chunk({ reasoning_content: doing.think })];
      if ("wait" in doing) return [];
      const id = `call_${chats().length}_${index}`;
      return [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name: doing.call, arguments: JSON.stringify(doing.with) } }] }),
      ];
    });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(...chunks));
    if (doings.some((doing) => typeof doing === "object" && "wait" in doing)) return;
    const calls = doings.some((doing) => typeof doing === "object" && "call" in doing);
    const usage = { id: "c", choices: [], usage: { prompt_tokens: 1200, completion_tokens: 34 } };
    response.end(sse(chunk({}, calls ? "tool_calls" : "stop"), usage, "[DONE]"));
  });
  const chats = () => server.seen.filter(({ url }) => url.startsWith("/v1/chat"));
  return { url: `${server.url}/v1`, seen: server.seen, bodies: () => chats().map(({ body }) => JSON.parse(body)) };
}
