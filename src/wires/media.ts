/** What several wires do alike with media and tool results. */
import { isObject } from "../core/json.ts";
import type { Json, Media, Message, Text } from "../core/nouns.ts";
import { fromBase64 } from "./capsule.ts";
import { printBody } from "./raw.ts";
import { entryOf, isText, listOf, UNTOLD } from "./read.ts";

/** Media types by file extension, for files that come without a type. */
const ENDINGS: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  json: "application/json",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
};

/** A file without a media type: its name or URL tells the type; `otherwise`: the type if they do not. */
export function fileFromUrl(url: string | undefined, name: string | undefined, otherwise = UNTOLD): Media {
  const path = (name ?? url ?? "").replace(/[?#].*/s, "");
  const ending = path.slice(path.lastIndexOf(".") + 1); // an expression that looks for it would take quadratic time
  return mediaFromUrl(url, entryOf(ENDINGS, ending.toLowerCase()) ?? otherwise);
}

/** Media from a URL. A base64 `data:` URL becomes `data`. */
export function mediaFromUrl(url: string | undefined, mediaType: string): Media {
  if (url === undefined) return { type: "media", mediaType };
  const comma = url.indexOf(",");
  const [type, ...parameters] = url.slice("data:".length, Math.max(comma, 0)).split(";");
  if (!url.startsWith("data:") || !parameters.includes("base64")) return { type: "media", mediaType, url };
  return { type: "media", mediaType: type || mediaType, data: url.slice(comma + 1) };
}

/** The URL of media: a `data:` URL if the bytes are known; `undefined`: there is neither. */
export const urlOfMedia = (media: Media): string | undefined =>
  media.data === undefined ? media.url : `data:${media.mediaType};base64,${media.data}`;

/** `image` of `image/png`. */
export const mediaKind = (media: Media): string => media.mediaType.slice(0, media.mediaType.indexOf("/"));

/** The content of a text file; `undefined`: it is no text file, or its data is not base64. */
export function textOfFile({ mediaType, data }: Media): string | undefined {
  if (data === undefined || !mediaType.startsWith("text/")) return undefined;
  try {
    return fromBase64(data);
  } catch {
    return undefined;
  }
}

/** A label in place of media that the target does not accept. The content of a text file follows its label. */
export function labelOf(media: Media): Text {
  const { mediaType, name, url } = media;
  const label = `[${[mediaType, name, url].filter(Boolean).join(" ")}]`;
  const content = textOfFile(media);
  return { type: "text", text: content === undefined ? label : `${label}\n${content}` };
}

/** The message with a label in place of each of its media, for targets that accept none. */
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

/** The texts of an output that is a string or a list of text parts; `undefined` for any other. */
export function textsOf(output: Json): string[] | undefined {
  const parts = isText(output) ? [{ type: "text", text: output }] : listOf(output);
  const texts = parts.map((part) => (isObject(part) && part.type === "text" ? part.text : undefined));
  return texts.length > 0 && texts.every((text) => isText(text)) ? texts : undefined;
}

/** A tool's output as text: its texts, or its JSON text if it is anything else. */
export const outputText = (output: Json): string => textsOf(output)?.join("\n") ?? printBody(output);

/** The text of a summary that replaces the conversation before it. */
export const summaryText = (summary: string): string => `Summary of the conversation so far:\n\n${summary}`;

/** The output of a failed tool, for targets without an error flag. Most outputs already begin with "error". */
export function errorText(output: Json): string {
  const text = outputText(output);
  return /^\W*error/i.test(text) ? text : `Error: ${text}`;
}
