/** Requests to servers. The API is strict about turns: every call is answered in the very next message, results before all else. */
import { isObject } from "../../core/json.ts";
import type { JsonObject, Malformed, Media, Message, Opaque, Part, Request, Thinking, ToolCall, ToolResult } from "../../core/nouns.ts";
import { bridgeTool } from "../bridge.ts";
import { systemLabel, unreadableCall, unreadableLabel } from "../labels.ts";
import { outputText } from "../media.ts";
import { Names } from "../names.ts";
import { type Draft, EMPTY_CAPSULE, putExtra, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined } from "../read.ts";
import { closedSchema, objectSchema, type SchemaOut } from "../schema-out.ts";
import { Warnings } from "../warnings.ts";
import { contextOf, type Headers, type WireContext, type WireOutput, type WireProfile } from "../wire.ts";
import { CONTENT, EFFORT, EFFORTS, HEADERS, own, REDACTED, textBlocks, VERSION, WIRE, withCitations } from "./common.ts";

// ---- Request out

type Encoded = WireOutput & { path: string; context: WireContext };

const NAME_RULE = { forbidden: /[^a-zA-Z0-9_-]/g, max: 128 };

/** What every current model can write. */
const MAX_TOKENS = 32_000;
const MIN_BUDGET = 1024;

export function encodeRequest(request: Request, profile: WireProfile = {}): Encoded {
  const warnings = new Warnings();
  const names = new Names(request.tools?.map((tool) => tool.name) ?? [], NAME_RULE);
  const max_tokens = request.maxTokens ?? profile.maxTokens ?? MAX_TOKENS;
  const tool_choice = encodeToolChoice(request, names, warnings);
  const thinking = encodeThinking(request, max_tokens, warnings);
  const stop = request.stop?.filter((text) => text.trim() !== "");
  if (stop?.length !== request.stop?.length) warnings.dropped("a blank stop string", WIRE);
  if (request.thinking?.keep !== undefined && !own(request.extra, "context_management")) warnings.dropped("thinking.keep", WIRE);
  const body = defined<Draft>({
    model: request.model,
    max_tokens,
    ...new Turns(names, warnings, profile).encode(request.messages),
    tools: encodeTools(request, names, warnings),
    tool_choice,
    thinking,
    output_config: encodeOutputConfig(request, warnings),
    ...encodeSampling(request, thinking !== undefined && thinking.type !== "disabled", warnings),
    stop_sequences: stop?.length ? stop : undefined,
    stream: request.stream === undefined ? undefined : request.stream !== false,
  });
  const headers = own(request.extra, HEADERS);
  putExtra(WIRE, body, { ...request, extra: request.extra?.filter((opaque) => opaque !== headers) ?? [] }, warnings);
  return {
    path: "/v1/messages",
    headers: { "anthropic-version": VERSION, ...(headers?.data as Headers | undefined) },
    body,
    context: contextOf(request, warnings.list, names.context),
  };
}

/** The keys that counting takes. */
const COUNTED = ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control", "speed"];

export function encodeTokenCountRequest(request: Request, profile?: WireProfile): Encoded {
  const encoded = encodeRequest(request, profile);
  const body = Object.fromEntries(Object.entries(encoded.body as Draft).filter(([key]) => COUNTED.includes(key)));
  return { ...encoded, path: "/v1/messages/count_tokens", body };
}

// Messages

interface Said {
  role: "user" | "assistant" | "system";
  content: Draft[];
  state?: Opaque[] | undefined;
}

class Turns {
  readonly #names: Names;
  readonly #warnings: Warnings;
  readonly #profile: WireProfile;
  readonly #ids = new Set<string>();
  /** The calls of the last turn that wait for their results: our id, and the one that was sent. */
  readonly #waiting = new Map<string, string>();

  constructor(names: Names, warnings: Warnings, profile: WireProfile) {
    this.#names = names;
    this.#warnings = warnings;
    this.#profile = profile;
  }

