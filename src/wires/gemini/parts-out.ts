/** Parts, as requests and answers write them alike: `{"text": "Hi"}`, `{"functionCall": {"id": "1", "name": "f", "args": {}}}`. */
import type { Media, Text, Thinking, ToolCall } from "../../core/nouns.ts";
import { hasOwn, ownState, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { objectOf, UNTOLD, written } from "../read.ts";
import type { Draft } from "../wire.ts";
import { MEDIA, PART, WIRE } from "./tables.ts";

/** No part: there is nothing to say. */
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
  if (rest.mediaType === UNTOLD) delete fileData.mimeType; // of a film on YouTube nobody says it, and Google's servers refuse a guess
  return { fileData };
}

/** The API takes no content without parts, and sends none. */
export const spoken = (parts: readonly Draft[]): readonly Draft[] => (parts.length > 0 ? parts : [{ text: "" }]);
