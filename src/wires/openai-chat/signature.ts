/** What a call carries for other wires, in the place that Gemini's signature has: `{"extra_content": {"google": {"thought_signature": "…"}}}`. */
import type { Json, Opaque } from "../../core/nouns.ts";
import { type Capsule, openCapsule, sealCapsule } from "../opaque.ts";
import { objectOf, textOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import { WIRE } from "./tables.ts";

/** Gemini's own endpoint gave its signature this place, and clients send it back. */
export const isSignature = ({ wire, kind }: Opaque): boolean => wire === "gemini" && kind === "thoughtSignature";

export const signatureContent = (data: unknown): Draft => ({ google: { thought_signature: data } });

export function extraContent({ state = [], thinkingState = [], thinking = "" }: Capsule): Draft | undefined {
  const foreign = (list: readonly Opaque[]) => list.filter(({ wire, quiet }) => wire !== WIRE && !quiet);
  const [own, thought] = [foreign(state), foreign(thinkingState)];
  const only = own.length === 1 && thought.length === 0 && own[0] && isSignature(own[0]) ? own[0].data : undefined;
  const signature = only ?? sealCapsule({ state: own, thinkingState: thought, ...(thought.length > 0 ? { thinking } : {}) });
  return signature === undefined ? undefined : signatureContent(signature);
}

/** Gemini's signature of a call, or what we had put in its place. */
export function signatureOf(call: Json | undefined): Capsule {
  const value = objectOf(call).extra_content ?? undefined;
  const { google, ...others } = objectOf(value);
  const { thought_signature, ...rest } = objectOf(google);
  const signature = textOf(thought_signature);
  if (signature !== undefined && Object.keys({ ...others, ...rest }).length === 0) {
    return openCapsule(signature) ?? { state: [{ wire: "gemini", kind: "thoughtSignature", data: signature }] };
  }
  return value === undefined ? {} : { state: [{ wire: WIRE, kind: "extra_content", data: value }] };
}
