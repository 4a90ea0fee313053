/**
 * Thinking for OpenRouter's clients, who send nothing else of it back: `{"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", …}]}`.
 * What its provider has signed stands in an entry of its own, with the id of the call that it belongs to.
 */
import type { Json, Opaque } from "../../core/nouns.ts";
import { type Capsule, openCapsule, sealCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { opaque } from "../opaque.ts";
import { objectOf, someOf, textOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import { THINKING, WIRE } from "./tables.ts";

const KEY = "reasoning_details";
/** Our texts are called so, with the name that thinking has at the server: the clients have their own for it. */
const OURS = "drgm-";

/** Clients put pieces with the same index together. */
export const textDetail = (text: string, field: string, index: number): Draft => ({
  [KEY]: [{ type: "reasoning.text", text, id: OURS + field, format: "unknown", index }],
});

/** What a call carries for others, be it a seal of ours or Gemini's signature. */
export function sealDetail(signature: string, id: string, index: number): Draft {
  const data = openCapsule(signature) ? signature : sealCapsule({ state: [opaque("gemini", "thoughtSignature", signature)] });
  return { [KEY]: [{ type: "reasoning.encrypted", data, id, format: "google-gemini-v1", index }] };
}

export interface Details {
  /** What was thought, and what that is called at the server. */
  thinking: string;
  field: string | undefined;
  /** What calls carry, by their ids. */
  capsules: ReadonlyMap<string | undefined, Capsule>;
  /** Those of another server, which gets them back. */
  state: Opaque[] | undefined;
}

export function readDetails(message: Fields): Details {
  const capsules = new Map<string | undefined, Capsule>();
  let [thinking, field] = ["", undefined as string | undefined];
  const foreign = message.list(KEY).filter((entry: Json) => {
    const [id = "", text = "", data = ""] = [textOf(objectOf(entry).id), textOf(objectOf(entry).text), textOf(objectOf(entry).data)];
    const capsule = openCapsule(data);
    if (capsule) capsules.set(id, capsule);
    else if (!id.startsWith(OURS)) return true;
    else [thinking, field] = [thinking + text, THINKING.find((name) => id === OURS + name) ?? THINKING[0]];
    return false;
  });
  const kept = someOf([...foreign]);
  return { thinking, field, capsules, state: kept && [opaque(WIRE, KEY, kept)] };
}
