/**
 * Call ids for servers that accept only their own form; Mistral: `Tool call id was toolu_01 but must be a-z, A-Z, 0-9, with a length of 9`.
 */
import type { ErrorInfo, Message, Request } from "../../core/nouns.ts";

const REFUSED = /tool call id.*length of 9\b/i;
const ITS_OWN = /^[a-zA-Z0-9]{9}$/;

const idsIn = (message: Message): string[] =>
  message.role === "tool" ? [message.id] : [...message.content].flatMap((part) => ("id" in part && part.id !== undefined ? [part.id] : []));

export const hasOtherIds = ({ messages }: Request): boolean => messages.flatMap(idsIn).some((id) => !ITS_OWN.test(id));

export const refusesIds = ({ message }: ErrorInfo, request: Request): boolean => REFUSED.test(message) && hasOtherIds(request);

/** Rewrites the ids to Mistral's form. Ids are numbered from the first message, so an id sent once stays the same in later requests. */
export function withItsIds(messages: readonly Message[]): Message[] {
  const all = [...new Set(messages.flatMap(idsIn))];
  const own = new Map(all.map((id, i) => [id, ITS_OWN.test(id) ? id : `call${String(i).padStart(5, "0")}`]));
  const idOf = <T extends { id?: string | undefined }>(thing: T): T =>
    thing.id === undefined ? thing : { ...thing, id: own.get(thing.id) };
  return messages.map((message) => {
    if (message.role === "tool") return idOf(message);
    return { ...message, content: [...message.content].map((part) => ("id" in part ? idOf(part) : part)) } as Message;
  });
}
