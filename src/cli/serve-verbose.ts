/**
 * `dragoman serve --verbose`: logs each tool call while it is assembled, as it leaves the engine. Unlike the other lines of the log, these
 * contain text of the conversation.
 *
 *     call call_7 write_file
 *     call call_7 + {"path":"te
 *     call call_7 + st.txt"}
 *     call call_7 final chunk; built from 2: {"path":"test.txt"}
 *     call call_7 parsed: { path: 'test.txt' }
 */
import { inspect } from "node:util";
import type { Logger } from "pino";
import type { Event } from "../core/nouns.ts";
import type { OpenTap } from "../gateway/index.ts";
import { visible } from "./terminal.ts";

const MAX_CHARS = 2000;
const cut = (text: string): string => visible(text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}… (${text.length} characters)` : text);

export const verboseTap =
  (log: Logger): OpenTap =>
  ({ id }) => {
    /** The pieces of the open calls. */
    const open = new Map<string, string[]>();
    const say = (call: string, text: string): void => log.info({ id, call: cut(call) }, `call ${call} ${text}`);
    return {
      event(event: Event) {
        if (event.type === "tool-start") {
          open.set(event.id, []);
          say(event.id, cut(event.name));
        } else if (event.type === "tool-delta") {
          open.get(event.id)?.push(event.json);
          say(event.id, `+ ${cut(event.json)}`);
        } else if (event.type === "tool-end") {
          const pieces = open.get(event.id) ?? [];
          open.delete(event.id);
          say(event.id, `${event.truncated ? "cut" : "final chunk"}; built from ${pieces.length}: ${cut(pieces.join(""))}`);
          if (!event.truncated)
            say(event.id, `parsed: ${cut(inspect(event.arguments, { breakLength: Number.POSITIVE_INFINITY, depth: 4 }))}`);
        } else if (event.type === "malformed") say(event.id ?? "?", `cannot be read (${event.reason}): ${cut(event.raw)}`);
      },
    };
  };
