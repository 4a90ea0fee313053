// Clients that do not stream are not held silent either: JSON may begin with blanks.
import { expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { listWires } from "../../src/wires/registry.ts";
import { signalOf } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { askSmallest, ERROR, hello, json, SMALLEST, scripted } from "./start.ts";

const wires = listWires().map(({ id }) => id);
const impatient = { patience: { headersMs: 5, heartbeatMs: 5 } };

/** Says nothing until it is told to. */
function waiting(events: Event[]) {
  const told = signalOf();
  async function* script(): AsyncGenerator<Event> {
    await told.promise;
    yield* events;
  }
  return { engine: scripted(script), tell: told.resolve };
}

test.each(wires)("%s: a long silence is filled with blanks, and the answer is the same JSON", async (id) => {
  const { engine, tell } = waiting(hello);
  const gateway = await startGateway({
    upstreams: { up: engine, quick: scripted() },
    models: [{ name: "m", upstream: "up" }],
    ...impatient,
  });
  const { path, body } = SMALLEST[id];
  const answer = await fetch(gateway.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const reader = answer.body!.getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  expect(first).toMatch(/^\n+$/);
  tell();
  let text = "";
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += new TextDecoder().decode(step.value);
  expect(JSON.stringify(JSON.parse(text))).toContain("Hello");
});

test.each(wires)("%s: an error after that is the wire's error body", async (id) => {
  const { engine, tell } = waiting([{ type: "finish", reason: "error", error: { code: "overloaded", message: "too much" } }]);
  const gateway = await startGateway({ upstreams: { up: engine }, ...impatient });
  const { path, body } = SMALLEST[id];
  const answer = await fetch(gateway.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
  tell();
  expect(await answer.json()).toMatchObject(ERROR[id]);
  expect(await gateway.ended(1)).toMatchObject([{ outcome: "error", error: { code: "overloaded" } }]);
});

test("whoever answers in time sends a status and a length", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  const { status, headers } = await askSmallest(gateway.url, "openai-chat");
  expect([status, Number(headers["content-length"]) > 0]).toEqual([200, true]);
});
