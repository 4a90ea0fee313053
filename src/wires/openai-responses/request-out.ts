/** Writes a request for a server. */
import { checkRequest } from "../../core/check.ts";
import { isObject } from "../../core/json.ts";
import type { Media, Message, Opaque, Part, Request, Text, Tool, ToolCall, ToolResult } from "../../core/nouns.ts";
import type { Abilities, Out } from "../abilities.ts";
import { adapt, adaptSettings } from "../adapt.ts";
import { customInput, NATIVE, toolKind } from "../bridge.ts";
import { isShown } from "../effort.ts";
import { type Encoded, encoded } from "../encoded.ts";
import { mediaKind, outputText, urlOfMedia } from "../media.ts";
import type { Names } from "../names.ts";
import { hasOwn, putState } from "../opaque.ts";
import { askForJson, effortWord, NAME_RULE, sayable, writeChoice, writeOutput } from "../openai.ts";
import { defined, isEmpty, objectOf, restOf, someOf, textOf, written } from "../read.ts";
import type { Draft, WireProfile } from "../wire.ts";
import {
  ASKED,
  calledBy,
  defaultsOf,
  FOUND,
  fileName,
  ITEM,
  instructionsOf,
  mintedId,
  own,
  SAMPLING,
  TOOL,
  WIRE,
  wished,
} from "./items.ts";
import { isSearch, SEARCH } from "./natives.ts";

/** The result goes back as its original item. */
const isWhole = ({ state }: ToolResult): boolean => own(state, ITEM) !== undefined;

const ABLE: Abilities = {
  wire: WIRE,
  names: NAME_RULE,
  developer: true,
  systemAnywhere: true,
  order: true,
  textArguments: true,
  cutCalls: true,
  result: isWhole,
  errors: isWhole,
  resultMedia: true,
  media: ({ mediaType, state, ...media }, role) =>
    role !== "assistant" &&
    (own(state, ITEM) ?? own(state, "file_id") ?? (/^(audio|video)/.test(mediaType) ? undefined : (media.data ?? media.url))) !== undefined,
  thinking: (part) => hasOwn(WIRE, part),
  customTools: true,
  strictTools: true,
  describedOutput: true,
  responses: true,
  toolChoice: "allowed",
  parallelCalls: true,
  sampling: SAMPLING,
  stops: 0,
  ids: 64,
};

/** Deferred tools can be sent only with a tool that searches them. */
const ableTo = ({ extra, tools }: Request): Abilities => {
  const deferredTools = isSearch(tools) || (extra?.some(({ wire, data }) => wire === WIRE && objectOf(data).type === SEARCH) ?? false);
  return { ...ABLE, deferredTools };
};

export function encodeRequest(given: Request, profile: WireProfile = {}): Encoded {
  checkRequest(given); // `ableTo` reads it before `adapt` checks it
  const out = adapt(given, ableTo(given), profile);
  const instructions = instructionsOf(out.request.messages[0]);
  askForJson(out, out.request.messages.slice(instructions === undefined ? 0 : 1)); // the API does not look for "json" in `instructions`
  const { model, messages, stream } = out.request;
  const { items } = new Items(out, messages.slice(instructions === undefined ? 0 : 1));
  const body = defined<Draft>({ model, instructions, input: items, ...settings(out), stream: stream && true });
  const request = encoded(out, "/v1/responses", body);
  if (items.length === 0) body.input = "";
  return request;
}

/** The settings of the request that its answer repeats. */
export const settingsOf = (request: Request): Draft => settings(adaptSettings(request, { ...ableTo(request), idleTools: () => true }));

// Items

class Items {
  readonly items: Draft[] = [];
  readonly #names: Names;
  readonly #ids: Out["ids"];
  readonly #profile: WireProfile;
  readonly #tools: readonly Tool[] | undefined;
  /** The ids of custom calls: their results have another type. */
  readonly #custom = new Set<string>();

  constructor({ request, profile, names, ids }: Out, messages: readonly Message[]) {
    this.#names = names;
    this.#ids = ids;
    this.#profile = profile;
    this.#tools = request.tools;
    for (const message of messages) {
      if (message.role === "tool") this.#result(message);
      else if (message.role === "assistant") this.#assistant(message.content);
      else {
        const { role, content, state } = message;
        this.#put({ type: "message", role, content: someOf(content.map(writePart)) ?? "" }, state);
      }
    }
  }

