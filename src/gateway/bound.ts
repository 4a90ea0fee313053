/**
 * Requests that only a server of their own API can answer, because they name something stored there or ask for something no other server
 * does. They are refused: another upstream would answer something else, and the client would not notice.
 */
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Json, Opaque, Request, WireId } from "../core/nouns.ts";
import { withInstruction } from "../wires/adapt-messages.ts";
import { COMPACTION, isCompacting } from "../wires/openai-responses/items.ts";
import { PREVIOUS } from "../wires/openai-responses/turns.ts";

/** Fields that the nouns cannot express, keyed by wire and field name; each text completes a sentence that begins with the name. */
const BOUND: Readonly<Record<string, string>> = {
  "anthropic compaction": "is done on Anthropic's servers: ask for a summary in a message, or use an Anthropic upstream",
  "gemini cachedContent": "is stored by Google: send its system text, tools and contents in the request, or use a Gemini upstream",
  "ollama context": "is a conversation as one model's tokens: send it as messages to /api/chat, or use an Ollama upstream",
  "ollama raw": "is for a prompt in the model's own format: send the conversation to /api/chat, or use an Ollama upstream",
  "ollama suffix": "asks the model to fill in the text between prompt and suffix, which chat models cannot do: use an Ollama upstream",
};

/** The reason to refuse the request, if there is one; `wire`: what the upstream speaks, if it speaks a wire. */
export function boundElsewhere({ extra = [] }: Request, wire: WireId | undefined): ErrorInfo | undefined {
  for (const opaque of extra) {
    const why = opaque.wire === wire ? undefined : boundBy(opaque);
    if (why) return { code: "bad-request", status: 400, ...why };
  }
  return undefined;
}

type Why = Required<Pick<ErrorInfo, "param" | "message">> & Pick<ErrorInfo, "native">;

function boundBy({ wire, kind, data }: Opaque): Why | undefined {
  if (isObject(data) && data.type === "item_reference")
    return {
      param: "input",
      message: `Item with id '${data.id}' not found. Set \`store\` to false, or send the item itself instead of its id.`,
    };
  if (isObject(data) && data.type === COMPACTION)
    return {
      param: "input",
      message: "a compaction item can only be read by the server that made it: send the conversation itself, or a summary of it",
    };
  if (kind === PREVIOUS)
    return {
      param: kind,
      message: `Previous response with id '${data}' not found. Send the whole conversation as input instead.`,
      native: "previous_response_not_found",
    };
  const why = isUnset(data) ? undefined : BOUND[`${wire} ${kind}`];
  return why === undefined ? undefined : { param: kind, message: `${kind} ${why}` };
}

const isUnset = (data: Json): boolean => !data || (Array.isArray(data) && data.length === 0);

/** For upstreams that are asked in words to summarize: with tools, a model would rather go on with its work than summarize. */
export const summarizing = (request: Request, wire: WireId | undefined): Request =>
  wire !== "openai-responses" && isCompacting(request) ? { ...request, toolChoice: "none" } : request;

/**
 * For upstreams that cannot search: the model is told so. Claude Code and gemini-cli search with a request that has only the server's
 * search tool; a model without that tool makes up results, and the agent takes them for real.
 */
export function unsearched(request: Request, wire: WireId | undefined): Request {
  const { tools = [], extra = [], messages } = request;
  const lost = tools.length > 0 ? [] : extra.filter((opaque) => opaque.wire !== wire && opaque.kind.startsWith("tools["));
  if (lost.length === 0) return request;
  const names = lost.map(({ data }) => (isObject(data) ? (data.name ?? data.type ?? Object.keys(data)[0]) : "")).join(", ");
  const text = `You cannot use ${names} here. Say that nothing was looked up, answer from what you know, and make up no sources.`;
  return { ...request, messages: withInstruction(messages, text) };
}
