// Collecting and comparing the events of an answer, however they are cut.
import type { Event } from "../src/core/nouns.ts";

/** All events, once it is over. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Joins neighbouring deltas, so that cuts do not show. */
export function merged(events: Iterable<Event>): Event[] {
  const out: Event[] = [];
  for (const event of events) {
    const one = joined(out.at(-1), event);
    if (one) out[out.length - 1] = one;
    else out.push(event);
  }
  return out;
}

/** Both in one; `undefined` if they cannot be joined, like texts with state. */
function joined(last: Event | undefined, event: Event): Event | undefined {
  if (event.type === "text" && last?.type === "text" && !event.state && !last.state) return { ...last, text: last.text + event.text };
  if (event.type === "thinking-delta" && last?.type === "thinking-delta") return { ...last, text: last.text + event.text };
  if (event.type === "refusal" && last?.type === "refusal") return { ...last, text: last.text + event.text };
  if (event.type === "tool-delta" && last?.type === "tool-delta" && last.id === event.id) return { ...last, json: last.json + event.json };
  return undefined;
}
