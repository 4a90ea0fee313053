/**
 * Tools for a chat server that has none: the system text explains them in a dialect's own form, calls and results become text of the
 * conversation, and calls are read from the text of the answer.
 *
 *     createInband(createRemote({ wire: "openai-chat", url }), { dialect: "hermes" })
 */

import type { Event, Media, Message, Opaque, Part, Request, Text, ToolResult } from "../../core/nouns.ts";
import type { Dialect, Grammar, Scanner } from "../../dialects/dialect.ts";
import { settingOf } from "../../dialects/variant.ts";
import { inCallOrder } from "../../wires/calls.ts";
import { around, warning } from "../around.ts";
import { unlessAborted } from "../bounded.ts";
import type { Disposing } from "../disposing.ts";
import { Ending, mintIds } from "../ending.ts";
import type { CallOptions, Engine, GenerateOptions, ServerId } from "../engine.ts";
import { EngineError } from "../error.ts";
import { closing } from "../finish.ts";
import { DialectFinder, type DialectSetting } from "./dialects.ts";
import { type Holding, held, withFunctions } from "./request.ts";
import { callsAsText, formatText, type PartMake, resultsAsText } from "./text.ts";

export interface InbandOptions {
  /** Default: `auto`. */
  dialect?: DialectSetting | undefined;
}

/** Gives tools to an engine that has none: they are explained in the text, and calls are read out of the answer. */
export function createInband(engine: Engine, { dialect = "auto" }: InbandOptions = {}): Engine & Disposing {
  const finder = new DialectFinder(dialect, engine.about?.bind(engine));
  const dialectOf = async (model: string, options: CallOptions): Promise<Dialect> => {
    const found = await finder.find(model, options);
    if (found) return found.dialect;
    throw new EngineError({ code: "bad-request", message: `nobody knows which dialect "${model}" speaks: set dialect for this model` });
  };
  const asText = async (request: Request, options: CallOptions = {}): Promise<Request> =>
    hasCalls(request) ? inText(withFunctions(request), await dialectOf(request.model, options)) : request;
  return around(engine, {
    generate: (request, options = {}) =>
      hasCalls(request) ? closing(options.signal, () => answer(engine, request, options, dialectOf)) : engine.generate(request, options),
    countTokens: async (request, options) => engine.countTokens(await asText(request, options), options),
    ...(engine.preview ? { preview: async (request) => engine.preview!(await asText(request)) } : {}),
  });
}

/** Whether tools are declared, called or answered: a client that asks for a summary declares none, though its history has calls. */
const hasCalls = ({ tools = [], messages }: Request): boolean =>
  tools.length > 0 ||
  messages.some(
    (message) => message.role === "tool" || (message.role === "assistant" && message.content.some((part) => PARTS.callOf(part))),
  );

async function* answer(
  engine: Engine,
  given: Request,
  options: GenerateOptions,
  dialectOf: (model: string, options: CallOptions) => Promise<Dialect>,
): AsyncGenerator<Event[], void, undefined> {
  const dialect = await unlessAborted(options.signal, dialectOf(given.model, options));
  options.onDialect?.(settingOf(dialect));
  const request = withFunctions(given);
  const { toolChoice = "auto", output, ...free } = request;
  // Where no call may be made, none is read from the text, and the server itself enforces the format of the answer.
  const mayCall = request.tools.length > 0 && toolChoice !== "none";
  const wanted = mayCall ? { ...request, toolChoice } : free;
  const isHeld = mayCall && (toolChoice !== "auto" || output !== undefined);
  // Only a request that is held by a grammar has to wait until the server has said what it is.
  const about = isHeld
    ? await unlessAborted(
        options.signal,
        engine.about?.(given.model, options).catch(() => undefined),
      )
    : undefined;
  const chat = about?.server === undefined ? undefined : CHATS[about.server];
  const { grammar, warnings } = held(dialect, wanted, chat?.holding);
  const sent = inText(request, dialect);
  const extra = chat && grammar ? [...(sent.extra ?? []), chat.field(grammar)] : sent.extra;
  const events = engine.generate(extra ? { ...sent, extra } : sent, warning(options, warnings));
  const reader = new Reader(dialect, request);
  for await (const event of events) yield reader.feed(event);
}

/** The beginnings of what a server sends apart from the text to scan; `text` is here text with state, which is passed on as it is. */
const BEGINNINGS: ReadonlySet<Event["type"]> = new Set(["text", "thinking-start", "tool-start", "refusal"]);

/** Servers whose chat API takes a grammar, and the field that carries it. */
const CHATS: Readonly<Partial<Record<ServerId, { holding: Holding; field: (grammar: Grammar) => Opaque }>>> = {
  "llama-server": { holding: "gbnf", field: ({ gbnf }) => ({ wire: "openai-chat", kind: "grammar", data: gbnf }) },
  vllm: {
    holding: "structural-tag",
    field: ({ structuralTag }) => ({
      wire: "openai-chat",
      kind: "structured_outputs",
      data: { structural_tag: JSON.stringify(structuralTag) },
    }),
  },
  sglang: {
    holding: "structural-tag",
    field: ({ structuralTag = null }) => ({ wire: "openai-chat", kind: "response_format", data: structuralTag }),
  },
};

