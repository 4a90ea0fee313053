/** Media and tool results, as far as several wires treat them alike. */
import { isObject } from "../core/json.ts";
import type { Json, Media, Message, Text } from "../core/nouns.ts";
import { fromBase64 } from "./capsule.ts";
import { printBody } from "./raw.ts";
import { entryOf, isText, listOf, UNTOLD } from "./read.ts";

/** What is not said of a file is told by its name, or that of its URL. */
const ENDINGS: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  json: "application/json",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
};

/** A file of which only that is known; and what it is if they do not tell. */
export function fileFromUrl(url: string | undefined, name: string | undefined, otherwise = UNTOLD): Media {
  const [ending = ""] = /[^.]*$/.exec((name ?? url ?? "").replace(/[?#].*/s, "").toLowerCase()) ?? [];
  return mediaFromUrl(url, entryOf(ENDINGS, ending) ?? otherwise);
}

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

/** Stands for media that a target does not take; a file of text is told all the same. */
export function labelOf({ mediaType, name, url, data }: Media): Text {
  const label = `[${[mediaType, name, url].filter(Boolean).join(" ")}]`;
  return { type: "text", text: data !== undefined && mediaType.startsWith("text/") ? `${label}\n${fromBase64(data)}` : label };
}

/** A message for those who take no media: a label stands where one was shown. */
export function withLabels(message: Message): Message {
  if (message.role === "tool") {
    const { media = [], output, ...result } = message;
    if (media.length === 0) return message;
    return { ...result, output: [outputText(output), ...media.map((part) => labelOf(part).text)].filter(Boolean).join("\n\n") };
  }
  if (message.role === "assistant")
    return { ...message, content: message.content.map((part) => (part.type === "media" ? labelOf(part) : part)) };
  if (!message.content.some(({ type }) => type === "media")) return message;
  const texts = message.content.map((part) => (part.type === "media" ? labelOf(part) : part).text);
  return { ...message, content: [{ type: "text", text: texts.join("\n") }] };
}

/** The texts of an output that is text, or a list of text parts. */
export function textsOf(output: Json): string[] | undefined {
  const parts = isText(output) ? [{ type: "text", text: output }] : listOf(output);
  const texts = parts.map((part) => (isObject(part) && part.type === "text" ? part.text : undefined));
  return texts.length > 0 && texts.every((text) => isText(text)) ? texts : undefined;
}

/** A tool's output as text; of a list of text parts, their texts. */
export const outputText = (output: Json): string => textsOf(output)?.join("\n") ?? printBody(output);

/** What stands for all that was said before. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** The result of a tool that failed, where nothing else tells so. Most say it themselves. */
export function errorText(output: Json): string {
  const text = outputText(output);
  return /^\W*error/i.test(text) ? text : `Error: ${text}`;
}
