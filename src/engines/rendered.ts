/**
 * Renders a request as a prompt in the model's dialect, and tells the dialect's marks: shared by all engines that speak a dialect
 * themselves.
 */
import { escapeJson } from "../core/json.ts";
import type { ErrorInfo, Message, Opaque, Request, Tool, Warning } from "../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../dialects/dialect.ts";
import { inRounds, withResultsFirst } from "../wires/adapt-messages.ts";
import { inCallOrder } from "../wires/calls.ts";
import { textsOf, withLabels } from "../wires/media.ts";
import { Warnings } from "../wires/warnings.ts";
import { EngineError } from "./error.ts";
import { withFunctions } from "./inband/request.ts";

export interface Rendered {
  readonly request: Request & { tools: Tool[] };
  readonly prompt: Prompt;
  readonly warnings: readonly Warning[];
}

/** Media become labels, and fields that only a wire knows become warnings; `carries`: whether the engine sends such a field itself. */
export function rendered(given: Request, dialect: Dialect, carries?: (opaque: Opaque) => boolean): Rendered {
  const messages = inCallOrder(withResultsFirst(inRounds(given.messages)))
    .map(withLabels)
    .map(withPlainResult);
  const plain = withFunctions({ ...given, messages });
  const stops = dialect.variantStops?.[dialect.variant ?? ""] ?? [];
  const request = stops.length > 0 ? { ...plain, stop: [...(plain.stop ?? []), ...stops] } : plain;
  const warnings = new Warnings("a prompt");
  warnings.foreignIn(request, request.tools, carries);
  let prompt: Prompt;
  try {
    const asked = dialect.adapt?.(request) ?? request;
    prompt = continued(asked, dialect) ?? dialect.render(asked);
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: `the prompt cannot be rendered: ${(error as Error).message}` }, { cause: error });
  }
  const media = given.messages.flatMap(mediaIn).length;
  if (media > 0) {
    const [what, into] = media === 1 ? ["an image or file", "a label"] : [`${media} images or files`, "labels"];
    warnings.add("converted", `${what} became ${into}: the upstream takes text only`);
  }
  return { request, prompt, warnings: warnings.list };
}

/** A result in parts becomes one text, as in other servers: many templates would print the parts as Python's objects. */
function withPlainResult(message: Message): Message {
  if (message.role !== "tool") return message;
  const texts = textsOf(message.output);
  return texts ? { ...message, output: texts.join("\n") } : message;
}

/**
 * A conversation that ends with text of the assistant: the model continues it, so the prompt ends where that text ends. Not with an output
 * format, which applies from the first token of the answer.
 */
function continued(request: Request, dialect: Dialect): Prompt | undefined {
  const { messages, output } = request;
  const last = messages.at(-1);
  if (output || last?.role !== "assistant" || messages.length < 2) return undefined;
  const texts = last.content.flatMap((part) => (part.type === "text" ? part.text : []));
  const said = texts.join("").trimEnd();
  if (said === "" || texts.length < last.content.length) return undefined;
  const prompt = dialect.render(request, { addGenerationPrompt: false });
  // A template may leave the text out, and another message may contain the same text.
  const times = (some: Prompt): number => some.reduce((sum, { text, control }) => sum + (control ? 0 : text.split(said).length - 1), 0);
  if (times(prompt) <= times(dialect.render({ ...request, messages: messages.slice(0, -1) }, { addGenerationPrompt: false })))
    return undefined;
  const at = prompt.findLastIndex(({ text, control }) => !control && text.includes(said));
  const piece = prompt[at];
  return piece && [...prompt.slice(0, at), { text: piece.text.slice(0, piece.text.lastIndexOf(said) + said.length) }];
}

const mediaIn = (message: Message): readonly unknown[] =>
  message.role === "tool" ? (message.media ?? []) : message.content.filter(({ type }) => type === "media");

/** The tokens of the dialect's syntax and its stops: they must stay in the output, and data must not forge them. */
export const marksOf = ({ preserved, stops }: Dialect): readonly string[] => [...new Set([...preserved, ...stops])];

/** The marks that do not occur in a grammar. */
export const unusedBy = ({ gbnf }: Pick<Grammar, "gbnf">, marks: readonly string[]): readonly string[] =>
  marks.filter((text) => !gbnf.includes(escapeJson(text))); // as GBNF spells them, too: no mark has other control characters than newlines

/** The marks that can only be quotations in the answer, since a grammar covers it from the first token to the last. */
export function quotedUnder(grammar: Grammar | undefined, { output, toolChoice }: Request, dialect: Dialect): readonly string[] {
  const isWhole = grammar !== undefined && grammar.gbnf !== "" && grammar.triggers.length === 0;
  return isWhole && (output !== undefined || toolChoice !== "none") ? unusedBy(grammar, marksOf(dialect)) : [];
}

export const contextError = (used: number, limit: number): ErrorInfo => ({
  code: "context-length",
  message: `the prompt has ${used} tokens, but the model's context holds only ${limit}`,
  tokens: { used, limit },
});