/**
 * Reads calls from the text; where none may be made, the text is the answer. A server may parse calls itself although it was told of no
 * tools: its calls and those of the text are then numbered together. Text before anything else that the server sent apart is read to its
 * end first, so that calls never nest, and nothing overtakes text that the scanner holds back.
 */
class Reader {
  readonly #dialect: Dialect;
  readonly #request: Request;
  readonly #mint: (n: number) => string;
  readonly #ending = new Ending();
  #scanner: Scanner | undefined;
  readonly #ids = new Set<string>();
  /** The id of the call that began last. */
  #id = "";

  constructor(dialect: Dialect, request: Request) {
    const { tools = [], toolChoice } = request;
    this.#dialect = dialect;
    this.#request = request;
    this.#mint = mintIds(request);
    if (tools.length > 0 && toolChoice !== "none") this.#scanner = this.#begin();
  }

  feed(event: Event): Event[] {
    if (!this.#scanner) return [event];
    if (event.type === "text" && !event.state) return this.#see(this.#scanner.feed(event.text));
    if (event.type === "start" || event.type === "usage") return [event];
    if (event.type === "finish")
      return [...this.#ending.flush(this.#counted(this.#scanner.flush()), event.reason), this.#ending.finish(event)];
    const before = BEGINNINGS.has(event.type) ? this.#end(this.#scanner) : [];
    return [...before, ...this.#see([event])];
  }

  /** Ends the text so far and starts a new scanner. */
  #end(scanner: Scanner): Event[] {
    const events = this.#see(scanner.flush());
    this.#scanner = this.#begin();
    return events;
  }
  #begin(): Scanner {
    const behind = this.#ids.size;
    return this.#dialect.createScanner({ tools: this.#request.tools ?? [], mintId: (n) => this.#mint(behind + n) });
  }

  #see(events: readonly Event[]): Event[] {
    return this.#ending.see(this.#counted(events));
  }
  #counted(events: readonly Event[]): Event[] {
    return events.map((event): Event => {
      const index = this.#ids.size;
      if (event.type === "tool-start") {
        this.#id = this.#ids.has(event.id) ? `${event.id}_${index}` : event.id;
        this.#ids.add(this.#id);
        return { ...event, id: this.#id, index };
      }
      if (event.type === "tool-end") return { ...event, id: this.#id, index: index - 1 };
      const isOfCall = event.type === "tool-delta" || (event.type === "malformed" && event.id !== undefined);
      return isOfCall ? { ...event, id: this.#id } : event;
    });
  }
}

// ---- The conversation as text

/**
 * The request with tools, calls and results turned into text. Where the model may call a tool, the output format becomes text, too: a
 * server that enforced the format would prevent every call.
 */
function inText({ tools = [], toolChoice, parallelCalls: _, output, ...request }: Request, dialect: Dialect): Request {
  const messages: Message[] = [];
  let results: ToolResult[] = [];
  const answerCalls = (): void => {
    if (results.length === 0) return;
    const media = results.flatMap((result) => result.media ?? []);
    messages.push({ role: "user", content: [{ type: "text", text: resultsAsText(results, dialect) }, ...media] });
    results = [];
  };
  for (const message of inCallOrder(request.messages)) {
    if (message.role === "tool") {
      results.push(message);
      continue;
    }
    answerCalls();
    const last = messages.at(-1);
    if (message.role === "assistant") messages.push({ ...message, content: callsAsText(message.content, dialect, PARTS) });
    else if (message.role === "user" && last?.role === "user") {
      last.content = joined(last.content, message.content); // tool results, followed by the user's own words
    } else messages.push({ ...message });
  }
  answerCalls();
  const mayCall = tools.length > 0 && toolChoice !== "none";
  const texts = [...(tools.length > 0 ? [dialect.instructions(tools)] : []), ...(mayCall && output ? [formatText(output.schema)] : [])];
  return {
    ...request,
    ...(output && !mayCall ? { output } : {}),
    messages: texts.length > 0 ? instructed(messages, texts.join("\n\n")) : messages,
  };
}

/** Adds `text` to the system message, or as a new one. */
function instructed(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system" && first?.role !== "developer") return [{ role: "system", content: [{ type: "text", text }] }, ...messages];
  return [{ ...first, content: joined(first.content, [{ type: "text", text }]) }, ...rest];
}

/** Merges the texts that meet: not every server accepts a list of parts. */
function joined(before: readonly (Text | Media)[], behind: readonly (Text | Media)[]): (Text | Media)[] {
  const [last, first] = [before.at(-1), behind[0]];
  if (last?.type !== "text" || first?.type !== "text" || last.state || first.state) return [...before, ...behind];
  return [...before.slice(0, -1), { type: "text", text: [last.text, first.text].filter(Boolean).join("\n\n") }, ...behind.slice(1)];
}

const PARTS: PartMake<Part> = {
  callOf: (part) => (part.type === "tool-call" ? part : part.type === "malformed" ? part.raw : undefined),
  textOf: (part) => (part.type === "text" && !part.state ? part.text : undefined),
  say: (text) => ({ type: "text", text }),
};
