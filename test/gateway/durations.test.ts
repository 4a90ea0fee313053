// The durations that Ollama's clients divide by.
import { expect, test } from "vitest";
import { createScripted } from "../../src/engines/scripted.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, hello, json } from "./start.ts";

test.each([true, false])("an answer reports how long it took, for any upstream (streamed: %s)", async (stream) => {
  const { url } = await startGateway({ upstreams: { up: createScripted(() => hello) } });
  const body = JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "Hi" }] });
  const answer = await ask(url, "POST", "/api/chat", { headers: json, body });
  const last = JSON.parse(answer.body.trim().split("\n").at(-1) ?? "");
  for (const key of ["total_duration", "prompt_eval_duration", "eval_duration"]) expect(last[key], key).toBeGreaterThan(0);
  expect(last.eval_duration).toBeLessThanOrEqual(last.total_duration);
  expect(last.prompt_eval_duration).toBeLessThanOrEqual(last.total_duration);
});
