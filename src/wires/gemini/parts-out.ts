/** Parts, as requests and answers write them alike: `{"text": "Hi"}`, `{"functionCall": {"id": "1", "name": "f", "args": {}}}`. */
import type { Media, Text, Thinking, ToolCall } from "../../core/nouns.ts";
import { ownState, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined, objectOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import { PART, WIRE } from "./tables.ts";

/** No part: there is nothing to say. */
export function encodePart(part: Text | Media | Thinking | ToolCall, name?: string): Draft[] {
  const own = ownState(WIRE, part.state, PART);
  if (own) return [{ ...objectOf(own) }];
  const draft = putState(WIRE, draftOf(part, name), part.state);
  return draft.text === "" && !part.state?.some(({ wire }) => wire === WIRE) ? [] : [draft];
}

function draftOf(part: Text | Media | Thinking | ToolCall, name: string | undefined): Draft {
  if (part.type === "tool-call") return { functionCall: { id: part.id, name: name ?? part.name, args: argumentsValue(part) } };
  if (part.type !== "media") return part.type === "thinking" ? { text: part.text, thought: true } : { text: part.text };
  const { mediaType: mimeType, data, url: fileUri, name: displayName } = part;
  if (data !== undefined) return { inlineData: defined<Draft>({ mimeType, data, displayName }) };
  return { fileData: defined<Draft>({ mimeType, fileUri, displayName }) };
}

/** The API takes no content without parts, and sends none. */
export const spoken = (parts: readonly Draft[]): readonly Draft[] => (parts.length > 0 ? parts : [{ text: "" }]);
