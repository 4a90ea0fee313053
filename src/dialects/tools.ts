/** Makes a whole dialect from what its file defines, and writes tools as JSON objects. */
import { checkDepth, checkRequest } from "../core/check.ts";
import type { Json, JsonObject, Request, Tool } from "../core/nouns.ts";
import type { Dialect, Prompt, RenderableCall, RenderableResult, RenderOptions, VariantOptions } from "./dialect.ts";
import { thinkingOption } from "./options.ts";
import { pythonJson } from "./print.ts";
import { type Pieces, plainText, prompt } from "./prompt.ts";
import { inWhole } from "./transcript.ts";

/** A tool as the function object that most formats print. */
export function functionObject({ name, description, parameters, strict }: Tool): JsonObject {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parameters }),
    ...(strict !== undefined && { strict }),
  };
}

/** The same in OpenAI's wrapper. */
export const functionTool = (tool: Tool): JsonObject => ({ type: "function", function: functionObject(tool) });

/** Whether a value in a schema, which may be any JSON, is a list that is not empty. */
export const filled = (list: Json | undefined): list is readonly Json[] => Array.isArray(list) && list.length > 0;

/** A conversation as a template writes it. */
export interface Rendered {
  /** The first token, for tokenizers that do not add it. */
  readonly bos?: Pieces;
  readonly messages: Pieces;
  /** The generation prompt. */
  readonly open: Pieces;
}

/** How a format writes turns, if it writes those of all roles alike. */
export interface TurnMarks extends Omit<Rendered, "messages"> {
  readonly turn: (role: string, text: Pieces) => Pieces;
}

/** What `render` was asked for. */
export interface Setting extends Omit<RenderOptions, "thinking"> {
  /** Whether the model is to think, if the options or the request say so. */
  readonly thinking: boolean | undefined;
  /** The tools, if there are any. */
  readonly declared: Pieces;
}

/** What a dialect's file defines; the rest is derived from it. The lists and the thinking passed to these functions are never empty. */
interface Definition<V>
  extends Pick<Dialect, "id" | "title" | "models" | "stops" | "variantStops" | "preserved" | "createScanner" | "adapt"> {
  /** Template revisions in circulation, and what is special about each. The first is the reference. */
  readonly variants: Readonly<Record<string, V>>;
  render(request: Request, variant: V, options: Setting): Rendered;
  tools(tools: readonly Tool[], variant: V): Pieces;
  calls(calls: readonly RenderableCall[], variant: V): Pieces;
  results(results: readonly RenderableResult[], variant: V): Pieces;
  thinking(text: string): Pieces;
}

export function dialectOf<V>({ variants, render, tools, calls, results, thinking, ...rest }: Definition<V>): Dialect {
  const names = Object.keys(variants);
  /** What is special about the requested revision, or about the reference. */
  const variantOf = ({ variant = names[0] ?? "" }: VariantOptions = {}): V => {
    const found = names.includes(variant) ? variants[variant] : undefined;
    if (found === undefined) throw new Error(`unknown variant "${variant}"; known: ${names.join(", ")}`);
    return found;
  };
  const pieces =
    <T extends { readonly length: number }>(write: (all: T, variant: V) => Pieces) =>
    (all: T, options?: VariantOptions): Prompt => {
      checkDepth(all);
      return all.length === 0 ? [] : prompt(write(all, variantOf(options)));
    };
  const renderToolCalls = pieces(calls);
  const renderToolResults = pieces(results);
  return {
    ...rest,
    variants: names,
    render(given, options = {}) {
      checkRequest(given);
      checkDepth(given);
      const request = { ...given, messages: inWhole(given.messages) };
      const variant = variantOf(options);
      const declared = request.tools?.length ? tools(request.tools, variant) : undefined;
      const { bos, messages, open } = render(request, variant, { ...options, thinking: thinkingOption(request, options), declared });
      return prompt(options.bos && bos, messages, options.addGenerationPrompt === false ? [] : open);
    },
    renderTools: pieces(tools),
    renderToolCall: (call, options) => renderToolCalls([call], options),
    renderToolCalls,
    renderToolResults,
    renderThinking: pieces(thinking),
    /** The tools, then the format by example. */
    instructions(tools, options) {
      if (tools.length === 0) return "";
      checkDepth(tools);
      const example = { id: "call_0", name: "tool_name" };
      const calls = renderToolCalls([{ ...example, arguments: { text: "hello", count: 2 } }], options);
      const results = renderToolResults([{ ...example, output: "done" }], options);
      return `You can call these tools, one JSON object per line:
${tools.map(({ strict: _, ...tool }) => pythonJson(functionObject(tool))).join("\n")}

To call tools, write the calls exactly in this form, then stop:
${plainText(calls)}

The results come back in this form:
${plainText(results)}

Call a tool only when it is needed; otherwise answer in plain text.`;
    },
  };
}
