/**
 * Ollama's context window. On machines with little memory Ollama gives a model 4,096 tokens, whatever the model can do, and silently cuts a
 * longer prompt. A client of another API cannot know that, so Ollama is told not to cut; if it refuses a prompt, a larger window is
 * requested.
 */
import type { ErrorInfo, Opaque, Request } from "../../core/nouns.ts";
import { estimateTokens } from "../estimate.ts";

const UNCUT: Opaque = { wire: "ollama", kind: "truncate", data: false, quiet: true };
/** Without this, Ollama's inner server would drop the beginning of the prompt. */
const UNSHIFTED: Opaque = { ...UNCUT, kind: "shift" };
const sizeOf = (size: number): Opaque => ({ wire: "ollama", kind: "options", data: { num_ctx: size }, quiet: true });

/** Makes Ollama refuse a prompt that does not fit its window, instead of cutting it. */
export const uncut = (request: Request): Request => ({ ...request, extra: [...(request.extra ?? []), UNCUT, UNSHIFTED] });

/** Requests a window of `size` tokens. */
export function inWindow(request: Request, size: number): Request {
  return { ...request, extra: [...(request.extra ?? []).filter((known) => !isSize(known)), sizeOf(size)] };
}
const isSize = ({ wire, kind, quiet }: Opaque): boolean => wire === "ollama" && kind === "options" && quiet === true;

/** Whether the request already asks for a window, as the configuration may. */
export const hasWindow = ({ extra = [] }: Request): boolean => extra.some(isSize);

/** Sizes double from here: Ollama loads the model anew for every size, so there should be few. */
const LEAST = 16_384;
/** Room for an answer without a token limit, or with one too high to be reached. */
const ANSWER = 8192;

/** The window needed for a prompt that Ollama refused. */
export function windowFor({ code, tokens }: ErrorInfo, request: Request): number | undefined {
  const { extra = [], maxTokens = ANSWER } = request;
  if (code !== "context-length" || !extra.includes(UNCUT)) return undefined;
  const needed = (tokens?.used ?? estimateTokens(request)) + Math.min(maxTokens, ANSWER);
  let size = LEAST;
  while (size < needed) size *= 2;
  return size;
}
