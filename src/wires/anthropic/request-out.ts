/** Requests to servers. The API is strict about turns: every call must be answered in the next message, results before anything else. */
import { checkRequest } from "../../core/check.ts";
import { isObject } from "../../core/json.ts";
import type { JsonObject, Media, Message, Opaque, Part, Request, ToolResult } from "../../core/nouns.ts";
import type { Abilities, Out } from "../abilities.ts";
import { adapt, hasServerTools, isForced } from "../adapt.ts";
import { asUser, hasCalls } from "../adapt-messages.ts";
import { NATIVE } from "../bridge.ts";
import { saidIn } from "../calls.ts";
import { EMPTY_CAPSULE } from "../capsule.ts";
import { counted, type Encoded, encoded, told } from "../encoded.ts";
import { outputText, textOfFile } from "../media.ts";
import { hasOwn, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined, isText, objectOf, some, someOf, words, written } from "../read.ts";
import { constrainedSchema, objectSchema } from "../schema-out.ts";
import { NO_USER } from "../warnings.ts";
import type { Draft, Headers, WireProfile } from "../wire.ts";
import { CONTENT, DEFINED, HEADERS, own, REDACTED, SAMPLING, TOOL, textBlocks, VERSION, WIRE, withCitations } from "./common.ts";

const NAME_RULE = { forbidden: /[^a-zA-Z0-9_-]/g, max: 128 };

const ABLE: Abilities = {
  wire: WIRE,
  names: NAME_RULE,
  systemAnywhere: true,
  order: true,
  pairs: true,
  errors: () => true,
  resultMedia: true,
  media: ({ mediaType, data, url }, role) => {
    if (role !== "user" && role !== "tool") return false;
    return data === undefined
      ? url !== undefined && /^image|pdf$/.test(mediaType)
      : /^(image\/(jpeg|png|gif|webp)$|text\/)|pdf$/.test(mediaType);
  },
  thinking: ({ state }) => (own(state, REDACTED) ?? own(state, "signature")) !== undefined, // else the official API refuses the request
  strictTools: true,
  deferredTools: true,
  idleTools: (request) => request.from === WIRE || hasCalls(request), // undeclared tools' calls are refused; tools begin a cached prompt
  toolChoice: "mode",
  parallelCalls: "tools",
  sampling: SAMPLING,
  cacheMarks: true,
  wantsUser: /claude-[a-z]+-(4[-.]([6-9]|[1-9]\d)|[5-9]|\d\d)(?!\d)/, // from Claude 4.6 on
};

/** A limit that every current model accepts. */
const MAX_TOKENS = 32_000;
const MIN_BUDGET = 1024;

export function encodeRequest(given: Request, profile: WireProfile = {}): Encoded {
  checkRequest(given); // `declared` reads it before `adapt` checks it
  const headers = own(given.extra, HEADERS);
  const able = given.from === WIRE ? { ...ABLE, media: () => true } : ABLE; // Anthropic's clients know which media are accepted where
  const out = adapt({ ...given, ...declared(given), extra: given.extra?.filter(({ data }) => data !== headers) ?? [] }, able, profile);
  const { request, warnings } = out;
  const { stream, thinking: wish, extra } = request;
  const max_tokens = request.maxTokens ?? profile.maxTokens ?? MAX_TOKENS;
  const thinking = writeThinking(out, max_tokens);
  const stop = request.stop?.filter((text) => text.trim() !== "");
  if (stop?.length !== request.stop?.length) warnings.dropped("a blank stop string");
  if (wish?.keep !== undefined && !own(extra, "context_management")) warnings.dropped("thinking.keep");
  const body = defined<Draft>({
    model: request.model,
    max_tokens,
    ...new Turns(out).write(request.messages),
    tools: writeTools(out),
    tool_choice: writeChoice(out),
    thinking,
    output_config: writeOutputConfig(out),
    ...sampled(out, thinking !== undefined && thinking.type !== "disabled"),
    stop_sequences: stop?.length ? stop : undefined,
    stream: stream && true,
  });
  return encoded(out, "/v1/messages", body, { "anthropic-version": VERSION, ...(objectOf(headers) as Headers) });
}

