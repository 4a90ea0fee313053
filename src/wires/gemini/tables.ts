/** The words of the Gemini API, and what they mean in the nouns. */
import { isObject } from "../../core/json.ts";
import type { Effort, FinishReason, JsonObject, WireId } from "../../core/nouns.ts";
import { entryOf, spelling } from "../read.ts";

export const WIRE = "gemini" satisfies WireId;

/** What clients write where an answer had no signature: it says nothing, and Google's servers then ask for none. */
export const SKIP = "skip_thought_signature_validator";
/** Python's clients have it as bytes, and write those in base64. */
export const SKIPS: readonly string[] = [SKIP, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="];

/** The state of a text that stands for a part which no noun stands for. */
export const PART = "part";
/** Before the keys of a content whose first message is a result: other keys are the result's own. */
export const CONTENT = "content.";
/** Marks what stood in one content with results, though it is none, and results behind that: Vertex refuses it unless its own clients write it so. */
export const BESIDE = "#beside";
export const SIGNATURE = "thoughtSignature";

export const ROLES = { USER: "user", FUNCTION: "user", MODEL: "assistant", SYSTEM: "system" } as const;

/** `VALIDATED`: calls or text, but a call is one of those that are allowed. In the order of their numbers. */
export const MODES: Readonly<Record<string, "" | "auto" | "none" | "required" | "allowed">> = {
  MODE_UNSPECIFIED: "",
  AUTO: "auto",
  ANY: "required",
  NONE: "none",
  VALIDATED: "allowed",
};

/** Called alike on both sides. */
export const SAMPLING = spelling("temperature topP topK seed presencePenalty frequencyPenalty", String);

/** Bytes (`inlineData`) or where they are (`fileData`). */
export const MEDIA = { mimeType: "mediaType", data: "data", fileUri: "url", displayName: "name" } as const;

export const LEVELS: Readonly<Record<string, Effort | "">> = {
  THINKING_LEVEL_UNSPECIFIED: "",
  ...spelling("minimal low medium high", (level) => level.toUpperCase()),
};

const all = <T>(list: string, meaning: T): Record<string, T> => Object.fromEntries(list.split(" ").map((word) => [word, meaning]));

/** `STOP` also after calls: which of the two it was, the calls say. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  STOP: "stop",
  ...all("MAX_TOKENS CONTINUATION", "length"),
  ...all(
    "SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION",
    "content-filter",
  ),
  ...all("MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS OTHER IMAGE_OTHER NO_IMAGE FINISH_REASON_UNSPECIFIED", "error"),
};
/** All words of this API are in capitals; one that is new is no good end. */
export const meaningOf = (word: string): FinishReason | undefined =>
  entryOf(FINISH, word) ?? (/^[A-Z][A-Z_]+$/.test(word) ? "error" : undefined);
/** What came before the server gave up is an answer, though not a whole one; nothing at all is an error. */
export const GIVEN_UP: FinishReason = "content-filter";
export const MALFORMED = "MALFORMED_FUNCTION_CALL";
/** What we say, where no word of this API came along. */
export const REASONS = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
  error: "OTHER",
} as const satisfies Record<FinishReason, string>;

/** The API takes no more stop strings. */
export const MAX_STOPS = 5;

/** What an object would be taken to be wrapped in, seen as a `response`: `output` and `error` are special where they stand alone. */
export function wrapper(value: JsonObject): "output" | "error" | undefined {
  const [key, ...others] = Object.keys(value);
  const inner = value.output ?? null;
  if (others.length > 0) return undefined;
  if (key === "output") return isObject(inner) && !wrapper(inner) ? undefined : key;
  return key === "error" ? key : undefined;
}
