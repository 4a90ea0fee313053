/** Media and tool results, as far as several wires treat them alike. */
import { isObject } from "../core/json.ts";
import type { Json, Media, Message, ToolResult } from "../core/nouns.ts";
import type { Warnings } from "./warnings.ts";

/** Media from a URL; the bytes of a `data:` URL are taken out. */
export function mediaFromUrl(url: string | undefined, mediaType: string): Media {
  if (url === undefined) return { type: "media", mediaType };
  const comma = url.indexOf(",");
  const [type, ...parameters] = url.slice("data:".length, Math.max(comma, 0)).split(";");
  if (!url.startsWith("data:") || !parameters.includes("base64")) return { type: "media", mediaType, url };
  return { type: "media", mediaType: type || mediaType, data: url.slice(comma + 1) };
}

/** The URL of media, which may be a `data:` URL; `undefined`: there is neither. */
export const urlOfMedia = (media: Media): string | undefined =>
  media.data === undefined ? media.url : `data:${media.mediaType};base64,${media.data}`;

/** `image` of `image/png`. */
export const mediaKind = (media: Media): string => media.mediaType.slice(0, media.mediaType.indexOf("/"));

/** A tool's output as text; of a list of text parts, their texts. */
export function outputText(output: Json): string {
  if (typeof output === "string") return output;
  const texts = Array.isArray(output)
    ? output.map((part: Json) => (isObject(part) && part.type === "text" ? part.text : undefined))
    : [undefined];
  return texts.every((text) => typeof text === "string") ? texts.join("") : JSON.stringify(output);
}

/** The messages, with the media of tool results in a user message behind the results: for targets whose results are text only. */
export function hoistMedia(messages: readonly Message[], warnings: Warnings): Message[] {
  const hoisted: Message[] = [];
  let waiting: ToolResult[] = [];
  const release = () => {
    if (waiting.length === 0) return;
    const content = waiting.flatMap(({ id, name, media = [] }) => [
      { type: "text" as const, text: `[media of the result of ${name || "a tool"}, call ${id}]` },
      ...media,
    ]);
    hoisted.push({ role: "user", content });
    waiting = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") release();
    if (message.role === "tool" && message.media) {
      const { media: _, ...rest } = message;
      hoisted.push(rest);
      waiting.push(message);
      warnings.converted("media in a tool result", "a user message behind the result");
    } else hoisted.push(message);
  }
  release();
  return hoisted;
}
