// Finding the bytes that broke a cached prefix.
import { expect, test } from "vitest";
import { type Prefix, Prefixes } from "../../../src/gateway/recordings/prefix.ts";
import type { Recording } from "../../../src/gateway/recordings/recording.ts";

/** What is reported about each of these requests to an upstream, in order. */
function said(...bodies: unknown[]): Prefix[] {
  const prefixes = new Prefixes();
  return bodies.map((body) => prefixes.add(asked(typeof body === "string" ? body : JSON.stringify(body))));
}

const asked = (body: string): Recording =>
  ({ upstream: [{ request: { method: "POST", url: "http://u/v1", headers: {}, body }, ms: 0, pieces: [] }] }) as unknown as Recording;

const user = (content: string) => ({ role: "user", content });
const LONG = "A story about a lighthouse. ".repeat(20);

test("a conversation that continues shares everything", () => {
  const messages = [user(LONG), { role: "assistant", content: "Well." }];
  expect(said({ messages }, { messages: [...messages, user("More")] })[1]).toEqual({ back: 1, shared: 1 });
});

test("a changed byte near the start is found, with its place", () => {
  const [, second] = said(
    { system: `a line; cch=1a2b. ${LONG}`, messages: [user("Hi")] },
    { system: `a line; cch=9z8y. ${LONG}`, messages: [user("Hi"), user("More")] },
  );
  expect(second).toMatchObject({ back: 1, breaks: { at: "system", character: 12 } });
  expect(second?.breaks?.is).toMatch(/^a line; cch=9z8y\. A story.*…$/);
  expect(second?.breaks?.was).toMatch(/^a line; cch=1a2b\. A story.*…$/);
  expect(second?.shared).toBeLessThan(0.1);
});

test("tools are compared first, whatever the order of the fields", () => {
  const [, second] = said({ messages: [user(LONG)], tools: [{ name: "a" }] }, { messages: [user(LONG)], tools: [{ name: "b" }] });
  expect(second?.breaks).toMatchObject({ at: "tools", was: '{"name":"a"}', is: '{"name":"b"}' });
});

test("the request with the longest common prefix is found, and the latest of equals", () => {
  const one = { messages: [user(LONG), user("one")] };
  expect(said(one, { messages: [user("Other things.")] }, one, one, { messages: [...one.messages, user("two")] })[4]).toEqual({
    back: 1,
    shared: 1,
  });
  expect(said(one, { prompt: "x" }, { messages: [...one.messages, user("two")] })[2]).toEqual({ back: 2, shared: 1 });
});

test("a message that was removed breaks the prefix at the end", () => {
  const [, second] = said({ messages: [user(LONG), user("one")] }, { messages: [user(LONG)] });
  expect(second?.breaks).toMatchObject({ at: "the end", is: "" });
});

test("prompts of servers that complete text are compared, as text and as tokens", () => {
  expect(said({ prompt: "<bos>Hi" }, { prompt: "<bos>Hi there" })[1]).toEqual({ back: 1, shared: 1 });
  expect(said({ prompt: [2, 10, 11] }, { prompt: [2, 10, 11, 12] })[1]).toEqual({ back: 1, shared: 1 });
  expect(said({ prompt: [2, 10, 11] }, { prompt: [2, 10, 12] })[1]).toMatchObject({ back: 1, breaks: { at: "prompt" } });
});

test("bodies that are not JSON, or have no prompt, share nothing", () => {
  for (const { back, shared } of said("not JSON", "not JSON", {}, {}, null, "")) expect([back, shared]).toEqual([0, 0]);
});
