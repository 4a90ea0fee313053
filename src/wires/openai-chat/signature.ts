/**
 * What a call or a message carries for other wires, in the place of Gemini's signature:
 * `{"extra_content": {"google": {"thought_signature": "…"}}}`.
 */
import type { Opaque } from "../../core/nouns.ts";
import { type Capsule, isSignature, openCapsule, sealCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { foreign, opaque } from "../opaque.ts";
import { textOf } from "../read.ts";
import type { Warnings } from "../warnings.ts";
import type { Draft } from "../wire.ts";
import { WIRE } from "./tables.ts";

/** Gemini's own chat endpoint puts its signature here, and clients send it back. */
export const signatureContent = (data: unknown): Draft => ({ google: { thought_signature: data } });

/** A signature or a capsule. `undefined`: no other wire needs one; unsigned thinking has a field of its own, unless it is `hidden`. */
export function carriedBy({ state, thoughts = [] }: Capsule, warnings: Warnings, hidden: boolean): string | undefined {
  const others = foreign(WIRE, state);
  const isMissed = ({ wire, quiet }: Opaque) => wire !== WIRE && !quiet;
  const isSigned = thoughts.some((thought) => (hidden && thought.thinking) || thought.state?.some(isMissed));
  if (!isSigned && !others.some(isMissed)) return undefined;
  const [only, ...more] = others;
  if (only && isSignature(only) && more.length === 0 && !isSigned) return textOf(only.data);
  const sealed = sealCapsule({ state: others, thoughts: isSigned ? thoughts : [] });
  if (sealed === undefined) warnings.dropped("thinking that is too long for a call");
  return sealed;
}

/** Reads Gemini's signature of a call or a message, or the capsule that was put in its place. */
export function readSignature(call: Fields): Capsule | undefined {
  const signature = call.object("extra_content")?.object("google")?.text("thought_signature");
  if (signature === undefined) return undefined;
  return openCapsule(signature) ?? { state: [opaque("gemini", "thoughtSignature", signature)] };
}
