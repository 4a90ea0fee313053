/** The Gemini API's words, and what they mean in the nouns. */
import { isObject } from "../../core/json.ts";
import type { Effort, FinishReason, JsonObject, WireId } from "../../core/nouns.ts";
import { type Meanings, meaningIn, SETTINGS, spelling } from "../read.ts";

export const WIRE = "gemini" satisfies WireId;

/** What clients send if an answer had no signature: with this value, Google's servers do not check it. */
export const SKIP = "skip_thought_signature_validator";
/** No signature. Python's clients treat `SKIP` as bytes and send it in base64. */
export const SKIPS: readonly string[] = ["", SKIP, "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="];

/** The kind of state that is a whole part which the nouns have no place for. */
export const PART = "part";
/** Prefix for the keys of a content whose first message is a result: keys without it belong to the result. */
export const CONTENT = "content.";
/** Marks messages that shared a content with results, and results after them. Vertex refuses this, except as its own clients write it. */
export const BESIDE = "#beside";
/** Marks results that came as `{"name": …, "content": …}`. */
export const NAMED = "#named";
export const SIGNATURE = "thoughtSignature";

export const ROLES = { USER: "user", FUNCTION: "user", MODEL: "assistant", SYSTEM: "system" } as const;

/** `VALIDATED`: calls or text, but only calls of the allowed functions. The order is that of the enum's numbers. */
export const MODES: Readonly<Record<string, "" | "auto" | "none" | "required" | "allowed">> = {
  MODE_UNSPECIFIED: "",
  AUTO: "auto",
  ANY: "required",
  NONE: "none",
  VALIDATED: "allowed",
};

export const SAMPLING = spelling(`${SETTINGS} topK`, String);

/** The fields of bytes (`inlineData`) and of a file's URI (`fileData`). */
export const MEDIA = { mimeType: "mediaType", data: "data", fileUri: "url", displayName: "name" } as const;

export const LEVELS: Readonly<Record<string, Effort | "">> = {
  THINKING_LEVEL_UNSPECIFIED: "",
  ...spelling("minimal low medium high xhigh", (level) => level.toUpperCase()),
};

/** `STOP` also follows calls; whether there were any, the calls themselves tell. All of this API's reasons are in capitals. */
const FINISH: Meanings<FinishReason> = [
  [/^STOP$/, "stop"],
  [/^(MAX_TOKENS|CONTINUATION)$/, "length"],
  [/^(IMAGE_)?(SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII)$/, "content-filter"],
  [/^[A-Z][A-Z_]+$/, "error"],
];
export const meaningOf = (word: string): FinishReason | undefined => meaningIn(FINISH, word);
/** The reason if the server stops with an error after some text: an incomplete answer. Without any text it is an error. */
export const GIVEN_UP: FinishReason = "content-filter";
export const MALFORMED = "MALFORMED_FUNCTION_CALL";
/** The reasons that we send, unless the server's own is one of this API. */
export const REASONS = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
  error: "OTHER",
} as const satisfies Record<FinishReason, string>;

/** The API accepts no more stop strings. */
export const MAX_STOPS = 5;

/**
 * The key that a `response` would be read as a wrapper for: `output` and `error` are special if they are the only key. The AI SDK wraps
 * every result in `{"name": "read_file", "content": "text"}`.
 */
export function wrapper(value: JsonObject, name: string): "output" | "error" | "content" | undefined {
  const key = Object.keys(value).join();
  if (key === "name,content" && value.name === name) return "content";
  const inner = value.output ?? null;
  return key === "error" || (key === "output" && (!isObject(inner) || wrapper(inner, name))) ? key : undefined;
}
