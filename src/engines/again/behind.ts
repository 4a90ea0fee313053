/**
 * Messages between a tool result and the model's next turn. Mistral's models refuse a user message there (`Unexpected role 'user' after
 * role 'tool'`), and so do templates that count turns. The message is then moved into the tool result, with a label.
 */
import type { ErrorInfo, Message, Request } from "../../core/nouns.ts";
import { inResult } from "../../wires/adapt-messages.ts";
import { withLabels } from "../../wires/media.ts";

const REFUSED = /unexpected role \W?user\W? after role \W?tool|roles must alternate/i;

/**
 * Whether any message follows a tool result before the model's turn. Media of a tool result count, since they are sent as a user message.
 */
export const isAnyBehind = ({ messages }: Request): boolean =>
  messages.some((message, i) =>
    message.role === "tool" ? message.media !== undefined : message.role !== "assistant" && messages[i - 1]?.role === "tool",
  );

export const refusesBehind = ({ message }: ErrorInfo, request: Request): boolean => REFUSED.test(message) && isAnyBehind(request);

/** Moves everything that follows a tool result into that result. */
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
