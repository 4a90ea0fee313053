/**
 * What is left out when a conversation outgrows the model's context. A conversation is cut only between blocks. A block is one message, or
 * an answer with the results of all its calls, so that no call loses its result and no result its call.
 */
import type { Message } from "../core/nouns.ts";
import { estimateTokens } from "../engines/estimate.ts";

export interface Block {
  readonly messages: readonly Message[];
  /** An estimate. */
  readonly tokens: number;
}

export interface Room {
  /** The tokens that all blocks together may take. */
  readonly tokens: number;
  /** Aborts with the turn, which then no longer waits for the policy. */
  readonly signal: AbortSignal;
}

/** Takes the conversation so far, without the system text, and returns the blocks to send instead: some of these, or new ones. */
export type ContextPolicy = (blocks: readonly Block[], room: Room) => readonly Block[] | Promise<readonly Block[]>;

export interface ContextSettings {
  /** The model's context in tokens, prompt and answer together. */
  readonly limit: number;
  /** Default: `dropOldest`. */
  readonly policy?: ContextPolicy | undefined;
}

/** Cuts further than needed, so that the next turns fit too: a prompt that is cut anew for each request is never in a cache. */
const REFILL = 0.75;

/** Drops whole turns first, the oldest before the others, then the oldest answers of the current turn. Keeps the last user message. */
export const dropOldest: ContextPolicy = (blocks, room) => {
  const goal = room.tokens * REFILL;
  let kept = [...blocks];
  const tooMuch = (): boolean => kept.reduce((sum, { tokens }) => sum + tokens, 0) > goal;
  while (tooMuch()) {
    const next = kept.findIndex((block, i) => i > 0 && isUser(block));
    if (next < 0) break;
    kept = kept.slice(next);
  }
  const user = kept.findLastIndex(isUser);
  while (tooMuch() && kept.length > user + 2) kept.splice(user + 1, 1);
  return kept;
};

const isUser = ({ messages }: Block): boolean => messages[0]?.role === "user";

/** `tokens`: the count of all messages together, if it is known. */
export function blocksOf(messages: readonly Message[], tokens?: number): Block[] {
  const groups: Message[][] = [];
  for (const message of messages) {
    if (message.role === "tool" && groups.length > 0) groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  const blocks = groups.map((group) => ({ messages: group, tokens: estimateTokens({ model: "", messages: group }) }));
  const estimated = blocks.reduce((sum, block) => sum + block.tokens, 0);
  const scale = tokens === undefined || estimated === 0 ? 1 : tokens / estimated;
  return blocks.map((block) => ({ ...block, tokens: Math.ceil(block.tokens * scale) }));
}
