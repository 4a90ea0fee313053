/**
 * Our own capsule: thinking and state that a client carries for us in a field that it does not read, such as `thoughtSignature`.
 * `ZHJhZ29tYW4vMTp7fQ==` is one with nothing inside.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Opaque, Part, Thinking } from "../core/nouns.ts";
import { withState } from "./opaque.ts";
import { defined, isText, listOf, numberOf, objectOf, parsed, someOf, textOf } from "./read.ts";

const SEAL = "dragoman/1:";
/** What every version of it begins with: `dragoman/` in base64. */
const OURS = "ZHJhZ29tYW4v";
/** What a request may grow by for one answer. */
const MAX_CAPSULE = 262_144;

export interface Capsule {
  /** Thinking that must come back, where the client does not keep it or its state. */
  thoughts?: readonly Thought[];
  /** Another wire's state of a call: of the one that the field stands on, or of the one with this id; `""`: of the text before it. */
  state?: readonly Opaque[];
  call?: string;
}

export interface Thought {
  thinking?: string;
  state?: readonly Opaque[];
  /** How many characters of text stand between it and the call before it. */
  behind?: number;
}

/** Gemini signs calls and texts; what it has signed comes back to it through every wire that has a place for it (N20). */
export const isSignature = ({ wire, kind }: Opaque): boolean => wire === "gemini" && kind === "thoughtSignature";

/** OpenAI's newer models say of a message whether it is a comment or the answer, and want that back with it. */
export const isPhase = ({ wire, kind, data }: Opaque): boolean =>
  wire === "openai-responses" && kind === "#message" && objectOf(data).phase !== undefined;

/** Puts what came back with a text onto the last one that was said. */
export function signText(parts: readonly Part[], state: readonly Opaque[] | undefined): void {
  const text = parts.findLast((part) => part.type === "text");
  if (text && state) withState(text, state);
}

/** Nothing inside: for clients that drop what has no signature. */
export const EMPTY_CAPSULE = "ZHJhZ29tYW4vMTp7fQ==";

/** Base64, since some fields must be. `undefined`: there is nothing to carry, or too much. */
export function sealCapsule({ thoughts = [], state = [], call }: Capsule): string | undefined {
  const kept = thoughts.map(({ thinking, state: own = [], behind }) =>
    defined<Thought>({ thinking: thinking || undefined, state: someOf([...own]), behind: behind || undefined }),
  );
  const capsule = { thoughts: someOf(kept.filter((thought) => thought.thinking || thought.state)), state: someOf([...state]), call };
  const text = SEAL + JSON.stringify(capsule);
  if (!(capsule.thoughts || capsule.state) || text.length > MAX_CAPSULE) return undefined;
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return btoa(bytes);
}

/** `undefined`: it is none of ours; nothing inside: it is broken. */
export function openCapsule(sealed: string): Capsule | undefined {
  if (!sealed.startsWith(OURS)) return undefined;
  let text: string;
  try {
    text = fromBase64(sealed, true);
  } catch {
    return {};
  }
  const { thoughts, state, call } = objectOf(text.startsWith(SEAL) && text.length <= MAX_CAPSULE && parsed(text.slice(SEAL.length)));
  const read = listOf(thoughts).map((item) => {
    const { thinking, state: own, behind } = objectOf(item);
    return defined<Thought>({ thinking: textOf(thinking), state: stateIn(own), behind: numberOf(behind) });
  });
  return defined<Capsule>({ thoughts: someOf(read), state: stateIn(state), call: textOf(call) });
}

const stateIn = (value: Json | undefined): Opaque[] | undefined => someOf(listOf(value).filter(isOpaque));

const isOpaque = (value: Json): value is JsonObject & Opaque =>
  isObject(value) && isText(value.wire) && isText(value.kind) && value.data !== undefined;

/** In either alphabet of base64, as Google's API takes it: Python's `google-genai` writes all bytes in the one for URLs, also those it was given. */
export const standardBase64 = (data: string): string => (/[-_]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/") : data);

export const fromBase64 = (data: string, fatal = false): string =>
  new TextDecoder("utf-8", { fatal }).decode(Uint8Array.from(atob(standardBase64(data)), (char) => char.charCodeAt(0)));

/** The parts of a message with the thoughts that its calls brought back: each where it stood, in place of what the client kept of them. */
export function recalled(content: readonly Part[], thoughtsOf: (id: string) => readonly Thought[] | undefined): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const part of content) {
    const thoughts = part.type === "tool-call" ? thoughtsOf(part.id) : undefined;
    if (thoughts)
      parts.push(
        ...among(
          parts.splice(from).filter(({ type }) => type !== "thinking"),
          thoughts,
        ),
      );
    parts.push(part);
    if (part.type === "tool-call") from = parts.length;
  }
  return parts;
}

/** Thoughts, each behind as much of the text as there was before it. */
function among(said: readonly Part[], thoughts: readonly Thought[]): Part[] {
  const parts: Part[] = [];
  const rest = [...said];
  let length = 0;
  for (const { thinking = "", state, behind = 0 } of thoughts) {
    for (let next = rest.shift(); next; next = rest.shift()) {
      const room = behind - length;
      if (room <= 0) {
        rest.unshift(next);
        break;
      }
      if (next.type !== "text" || next.text.length <= room) parts.push(next);
      else {
        parts.push({ ...next, text: next.text.slice(0, room) });
        rest.unshift({ type: "text", text: next.text.slice(room) });
      }
      if (next.type === "text") length += Math.min(next.text.length, room);
    }
    parts.push(withState<Thinking>({ type: "thinking", text: thinking }, state));
  }
  return [...parts, ...rest];
}
