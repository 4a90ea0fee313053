/** Replaces media by labels where the server says that the model does not accept them: `image input is not supported`. */
import type { ErrorCode, ErrorInfo, Media, Message, Request } from "../../core/nouns.ts";
import { labelOf, mediaKind } from "../../wires/media.ts";

export type MediaKind = "files" | "videos" | "sounds" | "images";

const KINDS: Readonly<Record<string, MediaKind>> = { image: "images", audio: "sounds", video: "videos" };
const kindOf = (media: Media): MediaKind => KINDS[mediaKind(media)] ?? "files";

const isMedia = (part: { type: string }): part is Media => part.type === "media";
const mediaIn = (message: Message): readonly Media[] =>
  message.role === "tool" ? (message.media ?? []) : [...message.content].filter(isMedia);

/** The kinds of media in a request. */
export const kindsIn = ({ messages }: Request): ReadonlySet<MediaKind> => new Set(messages.flatMap(mediaIn).map(kindOf));

/** How servers name the kinds, rarest first: an error that names none is taken to mean the rarest kind in the request. */
const NAMES: readonly (readonly [RegExp, MediaKind])[] = [
  [/\bfiles?\b|pdf|document/i, "files"],
  [/video/i, "videos"],
  [/audio/i, "sounds"],
  [/image|vision|multi-?modal/i, "images"],
];
/**
 * `image input is not supported`, `At most 0 image(s) may be provided`, `Unsupported chat content part type: 'file'`, `is not a multimodal
 * model`, `unknown variant `image_url``, `No endpoints found that support image input`, `image_url is only supported by certain models`,
 * `'content' objects must have a 'type' field`, `messages.0.content must be a string`, `missing data required for image input`; mlx-lm:
 * `Only 'text' content type is supported`.
 */
const REFUSED =
  /not (?:\w+ )?(?:supported|enabled|allowed)|(?:not|n't) support|unsupported (?:chat )?content|at most 0 |not an? (?:multi|vision)|unknown variant|found that support|only supported by|'content' objects must|content\W* must be a string|missing data|only 'text' content/i;
/** The error is about one particular file; the model may accept others of its kind. */
const OF_ONE = /format|mime|extension|base64|decod|download|\bsize\b|bytes|too (?:large|many)/i;
/** After these words a server lists what it does accept. */
const TAKEN = /supported types|expected|either/i;
/** llama-server answers with status 500, OpenRouter with 404. */
const CODES: ReadonlySet<ErrorCode> = new Set(["bad-request", "not-found", "upstream"]);

/** The kinds of media in the request that an error refuses. */
export function refusedMedia({ code, message }: ErrorInfo, request: Request): MediaKind[] {
  if (!CODES.has(code) || !REFUSED.test(message) || OF_ONE.test(message)) return [];
  const kinds = kindsIn(request);
  const sent = NAMES.filter(([, kind]) => kinds.has(kind));
  const [refused = ""] = message.split(TAKEN);
  const named = sent.filter(([name]) => name.test(refused));
  return (named.length > 0 || !/content/i.test(refused) ? named : sent.slice(0, 1)).map(([, kind]) => kind);
}

/** Replaces media of these kinds by labels. */
export function withoutMedia(messages: readonly Message[], kinds: readonly MediaKind[]): Message[] {
  const isRefused = (media: Media): boolean => kinds.includes(kindOf(media));
  return messages.map((message) => {
    if (!mediaIn(message).some(isRefused)) return message;
    if (message.role === "tool") return { ...message, media: mediaIn(message).map((media) => (isRefused(media) ? nameOf(media) : media)) };
    const content = [...message.content].map((part) => (isMedia(part) && isRefused(part) ? labelOf(part) : part));
    return { ...message, content } as Message;
  });
}

/** The media of a tool result without its data: no wire can send it, so each turns it into a label where its results take one. */
const nameOf = ({ type, mediaType, name }: Media): Media => ({ type, mediaType, ...(name === undefined ? {} : { name }) });
