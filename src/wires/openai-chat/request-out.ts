/** A request for a server, written. */
import type { Malformed, Media, Message, Opaque, Part, Request, Text, Tool, ToolCall, ToolChoice, ToolResult } from "../../core/nouns.ts";
import { readMalformed } from "../accumulate.ts";
import { bridgeTool, customInput, customNames } from "../bridge.ts";
import { errorLabel, offeredTools, systemLabel, unreadableLabel } from "../labels.ts";
import { hoistMedia, mediaKind, outputText, urlOfMedia } from "../media.ts";
import { Names } from "../names.ts";
import { type Capsule, type Draft, putExtra, putState, sealCapsule } from "../opaque.ts";
import { effortWord, NAME_RULE, writeOutput, writeStrict } from "../openai.ts";
import { defined, textOf } from "../read.ts";
import { Warnings } from "../warnings.ts";
import { contextOf, type WireContext, type WireOutput, type WireProfile } from "../wire.ts";
import { isPartList } from "./request-in.ts";
import { isSignature, OFFICIAL_SAMPLING, SAMPLING, WIRE } from "./tables.ts";

export function encodeRequest(request: Request, profile: WireProfile = {}): WireOutput & { path: string; context: WireContext } {
  const out = new Writer(request, profile);
  const body = out.body();
  const { stream } = request;
  return {
    path: "/v1/chat/completions",
    headers: { "content-type": "application/json", accept: stream ? "text/event-stream" : "application/json" },
    body,
    context: contextOf(request, out.warnings.list, out.names.context),
  };
}

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

/** A template that takes a system text only at the beginning takes only one: codex begins with two. */
function oneSystem(messages: readonly Message[]): readonly Message[] {
  const end = messages.findIndex((message) => !isSystem(message));
  const first = messages.slice(0, end < 0 ? messages.length : end);
  const parts = first.flatMap((message) => (message.role === "system" || message.role === "developer" ? message.content : []));
  const text = parts.map((part) => (part.type === "text" ? part.text : undefined));
  if (first.length < 2 || text.includes(undefined)) return messages;
  return [{ role: "system", content: [{ type: "text", text: text.join("\n\n") }] }, ...messages.slice(first.length)];
}

class Writer {
  readonly warnings = new Warnings();
  readonly names: Names;
  readonly #request: Request;
  readonly #profile: WireProfile;
  readonly #custom: ReadonlySet<string>;
  /** Somebody has spoken: a system text from here on stands in mid-conversation. */
  #begun = false;

  constructor(request: Request, profile: WireProfile) {
    this.#request = request;
    this.#profile = profile;
    this.names = new Names(
      (request.tools ?? []).map((tool) => tool.name),
      NAME_RULE,
    );
    this.#custom = profile.customTools === false ? new Set() : customNames(request);
  }

  body(): Draft {
    const request = this.#request;
    const { maxTokensField = "max_completion_tokens" } = this.#profile;
    const body: Draft = defined<Draft>({
      model: request.model,
      messages: hoistMedia(this.#profile.systemAnywhere === false ? oneSystem(request.messages) : request.messages, this.warnings).flatMap(
        (message) => this.#message(message),
      ),
      tools: this.#tools(),
      stream: request.stream === undefined ? undefined : request.stream !== false,
      stream_options: request.stream ? { include_usage: true } : undefined,
      reasoning_effort: request.thinking && effortWord(request.thinking, WIRE, this.warnings),
      [maxTokensField]: request.maxTokens,
      stop: this.#stop(request.stop),
      response_format: request.output && writeOutput(request.output, this.warnings, "json_schema"),
    });
    this.#sampling(body);
    putExtra(WIRE, body, request, this.warnings);
    if (body.tools) {
      if (request.toolChoice !== undefined) body.tool_choice = this.#choice(request.toolChoice);
      if (request.parallelCalls !== undefined) body.parallel_tool_calls = request.parallelCalls;
    } else if (request.toolChoice !== undefined && request.toolChoice !== "none" && request.toolChoice !== "auto") {
      this.warnings.dropped("a tool choice without tools", WIRE);
    }
    return body;
  }

  // Messages

