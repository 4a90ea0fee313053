/**
 * An engine that answers with given events: for recordings, demonstrations and tests.
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
  /** The requests so far, in order. */
  readonly requests: readonly Request[];
}

/** `scripts`: one for each request, in order; or a function that makes one from the request. */
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

const OVER: Event = { type: "finish", reason: "error", error: { code: "internal", message: "there is no script left for this request" } };

/** The events of a script until the signal aborts: a script may wait forever. */
async function* until(signal: AbortSignal | undefined, script: Script): AsyncGenerator<Event[], void, undefined> {
  const events = Symbol.asyncIterator in script ? script[Symbol.asyncIterator]() : script[Symbol.iterator]();
  try {
    for (;;) {
      const step = await unlessAborted(signal, events.next());
      if (step.done) return;
      yield [step.value];
    }
  } finally {
    void Promise.resolve(events.return?.()).catch(() => {}); // not awaited: a script that waits forever never gets there
  }
}
