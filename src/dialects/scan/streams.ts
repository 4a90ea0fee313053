/** A scanner for whole texts and for the streams of the platform. */
import type { Event } from "../../core/nouns.ts";
import type { Dialect, Scanner, ScannerOptions } from "../dialect.ts";

type DialectScanner = Pick<Dialect, "createScanner">;

function scannerOf(dialect: DialectScanner, options: ScannerOptions | undefined): Scanner {
  if (typeof dialect === "string") throw new TypeError(`expected a dialect, not its id: use getDialect("${dialect}")`);
  return dialect.createScanner(options);
}

/** The events of a whole text. */
export function scanText(dialect: DialectScanner, text: string, options?: ScannerOptions): Event[] {
  const scanner = scannerOf(dialect, options);
  return [...scanner.feed(text), ...scanner.flush()];
}

/** The events of a text that is still coming. Leaving the loop early cancels the source. */
export async function* scanStream(
  dialect: DialectScanner,
  source: AsyncIterable<string> | ReadableStream<string>,
  options?: ScannerOptions,
): AsyncGenerator<Event, void, undefined> {
  const scanner = scannerOf(dialect, options);
  for await (const text of Symbol.asyncIterator in source ? source : chunksOf(source)) yield* scanner.feed(text);
  yield* scanner.flush();
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  let whole = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      whole = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!whole) await reader.cancel();
    reader.releaseLock();
  }
}

/** The same as a transform, for `text.pipeThrough(scannerStream(dialect))`. */
export function scannerStream(dialect: DialectScanner, options?: ScannerOptions): TransformStream<string, Event> {
  const scanner = scannerOf(dialect, options);
  return new TransformStream<string, Event>({
    transform(text, controller) {
      for (const event of scanner.feed(text)) controller.enqueue(event);
    },
    flush(controller) {
      for (const event of scanner.flush()) controller.enqueue(event);
    },
  });
}
