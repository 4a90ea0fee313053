// One model begins a conversation, another continues it.
//
//   node examples/handover.mjs http://127.0.0.1:11434/v1 http://127.0.0.1:8080/v1
//
// The first calls a tool. The second sees the call, its result and everything said, in its own format, and can answer without a tool.
import { createChat, defineTool, readChat } from "dragoman/chat";
import { engineFor } from "./engine.mjs";

const [first, second] = process.argv.slice(2);

const weather = defineTool({
  name: "get_weather",
  description: "Get the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => ({ city, degrees: 12, sky: "clear" }),
});

const engines = [await engineFor(first), await engineFor(second)];
const chat = createChat({ engine: engines[0], tools: [weather] });
console.log("first: ", await chat.send("What is the weather in Oslo?").text());

// A conversation is JSON and can be stored.
const stored = JSON.stringify(chat.save());
const other = createChat({ engine: engines[1], tools: [weather], data: readChat(JSON.parse(stored)) });
console.log("second:", await other.send("Do I need an umbrella?", { tools: false }).text());

const { request } = await other.promptOf();
console.log("sent:  ", request.messages.map(({ role }) => role).join(", "));
for (const engine of engines) await engine.close();
