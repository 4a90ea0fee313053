// The scripted engine keeps the promises of every engine, without a server.
import { expect, test } from "vitest";
import type { Event, Request } from "../../src/core/nouns.ts";
import type { GenerateOptions } from "../../src/engines/engine.ts";
import { createScripted, type Scripted } from "../../src/engines/scripted.ts";
import { all } from "../events.ts";

const request: Request = { model: "m", messages: [] };

const eventsOf = (engine: Scripted, options?: GenerateOptions): Promise<Event[]> => all(engine.generate(request, options));

const finish: Event = { type: "finish", reason: "stop" };
const hi: Event = { type: "text", text: "Hi" };

test("there is one script for each request, and an error when none is left", async () => {
  const engine = createScripted([[hi, finish]]);
  expect(await eventsOf(engine)).toEqual([hi, finish]);
  expect(await eventsOf(engine)).toMatchObject([{ type: "finish", reason: "error", error: { code: "internal" } }]);
  expect(engine.requests).toEqual([request, request]);
});

test("nothing follows the finish, and a missing one is added", async () => {
  expect(await eventsOf(createScripted([[finish, hi]]))).toEqual([finish]);
  expect(await eventsOf(createScripted([[hi]]))).toMatchObject([hi, { type: "finish", error: { code: "upstream" } }]);
});

test("a script that throws closes what it opened, and finishes", async () => {
  const engine = createScripted(() =>
    (async function* (): AsyncGenerator<Event> {
      yield { type: "thinking-start" };
      yield { type: "thinking-delta", text: "Hm" };
      throw new Error("broken");
    })(),
  );
  expect((await eventsOf(engine)).slice(2)).toMatchObject([
    { type: "thinking-end" },
    { type: "finish", error: { code: "internal", message: "broken" } },
  ]);
});

test("an abort ends a script that waits for ever, and an open call is truncated", async () => {
  const controller = new AbortController();
  const engine = createScripted(() =>
    (async function* (): AsyncGenerator<Event> {
      yield { type: "tool-start", id: "a", index: 0, name: "f" };
      controller.abort();
      await new Promise(() => {});
    })(),
  );
  expect((await eventsOf(engine, { signal: controller.signal })).slice(1)).toMatchObject([
    { type: "tool-end", id: "a", truncated: true },
    { type: "finish", reason: "error", error: { code: "aborted" } },
  ]);
});

test("a script that is left early runs its finally", async () => {
  const left: string[] = [];
  const script = (name: string) =>
    (async function* (): AsyncGenerator<Event> {
      try {
        yield hi;
        yield hi;
        yield finish;
      } finally {
        left.push(name);
      }
    })();
  const controller = new AbortController();
  const engine = createScripted([script("broken off"), script("aborted")]);
  for await (const _ of engine.generate(request)) break;
  for await (const event of engine.generate(request, { signal: controller.signal })) if (event === hi) controller.abort();
  expect(left).toEqual(["broken off", "aborted"]);
});
