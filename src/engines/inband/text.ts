/**
 * Writes calls and results as text of a conversation, in a dialect's own form, for a server that is sent no tools. Works on message parts
 * of any type, ours and the AI SDK's.
 */
import type { JsonObject, ToolResult } from "../../core/nouns.ts";
import type { Dialect, Prompt, RenderableCall } from "../../dialects/dialect.ts";
import { promptText } from "../../dialects/prompt.ts";

/** Neutralized, so that what a program or a tool wrote cannot forge the dialect's marks. */
const unforged = (prompt: Prompt): string => promptText(prompt, { neutralize: true });

export const resultsAsText = (results: ToolResult[], dialect: Dialect): string => unforged(dialect.renderToolResults(results));

/** Asks for a format in words: a server that enforced it would prevent every call. */
export const formatText = (schema: JsonObject | undefined): string =>
  `If you call no tool, answer with nothing but ${schema ? `JSON that fits this schema:\n${JSON.stringify(schema)}` : "one JSON object."}`;

/** How to read and build message parts of one type. */
export interface PartMake<P> {
  /** The call, or the raw text of a malformed one; `undefined` for any other part. */
  callOf(part: P): RenderableCall | string | undefined;
  /** The text of a part to which more text may be appended. */
  textOf(part: P): string | undefined;
  say(text: string): P;
}

/** Adjacent calls are rendered together, on lines of their own within the surrounding text. */
export function callsAsText<P>(parts: readonly P[], dialect: Dialect, { callOf, textOf, say }: PartMake<P>): P[] {
  const out: P[] = [];
  let calls: RenderableCall[] = [];
  /** The last text ends with a call. */
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
