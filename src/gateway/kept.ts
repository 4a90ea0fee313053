/**
 * Our own answers, for Responses clients that send names instead of what was said: OpenAI stores it, and they count on that. `@ai-sdk/openai` names
 * items (`{"type": "item_reference", "id": "msg_drgm…"}`), others the answer that they go on from (`"previous_response_id": "resp_drgm…"`). They
 * stay as long as there is room, the last used the longest, and only who got one can name it.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../core/nouns.ts";
import { keysOf } from "./edge.ts";
import type { Visit } from "./routes.ts";

/** A tool loop of an hour has some hundred. */
const MAX_ITEMS = 20_000;
const MAX_CHARS = 16 * 1024 * 1024;

export class Kept {
  /** JSON texts, by owner and id; the first was not used for the longest time. */
  readonly #items = new Map<string, string>();
  readonly #maxItems: number;
  readonly #maxChars: number;
  #chars = 0;

  constructor(maxItems = MAX_ITEMS, maxChars = MAX_CHARS) {
    this.#maxItems = maxItems;
    this.#maxChars = maxChars;
  }

  /** What is longer than there is room drives nothing out. */
  keep(owner: string, id: string, item: unknown): void {
    const text = JSON.stringify(item);
    if (text.length > this.#maxChars) return;
    this.#put(owner + id, text);
    for (const oldest of this.#items.keys()) {
      if (this.#items.size <= this.#maxItems && this.#chars <= this.#maxChars) break;
      this.#drop(oldest);
    }
  }

  recall(owner: string, id: string): JsonObject | undefined {
    const text = this.#items.get(owner + id);
    if (text === undefined) return undefined;
    this.#put(owner + id, text);
    return JSON.parse(text) as JsonObject;
  }

  #put(key: string, text: string): void {
    this.#drop(key);
    this.#items.set(key, text);
    this.#chars += text.length;
  }
  #drop(key: string): void {
    this.#chars -= this.#items.get(key)?.length ?? 0;
    this.#items.delete(key);
  }
}

/** Whoever sends the same key is the same. */
export function ownerOf(visit: Visit): string {
  const given = [visit.headers.authorization, ...keysOf(visit)];
  return createHash("sha256").update(JSON.stringify(given)).digest("base64");
}
