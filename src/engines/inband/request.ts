/** Prepares a request for a dialect, and builds the grammar that enforces what it asks for. */
import type { JsonObject, Request, Tool, ToolChoice, Warning } from "../../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../../dialects/dialect.ts";
import { scanText } from "../../dialects/scan/streams.ts";
import { bridgeTool, offeredTools } from "../../wires/bridge.ts";
import { errorText } from "../../wires/media.ts";
import { EngineError } from "../error.ts";

/** Keeps only the offered tools, all as functions. No dialect can mark a tool result as an error, so the result's text says it. */
export function withFunctions(request: Request): Request & { tools: Tool[] } {
  const messages = request.messages.some((message) => message.role === "tool" && message.isError)
    ? request.messages.map((message) =>
        message.role === "tool" && message.isError ? { ...message, output: errorText(message.output) } : message,
      )
    : request.messages;
  return { ...request, messages, tools: offeredTools(request).map(bridgeTool) };
}

/** How a server can constrain a model: by llama.cpp's grammars, or by the structural tags of vLLM and SGLang. */
export type Holding = "gbnf" | "structural-tag";

export interface Held {
  readonly grammar?: Grammar;
  readonly warnings: readonly Warning[];
}

const ANY_OBJECT: JsonObject = { type: "object" };

/** The grammar for what the request asks, if the server takes one, and a warning for everything that will not be enforced. */
export function held(dialect: Dialect, request: Request & { tools: Tool[] }, holding: Holding | undefined, prompt?: Prompt): Held {
  const { tools, toolChoice = "auto", parallelCalls, output } = request;
  const wishes = wishesOf(request);
  if (!holding) return { warnings: wishes.map((wish) => unheld(wish, "the upstream takes no grammar")) };
  if (!dialect.grammar) return { warnings: wishes.map((wish) => unheld(wish, `${dialect.id} was given without its grammar`)) };
  const choice = tools.length > 0 || toolChoice === "none" ? toolChoice : "auto";
  let grammar: Grammar;
  try {
    grammar = dialect.grammar(tools, choice, {
      ...(parallelCalls === undefined ? {} : { parallelCalls }),
      ...(prompt && thinkingIn(dialect, request, prompt)),
      ...(output && { output: output.schema ?? ANY_OBJECT }),
    });
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: (error as Error).message }, { cause: error });
  }
  if (grammar.gbnf === "") {
    return { grammar, warnings: wishes.map((wish) => unheld(wish, `nothing says where a call begins in ${dialect.id}`)) };
  }
  return { grammar, warnings: relaxedOf(grammar, request) };
}

/** What the client relies on, in words for a warning. */
function wishesOf({ tools, toolChoice = "auto", parallelCalls, output }: Request & { tools: Tool[] }): string[] {
  const strict = tools.filter((tool) => tool.strict).map(({ name }) => name);
  return [
    ...(tools.length > 0 && toolChoice !== "auto" ? [`the tool choice ${choiceText(toolChoice)}`] : []),
    ...(tools.length > 1 && parallelCalls === false ? ["one call at a time"] : []),
    ...(strict.length > 0 ? [`the strict schema of ${strict.join(", ")}`] : []),
    ...(output ? ["the format of the answer"] : []),
  ];
}

const choiceText = (choice: ToolChoice): string => {
  if (typeof choice === "string") return `"${choice}"`;
  return "name" in choice ? `"${choice.name}"` : `${choice.required ? "required, " : ""}of ${choice.allowed.join(", ")}`;
};

const unheld = (wish: string, why: string): Warning => ({ code: "not-enforced", message: `${wish} is not enforced: ${why}` });

const MAX_NAMED = 5;

/** Warns of what the grammar allows although a strict schema or the output's forbids it. */
function relaxedOf({ relaxed }: Grammar, { tools }: { tools: Tool[] }): Warning[] {
  const strict = new Set(tools.filter((tool) => tool.strict).map(({ name }) => name));
  const named = relaxed.filter(({ tool }) => tool === "" || strict.has(tool)).map(({ tool, path, keyword }) => `${tool}${path} ${keyword}`);
  if (named.length === 0) return [];
  const more = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : "";
  return [{ code: "relaxed", message: `the grammar cannot express, and so allows: ${named.slice(0, MAX_NAMED).join(", ")}${more}` }];
}

/** Whether the answer begins within thinking, or may not think at all; otherwise the model may open a thinking block itself. */
function thinkingIn(dialect: Dialect, { thinking }: Request, prompt: Prompt): { startInThinking?: boolean } {
  if (endsInThinking(dialect, prompt)) return { startInThinking: true };
  return thinking?.enabled === false ? { startInThinking: false } : {};
}

/** Whether the prompt ends within thinking: a scanner is asked what it makes of the next character. */
export const endsInThinking = (dialect: Dialect, prompt: Prompt): boolean =>
  scanText(dialect, "x", { prompt })[0]?.type === "thinking-start";
