/**
 * Carries what the nouns have no place for. A wire keeps it as `state` of the message, part or tool it was found on, or as `extra` of the
 * request, and puts it back where it came from; another wire leaves it out, with a warning.
 */
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject, Opaque, Request, WireId } from "../core/nouns.ts";
import { entryOf } from "./read.ts";
import type { Warnings } from "./warnings.ts";
import type { Draft } from "./wire.ts";

// ---- In

export const opaque = (wire: WireId, kind: string, data: Json, quiet?: boolean): Opaque =>
  quiet ? { wire, kind, data, quiet } : { wire, kind, data };

const NONE: ReadonlySet<string> = new Set();

/** One `Opaque` for each key of an object. `quiet`: keys that other wires drop without a warning, as they do nulls and `cache_control`. */
export function opaques(wire: WireId, rest: JsonObject, quiet = NONE, isPart?: (kind: string) => unknown): Opaque[] | undefined {
  let state: Opaque[] | undefined;
  for (const kind in rest) {
    const opaque: Opaque = { wire, kind, data: rest[kind]! };
    if (opaque.data === null || kind === "cache_control" || quiet.has(kind)) opaque.quiet = true;
    else if (isPart?.(kind)) opaque.part = true;
    state ??= [];
    state.push(opaque);
  }
  return state;
}

/** All given states as one list; `undefined` if there is none. */
export function joined(...states: (readonly Opaque[] | undefined)[]): Opaque[] | undefined {
  let all: Opaque[] | undefined;
  for (const state of states) if (state?.length) all = all ? [...all, ...state] : [...state];
  return all;
}

/** Appends state, if there is any, to the state that the object has. */
export function withState<T extends object>(thing: T, ...states: (readonly Opaque[] | undefined)[]): T & { state?: Opaque[] } {
  const carrier: T & { state?: Opaque[] } = thing;
  const state = joined(carrier.state, ...states);
  if (state) carrier.state = state;
  return carrier;
}

// ---- Out

/** Puts a wire's own state back. A kind that begins with `#` is not a field, but a mark for the wire itself. */
export function putState<T extends object>(wire: WireId, target: T, state: readonly Opaque[] | undefined): T {
  for (const { wire: from, kind, data } of state ?? []) if (from === wire && kind[0] !== "#") merge(target as Draft, kind, data);
  return target;
}

interface Carrier {
  readonly state?: readonly Opaque[] | undefined;
}

/** Whether any of these carries state of this wire. */
export const hasOwn = (wire: WireId, ...things: readonly Carrier[]): boolean =>
  things.some(({ state }) => state?.some((opaque) => opaque.wire === wire));

/** The state of other wires. */
export const foreign = (wire: WireId, state: readonly Opaque[] = []): Opaque[] => state.filter((opaque) => opaque.wire !== wire);

/** The data that this wire stored under that kind. */
export const ownState = (wire: WireId, state: readonly Opaque[] | undefined, kind: string): Json | undefined =>
  state?.find((opaque) => opaque.wire === wire && opaque.kind === kind)?.data;

/** The same, if it came in pieces. */
export const ownStates = (wire: WireId, state: readonly Opaque[] = [], kind: string): Json[] =>
  state.flatMap((opaque) => (opaque.wire === wire && opaque.kind === kind ? [opaque.data] : []));

/** Puts `request.extra` back into the body: keys into their objects, elements at their old indexes in their lists. */
export function putExtra(wire: WireId, body: Draft, request: Request, warnings: Warnings): void {
  for (const { wire: from, kind, data } of request.extra ?? []) {
    if (from === wire && kind[0] !== "#" && !putAt(body, kind.match(/[^.[\]]+/g) ?? [], data, kind.endsWith("]"))) {
      warnings.add("moved", `${kind} was left out: its place is no longer in the request`);
    }
  }
}

function putAt(body: Draft, steps: readonly string[], data: Json, element: boolean): boolean {
  let at: unknown = body;
  for (const [i, step] of steps.slice(0, -1).entries()) {
    const next = entryOf(at as Draft, step); // never what is inherited: a client chooses the keys
    const isList = /^\d+$/.test(steps[i + 1] ?? "");
    if (next === undefined && isList && !(element && i === steps.length - 2)) return false;
    if (next === undefined && !Array.isArray(at)) setOwn(at as Draft, step, isList ? [] : {});
    at = entryOf(at as Draft, step);
    if (typeof at !== "object" || at === null) return false;
  }
  const last = steps.at(-1);
  if (last === undefined) for (const [key, value] of Object.entries(data as JsonObject)) merge(at as Draft, key, value);
  else if (!element || !Array.isArray(at)) merge(at as Draft, last, data);
  else if (Number(last) <= at.length) at.splice(Number(last), 0, data);
  else return false;
  return true;
}

/** Keeps what is already there; merges objects. */
function merge(target: Draft, key: string, data: Json): void {
  const there = entryOf(target, key);
  if (there === undefined) setOwn(target, key, data);
  else if (isObject(there) && isObject(data)) for (const [inner, value] of Object.entries(data)) merge(there as Draft, inner, value);
}