/** The keys that a token count accepts. */
const COUNTED = words("model messages system tools tool_choice thinking output_config cache_control speed");

export const encodeTokenCountRequest = (request: Request, profile?: WireProfile): Encoded =>
  counted(encodeRequest(request, profile), "/v1/messages/count_tokens", COUNTED);

/** A conversation with calls needs tools, even if it asks only for a summary or a title and has none: the calls tell their names. */
function declared(given: Request): Pick<Request, "tools" | "toolChoice"> {
  if (given.from === WIRE || given.tools?.length || !hasCalls(given) || hasServerTools(given.extra, WIRE)) return {};
  const names = saidIn(given.messages).flatMap((part) => (part.type === "tool-call" ? part.name : []));
  return { tools: [...new Set(names)].map((name) => ({ name })), toolChoice: "none" };
}

// Messages

interface Said {
  role: "user" | "assistant" | "system";
  content: unknown[];
  state?: Opaque[] | undefined;
  /** The original message, for a system message that must become a user message. */
  given?: Message;
}

class Turns {
  readonly #out: Out;
  /** The ids that were sent, each with the last number that was appended to it. */
  readonly #ids = new Map<string, number>();
  /** From our id of a call to the id that was sent last for it. */
  readonly #sent = new Map<string, string>();

  constructor(out: Out) {
    this.#out = out;
  }