  encode(messages: readonly Message[]): { system: unknown; messages: unknown[] } {
    const start = messages.findIndex((message) => message.role !== "system" && message.role !== "developer");
    const leading = messages.slice(0, start < 0 ? messages.length : start);
    const system = leading.flatMap((message) => (message.role === "tool" ? [] : this.#texts(message)));
    const said: Said[] = [];
    let run: Message[] = [];
    for (const message of messages.slice(leading.length)) {
      if (message.role !== "assistant") run.push(message);
      else {
        if (run.length > 0) said.push(...this.#userSide(run)); // messages in a row are one turn
        run = [];
        const content = withCitations(message.content).flatMap((part) => this.#part(part));
        if (content.length > 0) said.push({ role: "assistant", content, state: message.state });
      }
    }
    said.push(...this.#userSide(run));
    if (said[0]?.role !== "user") {
      said.unshift({ role: "user", content: [text(".")] });
      this.#warnings.converted("a conversation that no user begins", "one that begins with a dot");
    }
    return {
      system: system.length > 0 ? shortest(system) : undefined,
      messages: said.map(({ role, content, state }) => putState(WIRE, { role, content: shortest(content) }, state, this.#warnings)),
    };
  }

  /** All that stands between two turns of the assistant. */
  #userSide(run: readonly Message[]): Said[] {
    const results: Draft[] = [];
    const said: Said[] = [];
    for (const message of run) {
      if (message.role === "tool") {
        const call = this.#waiting.get(message.id);
        if (call) results.push(this.#result(message, call));
        else said.push({ role: "user", content: this.#orphan(message) });
        this.#waiting.delete(message.id);
      } else {
        const content = this.#texts(message);
        if (content.length > 0 || message.state)
          said.push({ role: message.role === "user" ? "user" : "system", content, state: message.state });
      }
    }
    for (const id of this.#waiting.values()) {
      results.push({ type: "tool_result", tool_use_id: id, content: "No result was given.", is_error: true });
      this.#warnings.converted("a call without a result", "a failed one");
    }
    this.#waiting.clear();
    if (results.length > 0 && said[0]?.role !== "user") said.unshift({ role: "user", content: [] });
    said[0]?.content.unshift(...results);
    return this.#placeSystem(said);
  }

  /** A system message may stand only behind the user's, once, and last before the assistant; elsewhere it becomes the user's, with a label. */
  #placeSystem(said: readonly Said[]): Said[] {
    const lastUser = said.findLastIndex(({ role }) => role === "user");
    const last = lastUser < 0 || this.#profile.systemAnywhere === false ? [] : said.slice(lastUser + 1);
    const placed = said.slice(0, said.length - last.length).map((item): Said => {
      if (item.role === "user") return item;
      this.#warnings.converted("a system text in mid-conversation", "a labelled user text");
      return { role: "user", content: [text(systemLabel(item.content.map((block) => block.text).join("\n")))] };
    });
    if (last.length === 0) return placed;
    return [...placed, { role: "system", content: last.flatMap(({ content }) => content), state: last.flatMap(({ state = [] }) => state) }];
  }

  /** Only a user shows media. */
  #texts({ role, content }: Exclude<Message, ToolResult>): Draft[] {
    return content.flatMap((part) => (part.type === "media" && role === "user" ? this.#media(part) : this.#part(part)));
  }

  #part(part: Part): Draft[] {
    switch (part.type) {
      case "thinking":
        return this.#thinking(part);
      case "tool-call":
        return this.#call(part);
      case "malformed":
        return this.#malformed(part);
      case "media":
        return this.#label(part);
      default:
        // Some models say blanks before a call; the API refuses a text of nothing else.
        return textBlocks(part.text.trim() === "" ? { ...part, text: "" } : part, this.#warnings);
    }
  }

  #thinking({ text, state }: Thinking): Draft[] {
    const block: Draft = own(state, REDACTED) ? { type: "redacted_thinking" } : { type: "thinking", thinking: text };
    if (block.thinking !== undefined && !own(state, "signature")) {
      if (!this.#profile.unsignedThinking) {
        this.#warnings.dropped("thinking that this server did not seal", WIRE); // the official API would refuse the whole request
        return [];
      }
      block.signature = EMPTY_CAPSULE;
    }
    return [putState(WIRE, block, state, this.#warnings)];
  }

  #call(call: ToolCall): Draft[] {
    if (call.truncated) {
      this.#warnings.dropped("a call that was cut", WIRE);
      return [];
    }
    const block = { type: "tool_use", id: this.#open(call.id), name: this.#names.out(call.name), input: argumentsValue(call) };
    return [putState(WIRE, block, call.state, this.#warnings)];
  }

  #malformed(part: Malformed): Draft[] {
    const call = unreadableCall(part);
    this.#warnings.converted("a call that cannot be read", call ? "a call with its text inside" : "text");
    return call ? this.#call({ type: "tool-call", ...call }) : [text(unreadableLabel(part))];
  }

  /** Ids hold letters, digits, `_` and `-`, and none comes twice; some servers count from zero in every answer. */
  #open(given: string): string {
    const base = given.replace(NAME_RULE.forbidden, "_") || "call";
    let id = base;
    for (let n = 2; this.#ids.has(id); n++) id = `${base}_${n}`;
    this.#ids.add(id);
    this.#waiting.set(given, id);
    return id;
  }

  #result(result: ToolResult, id: string): Draft {
    const { output, media = [], isError, state } = result;
    const blocks = own(state, CONTENT);
    const said = outputText(output);
    if (typeof output !== "string") this.#warnings.converted("an object as a tool's result", "JSON text");
    const content =
      media.length === 0 ? said : [...(said.trim() === "" ? [] : [text(said)]), ...media.flatMap((part) => this.#media(part))];
    const block = defined<Draft>({ type: "tool_result", tool_use_id: id, content: blocks?.data ?? content, is_error: isError });
    return putState(WIRE, block, state, this.#warnings);
  }

  #orphan({ id, name, output, media = [] }: ToolResult): Draft[] {
    this.#warnings.converted("a result without its call", "a labelled user text");
    return [text(`[result of ${name || "a tool"}, call ${id}]\n${outputText(output)}`), ...media.flatMap((part) => this.#media(part))];
  }

  #media(media: Media): Draft[] {
    const { mediaType, data, url, name } = media;
    let source: Draft = data === undefined ? { type: "url", url } : { type: "base64", media_type: mediaType, data };
    const isText = data !== undefined && mediaType.startsWith("text/");
    if (isText) source = { type: "text", media_type: "text/plain", data: fromBase64(data) };
    if (
      data === undefined
        ? url === undefined || !/^image|pdf$/.test(mediaType)
        : !isText && !/^image\/(jpeg|png|gif|webp)$|pdf$/.test(mediaType)
    )
      return this.#label(media);
    const block = mediaType.startsWith("image/") ? { type: "image", source } : defined<Draft>({ type: "document", source, title: name });
    return [putState(WIRE, block, media.state, this.#warnings)];
  }

  #label({ mediaType, name = "" }: Media): Draft[] {
    this.#warnings.converted(`media of the type ${mediaType}`, "a label");
    return [text(`[${mediaType} ${name}]`)];
  }
}

const text = (text: string): Draft => ({ type: "text", text });

/** A text that is alone, and nothing but text, is written as a string. */
function shortest(blocks: readonly Draft[]): unknown {
  const [only, ...others] = blocks;
  return only && others.length === 0 && only.type === "text" && Object.keys(only).length === 2 ? only.text : blocks;
}

const fromBase64 = (data: string): string => new TextDecoder().decode(Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));

// Tools

function encodeTools(request: Request, names: Names, warnings: Warnings): Draft[] | undefined {
  const { toolChoice } = request;
  const allowed = typeof toolChoice === "object" && "allowed" in toolChoice ? new Set(toolChoice.allowed) : undefined;
  const tools = request.tools?.filter((tool) => allowed?.has(tool.name) ?? true) ?? [];
  if (tools.length < (request.tools?.length ?? 0)) warnings.converted("the allowed tools", "the only ones");
  const revealed = tools.every((tool) => tool.deferred); // at least one must not be deferred
  const encoded = tools.map((given) => {
    const tool = bridgeTool(given);
    if (tool !== given) warnings.converted("a custom tool", "a function with one string");
    const block = defined<Draft>({
      name: names.out(tool.name),
      description: tool.description,
      input_schema: adapted(objectSchema(tool.parameters ?? { type: "object", properties: {} }), tool.name, warnings),
      strict: tool.strict,
      defer_loading: revealed ? undefined : tool.deferred,
    });
    if (tool.response) warnings.dropped("the schema of a tool's result", WIRE);
    return putState(WIRE, block, tool.state, warnings);
  });
  return encoded.length > 0 ? encoded : undefined;
}

function adapted({ schema, lost }: SchemaOut, what: string, warnings: Warnings): JsonObject {
  for (const { path, keyword } of lost) warnings.add("schema", `${keyword} at ${path || "the top"} of ${what} was left out`);
  return schema;
}

const isForced = ({ toolChoice: choice }: Request): boolean =>
  choice === "required" || (typeof choice === "object" && ("name" in choice || choice.required === true));

function encodeToolChoice(request: Request, names: Names, warnings: Warnings): Draft | undefined {
  const { toolChoice: choice, parallelCalls, extra = [] } = request;
  if (!request.tools?.length && !extra.some(({ wire, kind }) => wire === WIRE && kind.startsWith("tools["))) {
    if (isForced(request)) warnings.dropped("a tool choice without tools", WIRE);
    return undefined;
  }
  if (choice === undefined && (parallelCalls !== false || own(extra, "tool_choice"))) return undefined;
  const type = isForced(request) ? "any" : choice === "none" ? choice : "auto";
  const draft: Draft = typeof choice === "object" && "name" in choice ? { type: "tool", name: names.out(choice.name) } : { type };
  if (parallelCalls !== undefined && choice !== "none") draft.disable_parallel_tool_use = !parallelCalls;
  return draft;
}

// Settings

function encodeThinking(request: Request, maxTokens: number, warnings: Warnings): Draft | undefined {
  const { enabled, effort, budget, show } = request.thinking ?? {};
  const exact = own(request.extra, "thinking")?.data;
  if (isObject(exact) && exact.type) return undefined; // a kind that the nouns do not have: its whole rides along
  if (enabled === false || budget === 0) return { type: "disabled" };
  // An effort of Anthropic's own clients is no wish to think; that of others is.
  if (!enabled && !show && budget === undefined && (effort === undefined || own(request.extra, EFFORT))) {
    if (show !== undefined) warnings.dropped("thinking.show", WIRE);
    return undefined;
  }
  if (isForced(request) || (budget !== undefined && maxTokens <= MIN_BUDGET)) {
    warnings.dropped("thinking beside a forced call or a small limit", WIRE); // the API would refuse it
    return undefined;
  }
  const budget_tokens = budget && Math.min(Math.max(budget, MIN_BUDGET), maxTokens - 1);
  return defined<Draft>({
    type: budget ? "enabled" : "adaptive",
    budget_tokens,
    display: show === undefined ? undefined : show ? "summarized" : "omitted",
  });
}

function encodeOutputConfig({ output, thinking, extra }: Request, warnings: Warnings): Draft | undefined {
  const effort = thinking?.effort === "minimal" ? "low" : thinking?.effort;
  if (effort !== thinking?.effort) warnings.converted("the effort minimal", "low");
  if (output && !output.schema) warnings.dropped("an answer in any JSON", WIRE);
  const exact = own(extra, EFFORT)?.data;
  const config = defined<Draft>({
    effort: typeof exact === "string" && EFFORTS[exact] === effort ? exact : effort,
    format: output?.schema && { type: "json_schema", schema: adapted(closedSchema(output.schema), "the output", warnings) },
  });
  return Object.keys(config).length > 0 ? config : undefined;
}

function encodeSampling({ sampling = {} }: Request, thinking: boolean, warnings: Warnings): Draft {
  const { temperature, topP: top_p, topK: top_k, ...others } = sampling;
  for (const [name, value] of Object.entries(others)) if (value !== undefined) warnings.dropped(name, WIRE);
  if (temperature !== undefined && temperature > 1) warnings.converted("a temperature over 1", "1");
  const draft = defined<Draft>({ temperature: temperature && Math.min(temperature, 1), top_p, top_k });
  // The API refuses these beside thinking, and `top_p` beside a temperature.
  const refused = Object.keys(draft).filter((key) => {
    if (key === "top_p") return (thinking && Number(top_p) < 0.95) || (!thinking && temperature !== undefined);
    return thinking && draft[key] !== 1;
  });
  for (const key of refused) {
    warnings.dropped(`${key} beside ${thinking ? "thinking" : "temperature"}`, WIRE);
    delete draft[key];
  }
  return draft;
}
