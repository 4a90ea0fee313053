/**
 * Thinking for OpenRouter's clients, which send back only this form of it:
 * `{"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", …}]}`. A provider's signature is an entry of its own, with its call's id.
 */
import type { Json, Opaque } from "../../core/nouns.ts";
import { type Capsule, openCapsule, sealCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { opaque } from "../opaque.ts";
import { objectOf, someOf, textOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import { THINKING, WIRE } from "./tables.ts";

const KEY = "reasoning_details";
/** The ids of our text entries begin like this, followed by the server's field of the thinking, since clients use a field of their own. */
const OURS = "drgm-";

/** Clients join pieces that have the same index. */
export const textDetail = (text: string, field: string, index: number): Draft => ({
  [KEY]: [{ type: "reasoning.text", text, id: OURS + field, format: "unknown", index }],
});

/** The entry of what a call carries for other wires: a capsule of ours, or Gemini's signature, which is put into one. */
export function sealDetail(signature: string, id: string, index: number): Draft {
  const data = openCapsule(signature) ? signature : sealCapsule({ state: [opaque("gemini", "thoughtSignature", signature)] });
  return { [KEY]: [{ type: "reasoning.encrypted", data, id, format: "google-gemini-v1", index }] };
}

export interface Details {
  /** The thinking, and the field in which the server sent it. */
  thinking: string;
  field: string | undefined;
  /** The capsules of calls, by the calls' ids. */
  capsules: ReadonlyMap<string | undefined, Capsule>;
  /** Entries that a server made: it gets them back. */
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
