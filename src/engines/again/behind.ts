/**
 * What stands behind a tool's result, where only the model may speak: Mistral's refuse a user there (`Unexpected role 'user' after role
 * 'tool'`), and so do templates that count turns. The result tells it, with a label.
 */
import type { ErrorInfo, Message, Request } from "../../core/nouns.ts";
import { inResult } from "../../wires/adapt-messages.ts";
import { withLabels } from "../../wires/media.ts";

const REFUSED = /unexpected role \W?user\W? after role \W?tool|roles must alternate/i;

/** Whether anything stands there; media of results do, since they are shown by the user. */
export const isAnyBehind = ({ messages }: Request): boolean =>
  messages.some((message, i) =>
    message.role === "tool" ? message.media !== undefined : message.role !== "assistant" && messages[i - 1]?.role === "tool",
  );

export const refusesBehind = ({ message }: ErrorInfo, request: Request): boolean => REFUSED.test(message) && isAnyBehind(request);

/** The messages with all of that inside of the results. */
export function intoResults(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (message.role === "tool") out.push(withLabels(message));
    else if (message.role !== "assistant" && last?.role === "tool") out[out.length - 1] = inResult(last, message);
    else out.push(message);
  }
  return out;
}
