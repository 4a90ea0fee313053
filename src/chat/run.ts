/**
 * From the calls of an answer to their results: each call is checked and approved first, then the approved ones run together. A call that
 * is truncated, malformed, or has arguments that do not fit its tool is never run; its result says so, and the model may try again.
 */
import type { Malformed, Message, Part, ToolCall, ToolResult } from "../core/nouns.ts";
import { unlessAborted } from "../engines/bounded.ts";
import { readMalformed } from "../wires/accumulate.ts";
import { type ChatTool, isAnswer, ToolAnswer } from "./tool.ts";

/** `true`: the call runs. `false` or a text: it does not, and the model is told so, with the text as the reason. */
export type Approve = (call: ToolCall, tool: ChatTool, signal: AbortSignal) => Approval | Promise<Approval>;
export type Approval = boolean | string;

/** What happens to a call. */
export type Fate =
  | { readonly type: "run"; readonly call: ToolCall; readonly arguments: unknown; readonly tool: ChatTool }
  /** Its tool has no `run`: the result comes from `chat.answer`. */
  | { readonly type: "open"; readonly call: ToolCall }
  /** `mistake`: it is the model's mistake, and counts against `maxRepairs`. */
  | { readonly type: "refused"; readonly result: ToolResult; readonly mistake: boolean };

export type Asked = ToolCall | Malformed;

export const isAsked = (part: Part): part is Asked => part.type === "tool-call" || part.type === "malformed";

export interface RunOptions {
  readonly tools: ReadonlyMap<string, ChatTool>;
  /** Why no tool may run in this turn. */
  readonly off?: string | undefined;
  readonly approve?: Approve | undefined;
  readonly history: readonly Message[];
  readonly signal: AbortSignal;
}

const ABORTED = "It was stopped by the user.";

/** Checks and approves. Never throws. */
export async function decide(asked: Asked, { tools, off, approve, signal }: RunOptions): Promise<Fate> {
  const refused = (why: string, mistake = false): Fate => ({ type: "refused", result: failure(asked, why), mistake });
  if (signal.aborted) return refused(`Not run. ${ABORTED}`);
  if (off !== undefined) return refused(`Not run: ${off}`);
  if (asked.type === "malformed") return refused(`This call cannot be read and was not run: ${asked.reason}. Write it again.`, true);
  if (asked.truncated) return refused("This call was cut off and was not run. Write it again, shorter or in several calls.", true);
  const tool = tools.get(asked.name);
  if (!tool) {
    const names = [...tools.keys()].join(", ");
    return refused(`There is no tool ${asked.name}. ${names === "" ? "There are none." : `The tools are: ${names}.`}`, true);
  }
  try {
    const checked = await unlessAborted(signal, tool.check(structuredClone(asked.arguments))); // a tool may modify its arguments
    if (checked.problems) {
      const list = checked.problems.map((problem) => `- ${problem}`).join("\n");
      return refused(`The arguments do not fit ${asked.name}, and it was not run:\n${list}\nCall it again with arguments that fit.`, true);
    }
    const approval = approve ? await unlessAborted(signal, approve(asked, tool, signal)) : true;
    if (approval !== true) return refused(`The user did not allow this call${approval ? `: ${approval}` : "."}`);
    return tool.run ? { type: "run", call: asked, arguments: checked.arguments, tool } : { type: "open", call: asked };
  } catch (error) {
    return refused(signal.aborted ? `Not run. ${ABORTED}` : `Not run: ${messageOf(error)}`);
  }
}

/** Never throws, and does not wait for a tool after an abort. */
export async function run({ call, arguments: args, tool }: Extract<Fate, { type: "run" }>, options: RunOptions): Promise<ToolResult> {
  const { signal, history } = options;
  try {
    return resultOf(call, await unlessAborted(signal, tool.run?.(args, { call, signal, history })));
  } catch (error) {
    return failure(call, signal.aborted ? ABORTED : messageOf(error));
  }
}

export function resultOf({ id, name }: ToolCall, returned: unknown): ToolResult {
  const { output, media, isError } = isAnswer(returned) ? returned : new ToolAnswer(returned);
  return {
    role: "tool",
    id,
    name,
    output,
    ...(media.length > 0 ? { media: [...media] } : {}),
    ...(isError ? { isError: true as const } : {}),
  };
}

export function failure(asked: Asked, message: string): ToolResult {
  const name = asked.type === "tool-call" ? asked.name : readMalformed(asked.raw)?.name || "unknown";
  return { role: "tool", id: asked.id ?? "", name, output: message, isError: true };
}

/** With the causes: `fetch failed` alone says too little. */
function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const { cause, errors } = error as { cause?: unknown; errors?: unknown };
  const words = wordsOf(error);
  const why = [cause, ...(Array.isArray(errors) ? errors : [])].filter((one) => typeof one === "object" && one !== null).map(wordsOf);
  return [words, ...new Set(why.filter((one) => !words.includes(one)))].join(": ");
}

function wordsOf(error: { message?: unknown; code?: unknown; name?: unknown }): string {
  return String(error.message || error.code || error.name || dataOf(error) || "it failed without a message");
}

/** For `throw { status: 404 }`. */
function dataOf(thing: object): string | undefined {
  try {
    return Object.keys(thing).length > 0 ? JSON.stringify(thing) : undefined;
  } catch {
    return undefined; // it is circular
  }
}
