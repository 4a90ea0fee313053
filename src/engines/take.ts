/** Turns `tell`, which pushes events, into an iterable, as `generate` returns it: `for await (const event of takeEvents(tell))`. */
import type { Event } from "../core/nouns.ts";
import type { Hear, Telling } from "./engine.ts";
import { Inbox } from "./inbox.ts";

/** Starts with the first `next()`. A slow consumer pauses the source. */
export function takeEvents(tell: (hear: Hear) => Telling): AsyncIterable<Event> {
  let telling: Telling | undefined;
  const events = new Inbox<Event>({
    start: () => {
      telling = tell((heard) => {
        for (const event of heard) events.push(event);
        if (heard.at(-1)?.type === "finish") events.end();
      });
    },
    pause: () => telling?.pause(),
    resume: () => telling?.resume(),
    stop: () => telling?.stop(),
  });
  return events;
}
