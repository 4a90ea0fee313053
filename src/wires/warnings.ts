/** Warnings of what a target cannot express, each given once. */
import type { Opaque, Request, Tool, Warning, WireId } from "../core/nouns.ts";
import { objectOf } from "./read.ts";

/** Some APIs refuse a conversation that begins with an assistant message. */
export const NO_USER = ["a conversation that does not begin with the user", 'one that begins with the user\'s "."'] as const;

/** A wire, or the prompt of a dialect, which has no place for any wire's state. */
type Target = WireId | "a prompt";

export class Warnings {
  readonly list: Warning[] = [];
  /** The messages of the list: a request may have thousands of fields that are lost. */
  readonly #given = new Set<string>();
  readonly #target: Target;
  readonly #tell: ((warning: Warning) => void) | undefined;

  constructor(target: Target, tell?: (warning: Warning) => void) {
    this.#target = target;
    this.#tell = tell;
  }

  add(code: string, message: string): void {
    if (this.#given.has(message)) return;
    this.#given.add(message);
    this.list.push({ code, message });
    this.#tell?.({ code, message });
  }

  /** Warns of what is left out because the target has no place for it. */
  dropped(what: string): void {
    this.add("dropped", `${what} has no place in ${this.#target} and was left out`);
  }

  /** Warns of what is sent in another form. */
  converted(what: string, into: string): void {
    this.add("converted", `${what} was sent as ${into}`);
  }

  /** Warns of other wires' state that is lost. `carries`: state that the target can carry. */
  foreign(state: readonly Opaque[] | undefined, carries?: (opaque: Opaque) => boolean): void {
    for (const opaque of state ?? [])
      if (opaque.wire !== this.#target && !opaque.quiet && !carries?.(opaque))
        for (const what of lostIn(opaque)) this.dropped(`${what} of ${opaque.wire}`);
  }

  /** The same for all state in a request. */
  foreignIn({ messages, extra }: Request, tools: readonly Tool[], carries?: (opaque: Opaque) => boolean): void {
    const tell = ({ state }: { state?: readonly Opaque[] }): void => this.foreign(state, carries);
    tools.forEach(tell);
    for (const message of messages) {
      tell(message);
      (message.role === "tool" ? (message.media ?? []) : message.content).forEach(tell);
    }
    this.foreign(extra, carries);
  }
}

/** The names of what is lost: of a `part`, each of its fields. */
function lostIn({ kind, data, part }: Opaque): string[] {
  const given = objectOf(data);
  if (part) return Object.keys(given).map((key) => `${kind}.${key}`);
  return [kind.replace(/^#+/, "") + (given.type === undefined ? "" : ` (${given.type})`)];
}

/**
 * The warnings from reading a request, without those about unknown kinds: their own API gets such things back, and the encoder for any
 * other warns of them itself.
 */
export const readWarnings = ({ warnings = [] }: Request): readonly Warning[] => warnings.filter(({ code }) => !code.endsWith("-kind"));
