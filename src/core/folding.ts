/** Folds the events of one answer into a response. `fold.ts` adds the partial arguments of a call that is still being written. */
import type { Event, Opaque, OpenCall, Part, Response } from "./nouns.ts";

/** A response that grows with each event. */
export interface Fold {
  add(event: Event): void;
  /** The answer so far. */
  response(): Response;
}

/** Arguments that grow: JSON text goes in, the value so far comes out. */
export interface GrowingArguments {
  add(json: string): void;
  readonly value: OpenCall["partial"];
}

export class Folding implements Fold {
  readonly #response: Response = { content: [] };
  /** The part that grows with the next delta of its kind. */
  #growing: { type: "text" | "thinking"; text: string; state?: Opaque[] } | undefined;
  readonly #open = new Map<string, { id: string; index: number; name: string; arguments: GrowingArguments }>();
  readonly #growingArguments: (() => GrowingArguments) | undefined;

  /** Without an argument open calls are left out: a whole answer has none. */
  constructor(growingArguments?: () => GrowingArguments) {
    this.#growingArguments = growingArguments;
  }

  add(event: Event): void {
    const response = this.#response;
    switch (event.type) {
      case "start":
        if (event.id !== undefined) response.id = event.id;
        if (event.model !== undefined) response.model = event.model;
        break;
      case "text":
        if (event.text === "" && event.state) {
          this.#push({ type: "text", text: "", state: event.state }); // state with a place of its own
        } else this.#grow("text", event.text, event.state);
        break;
      case "thinking-start":
        this.#growing = undefined;
        break;
      case "thinking-delta":
        this.#grow("thinking", event.text);
        break;
      case "thinking-end":
        if (event.state) this.#grow("thinking", "", event.state);
        this.#growing = undefined;
        break;
      case "tool-start":
        if (this.#growingArguments) {
          const { id, index, name } = event;
          this.#open.set(id, { id, index, name, arguments: this.#growingArguments() });
        }
        break;
      case "tool-delta":
        this.#open.get(event.id)?.arguments.add(event.json);
        break;
      case "tool-end":
      case "malformed":
        if (event.id !== undefined) this.#open.delete(event.id);
        this.#push(partOf(event));
        break;
      case "refusal":
        response.refusal = (response.refusal ?? "") + event.text;
        break;
      case "extension":
        if (this.#growing?.type === "text") this.#growing = undefined; // text after it is another part than text before it
        response.extensions = [...(response.extensions ?? []), withoutType(event)];
        break;
      case "usage":
        response.usage = { ...response.usage, ...withoutType(event) };
        break;
      case "finish":
        response.finish = withoutType(event);
    }
  }

  response(): Response {
    const response: Response = { ...this.#response, content: [...this.#response.content] };
    for (const { arguments: json, ...call } of this.#open.values()) response.open = { type: "open-call", ...call, partial: json.value };
    return response;
  }

  #push(part: Part): void {
    this.#response.content.push(part);
    this.#growing = undefined;
  }

  #grow(type: "text" | "thinking", text: string, state?: Opaque[]): void {
    if (this.#growing?.type === type) this.#growing.text += text;
    else {
      const part = { type, text };
      this.#push(part);
      this.#growing = part;
    }
    if (state && this.#growing?.state) this.#growing.state.push(...state);
    else if (state && this.#growing) this.#growing.state = [...state];
  }
}

function partOf(event: Extract<Event, { type: "tool-end" | "malformed" }>): Part {
  if (event.type === "malformed") return { ...event };
  const { index: _index, nativeId: _nativeId, raw: _raw, ...call } = event;
  return { ...call, type: "tool-call" };
}

function withoutType<T extends { type: string }>({ type: _, ...rest }: T): Omit<T, "type"> {
  return rest;
}
