/** What `render` was asked for. */
import type { Request } from "../core/nouns.ts";
import type { RenderOptions } from "./dialect.ts";
import { thinkingOf } from "./transcript.ts";

/** Whether the model shall think, if anybody said so: how much is a wish to, but for nothing at all. */
export function thinkingOption({ thinking = {} }: Request, options: RenderOptions): boolean | undefined {
  const { enabled, budget, effort } = thinking;
  return options.thinking ?? enabled ?? (budget === undefined ? effort && true : budget !== 0);
}

/** The model gets its thinking back, unless the caller said otherwise: for templates that write it only where it is asked for. */
export function keepThinking(request: Request): Request {
  const thinks = request.messages.some((message) => message.role === "assistant" && thinkingOf(message.content) !== "");
  if (!thinks || request.thinking?.keep !== undefined) return request;
  return { ...request, thinking: { ...request.thinking, keep: true } };
}
