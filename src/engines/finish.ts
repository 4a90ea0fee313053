/** What all engines promise of their events: one `finish`, last, and nothing thrown. */
import { CUT_OFF } from "../core/errors.ts";
import type { ErrorInfo, Event } from "../core/nouns.ts";
import { EngineError } from "./error.ts";

export const ABORTED: ErrorInfo = { code: "aborted", message: "the request was aborted" };
/** What an engine that keeps its contract never gives. */
export const NO_FINISH: ErrorInfo = { code: "internal", message: "the engine gave no finish" };

export const failed = (error: ErrorInfo): Event => ({ type: "finish", reason: "error", error });

/**
 * The events of a source up to its first `finish`, or with one in place of what went wrong. A source gives them in batches, as they come: a
 * generator inside a generator costs several turns for each thing that it yields.
 */
export async function* closing(
  signal: AbortSignal | undefined,
  source: () => AsyncIterable<readonly Event[]>,
  explain: (error: unknown) => ErrorInfo = explainError,
): AsyncGenerator<Event, void, undefined> {
  const open = new OpenPairs();
  try {
    if (!signal?.aborted) {
      for await (const events of source()) {
        for (const event of events) {
          if (signal?.aborted) break;
          open.see(event);
          yield event;
          if (event.type === "finish") return;
        }
        if (signal?.aborted) break;
      }
    }
  } catch (error) {
    yield* open.close();
    yield failed(signal?.aborted ? ABORTED : explain(error));
    return;
  }
  yield* open.close();
  yield failed(signal?.aborted ? ABORTED : CUT_OFF);
}

export function explainError(error: unknown): ErrorInfo {
  if (error instanceof EngineError) return error.info;
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}

/** Thinking and calls that were begun and not ended when the source broke off: they are ended, the call as cut. */
class OpenPairs {
  #thinking = false;
  #call: { id: string; index: number; name: string } | undefined;

  see(event: Event): void {
    if (event.type === "thinking-start") this.#thinking = true;
    else if (event.type === "thinking-end") this.#thinking = false;
    else if (event.type === "tool-start") this.#call = { id: event.id, index: event.index, name: event.name };
    else if (event.type === "tool-end" || event.type === "malformed") this.#call = undefined;
  }

  *close(): Generator<Event, void, undefined> {
    if (this.#thinking) yield { type: "thinking-end" };
    if (this.#call) yield { type: "tool-end", ...this.#call, arguments: {}, truncated: true };
  }
}
