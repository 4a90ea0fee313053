// Limits on concurrent and queued answers. Over HTTP: test/gateway/faults.
import { expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { createLimited } from "../../src/engines/limited.ts";
import { createScripted } from "../../src/engines/scripted.ts";
import { all } from "../events.ts";
import { signalOf } from "../servers.ts";

const DONE: Event = { type: "finish", reason: "stop" };

test("a request that leaves the queue is not served, and the one after it is", async () => {
  const first = signalOf();
  const inner = createScripted(async function* ({ model }) {
    if (model === "first") await first.promise;
    yield DONE;
  });
  const engine = createLimited(inner, { concurrent: 1 });
  const leaving = new AbortController();
  const answers = ["first", "gone", "last"].map((model) =>
    all(engine.generate({ model, messages: [] }, model === "gone" ? { signal: leaving.signal } : {})),
  );
  leaving.abort();
  expect(await answers[1]).toEqual([{ type: "finish", reason: "error", error: expect.objectContaining({ code: "aborted" }) }]);
  first.resolve();
  expect(await Promise.all(answers)).toMatchObject([[DONE], [{ reason: "error" }], [DONE]]);
  expect(inner.requests.map(({ model }) => model)).toEqual(["first", "last"]);
});
