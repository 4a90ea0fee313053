// The AI SDK over OpenAI's wire, as docs/clients/ai-sdk.md describes it.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import { expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { hello } from "./start.ts";

const signature = { wire: "gemini", kind: "thoughtSignature", data: "c2ln" } as const;
const call: Event[] = [
  { type: "tool-start", id: "a", index: 0, name: "f" },
  { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, state: [signature] },
  { type: "finish", reason: "tool-calls" },
];

test("a provider named google sends the signatures of calls back", async () => {
  const engine = createScripted([call, hello]);
  const { url } = await startGateway({ upstreams: { up: engine } });
  const gateway = createOpenAICompatible({ name: "google", baseURL: `${url}/v1`, apiKey: "x" });
  const f = tool({ inputSchema: jsonSchema({ type: "object" }), execute: () => "done" });
  await generateText({ model: gateway("any"), prompt: "Hi", tools: { f }, stopWhen: stepCountIs(2) });
  expect(engine.requests[1]?.messages[1]).toMatchObject({ role: "assistant", content: [{ type: "tool-call", state: [signature] }] });
});
