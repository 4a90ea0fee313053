/**
 * A capsule holds thinking and state that a client carries for us in a field that it does not read, such as `thoughtSignature`. It is text
 * in base64; `ZHJhZ29tYW4vMTp7fQ==` is an empty one.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Opaque, Part, Thinking } from "../core/nouns.ts";
import { withState } from "./opaque.ts";
import { defined, isText, listOf, numberOf, objectOf, parsed, someOf, textOf } from "./read.ts";

const SEAL = "dragoman/1:";
/** The beginning of every version of a capsule: `dragoman/` in base64. */
const OURS = "ZHJhZ29tYW4v";
/** The most that one capsule may add to a request. */
const MAX_CAPSULE = 262_144;

export interface Capsule {
  /** Thinking that must come back although the client does not keep it, or its state. */
  thoughts?: readonly Thought[];
  /** Another wire's state of the call that has the capsule, or of the call with the id `call`; `call` is `""`: of the text before it. */
  state?: readonly Opaque[];
  call?: string;
}

export interface Thought {
  thinking?: string;
  state?: readonly Opaque[];
  /** How many characters of text come between the previous call and this thought. */
  behind?: number;
}

/** Gemini signs calls and texts; every wire that has a place for its signatures carries them back to it (N20). */
export const isSignature = ({ wire, kind }: Opaque): boolean => wire === "gemini" && kind === "thoughtSignature";

/** OpenAI's newer models mark each message as commentary or final answer, and need that `phase` back. */
export const isPhase = ({ wire, kind, data }: Opaque): boolean =>
  wire === "openai-responses" && kind === "#message" && objectOf(data).phase !== undefined;

/** Puts state that came back with a message onto its last text. */
export function signText(parts: readonly Part[], state: readonly Opaque[] | undefined): void {
  const text = parts.findLast((part) => part.type === "text");
  if (text && state) withState(text, state);
}

/** For clients that drop thinking without a signature. */
export const EMPTY_CAPSULE = "ZHJhZ29tYW4vMTp7fQ==";

/** Base64, because some of the fields must be. `undefined`: there is nothing to carry, or too much. */
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

/** `undefined`: not a capsule. A broken capsule counts as an empty one. */
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

/** Google's API accepts either base64 alphabet: Python's `google-genai` writes all bytes in the URL-safe one, even those it received. */
export const standardBase64 = (data: string): string => (/[-_]/.test(data) ? data.replaceAll("-", "+").replaceAll("_", "/") : data);

export const fromBase64 = (data: string, fatal = false): string =>
  new TextDecoder("utf-8", { fatal }).decode(Uint8Array.from(atob(standardBase64(data)), (char) => char.charCodeAt(0)));

/** The parts of a message with the thoughts that its calls brought back, each in its old place. The client's own thinking parts are replaced. */
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

/** Inserts each thought after as many characters of text as came before it. */
function among(said: readonly Part[], thoughts: readonly Thought[]): Part[] {
  const parts: Part[] = [];
  const rest = [...said];
  let length = 0;
  for (const { thinking = "", state, behind = 0 } of thoughts) {
    while (rest[0] && length < behind) {
      const next = rest.shift()!;
      const room = behind - length;
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
