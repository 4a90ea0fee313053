/** Writes the items of an answer and their events: added, pieces, done. */
import type { Opaque } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { Answer } from "../answer-out.ts";
import type { CustomInput } from "../bridge.ts";
import { openaiError } from "../errors.ts";
import { putState } from "../opaque.ts";
import { listOf, textOf } from "../read.ts";
import { HEARTBEAT, sseEvent } from "../sse.ts";
import type { Draft } from "../wire.ts";
import { defaultsOf, ENCRYPTED, isMinted, mintedId, WIRE, wished } from "./items.ts";

/** Kinds of parts: the list that holds the part, its type, the field of its text, and the names of the events for its text and for the part. */
const PARTS = {
  text: { list: "content", type: "output_text", field: "text", said: "output_text", part: "content_part" },
  refusal: { list: "content", type: "refusal", field: "refusal", said: "refusal", part: "content_part" },
  content: { list: "content", type: "reasoning_text", field: "text", said: "reasoning_text", part: "content_part" },
  summary: { list: "summary", type: "summary_text", field: "text", said: "reasoning_summary_text", part: "reasoning_summary_part" },
} as const;

/** An item being written. */
export interface Open {
  readonly index: number;
  readonly item: Draft & { id: string };
  /** The text of the open part, or of a call, so far. */
  readonly text: Pile;
  /** The open part, and its kind. */
  part?: Draft | undefined;
  kind?: keyof typeof PARTS;
  /** Extracts the text of a custom call. */
  input?: CustomInput | undefined;
}

/** The index of the open part. */
export const placeOf = ({ item }: Open, list: "content" | "summary"): Draft => ({ [`${list}_index`]: listOf(item[list]).length });

export abstract class ItemAnswer extends Answer {
  readonly errorBody = openaiError;
  /** The items that are done, at their indexes. */
  readonly output: Draft[] = [];
  /** The index of the next item. */
  next = 0;
  seed = "";
  #sequence = 0;

  event(type: string, fields: Draft): void {
    this.send({ type, sequence_number: 0, ...fields });
  }
  /** Numbers each event as it is sent. */
  override say(text: string): void {
    super.say(text.replace('"sequence_number":0', `"sequence_number":${this.#sequence++}`));
  }
  print(event: Draft): string {
    return sseEvent(JSON.stringify(event), String(event.type));
  }
  beat(): void {
    super.say(HEARTBEAT);
  }

  /** The first index from this one on at which there is no item. */
  free(index: number): number {
    let at = index;
    while (this.output[at]) at++;
    return at;
  }

  open(prefix: string, fields: Draft, id?: unknown): Open {
    const index = this.free(this.next);
    this.next = index + 1;
    const item = { ...fields, id: textOf(id) ?? mintedId(prefix, `${this.seed}_${index}`) };
    this.event("response.output_item.added", { output_index: index, item });
    return { index, item, text: new Pile() };
  }

  /** `sealed`: a capsule, which the client stores with the item, or which is kept here under the item's id. */
  done({ index, item }: Open, fields: Draft, state?: readonly Opaque[], sealed?: string): void {
    const whole = putState<Draft>(WIRE, { ...item, ...fields }, state);
    if (this.keeps && isMinted(item.id))
      this.options.keep?.(item.id, sealed === undefined ? whole : { ...whole, encrypted_content: sealed });
    if (sealed !== undefined && this.seals) whole.encrypted_content = sealed;
    this.output[index] = whole;
    this.event("response.output_item.done", { output_index: index, item: whole });
  }

  piece(open: Open, type: string, fields: Draft): void {
    this.send(this.pieceOf(open, type, fields));
  }
  pieceOf({ index, item }: Open, type: string, fields: Draft): Draft {
    return { type: `response.${type}`, sequence_number: 0, item_id: item.id, output_index: index, ...fields };
  }

  /** Adds text to the open part, or begins a part if none of this kind is open. `logprobs`: those of the text; `rest`: other fields of the part. */
  speak(open: Open, kind: keyof typeof PARTS, words: string, { logprobs, ...rest }: Draft = {}): void {
    const { list, type, field, said, part } = PARTS[kind];
    const isText = kind === "text";
    if (open.kind !== kind) this.closePart(open);
    open.kind = kind;
    if (!open.part) {
      open.part = { type, [field]: "", ...(isText ? { annotations: [] } : {}) };
      this.piece(open, `${part}.added`, { ...placeOf(open, list), part: open.part });
    }
    open.text.add(words);
    Object.assign(open.part, rest);
    if (logprobs) {
      this.piece(open, `${said}.delta`, { ...placeOf(open, list), delta: words, logprobs });
      open.part.logprobs ??= [];
      (open.part.logprobs as unknown[]).push(...listOf(logprobs));
    } else this.delta(open, said, words, list, isText ? { logprobs: [] } : {});
  }

  closePart(open: Open): void {
    const { item, part, kind = "text" } = open;
    if (!part) return;
    const { list, field, said, part: name } = PARTS[kind];
    const place = placeOf(open, list);
    const text = open.text.toString();
    part[field] = text;
    this.piece(open, `${said}.done`, { ...place, [field]: text, ...(kind === "text" ? { logprobs: part.logprobs ?? [] } : {}) });
    this.piece(open, `${name}.done`, { ...place, part });
    item[list] = [...listOf(item[list]), part];
    open.part = undefined;
    open.text.clear();
  }

  /** Sends a delta of an item. `list`: the delta belongs to the open part of this list; `more`: other fields of every such event. */
  delta(open: Open, name: string, delta: string, list?: "content" | "summary", more?: Draft): void {
    const at = list && listOf(open.item[list]).length;
    this.word(`${name} ${open.index} ${at}`, delta, (delta) =>
      this.pieceOf(open, `${name}.delta`, { ...(list && placeOf(open, list)), delta, ...more }),
    );
  }

  /** Whether the client sends `encrypted_content` back. The ai SDK drops a reasoning item without it. */
  get seals(): boolean {
    const include = wished(this.request.extra, "include") ?? defaultsOf(this.request.thinking).include;
    return listOf(include).includes(ENCRYPTED);
  }
  /** Whether items are stored here, for a client that may send their ids instead. */
  get keeps(): boolean {
    return this.options.keep !== undefined && wished(this.request.extra, "store") !== undefined;
  }

  canSeal(state: readonly Opaque[]): boolean {
    const can = this.seals || this.keeps;
    if (!can) this.warnings.foreign(state);
    return can;
  }
}
