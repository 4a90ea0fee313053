/**
 * Keeps the gateway's own answers for Responses clients that refer to them by id instead of repeating them, as OpenAI's storage allows.
 * `@ai-sdk/openai` names items (`{"type": "item_reference", "id": "msg_drgm…"}`), others the answer that they continue
 * (`"previous_response_id": "resp_drgm…"`). When room runs out, the least recently used go first. Only the client that got an answer can
 * refer to it.
 */
import { createHash } from "node:crypto";
import type { JsonObject } from "../core/nouns.ts";
import { LastUsed } from "../engines/last-used.ts";
import { keysOf } from "./edge.ts";
import type { Visit } from "./routes.ts";

/** A tool loop of an hour has a few hundred items. */
const MAX_ITEMS = 20_000;
const MAX_CHARS = 16 * 1024 * 1024;

export class Kept {
  /** JSON texts, by owner and id. Whole turns are long: they are kept apart, so that they displace no items. */
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

/** Identifies a client by the keys it sends. */
export function ownerOf(visit: Visit): string {
  const given = [visit.headers.authorization, ...keysOf(visit)];
  return createHash("sha256").update(JSON.stringify(given)).digest("base64");
}
