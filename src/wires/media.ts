/** Media and tool results, as far as several wires treat them alike. */
import { isObject } from "../core/json.ts";
import type { Json, Media } from "../core/nouns.ts";

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

/** The result of a tool that failed, where nothing else tells so. Most say it themselves. */
export function errorText(output: Json): string {
  const text = outputText(output);
  return /^\W*error/i.test(text) ? text : `Error: ${text}`;
}
