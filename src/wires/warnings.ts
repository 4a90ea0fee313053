/** What a target cannot express, said once each. */
import type { Opaque, Request, Warning, WireId } from "../core/nouns.ts";
import { objectOf } from "./read.ts";

export class Warnings {
  readonly list: Warning[] = [];
  readonly #target: WireId;
  readonly #tell: ((warning: Warning) => void) | undefined;

  constructor(target: WireId, tell?: (warning: Warning) => void) {
    this.#target = target;
    this.#tell = tell;
  }

  add(code: string, message: string): void {
    if (this.list.some((warning) => warning.message === message)) return;
    this.list.push({ code, message });
    this.#tell?.({ code, message });
  }

  /** Left out: the target has no place for it. */
  dropped(what: string): void {
    this.add("dropped", `${what} has no place in ${this.#target} and was left out`);
  }

  /** Sent, but in another form. */
  converted(what: string, into: string): void {
    this.add("converted", `${what} was sent as ${into}`);
  }

  /** State of other wires, of which nobody here has a place to put it, but for what the target carries. */
  foreign(state: readonly Opaque[] | undefined, carries?: (opaque: Opaque) => boolean): void {
    for (const opaque of state ?? [])
      if (opaque.wire !== this.#target && !opaque.quiet && !carries?.(opaque))
        for (const what of lostIn(opaque)) this.dropped(`${what} of ${opaque.wire}`);
  }
}

/** By its own name, not by that of what it stands in. */
function lostIn({ kind, data, part }: Opaque): string[] {
  const given = objectOf(data);
  if (part) return Object.keys(given).map((key) => `${kind}.${key}`);
  return [kind.replace("#", "") + (given.type === undefined ? "" : ` (${given.type})`)];
}

/** What was found out when a request was read. Of things whose kind only their own API knows, an encoder tells by itself: that API gets them. */
export const readWarnings = ({ warnings = [] }: Request, isEncoded: boolean): readonly Warning[] =>
  isEncoded ? warnings.filter(({ code }) => !code.endsWith("-kind")) : warnings;
