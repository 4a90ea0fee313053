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

const numbered = (i: number): string => `call${String(i).padStart(5, "0")}`;

/**
 * Rewrites the ids to Mistral's form. Ids are numbered from the first message, so an id sent once stays the same in later requests. A
 * number that an earlier id has already, by chance or from a client, is passed over.
 */
export function withItsIds(messages: readonly Message[]): Message[] {
  const own = new Map<string, string>();
  const taken = new Set<string>();
  for (const id of new Set(messages.flatMap(idsIn))) {
    let free = ITS_OWN.test(id) ? id : numbered(own.size);
    for (let i = own.size + 1; taken.has(free); i++) free = numbered(i);
    own.set(id, free);
    taken.add(free);
  }
  const idOf = <T extends { id?: string | undefined }>(thing: T): T =>
    thing.id === undefined ? thing : { ...thing, id: own.get(thing.id) };
  return messages.map((message) => {
    if (message.role === "tool") return idOf(message);
    return { ...message, content: [...message.content].map((part) => ("id" in part ? idOf(part) : part)) } as Message;
  });
}
