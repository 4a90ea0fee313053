/** A conversation as JSON data: `chat.save()` returns it, and `createChat({ data })` continues it with any engine. */
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Message, Usage } from "../core/nouns.ts";

export interface ChatData {
  version: 1;
  system?: string;
  messages: Message[];
  turns: Turn[];
}

/** What one `send` did. */
export interface Turn {
  /** Its messages in the history: `from` included, `to` excluded. */
  readonly from: number;
  readonly to: number;
  /** Ids of the previous turn's calls that got their results in this turn. `from` was taken before these results were inserted. */
  readonly answered?: readonly string[];
  /** How many requests the model got. */
  readonly steps: number;
  readonly model: string;
  readonly reason: TurnReason;
  readonly error?: ErrorInfo;
  /** The sum over all steps. */
  readonly usage: Usage;
}

export type TurnReason =
  | "stop"
  | "length"
  | "content-filter"
  /** Calls need results from `chat.answer`. */
  | "tool-calls"
  | "max-steps"
  | "aborted"
  | "error";

const ROLES: ReadonlySet<unknown> = new Set(["system", "developer", "user", "assistant", "tool"]);
/** The required fields of each part. */
const PARTS: Readonly<Record<string, Readonly<Record<string, "string" | "object">>>> = {
  text: { text: "string" },
  media: { mediaType: "string" },
  thinking: { text: "string" },
  "tool-call": { id: "string", name: "string", arguments: "object" },
  malformed: { raw: "string" },
};
const SAID_BY_ALL = ["text", "media"];

/** Checks data read from a file; throws with the path of the first field that is wrong. */
export function readChat(value: unknown): ChatData {
  if (typeof value === "string") throw new Error("a saved chat is an object, not a string: use JSON.parse first");
  const data = objectAt(value, "a saved chat");
  if (data.version !== 1) throw new Error(`not a saved chat of version 1: version is ${JSON.stringify(data.version)}`);
  if (data.system !== undefined && typeof data.system !== "string") throw new Error("system must be a string");
  for (const [i, message] of listAt(data.messages, "messages").entries()) checkMessage(message, `messages[${i}]`);
  for (const [i, turn] of listAt(data.turns, "turns").entries()) checkTurn(turn, `turns[${i}]`, data.messages as unknown[]);
  return structuredClone(data) as unknown as ChatData;
}

function checkMessage(value: unknown, path: string): void {
  const message = objectAt(value, path);
  if (!ROLES.has(message.role)) throw new Error(`${path}.role must be one of ${[...ROLES].join(", ")}`);
  if (message.role === "tool") {
    if (typeof message.id !== "string" || typeof message.name !== "string" || message.output === undefined)
      throw new Error(`${path} must have id, name and output`);
    for (const [i, part] of listAt(message.media ?? [], `${path}.media`).entries()) checkPart(part, `${path}.media[${i}]`, ["media"]);
    return;
  }
  for (const [i, value] of listAt(message.content, `${path}.content`).entries()) {
    checkPart(value, `${path}.content[${i}]`, message.role === "assistant" ? Object.keys(PARTS) : SAID_BY_ALL);
  }
}

/** Throws unless `value` is a part of one of these types. */
export function checkPart(value: unknown, path: string, types: readonly string[] = SAID_BY_ALL): void {
  const part = objectAt(value, path);
  if (!types.includes(part.type as string)) throw new Error(`${path}.type must be one of ${types.join(", ")}`);
  for (const [key, kind] of Object.entries(PARTS[part.type as string] ?? {}))
    if (kind === "object" ? !isObject(part[key]) : typeof part[key] !== kind)
      throw new Error(`${path}.${key} must be ${kind === "object" ? "an object" : `a ${kind}`}`);
  if (part.type === "media" && typeof (part.data ?? part.url) !== "string" && !part.state)
    throw new Error(`${path} must have data (base64) or url, as a string`);
}

function checkTurn(value: unknown, path: string, messages: readonly unknown[]): void {
  const { from, to, answered = [], steps, model, reason, usage } = objectAt(value, path);
  const isPlace = (place: unknown): place is number => Number.isInteger(place) && (place as number) >= 0;
  if (!isPlace(from) || !isPlace(to) || from > to || to > messages.length)
    throw new Error(`${path} must have from and to, indices into messages`);
  if (!isPlace(steps) || typeof model !== "string" || typeof reason !== "string")
    throw new Error(`${path} must have steps, model and reason`);
  objectAt(usage, `${path}.usage`);
  listAt(answered, `${path}.answered`);
}

function objectAt(value: unknown, path: string): Record<string, unknown> {
  if (!isObject(value)) throw new Error(`${path} must be an object`);
  return value;
}

function listAt(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${path} must be a list`);
  return value;
}
