/**
 * What is left out when a conversation outgrows the model's context. A conversation is cut only between blocks, and a block is a message, or
 * an answer with the results of all its calls: no call loses its result, no result its call.
 */
import type { Message } from "../core/nouns.ts";
import { estimateTokens } from "../engines/estimate.ts";

export interface Block {
  readonly messages: readonly Message[];
  /** About how many tokens it is. */
  readonly tokens: number;
}

export interface Room {
  /** Room for all blocks together. */
  readonly tokens: number;
  /** Aborts with the turn: nobody waits for a policy any longer. */
  readonly signal: AbortSignal;
}

/** Gets the conversation so far, without the system text, and gives what is sent instead: blocks of it, and others if it likes. */
export type ContextPolicy = (blocks: readonly Block[], room: Room) => readonly Block[] | Promise<readonly Block[]>;

export interface ContextSettings {
  /** Of the model: prompt and answer together, in tokens. */
  readonly limit: number;
  /** `dropOldest`, unless you have a better one. */
  readonly policy?: ContextPolicy | undefined;
}

/** Leaves room for some more turns: a prompt that is cut anew for each request is never in a cache. */
const REFILL = 0.75;

/** Whole turns go first, the oldest before the others; then the oldest answers of the turn that is under way. The last user message stays. */
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

/** `tokens`: of all of them, if somebody has counted. */
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
