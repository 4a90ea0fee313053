/** What a target cannot express, said once each. */
import type { Opaque, Request, Tool, Warning, WireId } from "../core/nouns.ts";
import { objectOf } from "./read.ts";

/** Some APIs refuse it. */
export const NO_USER = ["a conversation that no user begins", "one that begins with a dot"] as const;

/** Who writes a prompt has no place for anything that only a wire knows. */
type Target = WireId | "a prompt";

export class Warnings {
  readonly list: Warning[] = [];
  readonly #target: Target;
  readonly #tell: ((warning: Warning) => void) | undefined;

  constructor(target: Target, tell?: (warning: Warning) => void) {
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

  /** The same, of all that a request holds. */
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

/** By its own name, not by that of what it stands in. */
function lostIn({ kind, data, part }: Opaque): string[] {
  const given = objectOf(data);
  if (part) return Object.keys(given).map((key) => `${kind}.${key}`);
  return [kind.replace(/^#+/, "") + (given.type === undefined ? "" : ` (${given.type})`)];
}

/** What was found out when a request was read. Of things whose kind only their own API knows, whoever writes it tells by itself: that API gets them. */
export const readWarnings = ({ warnings = [] }: Request): readonly Warning[] => warnings.filter(({ code }) => !code.endsWith("-kind"));
