/**
 * Our own answers, for Responses clients that send names instead of what was said: OpenAI stores it, and they count on that. `@ai-sdk/openai` names
 * items (`{"type": "item_reference", "id": "msg_drgm…"}`), others the answer that they go on from (`"previous_response_id": "resp_drgm…"`). They
 * stay as long as there is room, the last used the longest, and only who got one can name it.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../core/nouns.ts";
import { LastUsed } from "../engines/last-used.ts";
import { keysOf } from "./edge.ts";
import type { Visit } from "./routes.ts";

/** A tool loop of an hour has some hundred. */
const MAX_ITEMS = 20_000;
const MAX_CHARS = 16 * 1024 * 1024;

export class Kept {
  /** JSON texts, by owner and id. Whole turns are long, and drive no item out. */
  readonly #items: LastUsed<string>;
  readonly #turns: LastUsed<string>;

  constructor(maxItems = MAX_ITEMS, maxChars = MAX_CHARS) {
    this.#items = new LastUsed(maxChars, maxItems);
    this.#turns = new LastUsed(maxChars, maxItems);
  }

  keep(owner: string, id: string, item: unknown): void {
    const text = JSON.stringify(item);
    this.#placeOf(id).set(owner + id, text, text.length);
  }

  recall(owner: string, id: string): JsonObject | undefined {
    const text = this.#placeOf(id).get(owner + id);
    return text === undefined ? undefined : (JSON.parse(text) as JsonObject);
  }

  #placeOf(id: string): LastUsed<string> {
    return id.startsWith("resp_") ? this.#turns : this.#items;
  }
}

/** Whoever sends the same key is the same. */
export function ownerOf(visit: Visit): string {
  const given = [visit.headers.authorization, ...keysOf(visit)];
  return createHash("sha256").update(JSON.stringify(given)).digest("base64");
}
