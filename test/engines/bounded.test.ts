// One abort signal for everything a program asks: Node warns about more than ten listeners, and some of them would leak.
import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { createRemote } from "../../src/engines/index.ts";
import { closeLater, signalOf, sse, startServer } from "../servers.ts";

const MANY = 12;

async function lastOf(events: AsyncIterable<Event>): Promise<Event | undefined> {
  let last: Event | undefined;
  for await (const event of events) last = event;
  return last;
}

const chunk = sse({ choices: [{ index: 0, delta: { content: "Hi" } }] });

test("a dozen concurrent answers share one signal: no warning, all end with it, and no listener is left", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error): void => void warnings.push(warning);
  process.on("warning", hear);
  onTestFinished(() => void process.off("warning", hear));
  const all = signalOf();
  let asked = 0;
  const server = await startServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(chunk);
    if (++asked === MANY) all.resolve();
  });
  const engine = createRemote({ wire: "openai-chat", url: server.url });
  closeLater(() => engine.close());
  const abort = new AbortController();
  const request = { model: "m", messages: [] };
  const answers = Array.from({ length: MANY }, () => lastOf(engine.generate(request, { signal: abort.signal })));
  await all.promise;
  await setImmediate(); // Node emits warnings later
  abort.abort();
  for (const last of await Promise.all(answers))
    expect(last).toMatchObject({ type: "finish", reason: "error", error: { code: "aborted" } });
  expect(warnings).toEqual([]);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});
