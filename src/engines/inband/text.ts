/**
 * Calls and results as text of a conversation, in a dialect's own form: what a model reads that was never told of tools. For messages of any
 * make, ours and the AI SDK's.
 */
import type { ToolResult } from "../../core/nouns.ts";
import type { Dialect, Prompt, RenderableCall } from "../../dialects/dialect.ts";
import { promptText } from "../../dialects/prompt.ts";

/** What a program or a tool said cannot forge the dialect's marks. */
const unforged = (prompt: Prompt): string => promptText(prompt, { neutralize: true });

export const resultsAsText = (results: ToolResult[], dialect: Dialect): string => unforged(dialect.renderToolResults(results));

/** How parts of one make are read and made. */
export interface PartMake<P> {
  /** A call; or, as it was written, what was meant as one. `undefined`: another part. */
  callOf(part: P): RenderableCall | string | undefined;
  /** Text that more may be added to. */
  textOf(part: P): string | undefined;
  say(text: string): P;
}

/** Calls that stand together are written together, on lines of their own in the text around them. */
export function callsAsText<P>(parts: readonly P[], dialect: Dialect, { callOf, textOf, say }: PartMake<P>): P[] {
  const out: P[] = [];
  let calls: RenderableCall[] = [];
  /** The last text has a call at its end. */
  let isCall = false;
  const add = (text: string): void => {
    const last = out.at(-1);
    const before = last === undefined ? undefined : textOf(last);
    if (before === undefined) out.push(say(text));
    else out.splice(-1, 1, say(`${before}${/\n$/.test(before) || /^\n/.test(text) ? "" : "\n"}${text}`));
  };
  const write = (): void => {
    if (calls.length > 0) add(unforged(dialect.renderToolCalls(calls)));
    isCall ||= calls.length > 0;
    calls = [];
  };
  for (const part of parts) {
    const call = callOf(part);
    if (typeof call === "object") {
      calls.push(call);
      continue;
    }
    write();
    const text = call ?? (isCall ? textOf(part) : undefined);
    if (text === undefined) out.push(part);
    else if (call !== undefined || text.trim() !== "") add(text);
    isCall = call !== undefined;
  }
  write();
  return out;
}
