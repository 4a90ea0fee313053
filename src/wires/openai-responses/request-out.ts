/** Requests to servers. */
import { isObject } from "../../core/json.ts";
import type { Malformed, Media, Message, Opaque, Request, Text, Tool, ToolCall, ToolChoice, ToolResult } from "../../core/nouns.ts";
import { readMalformed } from "../accumulate.ts";
import { bridgeTool, customInput } from "../bridge.ts";
import { errorLabel, offeredTools, systemLabel, unreadableLabel } from "../labels.ts";
import { mediaKind, outputText, urlOfMedia } from "../media.ts";
import { Names } from "../names.ts";
import { type Draft, putExtra, putState } from "../opaque.ts";
import { effortWord, NAME_RULE, writeOutput, writeStrict } from "../openai.ts";
import { defined, objectOf, someOf, textOf } from "../read.ts";
import { Warnings } from "../warnings.ts";
import { contextOf, type WireContext, type WireOutput, type WireProfile } from "../wire.ts";
import { defaultsOf, fileName, instructionsOf, mintedId, namespaceOf, ownState, ToolBook, WIRE } from "./items.ts";

export function encodeRequest(
  request: Request,
  profile: WireProfile = {},
): WireOutput & { path: string; body: Draft; context: WireContext } {
  const writer = new RequestWriter(request, profile);
  const { warnings, names, items } = writer;
  const instructions = instructionsOf(request.messages[0]);
  for (const message of request.messages.slice(instructions === undefined ? 0 : 1)) writer.add(message);
  const { model, stream } = request;
  const body = defined<Draft>({
    model,
    instructions,
    input: items,
    ...writer.settings(),
    stream: stream === undefined ? stream : stream !== false,
  });
  putExtra(WIRE, body, request, warnings);
  if (items.length === 0) body.input = "";
  return {
    path: "/v1/responses",
    headers: { "content-type": "application/json" },
    body,
    context: contextOf(request, warnings.list, names.context),
  };
}

export class RequestWriter {
  readonly items: Draft[] = [];
  readonly warnings = new Warnings();
  readonly names: Names;
  readonly #ids = new Names([], { forbidden: /[^\s\S]/g, max: 64 });
  readonly #request: Request;
  readonly #profile: WireProfile;
  readonly #book: ToolBook;
  /** The calls whose results are results of custom tools. */
  readonly #custom = new Set<string>();

  constructor(request: Request, profile: WireProfile) {
    this.#request = request;
    this.#profile = profile;
    this.#book = new ToolBook(request);
    const plain = request.tools?.filter((tool) => namespaceOf(tool) === undefined) ?? [];
    this.names = new Names(
      plain.map(({ name }) => name),
      NAME_RULE,
    );
  }

  // Items

  add(message: Message): void {
    if (message.role === "tool") this.#result(message);
    else if (message.role === "assistant") this.#assistant(message);
    else this.#told(message);
  }