  write(messages: readonly Message[]): { system: unknown; messages: unknown[] } {
    const start = messages.findIndex(({ role }) => role !== "system");
    const leading = messages.slice(0, start < 0 ? messages.length : start);
    const system = leading.flatMap((message) => this.#parts(message));
    const said: Said[] = [];
    let run: Message[] = [];
    for (const message of messages.slice(leading.length)) {
      if (message.role !== "assistant") run.push(message);
      else {
        if (run.length > 0) said.push(...this.#userSide(run)); // all messages between two assistant messages are one turn
        run = [];
        const content = this.#parts({ ...message, content: withCitations(message.content) });
        if (content.length > 0) said.push({ role: "assistant", content, state: message.state });
      }
    }
    said.push(...this.#userSide(run));
    this.#trim(said.at(-1));
    if (said[0]?.role !== "user" && this.#out.request.from !== WIRE) {
      said.unshift({ role: "user", content: [text(".")] });
      this.#out.warnings.converted(...NO_USER);
    }
    return {
      system: system.length > 0 ? shortest(system) : undefined,
      messages: said.map(({ role, content, state }) => putState(WIRE, { role, content: shortest(content) }, state)),
    };
  }

  /** An assistant message that the model should continue may not end with white space. */
  #trim(last: Said | undefined): void {
    const block = last?.role === "assistant" ? (last.content.at(-1) as Draft) : undefined;
    if (block?.type !== "text" || !isText(block.text) || block.text.trimEnd() === block.text) return;
    block.text = block.text.trimEnd();
    this.#out.warnings.dropped("blanks at the end of the last answer");
  }

  /** Writes the messages between two assistant messages. */
  #userSide(run: readonly Message[]): Said[] {
    const results: Draft[] = [];
    const said: Said[] = [];
    for (const message of run) {
      if (message.role === "tool") {
        results.push(writeResult(message, this.#sent.get(message.id) ?? message.id));
      } else {
        const content = this.#parts(message);
        const { state } = message;
        if (content.length > 0 || hasOwn(WIRE, message))
          said.push({ role: message.role === "user" ? "user" : "system", content, state, given: message });
      }
    }
    if (results.length > 0 && said[0]?.role !== "user") said.unshift({ role: "user", content: [] });
    said[0]?.content.unshift(...results);
    return this.#placeSystem(said);
  }

  /** The API accepts one system message, after a user message and directly before the assistant. Others become labelled user messages. */
  #placeSystem(said: Said[]): Said[] {
    if (this.#out.request.from === WIRE) return said; // Anthropic's clients know other valid places: after a server tool's result
    const lastUser = said.findLastIndex(({ role }) => role === "user");
    const last = lastUser < 0 ? [] : said.slice(lastUser + 1);
    const placed = said.slice(0, said.length - last.length).map((item): Said => {
      if (item.given?.role !== "system") return item;
      this.#out.warnings.converted("a system text in mid-conversation", "a labelled user text");
      return { role: "user", content: this.#parts(asUser(item.given)) };
    });
    if (last.length === 0) return placed;
    return [...placed, { role: "system", content: last.flatMap(({ content }) => content), state: last.flatMap(({ state = [] }) => state) }];
  }

  #parts(message: Message): unknown[] {
    return message.role === "tool" ? [] : (message.content as Part[]).flatMap((part) => this.#part(part));
  }

  #part(part: Part): unknown[] {
    if (part.type === "text") return textBlocks(part.text.trim() === "" ? { ...part, text: "" } : part); // the API refuses blank texts
    if (part.type === "media") return [writeMedia(part)];
    const { state } = part as { state?: Opaque[] };
    if (part.type === "tool-call") {
      const use = { type: "tool_use", id: this.#open(part.id), name: this.#out.names.out(part.name), input: argumentsValue(part) };
      return [putState(WIRE, use, state)];
    }
    if (part.type !== "thinking") return [];
    const isSigned = own(state, "signature") !== undefined;
    const block = { type: "thinking", thinking: part.text, ...(isSigned ? {} : { signature: EMPTY_CAPSULE }) };
    return [putState<Draft>(WIRE, own(state, REDACTED) ? { type: "redacted_thinking" } : block, state)];
  }

  /** Ids hold only letters, digits, `_` and `-`, and are unique; some servers count from zero in every answer. */
  #open(given: string): string {
    const base = given.replace(NAME_RULE.forbidden, "_") || "call";
    let id = base;
    let n = this.#ids.get(base) ?? 1;
    while (this.#ids.has(id)) id = `${base}_${++n}`;
    this.#ids.set(id, 1).set(base, n);
    this.#sent.set(given, id);
    return id;
  }
}

const text = (text: string): Draft => ({ type: "text", text });

/** A single plain text block is written as a string. */
function shortest(blocks: readonly unknown[]): unknown {
  const [only, ...others] = blocks as Draft[];
  return only && others.length === 0 && only.type === "text" && Object.keys(only).length === 2 ? only.text : blocks;
}

function writeResult({ output, media = [], isError, state }: ToolResult, tool_use_id: string): Draft {
  const said = outputText(output);
  const blocks = [...(said.trim() === "" ? [] : [text(said)]), ...media.map(writeMedia)];
  const content = own(state, CONTENT) ?? (media.length === 0 ? said : blocks);
  return putState(WIRE, defined<Draft>({ type: "tool_result", tool_use_id, content, is_error: isError }), state);
}

function writeMedia(media: Media): Draft {
  const { mediaType, data, url, name, state } = media;
  const content = textOfFile(media);
  const bytes =
    content === undefined ? { type: "base64", media_type: mediaType, data } : { type: "text", media_type: "text/plain", data: content };
  const source = data === undefined ? { type: "url", url } : bytes;
  const block = mediaType.startsWith("image/") ? { type: "image", source } : { type: "document", source, title: name };
  return putState(WIRE, defined<Draft>(block), state);
}

// Tools

function writeTools(out: Out): Draft[] | undefined {
  const { request, names, warnings } = out;
  const tools = out.tools.filter(({ state }) => own(state, DEFINED) === undefined);
  const revealed = tools.every((tool) => tool.deferred) && !hasServerTools(request.extra, WIRE); // at least one must not be deferred
  return someOf(
    tools.map((tool) => {
      const native = own(tool.state, NATIVE);
      if (native) return objectOf(native);
      const { name, parameters: given = { type: "object", properties: {} }, state } = tool;
      const object = told(objectSchema(given), name, warnings);
      const parameters = tool.strict ? constrained(object, name, out) : object;
      const sent = written({ ...tool, name: names.out(name), parameters }, TOOL);
      if (revealed) delete sent.defer_loading;
      return putState(WIRE, sent, state);
    }),
  );
}

function writeChoice({ request, names }: Out): Draft | undefined {
  const { toolChoice: choice, parallelCalls, extra } = request;
  if (choice === undefined && (parallelCalls !== false || own(extra, "tool_choice"))) return undefined;
  const type = isForced(request) ? "any" : choice === "none" ? choice : "auto";
  const draft: Draft = typeof choice === "object" && "name" in choice ? { type: "tool", name: names.out(choice.name) } : { type };
  if (parallelCalls !== undefined && choice !== "none") draft.disable_parallel_tool_use = !parallelCalls;
  return draft;
}

// Settings

function writeThinking({ request, warnings, profile }: Out, maxTokens: number): Draft | undefined {
  const { enabled, effort, budget, show } = request.thinking ?? {};
  const isOwn = request.from === WIRE; // its settings are sent as they are
  const exact = own(request.extra, "thinking");
  if (isObject(exact) && exact.type) return undefined; // a kind that the nouns do not have: `extra` holds all of it
  if (enabled === false || budget === 0) return { type: "disabled" };
  // From Anthropic's own clients, an effort alone does not ask for thinking; from others it does.
  if (!enabled && !show && budget === undefined && (effort === undefined || isOwn)) {
    if (show !== undefined) warnings.dropped("thinking.show");
    return undefined;
  }
  if (isForced(request) || (budget !== undefined && maxTokens <= MIN_BUDGET && !isOwn)) {
    warnings.dropped("thinking with a forced call or a small token limit"); // the API would refuse it
    return undefined;
  }
  // Some models show thinking only on request, and clients of other APIs could not request it.
  const shown = show ?? (isOwn || profile.unsignedThinking ? undefined : true);
  let tokens = budget;
  if (budget !== undefined && !isOwn) {
    const isTooMuch = budget >= maxTokens;
    tokens = Math.max(isTooMuch ? Math.floor(maxTokens / 2) : budget, MIN_BUDGET);
    if (isTooMuch) warnings.converted("a thinking budget that leaves nothing for the answer", "half of the token limit");
    else if (tokens > budget) warnings.converted(`a thinking budget of ${budget} tokens`, `${tokens}`);
  }
  return defined<Draft>({
    type: tokens ? "enabled" : "adaptive",
    budget_tokens: tokens,
    display: shown === undefined ? undefined : shown ? "summarized" : "omitted",
  });
}

/** Anthropic's own clients know what the API accepts: their schemas are sent unchanged. */
const constrained = (schema: JsonObject, what: string, { request, warnings }: Out): JsonObject =>
  request.from === WIRE ? schema : told(constrainedSchema(schema), what, warnings);

function writeOutputConfig(out: Out): Draft | undefined {
  const { output, thinking } = out.request;
  const { warnings } = out;
  const effort = thinking?.effort === "minimal" ? "low" : thinking?.effort;
  if (effort !== thinking?.effort) warnings.converted("the effort minimal", "low");
  if (output && !output.schema) warnings.dropped("JSON output without a schema");
  return some<Draft>({
    effort,
    format: output?.schema && { type: "json_schema", schema: constrained(output.schema, "the output", out) },
  });
}

/** The API refuses these settings together with thinking, newer models also `top_p` with a temperature; its own clients know which. */
function sampled({ request, warnings }: Out, thinking: boolean): Draft {
  const draft = written(request.sampling ?? {}, SAMPLING);
  const { temperature, top_p } = draft;
  if (typeof temperature === "number" && temperature > 1) {
    warnings.converted("a temperature over 1", "1");
    draft.temperature = 1;
  }
  for (const key of Object.keys(draft)) {
    const isSecond = key === "top_p" && draft.temperature !== undefined && request.from !== WIRE;
    const isAllowed = key === "temperature" ? draft.temperature === 1 : key === "top_p" && Number(top_p) >= 0.95;
    const refused = isSecond || (thinking && !isAllowed);
    if (!refused) continue;
    warnings.dropped(`${key} with ${isSecond ? "temperature" : "thinking"}`);
    delete draft[key];
  }
  return draft;
}
