// Engines for the chat tests: a model whose text the test writes, behind the real renderer and scanner of its dialect.
import type { Event, Request } from "../../src/core/nouns.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createScripted, type Scripted } from "../../src/engines/scripted.ts";

export const stop: Event = { type: "finish", reason: "stop" };
export const toolCalls: Event = { type: "finish", reason: "tool-calls" };
export const says = (text: string): Event[] => [{ type: "text", text }, stop];

/** A call, as engines report it. */
export function calls(name: string, args: Record<string, unknown>, id = "call_0", index = 0): Event[] {
  const json = JSON.stringify(args);
  return [
    { type: "tool-start", id, index, name },
    { type: "tool-delta", id, json },
    { type: "tool-end", id, index, name, arguments: args as never, json },
  ];
}

export interface Speaking extends Engine {
  readonly requests: readonly Request[];
}

/** Writes these texts in its dialect, one for each request. `length`: the texts that were cut off by the token limit. */
export function speaking(id: string, texts: readonly string[], options: { length?: readonly number[] } = {}): Speaking {
  const dialect = getDialect(id);
  const scripted: Scripted = createScripted((request) => {
    const n = scripted.requests.length - 1;
    const text = texts[n] ?? "";
    const scanner = dialect.createScanner({ tools: request.tools ?? [], prompt: dialect.render(request) });
    const events = [...text].flatMap((char) => scanner.feed(char)).concat(scanner.flush());
    const ends = events.filter(({ type }) => type === "tool-end");
    const reason = options.length?.includes(n) ? "length" : ends.length > 0 ? "tool-calls" : "stop";
    const usage: Event = { type: "usage", inputTokens: 100, outputTokens: text.length };
    return [...events, usage, { type: "finish", reason }];
  });
  return { ...scripted, requests: scripted.requests, preview: async (request) => ({ dialect: id, prompt: dialect.render(request) }) };
}