  #told({ role, content, state }: Exclude<Message, { role: "assistant" | "tool" }>): void {
    const { developerRole, systemAnywhere } = this.#profile;
    const late = role !== "user" && systemAnywhere === false && this.items.some((item) => !/^(system|developer)$/.test(String(item.role)));
    if (late) this.warnings.converted("a system text in mid-conversation", "a user text");
    const labelled = late ? content.map((part) => (part.type === "text" ? { ...part, text: systemLabel(part.text) } : part)) : content;
    const sent = late ? "user" : role === "developer" && developerRole === false ? "system" : role;
    this.#put({ type: "message", role: sent, content: someOf(labelled.flatMap((part) => this.#part(part))) ?? "" }, state);
  }

  #assistant({ content, state }: Message & { role: "assistant" }): void {
    putState(WIRE, {}, state, this.warnings);
    let texts: Draft[] | undefined;
    for (const part of content) {
      if (part.type === "text") {
        const item = ownState(part.state, "message");
        if (part.text === "" && !item) continue;
        if (!texts || item) texts = this.#texts(objectOf(item));
        texts.push(encodeSaid(part, this.warnings));
        continue;
      }
      texts = undefined;
      if (part.type === "tool-call") this.#call(part);
      else if (part.type === "malformed") this.#malformed(part);
      else if (part.type === "media") this.warnings.dropped("media that the model made", WIRE);
      else this.#thinking(part.text, part.state);
    }
  }

  #texts(fields: Draft): Draft[] {
    const content: Draft[] = [];
    this.#put({ type: "message", role: "assistant", id: mintedId("msg", this.items.length), status: "completed", ...fields, content });
    return content;
  }

  #thinking(text: string, state: Opaque[] = []): void {
    const id = mintedId("rs", this.items.length);
    if (state.some(({ wire }) => wire === WIRE)) {
      const { id: own = id, summary = [], ...rest } = putState<Draft>(WIRE, {}, state, this.warnings);
      this.#put({ type: "reasoning", id: own, summary, ...rest });
    } else if (this.#profile.unsignedThinking) {
      this.#put({ type: "reasoning", id, summary: [], content: [{ type: "reasoning_text", text }] }, state);
    } else if (text !== "" || state.length > 0) this.warnings.dropped("thinking that this server did not seal", WIRE); // it would refuse all of the request
  }

  #call({ id, name, arguments: args, json, truncated, state = [] }: ToolCall): void {
    const called = this.#book.nameOf(name, textOf(ownState(state, "namespace")), (name) => this.names.out(name));
    const call = { call_id: this.#ids.out(id), ...called };
    const others = state.filter(({ wire, kind }) => wire !== WIRE || !/^(namespace|custom)$/.test(kind));
    if (this.#profile.customTools !== false && (this.#book.isCustom(name) || ownState(state, "custom"))) {
      this.#custom.add(id);
      this.#put({ type: "custom_tool_call", ...call, input: customInput({ arguments: args }) }, others);
    } else {
      const status = truncated ? "incomplete" : "completed";
      this.#put({ type: "function_call", ...call, arguments: json ?? JSON.stringify(args), status }, others);
    }
  }

  /** A call that nobody could read, as far as it can be told what it was. */
  #malformed(part: Malformed): void {
    const { id = "", raw } = part;
    const call = readMalformed(raw);
    if (call && this.#request.messages.some((message) => message.role === "tool" && message.id === id)) {
      const { name, arguments: args } = call;
      this.#put({ type: "function_call", call_id: this.#ids.out(id), name: this.names.out(name), arguments: outputText(args) });
    } else {
      this.#texts({}).push({ type: "output_text", text: unreadableLabel(part), annotations: [] });
      this.warnings.converted("a call that cannot be read", "text");
    }
  }

  #result({ id, output, media = [], isError, state }: ToolResult): void {
    if (isError) this.warnings.converted("a failed tool's result", 'text that begins with "Error:"');
    if (typeof output !== "string") this.warnings.converted("an object as a tool's result", "JSON text");
    const text = isError ? errorLabel(outputText(output)) : outputText(output);
    const parts = media.flatMap((part) => this.#part(part));
    const texts = text === "" ? [] : [{ type: "input_text", text }];
    const type = this.#custom.has(id) ? "custom_tool_call_output" : "function_call_output";
    this.#put({ type, call_id: this.#ids.out(id), output: parts.length > 0 ? [...texts, ...parts] : text }, state);
  }

  #put(item: Draft, state?: readonly Opaque[]): void {
    this.items.push(putState(WIRE, item, state, this.warnings));
  }

  /** What the model is told or shown. */
  #part(part: Text | Media): Draft[] {
    const { warnings } = this;
    if (part.type === "text") return [putState(WIRE, { type: "input_text", text: part.text }, part.state, warnings)];
    const [kind, url] = [mediaKind(part), urlOfMedia(part)];
    if (/^(audio|video)$/.test(kind) || (url ?? ownState(part.state, "file_id")) === undefined) {
      warnings.dropped(`media of the kind ${part.mediaType}`, WIRE);
      return [];
    }
    if (kind === "image") {
      const { detail = "auto", ...image } = putState<Draft>(WIRE, { type: "input_image" }, part.state, warnings);
      return [defined<Draft>({ ...image, detail, image_url: url })];
    }
    const { data, name } = part;
    const file = data === undefined ? { file_url: url, filename: name } : { file_data: url, filename: name ?? fileName(part) };
    return [putState(WIRE, defined<Draft>({ type: "input_file", ...file }), part.state, warnings)];
  }

  // Settings

  /** All of a request but the conversation; an answer repeats them. */
  settings(): Draft {
    const { toolChoice, parallelCalls, thinking, sampling = {}, maxTokens, stop, output, extra } = this.#request;
    const { temperature, topP, ...others } = sampling;
    for (const [name, value] of Object.entries({ ...others, stop })) if (value !== undefined) this.warnings.dropped(name, WIRE);
    const word = (key: string, given: unknown) => (ownState(extra, `reasoning.${key}`) === undefined ? given : undefined);
    return defined<Draft>({
      tools: this.#tools(),
      tool_choice: toolChoice && this.#choice(toolChoice),
      parallel_tool_calls: parallelCalls,
      temperature,
      top_p: topP,
      max_output_tokens: maxTokens,
      reasoning:
        thinking &&
        defined<Draft>({
          effort: word("effort", effortWord(thinking, WIRE, this.warnings)),
          summary: word("summary", thinking.show ? "auto" : undefined),
        }),
      text: output && { format: writeOutput(output, this.warnings) },
      // Where the client said otherwise, its word is put back.
      ...Object.fromEntries(
        Object.entries(defaultsOf(this.#request)).filter(([key, value]) => value !== null && ownState(extra, key) === undefined),
      ),
    });
  }

  #choice(choice: ToolChoice): unknown {
    const named = (name: string) => ({ type: this.#isCustom(name) ? "custom" : "function", name: this.#nameOf(name) });
    if (typeof choice === "string") return choice;
    if ("name" in choice) return named(choice.name);
    return { type: "allowed_tools", mode: choice.required ? "required" : "auto", tools: choice.allowed.map(named) };
  }

  #isCustom(name: string): boolean {
    return this.#book.isCustom(name) && this.#profile.customTools !== false;
  }
  #nameOf(name: string): string {
    return this.#book.nameOf(name, undefined, (name) => this.names.out(name)).name;
  }

  #tools(): Draft[] | undefined {
    const { tools = [], extra } = this.#request;
    // Tools that wait to be found need the tool that finds them.
    const searched = extra?.some(({ wire, data }) => wire === WIRE && objectOf(data).type === "tool_search");
    const offered = searched ? tools : offeredTools(this.#request);
    if (offered.length < tools.length) this.warnings.dropped("a deferred tool that nobody asked for", WIRE);
    const list: Draft[] = [];
    let open: { name: unknown; tools: Draft[] } | undefined;
    for (const tool of offered) {
      const namespace = ownState(tool.state, "namespace");
      if (!isObject(namespace)) open = undefined;
      else if (open?.name !== namespace.name) {
        open = { name: namespace.name, tools: [] };
        list.push({ type: "namespace", description: "", ...namespace, tools: open.tools });
      }
      (open?.tools ?? list).push(this.#tool(tool));
    }
    return someOf(list);
  }

  #tool(given: Tool): Draft {
    const custom = this.#isCustom(given.name);
    const { name, description, parameters, strict, response, grammar, deferred, state = [] } = custom ? given : bridgeTool(given);
    const form = custom
      ? { type: "custom", format: grammar ? { type: "grammar", ...grammar } : { type: "text" } }
      : {
          type: "function",
          parameters: (strict && parameters ? writeStrict(parameters, `the parameters of ${name}`, this.warnings) : parameters) ?? null,
          strict: strict ?? (ownState(state, "strict") === null ? null : false),
          output_schema: response,
        };
    const tool = defined<Draft>({ ...form, name: this.#nameOf(name), description, defer_loading: deferred });
    const others = state.filter(({ kind }) => kind !== "namespace");
    return putState(WIRE, tool, others, this.warnings);
  }
}

/** What the model said. */
function encodeSaid({ text, state = [] }: Text, warnings: Warnings): Draft {
  const others = state.filter(({ wire, kind }) => wire !== WIRE || !/^(message|refusal)$/.test(kind));
  if (ownState(state, "refusal")) return putState(WIRE, { type: "refusal", refusal: text }, others, warnings);
  return { annotations: [], ...putState<Draft>(WIRE, { type: "output_text", text }, others, warnings) };
}
