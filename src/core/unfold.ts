/** A whole answer as the events that would have made it. */
import { CUT_OFF } from "./errors.ts";
import type { Event, Part, Response } from "./nouns.ts";

export function* eventsOf(response: Response): Generator<Event, void, undefined> {
  const { content, refusal, extensions = [], usage, finish, open: _open, ...start } = response;
  yield { type: "start", ...start };
  for (const extension of extensions) yield { type: "extension", ...extension };
  let index = 0;
  for (const part of content) {
    yield* eventsOfPart(part, index);
    if (part.type === "tool-call") index++;
  }
  if (refusal !== undefined) yield { type: "refusal", text: refusal };
  if (usage) yield { type: "usage", ...usage };
  yield { type: "finish", ...(finish ?? { reason: "error" as const, error: CUT_OFF }) };
}

function* eventsOfPart(part: Part, index: number): Generator<Event, void, undefined> {
  const state = "state" in part && part.state ? { state: part.state } : {};
  if (part.type === "text") yield { type: "text", text: part.text, ...state };
  else if (part.type === "thinking") {
    yield { type: "thinking-start", ...state };
    if (part.text !== "") yield { type: "thinking-delta", text: part.text };
    yield { type: "thinking-end", ...state };
  } else if (part.type === "tool-call") {
    const { type: _, ...call } = part;
    yield { type: "tool-start", id: call.id, index, name: call.name, ...state };
    const json = call.json ?? (call.truncated ? "" : JSON.stringify(call.arguments));
    if (json !== "") yield { type: "tool-delta", id: call.id, json };
    yield { type: "tool-end", index, ...call };
  } else if (part.type === "malformed") {
    const { id: _, ...malformed } = part; // no start of it has left
    yield malformed;
  }
}
