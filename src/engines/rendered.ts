/** A request as a prompt in the model's dialect, and the marks that the dialect lives on: what all engines share that speak one themselves. */
import type { ErrorInfo, Message, Opaque, Request, Tool, Warning } from "../core/nouns.ts";
import type { Dialect, Prompt } from "../dialects/dialect.ts";
import { Warnings } from "../wires/warnings.ts";
import { EngineError } from "./error.ts";
import { withFunctions } from "./inband/request.ts";

export interface Rendered {
  readonly request: Request & { tools: Tool[] };
  readonly prompt: Prompt;
  readonly warnings: readonly Warning[];
}

/** The prompt, without what only a model that sees and hears can take, or only a wire knows. `carries`: what has a place beside the prompt. */
export function rendered(given: Request, dialect: Dialect, variant: string | undefined, carries?: (opaque: Opaque) => boolean): Rendered {
  const plain = withFunctions(given);
  const stops = dialect.variantStops?.[variant ?? ""] ?? [];
  const request = stops.length > 0 ? { ...plain, stop: [...(plain.stop ?? []), ...stops] } : plain;
  const warnings = new Warnings("a prompt");
  warnings.foreignIn(request, request.tools, carries);
  let prompt: Prompt;
  try {
    prompt = dialect.render(dialect.adapt?.(request) ?? request, variant === undefined ? {} : { variant });
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: `the prompt cannot be rendered: ${(error as Error).message}` }, { cause: error });
  }
  const media = request.messages.flatMap(mediaIn).length;
  if (media > 0) {
    const what = media === 1 ? "an image or file was" : `${media} images or files were`;
    warnings.add("dropped", `${what} left out: the upstream takes text only`);
  }
  return { request, prompt: prompt.filter((piece) => !piece.media), warnings: warnings.list };
}

const mediaIn = (message: Message): readonly unknown[] =>
  message.role === "tool" ? (message.media ?? []) : message.content.filter(({ type }) => type === "media");

/** Tokens that the model writes or ends at: they must stay in the output, and nobody else may write them. */
export const marksOf = (dialect: Dialect): readonly string[] => [
  ...new Set([...(dialect.grammar?.([], "auto").preserved ?? []), ...dialect.stops]),
];

export const contextError = (used: number, limit: number): ErrorInfo => ({
  code: "context-length",
  message: `the prompt has ${used} tokens, and the model's context ${limit}`,
  tokens: { used, limit },
});
