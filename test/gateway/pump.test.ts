// Engines that have only `generate`.
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { Pump } from "../../src/gateway/pump.ts";
import { signalOf } from "../servers.ts";

test("what an engine throws after it was stopped is no fault of the gateway", async () => {
  const [heard, faults]: [Event[], unknown[]] = [[], []];
  const over = signalOf();
  const pump = new Pump(
    async function* (signal) {
      try {
        yield { type: "text", text: "Hi" };
        if (!signal.aborted) await once(signal, "abort");
        throw new Error("aborted");
      } finally {
        over.resolve();
      }
    },
    (events) => {
      heard.push(...events);
      pump.stop();
    },
    (error) => faults.push(error),
  );
  await over.promise;
  await setImmediate();
  expect([heard, faults]).toEqual([[{ type: "text", text: "Hi" }], []]);
});

test("what it throws before is", async () => {
  const broke = signalOf<unknown>();
  new Pump(
    // biome-ignore lint/correctness/useYield: it throws first
    async function* () {
      throw new Error("broken");
    },
    () => {},
    broke.resolve,
  );
  expect(await broke.promise).toEqual(new Error("broken"));
});
