/** Writes parts, for requests and answers alike: `{"text": "Hi"}`, `{"functionCall": {"id": "1", "name": "f", "args": {}}}`. */
import type { Media, Text, Thinking, ToolCall } from "../../core/nouns.ts";
import { hasOwn, ownState, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { objectOf, UNTOLD, written } from "../read.ts";
import type { Draft } from "../wire.ts";
import { MEDIA, PART, WIRE } from "./tables.ts";

/** The part, if there is anything in it. */
export function encodePart(part: Text | Media | Thinking | ToolCall, name?: string): Draft[] {
  const own = ownState(WIRE, part.state, PART);
  if (own) return [{ ...objectOf(own) }];
  const draft = putState(WIRE, draftOf(part, name), part.state);
  return draft.text === "" && !hasOwn(WIRE, part) ? [] : [draft];
}

function draftOf(part: Text | Media | Thinking | ToolCall, name: string | undefined): Draft {
  if (part.type === "tool-call") return { functionCall: { id: part.id, name: name ?? part.name, args: argumentsValue(part) } };
  if (part.type !== "media") return part.type === "thinking" ? { text: part.text, thought: true } : { text: part.text };
  const { data, url, ...rest } = part;
  if (data !== undefined) return { inlineData: written({ ...rest, data }, MEDIA) };
  const fileData = written({ ...rest, url }, MEDIA);
  if (rest.mediaType === UNTOLD) delete fileData.mimeType; // YouTube videos come without a type, and Google's servers refuse a guess
  return { fileData };
}

/** The API neither accepts nor sends a content without parts. */
export const spoken = (parts: readonly Draft[]): readonly Draft[] => (parts.length > 0 ? parts : [{ text: "" }]);
