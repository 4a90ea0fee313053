/** What requests and answers of the Responses API have in common: ids, compaction, the state of items, namespaces, settings. */
import type { Json, JsonObject, Media, Message, Opaque, Request, Tool } from "../../core/nouns.ts";
import { openCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { hasOwn, opaque, ownState } from "../opaque.ts";
import { BOOKKEEPING } from "../openai.ts";
import { isText, listOf, objectOf, spelling, textOf, words } from "../read.ts";

export const WIRE = "openai-responses";

/** Minted ids are recognizable: they mean nothing to a server, so they are never kept as state. */
export const mintedId = (prefix: string, rest: string | number): string => `${prefix}_drgm${rest}`;
export const isMinted = (id: Json | undefined): boolean => /^[a-z]+_drgm/.test(textOf(id) ?? "");

/** The type of an item that is only an id: the item itself is stored on the server that made it. */
export const REFERENCE = "item_reference";

// ---- Compaction: the conversation is replaced by one item, which only the server that made it can read

export const COMPACTION = "compaction";
export const TRIGGER = "compaction_trigger";
/** Marks a request to `/v1/responses/compact`, with its user messages: the answer returns them before the compaction item. */
export const COMPACT = "#compact";

/** Whether the answer must be a compaction item. */
export const isCompacting = ({ messages }: Pick<Request, "messages">): boolean =>
  objectOf(own(messages.at(-1)?.state, ITEM)).type === TRIGGER;

// ---- State

/** Fields that other wires leave out without a warning. */
export const QUIET = words(
  `${BOOKKEEPING} id status phase logprobs detail caller created_by internal_chat_message_metadata_passthrough client_metadata completed_at output_text usage`,
);

/** This wire's own state of that kind. */
export const own = (state: readonly Opaque[] | undefined, kind: string): Json | undefined => ownState(WIRE, state, kind);

export const quietState = (kind: string, data: Json): Opaque => opaque(WIRE, kind, data, true);

/** The fields of an item that the nouns do not have, without minted ids and the status `completed`, which all items but custom calls get again. */
export function itemState(item: Fields): Opaque[] {
  item.ask("type", "role", "content", "summary", "encrypted_content", "call_id", "name", "namespace", "arguments", "input", "output");
  const isSaid = ({ kind, data }: Opaque) =>
    (kind === "id" && isMinted(data)) ||
    (kind === "status" && (data === "completed" || data === null) && item.value.type !== "custom_tool_call");
  return item.state()?.filter((opaque) => !isSaid(opaque)) ?? [];
}

/**
 * Reads a reasoning item as thinking. A server's `encrypted_content` is kept as state; a capsule of ours is opened. `call`: the state belongs
 * to the call with this id (`""`: to the text before), whose own item has no place for it.
 */
export function readReasoning(item: Fields): { text: string; state: Opaque[]; call?: string } {
  const { value } = item;
  const [content = [], summary = []] = [value.content, value.summary].map((list) =>
    listOf(list).map((part) => textOf(objectOf(part).text) ?? ""),
  );
  const text = content.length > 0 ? content.join("") : summary.join(BREAK);
  const sealed = textOf(value.encrypted_content);
  const capsule = sealed === undefined ? undefined : openCapsule(sealed);
  if (capsule?.call !== undefined) return { text, state: [...(capsule.state ?? [])], call: capsule.call };
  const [thought = {}] = capsule?.thoughts ?? [];
  if (capsule) return { text: thought.thinking ?? text, state: [...(thought.state ?? [])] };
  item.ask("status");
  const state = itemState(item);
  if (sealed !== undefined) state.push(opaque(WIRE, "encrypted_content", sealed));
  // The original lists, so that each text goes back into its own.
  if (state.length > 0) for (const key of ["content", "summary"]) if (value[key]) state.push(quietState(key, value[key]));
  return { text, state };
}

/** Marks the border between two text parts. */
export const NEXT_TEXT = "#part";
/** The event before thinking that begins the next part of the summary, after a `BREAK`. */
export const NEXT_SUMMARY = "response.reasoning_summary_part.added";
/** Marks thinking that was sent as `content`, not as a summary. */
export const RAW = "#content";
export const BREAK = "\n\n";

/** Marks a tool that is not declared in `tools`, but in the item that loaded it. */
export const FOUND = "#found";

/** Marks a noun with its original item, which goes back unchanged, except for a minted id. */
export const ITEM = "#item";
export function wholeItem(item: JsonObject): Opaque {
  const { id, ...rest } = item;
  return quietState(ITEM, isMinted(id) ? rest : item);
}

// ---- Namespaces: `spawn_agent` of `multi_agent_v1` is one tool, `multi_agent_v1__spawn_agent`

/** A found tool that is in no namespace is called with its own name as its namespace. */
export const flatName = (namespace: Json | undefined, name: string): string =>
  isText(namespace) && namespace !== name ? `${namespace}${namespace.endsWith("__") ? "" : "__"}${name}` : name;

const namespaceOf = (tool: Tool | undefined): string | undefined => textOf(objectOf(own(tool?.state, "#namespace")).name);

/** The name and namespace of a tool in a call. `namespace`: the call's own, if it has one; `otherwise`: writes a name without namespace. */
export function calledBy(
  tools: readonly Tool[] | undefined,
  name: string,
  otherwise: (name: string) => string = (name) => name,
  namespace = namespaceIn(tools, name),
): { name: string; namespace?: string } {
  if (namespace === undefined) return { name: otherwise(name) };
  return { name: namespace === name ? name : name.slice(flatName(namespace, "").length), namespace };
}

export const namespaceIn = (tools: readonly Tool[] | undefined, name: string): string | undefined =>
  namespaceOf(tools?.find((tool) => tool.name === name));

// ---- Tools and settings

export const TOOL = {
  ...spelling("name description parameters strict"),
  output_schema: "response",
  defer_loading: "deferred",
} as const;

export const SAMPLING = spelling("temperature topP");

/** In `include`: asks for reasoning items that can be sent back without being stored. */
export const ENCRYPTED = "reasoning.encrypted_content";

/** Marks a request whose items change its settings, with the settings that it began with. */
export const ASKED = "#asked";

/** The defaults of requests to servers: nothing is stored, and reasoning can be sent back. */
export const defaultsOf = (thinking: Request["thinking"]): JsonObject => ({
  store: false,
  include: thinking && thinking.enabled !== false ? [ENCRYPTED] : null,
});

/** The client's value for one of these; `null`: it leaves it to the server; `undefined`: it uses another wire, or wants the default. */
export function wished(extra: Request["extra"], key: string): Json | undefined {
  const said = own(extra, key);
  return said === undefined ? own(extra, `#${key}`) : said;
}

/** The name of a file that has none. */
export const fileName = ({ mediaType }: Media): string => `file.${mediaType.slice(mediaType.indexOf("/") + 1)}`;

/** The first message as `instructions`, if it is a single system text without state of this wire. */
export function instructionsOf(message: Message | undefined): string | undefined {
  if (message?.role !== "system" || hasOwn(WIRE, message) || message.content.length !== 1) return undefined;
  const [text] = message.content;
  return text?.type === "text" && !hasOwn(WIRE, text) ? text.text || undefined : undefined;
}
