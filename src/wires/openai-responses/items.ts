/** What requests and answers of the Responses API have in common: ids, the state of items, namespaces, settings. */
import type { Json, JsonObject, Media, Message, Opaque, Request, Tool } from "../../core/nouns.ts";
import { openCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { hasOwn, opaque, ownState } from "../opaque.ts";
import { isText, listOf, objectOf, spelling, textOf, words } from "../read.ts";

export const WIRE = "openai-responses";

/** Ids that we mint say so: they mean nothing to any server, and nobody carries them. */
export const mintedId = (prefix: string, rest: string | number): string => `${prefix}_drgm${rest}`;
export const isMinted = (id: Json | undefined): boolean => /^[a-z]+_drgm/.test(textOf(id) ?? "");

/** The kind of an item that is not sent, but named: it lies on the server that made it. */
export const REFERENCE = "item_reference";

// ---- Compaction: what was said is replaced by one item, which nobody but its server can read

export const COMPACTION = "compaction";
export const TRIGGER = "compaction_trigger";
/** The mark of a request that was sent to `/v1/responses/compact`, with the user's own items: they come back in front of that one. */
export const COMPACT = "#compact";

/** Whether the answer shall be that item. */
export const isCompacting = ({ messages }: Pick<Request, "messages">): boolean =>
  objectOf(own(messages.at(-1)?.state, ITEM)).type === TRIGGER;

// ---- State

/** What has to do with the API's own bookkeeping. */
export const QUIET = words(
  `id status phase annotations logprobs detail caller created_by internal_chat_message_metadata_passthrough prompt_cache_breakpoint client_metadata
  metadata completed_at output_text usage prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier stream_options user`,
);

/** What this wire has left under that name. */
export const own = (state: readonly Opaque[] | undefined, kind: string): Json | undefined => ownState(WIRE, state, kind);

export const quietState = (kind: string, data: Json): Opaque => opaque(WIRE, kind, data, true);

/** What of an item has no noun. That it is complete is always said again, but not of custom calls. */
export function itemState(item: Fields): Opaque[] {
  item.ask("type", "role", "content", "summary", "encrypted_content", "call_id", "name", "namespace", "arguments", "input", "output");
  const isSaid = ({ kind, data }: Opaque) =>
    (kind === "id" && isMinted(data)) ||
    (kind === "status" && (data === "completed" || data === null) && item.value.type !== "custom_tool_call");
  return item.state()?.filter((opaque) => !isSaid(opaque)) ?? [];
}

/** A reasoning item as thinking. What its server sealed goes back as it came; what we sealed is opened. `call`: the state belongs to that one, whose own item has no place for it. */
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
  // Where the texts stood, so that they go back there.
  if (state.length > 0) for (const key of ["content", "summary"]) if (value[key]) state.push(quietState(key, value[key]));
  return { text, state };
}

/** Marks the place between two texts that are parts of their own; and the event before thinking that is the next part of its summary, set off by `BREAK`. */
export const NEXT_TEXT = "#part";
export const NEXT_SUMMARY = "response.reasoning_summary_part.added";
/** Marks thinking that is no summary of itself. */
export const RAW = "#content";
export const BREAK = "\n\n";

/** Marks a tool that is not declared, but stands in the item of a search that found it. */
export const FOUND = "#found";

/** Marks what stands for an item that goes back as it came, but for an id of ours. */
export const ITEM = "#item";
export function wholeItem(item: JsonObject): Opaque {
  const { id, ...rest } = item;
  return quietState(ITEM, isMinted(id) ? rest : item);
}

// ---- Namespaces: `spawn_agent` of `multi_agent_v1` is one tool, `multi_agent_v1__spawn_agent`

/** A tool that was found in no namespace is called as one of its own, which has its name. */
export const flatName = (namespace: Json | undefined, name: string): string =>
  isText(namespace) && namespace !== name ? `${namespace}${namespace.endsWith("__") ? "" : "__"}${name}` : name;

const namespaceOf = (tool: Tool | undefined): string | undefined => textOf(objectOf(own(tool?.state, "#namespace")).name);

/** How a call names a tool. `namespace`: what the call itself says; `otherwise`: how a name is sent that is in none. */
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

/** Asks for reasoning items that can be sent back without being stored. */
export const ENCRYPTED = "reasoning.encrypted_content";

/** What goes along unless the client said otherwise: nothing is stored, and reasoning can come back. */
export const defaultsOf = (thinking: Request["thinking"]): JsonObject => ({
  store: false,
  include: thinking && thinking.enabled !== false ? [ENCRYPTED] : null,
});

/** What the client says of one of them; `null`: it leaves it to the server; `undefined`: it is of another wire, or says the same. */
export function wished(extra: Request["extra"], key: string): Json | undefined {
  const said = own(extra, key);
  return said === undefined ? own(extra, `#${key}`) : said;
}

/** What a file is called when nobody named it. */
export const fileName = ({ mediaType }: Media): string => `file.${mediaType.slice(mediaType.indexOf("/") + 1)}`;

/** A plain system text in front stands apart from the items; it is as plain with the cache marks of another wire. */
export function instructionsOf(message: Message | undefined): string | undefined {
  if (message?.role !== "system" || hasOwn(WIRE, message) || message.content.length !== 1) return undefined;
  const [text] = message.content;
  return text?.type === "text" && !hasOwn(WIRE, text) ? text.text || undefined : undefined;
}
