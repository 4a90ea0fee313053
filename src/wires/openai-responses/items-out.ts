/** The items of an answer, and the events that tell of each: that it was added, its pieces, that it is done. */
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

/** What a part is made of: the list that it stands in, its type and its field, and what the events of its words and of itself are called. */
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
  /** What its pieces have said so far, in their own events and in the item. */
  readonly text: Pile;
  /** The last of its parts, and what kind of part that is. */
  part?: Draft | undefined;
  kind?: keyof typeof PARTS;
  /** Reads the text of a custom call. */
  input?: CustomInput | undefined;
}

/** Where the last of its parts stands. */
export const placeOf = ({ item }: Open, list: "content" | "summary"): Draft => ({ [`${list}_index`]: listOf(item[list]).length });

export abstract class ItemAnswer extends Answer {
  readonly errorBody = openaiError;
  readonly output: Draft[] = [];
  /** The place of the next item. */
  next = 0;
  seed = "";
  #sequence = 0;

  event(type: string, fields: Draft): void {
    this.send({ type, sequence_number: 0, ...fields });
  }
  /** Each event gets its number as it leaves. */
  override say(text: string): void {
    super.say(text.replace('"sequence_number":0', `"sequence_number":${this.#sequence++}`));
  }
  print(event: Draft): string {
    return sseEvent(JSON.stringify(event), String(event.type));
  }
  beat(): void {
    super.say(HEARTBEAT);
  }

  open(prefix: string, fields: Draft, id?: unknown): Open {
    const index = this.next++;
    const item = { ...fields, id: textOf(id) ?? mintedId(prefix, `${this.seed}_${index}`) };
    this.event("response.output_item.added", { output_index: index, item });
    return { index, item, text: new Pile() };
  }

  /** `sealed`: what goes with the item although its client does not read it. */
  done({ index, item }: Open, fields: Draft, state?: readonly Opaque[], sealed?: string): void {
    const whole = putState<Draft>(WIRE, { ...item, ...fields }, state);
    if (this.keeps && isMinted(item.id))
      this.options.keep?.(item.id, sealed === undefined ? whole : { ...whole, encrypted_content: sealed });
    if (sealed !== undefined && this.seals) whole.encrypted_content = sealed;
    this.output.push(whole);
    this.event("response.output_item.done", { output_index: index, item: whole });
  }

  piece(open: Open, type: string, fields: Draft): void {
    this.send(this.pieceOf(open, type, fields));
  }
  pieceOf({ index, item }: Open, type: string, fields: Draft): Draft {
    return { type: `response.${type}`, sequence_number: 0, item_id: item.id, output_index: index, ...fields };
  }

  /** The next words of a part, which begins with them if it is another. `logprobs`: what is told of the words; `rest`: what else the part has. */
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

  /** What an item says next. `list`: in the last part of its content or of its summary; `more`: what else every such event has. */
  delta(open: Open, name: string, delta: string, list?: "content" | "summary", more?: Draft): void {
    const at = list && listOf(open.item[list]).length;
    this.word(`${name} ${open.index} ${at}`, delta, (delta) =>
      this.pieceOf(open, `${name}.delta`, { ...(list && placeOf(open, list)), delta, ...more }),
    );
  }

  /** Whether the client sends back what it does not read. The ai SDK drops a reasoning item that has no such field. */
  get seals(): boolean {
    const include = wished(this.request.extra, "include") ?? defaultsOf(this.request.thinking).include;
    return listOf(include).includes(ENCRYPTED);
  }
  /** Whether it may name items instead, and they are kept for it. */
  get keeps(): boolean {
    return this.options.keep !== undefined && wished(this.request.extra, "store") !== undefined;
  }

  canSeal(state: readonly Opaque[]): boolean {
    const can = this.seals || this.keeps;
    if (!can) this.warnings.foreign(state);
    return can;
  }
}
