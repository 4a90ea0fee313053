/** Parts, as requests and answers write them alike: `{"text": "Hi"}`, `{"functionCall": {"id": "1", "name": "f", "args": {}}}`. */
import type { Media, Opaque, Text, Thinking, ToolCall } from "../../core/nouns.ts";
import { type Draft, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined } from "../read.ts";
import type { Warnings } from "../warnings.ts";
import { PART, WIRE } from "./tables.ts";

const isPart = (opaque: Opaque): boolean => opaque.wire === WIRE && opaque.kind === PART;

/** No part: there is nothing to say, or no way to say it. */
export function encodePart(part: Text | Media | Thinking | ToolCall, warnings: Warnings, name?: string): Draft[] {
  const state = part.state ?? [];
  const own = state.filter(isPart).map(({ data }) => data as unknown as Draft);
  const rest = state.filter((opaque) => !isPart(opaque));
  const draft = draftOf(part, name);
  if (draft === undefined) warnings.dropped("media that only its own server has", WIRE);
  const said = putState(WIRE, draft ?? {}, rest, warnings);
  return draft === undefined || (said.text === "" && !rest.some(({ wire }) => wire === WIRE)) ? own : [said, ...own];
}

function draftOf(part: Text | Media | Thinking | ToolCall, name: string | undefined): Draft | undefined {
  if (part.type === "tool-call") return { functionCall: { id: part.id, name: name ?? part.name, args: argumentsValue(part) } };
  if (part.type !== "media") return part.type === "thinking" ? { text: part.text, thought: true } : { text: part.text };
  const { mediaType: mimeType, data, url: fileUri, name: displayName } = part;
  if (data !== undefined) return { inlineData: defined<Draft>({ mimeType, data, displayName }) };
  return fileUri === undefined ? undefined : { fileData: defined<Draft>({ mimeType, fileUri, displayName }) };
}

/** The API takes no content without parts, and sends none. */
export const spoken = (parts: readonly Draft[]): readonly Draft[] => (parts.length > 0 ? parts : [{ text: "" }]);
