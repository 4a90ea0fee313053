/** Keeps the promise of all engines: the events end with one `finish`, and nothing is thrown. */
import { CUT_OFF } from "../core/errors.ts";
import type { ErrorInfo, Event } from "../core/nouns.ts";
import { EngineError } from "./error.ts";

export const ABORTED: ErrorInfo = { code: "aborted", message: "the request was aborted" };
/** For an engine that breaks its contract. */
export const NO_FINISH: ErrorInfo = { code: "internal", message: "the engine ended without a finish event" };

export const failed = (error: ErrorInfo): Event => ({ type: "finish", reason: "error", error });

/**
 * The events of a source up to its first `finish`; if the source fails or ends without one, a `finish` with the error is added. The source
 * yields events in batches, since nested generators cost several turns of the event loop for each value.
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

/** Ends thinking and a call that were open when the source broke off; the call is marked as truncated. */
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
