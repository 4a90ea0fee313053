/**
 * An engine that says what it was told to say: recordings, demonstrations, tests.
 *
 *     createScripted([[{ type: "text", text: "Hi" }, { type: "finish", reason: "stop" }]])
 */

import type { Event, Request } from "../core/nouns.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { unlessAborted } from "./bounded.ts";
import { type Disposing, disposing } from "./disposing.ts";
import type { Engine, GenerateOptions, TokenCount } from "./engine.ts";
import { estimateTokens } from "./estimate.ts";
import { closing } from "./finish.ts";

export type Script = Iterable<Event> | AsyncIterable<Event>;

export interface ScriptedOptions {
  models?: ModelInfo[];
  countTokens?: (request: Request) => TokenCount;
}

export interface Scripted extends Engine, Disposing {
  /** What was asked, in order. */
  readonly requests: readonly Request[];
}

/** One script for each request, in order; or whatever a function makes of the request. */
export function createScripted(scripts: readonly Script[] | ((request: Request) => Script), options: ScriptedOptions = {}): Scripted {
  const { models = [], countTokens = (request) => ({ tokens: estimateTokens(request), exact: false }) } = options;
  const requests: Request[] = [];
  const next = (request: Request): Script => (typeof scripts === "function" ? scripts(request) : (scripts[requests.length - 1] ?? [OVER]));
  return disposing({
    requests,
    generate(request, { signal, onAnswer }: GenerateOptions = {}) {
      requests.push(request);
      const script = next(request);
      return closing(signal, async function* () {
        onAnswer?.({ ok: true, headers: {}, warnings: [] });
        yield* until(signal, script);
      });
    },
    countTokens: async (request) => countTokens(request),
    models: async () => models,
    close: async () => {},
  } satisfies Engine & Pick<Scripted, "requests">);
}

const OVER: Event = { type: "finish", reason: "error", error: { code: "internal", message: "there is no script for another request" } };

/** The events of a script, until the signal: a script may wait for ever. */
async function* until(signal: AbortSignal | undefined, script: Script): AsyncGenerator<Event[], void, undefined> {
  const events = Symbol.asyncIterator in script ? script[Symbol.asyncIterator]() : script[Symbol.iterator]();
  for (;;) {
    const step = await unlessAborted(signal, events.next());
    if (step.done) return;
    yield [step.value];
  }
}
