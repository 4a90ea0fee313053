// `await using` closes every kind of engine.
import { expect, test, vi } from "vitest";
import { getDialect } from "../../src/dialects/registry.ts";
import type { Disposing } from "../../src/engines/disposing.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createCompletions, createInband, createRemote, createRescue, createScripted, createTextEngine } from "../../src/engines/index.ts";
import { createGateway } from "../../src/gateway/index.ts";

const url = "http://127.0.0.1:9";
const inner = () => createScripted([]);
const dialect = getDialect("gemma4");

test.each<[string, () => Pick<Engine, "close"> & Disposing]>([
  ["createRemote", () => createRemote({ wire: "openai-chat", url })],
  ["createCompletions", () => createCompletions({ url })],
  ["createScripted", inner],
  ["createInband", () => createInband(inner())],
  ["createRescue", () => createRescue(inner())],
  ["createTextEngine", () => createTextEngine({ generate: async function* () {} }, { dialect })],
  ["createGateway", () => createGateway({ upstreams: { one: inner() } })],
])("%s", async (_, create) => {
  const made = create();
  const close = vi.spyOn(made, "close");
  {
    await using one = made;
    expect(one).toBe(made);
    expect(close).not.toHaveBeenCalled();
  }
  expect(close).toHaveBeenCalledOnce();
});
