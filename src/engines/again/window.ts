/**
 * Ollama's window: it gives a model 4,096 tokens where memory is small, whatever the model can do, and cuts a longer prompt in silence. Who
 * came with another API cannot know that, so it is told not to cut, and where it refuses a prompt, it is asked again with a window that holds it.
 */
import type { ErrorInfo, Opaque, Request } from "../../core/nouns.ts";
import { estimateTokens } from "../estimate.ts";

const UNCUT: Opaque = { wire: "ollama", kind: "truncate", data: false, quiet: true };
/** The server inside of it would otherwise push the beginning out. */
const UNSHIFTED: Opaque = { ...UNCUT, kind: "shift" };
const sizeOf = (size: number): Opaque => ({ wire: "ollama", kind: "options", data: { num_ctx: size }, quiet: true });

/** A prompt that its window does not hold is refused. */
export const uncut = (request: Request): Request => ({ ...request, extra: [...(request.extra ?? []), UNCUT, UNSHIFTED] });

/** The window has so many tokens. */
export function inWindow(request: Request, size: number): Request {
  return { ...request, extra: [...(request.extra ?? []).filter((known) => !isSize(known)), sizeOf(size)] };
}
const isSize = ({ wire, kind, quiet }: Opaque): boolean => wire === "ollama" && kind === "options" && quiet === true;

/** Somebody has chosen the window. */
export const hasWindow = ({ extra = [] }: Request): boolean => extra.some(isSize);

/** With each size the model is loaded anew, so there are few. */
const LEAST = 16_384;
/** For an answer without a limit, or with one that nobody reaches. */
const ANSWER = 8192;

/** The window that a prompt needs which an Ollama refused to cut. */
export function windowFor({ code, tokens }: ErrorInfo, request: Request): number | undefined {
  const { extra = [], maxTokens = ANSWER } = request;
  if (code !== "context-length" || !extra.includes(UNCUT)) return undefined;
  const needed = (tokens?.used ?? estimateTokens(request)) + Math.min(maxTokens, ANSWER);
  let size = LEAST;
  while (size < needed) size *= 2;
  return size;
}
