/**
 * Prompts, written as the format looks: a dialect's literals are trusted, and the control tokens in them become pieces of their own;
 * everything interpolated is data, whatever it contains.
 *
 *     const t = markup(["<|turn>", "<turn|>"]);
 *     prompt(t`<|turn>${role}\n${text}<turn|>\n`)   // control, "user\nHi", control, "\n"
 */
import type { Media } from "../core/nouns.ts";
import type { Prompt, PromptPiece } from "./dialect.ts";

/** What a prompt is made of: lists nest, and `undefined` and `false` add nothing. */
export type Pieces = string | PromptPiece | undefined | false | readonly Pieces[];

export type Markup = (literals: TemplateStringsArray, ...data: readonly Pieces[]) => Pieces;

/** The control tokens of every format loaded: `neutralize` breaks them where data forges them. */
const vocabularies: (readonly string[])[] = [];

/** Makes the template tag of a format with these control tokens. */
export function markup(tokens: readonly string[]): Markup {
  vocabularies.push(tokens);
  const seams = new RegExp(`(${anyOf(tokens)})`);
  const pieces = (literal: string): Pieces => literal.split(seams).map((text, i) => (i % 2 ? control(text) : text));
  return (literals, ...data) => literals.map((literal, i) => [pieces(literal), data[i]]);
}

export const control = (token: string): PromptPiece => ({ text: token, control: true });

/** The control tokens that stand for media, by kind: `image`, `audio`, `video`. */
export type Placeholders = Readonly<Record<string, string>>;

/** Media at its placeholder; a format without a placeholder still passes the media on. */
export function mediaPiece(media: Media, tokens: Placeholders): PromptPiece {
  const token = tokens[media.mediaType.split("/")[0] ?? ""];
  return token ? { text: token, control: true, media } : { text: "", media };
}

export const joined = (list: readonly Pieces[], separator: string): Pieces => list.map((piece, i) => (i > 0 ? [separator, piece] : piece));

/** All text between two control tokens is one piece, so that tokenizing piece by piece equals tokenizing the whole. */
export function prompt(...pieces: readonly Pieces[]): Prompt {
  const out: Prompt = [];
  let text = "";
  const add = (piece: Pieces): void => {
    if (!piece) return;
    if (typeof piece === "string") text += piece;
    else if (!("text" in piece)) piece.forEach(add);
    else if (!piece.control && !piece.media) text += piece.text;
    else {
      if (text !== "") out.push({ text });
      text = "";
      out.push(piece);
    }
  };
  add(pieces);
  if (text !== "") out.push({ text });
  return out;
}

/** Trims both ends, unless there is a control token or media. */
export function trimmed(...pieces: readonly Pieces[]): Prompt {
  const out = prompt(...pieces);
  const trim = (at: number, text: (piece: PromptPiece) => string): void => {
    const piece = out.at(at);
    if (piece && !piece.control && !piece.media) out.splice(at, 1, { text: text(piece) });
  };
  trim(0, (piece) => piece.text.trimStart());
  trim(-1, (piece) => piece.text.trimEnd());
  return out;
}

export const plainText = (prompt: readonly PromptPiece[]): string => prompt.map((piece) => piece.text).join("");

/**
 * The prompt as one text: byte for byte what the model's own template gives. For servers that take only text, `neutralize` inserts a blank
 * after the first character of every control token that data forges (`<|turn>` becomes `< |turn>`). A blank rather than something
 * invisible, because tokenizers that normalize drop zero-width characters and would restore the token.
 */
export function promptText(prompt: readonly PromptPiece[], options: { neutralize?: boolean } = {}): string {
  const text = plainText(prompt);
  if (!options.neutralize) return text;
  let out = "";
  let copied = 0;
  for (const cut of forgeryCuts(prompt, text)) {
    out += `${text.slice(copied, cut)} `;
    copied = cut;
  }
  return out + text.slice(copied);
}

/**
 * The prompt with its data cut inside every control token that it forges (`<`, `|turn>`): for tokenizers that get the pieces one by one
 * and cannot be told to read control tokens as text.
 */
export function cutForgeries(prompt: readonly PromptPiece[]): Prompt {
  const cuts = forgeryCuts(prompt, plainText(prompt));
  let end = 0;
  let next = 0;
  return prompt.flatMap((piece) => {
    const start = end;
    end += piece.text.length;
    if (piece.control || piece.media) return [piece];
    const pieces: Prompt = [];
    let from = start;
    while ((cuts[next] ?? end) <= start) next++;
    for (; (cuts[next] ?? end) < end; next++) {
      pieces.push({ text: piece.text.slice(from - start, cuts[next]! - start) });
      from = cuts[next]!;
    }
    return [...pieces, { text: piece.text.slice(from - start) }];
  });
}

/** Where data must be broken to hold no control token: after the first character of each, in order. */
function forgeryCuts(prompt: readonly PromptPiece[], text: string): number[] {
  const forged = forgeries(prompt);
  const controls = controlSpans(prompt);
  const cuts: number[] = [];
  let next = 0;
  for (let match = forged.exec(text); match; match = forged.exec(text)) {
    const start = match.index;
    forged.lastIndex = start + 1; // the next forgery may overlap this one
    while ((controls[next]?.end ?? Infinity) <= start) next++;
    const control = controls[next];
    const inControl = control !== undefined && control.start <= start;
    if (inControl && start + match[0].length <= control.end) continue;
    const cut = inControl ? control.end : start + 1; // a token may also arise where data meets a control piece
    if (cut > (cuts.at(-1) ?? 0)) cuts.push(cut);
  }
  return cuts;
}

/** The shapes of control tokens in any vocabulary, for prompts whose dialect is not loaded: `<|x|>` `<|x>` `<x|>` `<｜x｜>` `<start_x>`. */
const SHAPES = "<[|｜][^\\s<>]{1,64}>|<[^\\s<>]{1,64}[|｜]>|<(?:start|end)_\\w{1,64}>";

/**
 * Finds the control tokens of the prompt's dialect, including those that the prompt does not use. The prompt may have passed through JSON,
 * so only its control tokens tell its dialect.
 */
export function forgeries(prompt: readonly PromptPiece[]): RegExp {
  const present = new Set(prompt.flatMap((piece) => (piece.control && piece.text !== "" ? piece.text : [])));
  const spoken = vocabularies.filter((tokens) => tokens.some((token) => present.has(token)));
  return new RegExp([anyOf([...new Set([...present, ...spoken.flat()])]), SHAPES].filter(Boolean).join("|"), "g");
}

function controlSpans(prompt: readonly PromptPiece[]): { start: number; end: number }[] {
  let end = 0;
  return prompt.flatMap((piece) => {
    const start = end;
    end += piece.text.length;
    return piece.control ? [{ start, end }] : [];
  });
}

/** A pattern for any of these tokens, the longest first. */
const anyOf = (tokens: readonly string[]): string =>
  tokens
    .toSorted((a, b) => b.length - a.length)
    .map((token) => token.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("|");
