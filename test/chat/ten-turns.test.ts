// One long conversation with everything that can happen in it, handed over from a model in its own dialect to a server and back.
import { expect, test } from "vitest";
import { type Chat, createChat, defineTool } from "../../src/chat/index.ts";
import type { Message } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { createRemote } from "../../src/engines/remote.ts";
import { all } from "../events.ts";
import { sse, startServer } from "../servers.ts";
import { speaking } from "./engines.ts";

const weather = defineTool({
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => ({ city, degrees: city.length }),
});
const broken = defineTool({
  name: "open_door",
  run() {
    throw new Error("the door is stuck");
  },
});
const tools = [weather, broken];

const call = (name: string, args: string) => `<|tool_call>call:${name}{${args}}<tool_call|>`;
const city = (name: string) => call("get_weather", `city:<|"|>${name}<|"|>`);

/** What the client of an upstream must get right: every call of a request is followed by its result. */
function checkPairs(messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[]): void {
  const open = new Set<string>();
  for (const { role, tool_calls = [], tool_call_id = "" } of messages) {
    if (role === "tool") expect(open.delete(tool_call_id)).toBe(true);
    else expect([...open]).toEqual([]);
    for (const { id } of tool_calls) open.add(id);
  }
  expect([...open]).toEqual([]);
}

const textsOf = (history: readonly Message[]) =>
  history.flatMap((message) =>
    message.role === "tool" ? [] : message.content.flatMap((part) => (part.type === "text" && part.text.trim() ? [part.text.trim()] : [])),
  );

function expectPaired({ history }: Chat): void {
  const asked = history.flatMap((m) => (m.role === "assistant" ? m.content.flatMap((part) => ("id" in part ? [part.id] : [])) : []));
  expect(new Set(asked).size).toBe(asked.length);
  expect(history.flatMap((message) => (message.role === "tool" ? [message.id] : []))).toEqual(asked);
}

test("ten turns: parallel calls, wrong arguments, a failing tool, a cut call, an abort, a hand-over and back", async () => {
  const gemma = speaking(
    "gemma4",
    [
      "Hello!", // 1
      `${city("Oslo")}${city("Rome")}`, // 2: two at once
      "Oslo 4, Rome 4.",
      call("get_weather", "town:7"), // 3: arguments that do not fit, then right ones
      city("Bergen"),
      "Bergen 6.",
      call("open_door", ""), // 4: a tool that fails
      "The door is stuck.",
      `${city("Lima")}<|tool_call>call:get_weather{city:<|"|>Qui`, // 5: cut
      "Lima 4.",
      "Once upon a time there was a very long story.", // 6: aborted
    ],
    { length: [8] },
  );
  const first = createChat({ engine: gemma, model: "gemma-4", tools, system: "Be brief." });

  await first.send("hi").turn();
  await first.send("Oslo and Rome?").turn();
  expect(await first.send("Bergen?").turn()).toMatchObject({ steps: 3, reason: "stop" });
  await first.send("open the door").turn();
  await first.send("Lima and Quito?").turn();
  const abort = new AbortController();
  for await (const event of first.send("a story", { signal: abort.signal }))
    if (event.type === "text" && event.text.includes("n")) abort.abort();
  expect(first.turns.at(-1)?.reason).toBe("aborted");
  expectPaired(first);

  // 7 and 8: an OpenAI server continues.
  const chunk = (delta: unknown, finish_reason: string | null = null) => ({
    id: "c",
    model: "gpt",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const fragment = (id: string | undefined, args: string, index = 0) => ({
    tool_calls: [{ index, ...(id ? { id, type: "function" } : {}), function: { ...(id ? { name: "get_weather" } : {}), arguments: args } }],
  });
  const answers = [
    [chunk(fragment("call_0", '{"city":')), chunk(fragment(undefined, ' "Kyiv"}')), chunk({}, "tool_calls")],
    [chunk({ content: "Kyiv 4." }, "stop")],
    [chunk({ reasoning_content: "They thank me." }), chunk({ content: "You are welcome." }, "stop")],
  ];
  const server = await startServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(...(answers[server.seen.length - 1] ?? []), "[DONE]"));
  });
  const remote = createRemote({ wire: "openai-chat", url: `${server.url}/v1`, profile: { thinkingField: "reasoning_content" } });
  const second = first.fork({ engine: remote, model: "gpt" });
  expect(await second.send("Kyiv?").text()).toBe("Kyiv 4.");
  await second.send("thanks").turn();
  for (const { body } of server.seen) checkPairs(JSON.parse(body).messages);
  expectPaired(second);
  const [before] = server.seen;
  expect(before?.body).toContain("the door is stuck");
  expect(before?.body).toContain("city: is missing");
  expect((await second.promptOf(second.turns[6], 0)).sent).toMatchObject({
    wire: "openai-chat",
    url: `${server.url}/v1/chat/completions`,
    body: { messages: JSON.parse(before?.body ?? "").messages },
  });

  // 9 and 10: and back.
  const again = speaking("gemma4", [city("Kyiv"), "Still 4.", "Bye!"]);
  const third = second.fork({ engine: again, model: "gemma-4" });
  await third.send("And now?").turn();
  await all(third.send("bye"));
  await remote.close();

  expectPaired(third);
  expect(third.turns.map(({ reason }) => reason)).toEqual([...Array(5).fill("stop"), "aborted", ...Array(4).fill("stop")]);
  expect(third.turns.map(({ model }) => model)).toEqual([...Array(6).fill("gemma-4"), "gpt", "gpt", "gemma-4", "gemma-4"]);
  expect(textsOf(third.history)).toEqual([
    ...["hi", "Hello!", "Oslo and Rome?", "Oslo 4, Rome 4.", "Bergen?", "Bergen 6.", "open the door", "The door is stuck."],
    ...["Lima and Quito?", "Lima 4.", "a story", "On", "Kyiv?", "Kyiv 4.", "thanks", "You are welcome."],
    ...["And now?", "Still 4.", "bye", "Bye!"],
  ]);
  // Nothing is lost on the way: the first messages are unchanged, and the server's thinking is there.
  expect(third.history.slice(0, first.history.length)).toEqual(first.history);
  expect(third.history).toContainEqual({
    role: "assistant",
    content: [
      { type: "thinking", text: "They thank me." },
      { type: "text", text: "You are welcome." },
    ],
  });
  // The prompt of an early turn is unchanged, although the engine is another by now.
  const { sent } = await third.promptOf(third.turns[1], 0);
  expect(sent && "prompt" in sent ? promptText(sent.prompt) : "").toContain("Oslo and Rome?<turn|>\n<|turn>model\n");
});
