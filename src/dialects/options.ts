/** The thinking options of `render`. */
import type { Request } from "../core/nouns.ts";
import type { RenderOptions } from "./dialect.ts";
import { thinkingOf } from "./transcript.ts";

/** Whether the model is to think, if the options or the request say so. An effort or a budget means yes, a budget of 0 no. */
export function thinkingOption({ thinking = {} }: Request, options: RenderOptions): boolean | undefined {
  const { enabled, budget, effort } = thinking;
  return options.thinking ?? enabled ?? (budget === undefined ? effort && true : budget !== 0);
}

/** Lets the model see its earlier thinking, unless the request says otherwise: for templates that write it only on request. */
export function keepThinking(request: Request): Request {
  const thinks = request.messages.some((message) => message.role === "assistant" && thinkingOf(message.content) !== "");
  if (!thinks || request.thinking?.keep !== undefined) return request;
  return { ...request, thinking: { ...request.thinking, keep: true } };
}
