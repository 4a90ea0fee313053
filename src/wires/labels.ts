/** How things are said where a target has no form for them: as text that shows what it was. */
import type { JsonObject, Malformed, Request, Tool } from "../core/nouns.ts";
import { readMalformed } from "./accumulate.ts";

/** A system text in mid-conversation, inside a user message. */
export const systemLabel = (text: string): string => `<system>\n${text}\n</system>`;

/** The result of a call that failed, where nothing else can say so; most of them say it themselves. */
export const errorLabel = (text: string): string => (/^\W*error/i.test(text) ? text : `Error: ${text}`);

/** The tools that a target without tool search gets: a deferred one only if it is asked for by name. */
export function offeredTools({ tools = [], toolChoice }: Request): Tool[] {
  const chosen = typeof toolChoice !== "object" ? [] : "name" in toolChoice ? [toolChoice.name] : toolChoice.allowed;
  return tools.filter((tool) => !tool.deferred || chosen.includes(tool.name));
}

/** A call that nobody can read and that was not answered. */
export const unreadableLabel = ({ raw }: Malformed): string => `[unreadable tool call: ${raw}]`;

/** An unreadable call that was answered, where arguments must be an object: the answer keeps its call, the text is inside. */
export function unreadableCall(part: Malformed): { id: string; name: string; arguments: JsonObject } | undefined {
  const call = readMalformed(part.raw);
  return part.id === undefined || !call?.name ? undefined : { id: part.id, name: call.name, arguments: { unreadable: call.arguments } };
}