  #assistant(content: readonly Part[]): void {
    let texts: Draft[] | undefined;
    for (const part of content) {
      if (part.type === "text") {
        const item = own(part.state, "#message");
        if (part.text === "" && !item && !own(part.state, ITEM)) continue;
        if (!texts || item) texts = this.#texts(objectOf(item));
        texts.push(writeSaid(part));
      } else {
        texts = undefined;
        if (part.type === "tool-call") this.#call(part);
        else if (part.type === "thinking") this.#thinking(part.text, part.state);
      }
    }
  }

  #texts(fields: Draft): Draft[] {
    const content: Draft[] = [];
    this.#put({ type: "message", role: "assistant", id: mintedId("msg", this.items.length), status: "completed", ...fields, content });
    return content;
  }

  #thinking(text: string, state: Opaque[] = []): void {
    const kept = putState<Draft>(WIRE, {}, state);
    const said = isEmpty(kept) ? { content: [{ type: "reasoning_text", text }] } : {};
    this.#put({ type: "reasoning", id: mintedId("rs", this.items.length), summary: [], ...said, ...kept });
  }

  #call({ id, name, arguments: args, json, truncated, state = [] }: ToolCall): void {
    const called = calledBy(this.#tools, name, this.#names.out, textOf(own(state, "#namespace")));
    const call = { call_id: this.#ids.out(id), ...called };
    if (this.#profile.customTools !== false && (toolKind(this.#tools, name) === "custom" || own(state, "#custom"))) {
      this.#custom.add(id);
      const cut = truncated ? { status: "incomplete" } : {};
      this.#put({ type: "custom_tool_call", ...call, input: customInput({ arguments: args }), ...cut }, state);
    } else {
      const status = truncated ? "incomplete" : (own(state, "status") ?? "completed");
      this.#put({ type: "function_call", ...call, arguments: json ?? JSON.stringify(args), status }, asFunction(state));
    }
  }

  #result({ id, output, media = [], state }: ToolResult): void {
    const text = outputText(output);
    const parts = media.map(writePart);
    const texts = text === "" ? [] : [{ type: "input_text", text }];
    const isCustom = this.#custom.has(id) || own(state, "#custom") === true;
    const type = isCustom ? "custom_tool_call_output" : "function_call_output";
    this.#put(
      { type, call_id: this.#ids.out(id), output: own(state, "output") ?? (parts.length > 0 ? [...texts, ...parts] : text) },
      isCustom ? state : asFunction(state),
    );
  }

  #put(item: Draft, state?: readonly Opaque[]): void {
    this.items.push((own(state, ITEM) as Draft | undefined) ?? putState(WIRE, item, state));
  }
}

/** Removes the id of a custom call (`ctc_`) or of its result: an id's prefix must fit the item's type. */
const asFunction = (state?: readonly Opaque[]) => state?.filter(({ kind, data }) => kind !== "id" || !/^ctco?_/.test(String(data)));

/** Writes a part of the input. */
function writePart(part: Text | Media): Draft {
  const given = own(part.state, ITEM);
  if (given) return objectOf(given);
  if (part.type === "text") return putState(WIRE, { type: "input_text", text: part.text }, part.state);
  const url = urlOfMedia(part);
  if (mediaKind(part) === "image")
    return { detail: "auto", ...putState<Draft>(WIRE, defined<Draft>({ type: "input_image", image_url: url }), part.state) };
  const file = part.data === undefined ? { file_url: part.url } : { file_data: url, filename: part.name ?? fileName(part) };
  return putState(WIRE, defined<Draft>({ type: "input_file", filename: part.name, ...file }), part.state);
}

/** Writes a text of the assistant. */
function writeSaid({ text, state = [] }: Text): Draft {
  const given = own(state, ITEM);
  if (given) return objectOf(given);
  if (own(state, "#refusal")) return putState(WIRE, { type: "refusal", refusal: text }, state);
  return { annotations: [], ...putState<Draft>(WIRE, { type: "output_text", text }, state) };
}

// Settings

function settings(out: Out): Draft {
  const { request, warnings } = out;
  const { tools = [], toolChoice, parallelCalls, maxTokens, thinking, output, extra } = request;
  const nameOf = (name: string) => calledBy(tools, name, out.names.out).name;
  const asked = own(extra, ASKED);
  return defined<Draft>({
    tools: someOf(writeTools(out, nameOf)),
    tool_choice: toolChoice && writeChoice(toolChoice, request, nameOf, false),
    parallel_tool_calls: parallelCalls,
    ...written(request.sampling ?? {}, SAMPLING),
    max_output_tokens: maxTokens,
    reasoning:
      thinking &&
      defined<Draft>({
        effort: effortWord(thinking, warnings),
        summary: isShown(request) && own(extra, "reasoning.summary") === undefined ? "auto" : undefined,
      }),
    text: output && { format: writeOutput(out) },
    ...(asked && { reasoning: undefined, text: undefined, ...restOf(objectOf(asked)) }),
    // Where the client set another value, that is put back from `extra`.
    ...restOf(defaultsOf(thinking), (key) => wished(extra, key) === undefined),
  });
}

function writeTools(out: Out, nameOf: (name: string) => string): Draft[] {
  const list: Draft[] = [];
  let open: { name: unknown; tools: Draft[] } | undefined;
  for (const tool of out.tools) {
    if (own(tool.state, FOUND)) continue;
    const namespace = own(tool.state, "#namespace");
    if (!isObject(namespace)) open = undefined;
    else if (open?.name !== namespace.name) {
      open = { name: namespace.name, tools: [] };
      list.push({ type: "namespace", description: "", ...namespace, tools: open.tools });
    }
    (open?.tools ?? list).push(writeTool(tool, nameOf(tool.name), out));
  }
  return list;
}

function writeTool(tool: Tool, name: string, out: Out): Draft {
  const { kind: type = "function", grammar, state = [] } = tool;
  const native = own(state, NATIVE);
  if (native) return objectOf(native);
  const sent: Draft = { type, ...written({ ...tool, name }, TOOL) };
  if (type === "custom") sent.format = grammar ? { type: "grammar", ...grammar } : { type: "text" };
  else {
    const { parameters = null, strict = own(state, "strict") === null ? null : false } = sayable(tool, out);
    Object.assign(sent, { parameters, strict });
  }
  return putState(WIRE, sent, state);
}
