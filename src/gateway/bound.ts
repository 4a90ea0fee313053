/**
 * Requests that only a server of their own API can answer: they name what is stored there, or want what no other does. Without it, a model
 * would answer something else, and nobody would know.
 */
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Json, Opaque, Request, WireId } from "../core/nouns.ts";
import { withInstruction } from "../wires/adapt-messages.ts";
import { COMPACTION, isCompacting } from "../wires/openai-responses/items.ts";
import { PREVIOUS } from "../wires/openai-responses/turns.ts";

/** What the nouns have no place for, by its wire and its name there. */
const BOUND: Readonly<Record<string, string>> = {
  "anthropic compaction": "is done by Anthropic: ask for a summary in a message, or ask an Anthropic upstream",
  "gemini cachedContent": "is kept by Google: send its system text, tools and contents in the request, or ask a Gemini upstream",
  "ollama context": "is a conversation in the tokens of one model: send it as messages to /api/chat, or ask an Ollama upstream",
  "ollama raw": "is for a prompt in the model's own format: send the conversation to /api/chat, or ask an Ollama upstream",
  "ollama suffix": "asks for what stands between two texts, and a model in a chat would answer the first: ask an Ollama upstream",
};

/** Why; `wire`: that of the upstream, if it speaks one. */
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
  const why = saysNothing(data) ? undefined : BOUND[`${wire} ${kind}`];
  return why === undefined ? undefined : { param: kind, message: `${kind} ${why}` };
}

const saysNothing = (data: Json): boolean => !data || (Array.isArray(data) && data.length === 0);

/** The request for whoever is told in words to summarize: a model that has tools would rather go on with its work. */
export const summarizing = (request: Request, wire: WireId | undefined): Request =>
  wire !== "openai-responses" && isCompacting(request) ? { ...request, toolChoice: "none" } : request;

/**
 * The request for whoever is asked to search and cannot. Claude Code and gemini-cli have a search done by a request that has nothing but the
 * server's tool: a model without it makes up what it would have found, and the agent takes that for what was found.
 */
export function unsearched(request: Request, wire: WireId | undefined): Request {
  const { tools = [], extra = [], messages } = request;
  const lost = tools.length > 0 ? [] : extra.filter((opaque) => opaque.wire !== wire && opaque.kind.startsWith("tools["));
  if (lost.length === 0) return request;
  const names = lost.map(({ data }) => (isObject(data) ? (data.name ?? data.type ?? Object.keys(data)[0]) : "")).join(", ");
  const text = `You cannot use ${names} here. Say that nothing was looked up, answer from what you know, and make up no sources.`;
  return { ...request, messages: withInstruction(messages, text) };
}