  #message(message: Message): Draft[] {
    const begun = this.#begun;
    this.#begun ||= message.role !== "system" && message.role !== "developer";
    if (message.role === "tool") return [this.#result(message)];
    if (message.role === "assistant") return this.#assistant(message.content, message.state);
    const { developerRole = true, systemAnywhere = true } = this.#profile;
    const role = message.role === "developer" && !developerRole ? "system" : message.role;
    let { content } = message;
    if (role !== "user" && begun && !systemAnywhere) {
      this.warnings.converted("a system text in mid-conversation", "a labelled user text");
      content = content.map((part) => (part.type === "text" ? { ...part, text: systemLabel(part.text) } : part));
      return [putState(WIRE, { role: "user", content: this.#content(content) }, message.state, this.warnings)];
    }
    return [putState(WIRE, { role, content: this.#content(content) }, message.state, this.warnings)];
  }

  #content(parts: readonly (Text | Media)[]): unknown {
    const [first] = parts;
    if (!first) return "";
    if (parts.length === 1 && first.type === "text" && !first.state?.some((state) => state.wire === WIRE)) {
      return putState(WIRE, { text: first.text }, first.state, this.warnings).text;
    }
    return parts.map((part) => this.#part(part));
  }

  #part(part: Text | Media): Draft {
    const draft: Draft =
      part.type === "media" ? this.#media(part) : isRefusal(part) ? { type: "refusal" } : { type: "text", text: part.text };
    return putState(WIRE, draft, part.state, this.warnings);
  }

  #media(media: Media): Draft {
    const kind = mediaKind(media);
    const url = urlOfMedia(media);
    const isFile = media.state?.some((state) => state.wire === WIRE && state.kind === "file");
    if (isFile || (url !== undefined && (kind === "application" || kind === "text") && media.data !== undefined)) {
      return { type: "file", file: defined<Draft>({ filename: media.name, file_data: url }) };
    }
    if (url === undefined || !["image", "audio", "video"].includes(kind)) {
      const text = `[${media.name ?? media.mediaType}${media.url ? `: ${media.url}` : ""}]`;
      this.warnings.converted(`media of the type ${media.mediaType} that is not sent along`, "a label");
      return { type: "text", text };
    }
    if (kind === "audio" && media.data !== undefined) {
      return { type: "input_audio", input_audio: { data: media.data, format: media.mediaType.slice("audio/".length) } };
    }
    return { type: `${kind}_url`, [`${kind}_url`]: { url } };
  }

  #assistant(parts: readonly Part[], state: readonly Opaque[] | undefined): Draft[] {
    const said: (Text | Media)[] = [];
    const media: Media[] = [];
    const calls: Draft[] = [];
    let thinking = "";
    for (const part of parts) {
      if (part.type === "tool-call") calls.push(this.#call(part));
      else if (part.type === "malformed") this.#malformed(part, calls, said);
      else if (part.type === "media") media.push(part);
      else if (part.type === "thinking") thinking += putState(WIRE, { text: part.text }, part.state, this.warnings).text;
      else said.push(part);
    }
    if (outOfOrder(parts))
      this.warnings.converted("an answer with thinking or text behind its calls", "thinking, text and calls, in this order");
    const field = this.#profile.official ? false : (this.#profile.thinkingField ?? "reasoning_content");
    if (thinking !== "" && !field) this.warnings.dropped("thinking in old messages", WIRE);
    const message = defined<Draft>({
      role: "assistant",
      content: said.length === 0 && calls.length > 0 ? null : this.#content(said),
      ...(field && thinking !== "" ? { [field]: thinking } : {}),
      tool_calls: calls.length > 0 ? calls : undefined,
    });
    const messages = [putState(WIRE, message, state, this.warnings)];
    if (media.length === 0) return messages;
    this.warnings.converted("media that the model made", "a user message behind its answer");
    return [
      ...messages,
      { role: "user", content: [{ type: "text", text: "[media that the assistant made]" }, ...media.map((part) => this.#part(part))] },
    ];
  }

  #call(call: ToolCall): Draft {
    const { id } = call;
    const name = this.names.out(call.name);
    const own = call.state?.filter((state) => !(state.wire === WIRE && state.kind === "custom"));
    const isCustom = this.#custom.has(call.name) || (this.#profile.customTools !== false && own?.length !== call.state?.length);
    const draft: Draft = isCustom
      ? { id, type: "custom", custom: { name, input: customInput(call) } }
      : { id, type: "function", function: { name, arguments: call.json ?? JSON.stringify(call.arguments) } };
    const signature = this.#profile.official ? undefined : own?.find(isSignature);
    if (signature) draft.extra_content = { google: { thought_signature: signature.data } };
    return putState(
      WIRE,
      draft,
      own?.filter((state) => state !== signature),
      this.warnings,
    );
  }

  #malformed(part: Malformed, calls: Draft[], said: (Text | Media)[]): void {
    const call = readMalformed(part.raw);
    if (part.id === undefined || !call?.name) {
      this.warnings.converted("a call that cannot be read", "text");
      said.push({ type: "text", text: unreadableLabel(part) });
      return;
    }
    const args = textOf(call.arguments) ?? JSON.stringify(call.arguments);
    calls.push({ id: part.id, type: "function", function: { name: this.names.out(call.name), arguments: args } });
  }

  #result(result: ToolResult): Draft {
    const { id, output, isError, state } = result;
    let content: unknown = output;
    if (!isPartList(output) && typeof output !== "string") {
      this.warnings.converted("a tool result that is no text", "its JSON text");
      content = outputText(output);
    }
    if (isError && typeof content === "string") {
      this.warnings.converted("a failed tool's result", 'text that begins with "Error:"');
      content = errorLabel(content);
    }
    return putState(WIRE, { role: "tool", tool_call_id: id, content }, state, this.warnings);
  }

  // Tools

  #tools(): Draft[] | undefined {
    const tools = offeredTools(this.#request);
    if (tools.length < (this.#request.tools?.length ?? 0)) this.warnings.dropped("a deferred tool that nobody asked for", WIRE);
    return tools.length > 0 ? tools.map((tool) => this.#tool(tool)) : undefined;
  }

  #tool(tool: Tool): Draft {
    const isCustom = this.#custom.has(tool.name);
    const { description, parameters, strict, response, grammar } = isCustom ? tool : bridgeTool(tool);
    const name = this.names.out(tool.name);
    if (tool.kind === "custom" && !isCustom) this.warnings.converted(`the custom tool ${tool.name}`, "a function with one string");
    if (isCustom) {
      const format = grammar && { type: "grammar", grammar: { syntax: grammar.syntax, definition: grammar.definition } };
      return putState(WIRE, { type: "custom", custom: defined<Draft>({ name, description, format }) }, tool.state, this.warnings);
    }
    if (response && this.#profile.official) this.warnings.dropped("the schema of a tool's result", WIRE);
    const fn = defined<Draft>({
      name,
      description,
      parameters: parameters && strict ? writeStrict(parameters, `the parameters of ${tool.name}`, this.warnings) : parameters,
      strict,
      response: this.#profile.official ? undefined : response,
    });
    return putState(WIRE, { type: "function", function: fn }, tool.state, this.warnings);
  }

  #choice(choice: ToolChoice): unknown {
    if (typeof choice === "string") return choice;
    const named = (name: string) => {
      const type = this.#custom.has(name) ? "custom" : "function";
      return { type, [type]: { name: this.names.out(name) } };
    };
    if ("name" in choice) return named(choice.name);
    return { type: "allowed_tools", allowed_tools: { mode: choice.required ? "required" : "auto", tools: choice.allowed.map(named) } };
  }

  // Settings

  #sampling(body: Draft): void {
    for (const [i, [key, name]] of Object.entries(SAMPLING).entries()) {
      const value = this.#request.sampling?.[name];
      if (value === undefined || key === "repeat_penalty") continue;
      if (this.#profile.official && i >= OFFICIAL_SAMPLING) this.warnings.dropped(key, WIRE);
      else body[key] = value;
    }
  }

  #stop(stop: string[] | undefined): string[] | undefined {
    if (!this.#profile.official || !stop || stop.length <= 4) return stop;
    this.warnings.dropped("a fifth stop string", WIRE);
    return stop.slice(0, 4);
  }
}

const isRefusal = (part: Text): boolean => part.state?.some((state) => state.wire === WIRE && state.kind === "refusal") ?? false;

const RANK = { thinking: 0, text: 1, media: 1, "tool-call": 2, malformed: 2 } as const;
const outOfOrder = (parts: readonly Part[]): boolean =>
  parts.some(
    (part, i) => i > 0 && (RANK[part.type] < RANK[parts[i - 1]!.type] || (part.type === "thinking" && parts[i - 1]!.type === "thinking")),
  );

/** What a call carries for other wires, in the place that Gemini's signature has. */
export function extraContent({ state = [], thinkingState = [], thinking = "" }: Capsule): Draft | undefined {
  const foreign = (list: readonly Opaque[]) => list.filter(({ wire, quiet }) => wire !== WIRE && !quiet);
  const [own, thought] = [foreign(state), foreign(thinkingState)];
  const only = own.length === 1 && thought.length === 0 && own[0] && isSignature(own[0]) ? own[0].data : undefined;
  const signature = only ?? sealCapsule({ state: own, thinkingState: thought, ...(thought.length > 0 ? { thinking } : {}) });
  return signature === undefined ? undefined : { google: { thought_signature: signature } };
}
