/** What follows from an answer: what is kept of it, whether its calls may run, and how the turn ends if it has none. */
import type { ErrorInfo, Part, Response } from "../core/nouns.ts";
import type { TurnReason } from "./data.ts";

export type Finished = NonNullable<Response["finish"]>;
export type Outcome = { reason: TurnReason; error?: ErrorInfo };

export const CANCELLED: ErrorInfo = { code: "aborted", message: "the turn was stopped" };

export function outcomeOf({ reason, error }: Finished): Outcome {
  if (error?.code === "aborted") return { reason: "aborted", error };
  if (error) return { reason: "error", error };
  return { reason: reason === "tool-calls" ? "stop" : reason };
}

/** Why the calls of an answer must not run, even complete ones; `undefined`: they may. */
export function brokenOff({ reason, error }: Finished): string | undefined {
  if (reason === "content-filter") return "the answer was stopped by a content filter";
  return error?.code === "malformed-call" ? undefined : error?.message;
}

/** Everything the model said. A call that was still open when the answer ended is marked as truncated. */
export function contentOf({ content, refusal, open }: Response): Part[] {
  const parts: Part[] = content.filter((part) => part.type !== "text" || part.text !== "" || part.state);
  if (refusal !== undefined) parts.push({ type: "text", text: refusal });
  if (open) parts.push({ type: "tool-call", id: open.id, name: open.name, arguments: open.partial, truncated: true });
  return parts;
}
