/**
 * Calls and thinking that a server left in the text of its answer, because it did not know the model's dialect:
 *
 *     Let me look.<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>
 *
 * leaks.ts decides what is a call and what only talks about one; this file wraps an engine to apply it.
 */

import type { Event, Request, Tool } from "../../core/nouns.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { scannerOf, THINK_TAGS } from "../../dialects/scan/table.ts";
import { settingOf } from "../../dialects/variant.ts";
import { namedBy } from "../../wires/bridge.ts";
import { append } from "../append.ts";
import { around } from "../around.ts";
import type { Disposing } from "../disposing.ts";
import type { Engine, GenerateOptions, Hear, Telling } from "../engine.ts";
import { takeEvents } from "../take.ts";
import { DialectFinder, type DialectSetting, type FoundDialect } from "./dialects.ts";
import { type Heard, Rescue } from "./leaks.ts";

/** `<think>` tags: how most models write thinking, and how servers write that of other models. */
const THOUGHTS: Heard = {
  id: "think",
  createScanner: scannerOf({ calls: {}, closers: [], stops: [], thinking: THINK_TAGS, callsInThinking: "ignore" }),
};

/** An answer that begins with one of these has no thinking in its text: the server sent it separately, or there is none. */
const OPENING: ReadonlySet<Event["type"]> = new Set(["thinking-start", "tool-start", "refusal", "finish"]);

export interface RescueOptions {
  /** Default: `auto`. If the dialect cannot be found out, answers are left alone. */
  dialect?: DialectSetting | undefined;
  /** Also act where the dialect is only guessed from the model's name, and take thinking out of answers to requests without tools. */
  always?: boolean | undefined;
}

/** Wraps an engine: calls and thinking that leaked into the text of its answers become proper events. */
export function createRescue(engine: Engine, { dialect = "auto", always = false }: RescueOptions = {}): Engine & Disposing {
  const finder = new DialectFinder(dialect, engine.about?.bind(engine));
  const sure = (found: FoundDialect | undefined) => (found && (always || found.confidence !== "possible") ? found.dialect : undefined);
  const reader = (request: Request, options: GenerateOptions): Reader | undefined => {
    const tools = callable(request);
    const found = tools.length > 0 || always ? finder.find(request.model) : undefined;
    // A client of the server's own API can handle `<think>`, or has asked for it; a client of another API does not expect it in the text.
    const isTranslated = options.from !== undefined && options.from !== engine.wire;
    if (!found && !isTranslated) return undefined;
    const dialect = found instanceof Promise ? found.then(sure) : sure(found);
    return new Reader(request, tools, options, dialect, isTranslated);
  };
  const tell: Engine["tell"] =
    engine.tell &&
    ((request, options, hear) => {
      const reading = reader(request, options);
      return reading ? new Retold(engine, request, options, reading, hear) : engine.tell!(request, options, hear);
    });
  return around(engine, {
    ...(tell ? { tell } : {}),
    generate(request, options = {}) {
      if (tell) return takeEvents((hear) => tell(request, options, hear));
      const reading = reader(request, options);
      return reading ? reading.each(engine.generate(request, options)) : engine.generate(request, options);
    },
  });
}

/** Rewrites the events of one answer. */
class Reader {
  readonly #hearer: GenerateOptions;
  /** Set until something was said: the answer may still begin with `<think>`, which any model may write. */
  #fresh: Request | undefined;
  /** Set if the answer may begin with `<think>`. */
  #thoughts: Rescue | undefined;
  /** `undefined`: the answer is left alone. */
  #rescue: Rescue | undefined;
  /** Pending until the dialect is known. */
  finding: Promise<void> | undefined;

  constructor(
    request: Request,
    tools: readonly Tool[],
    options: GenerateOptions,
    found: Dialect | undefined | Promise<Dialect | undefined>,
    isTranslated: boolean,
  ) {
    this.#hearer = options;
    this.#fresh = isTranslated ? request : undefined;
    const begin = (dialect: Dialect | undefined): void => {
      this.finding = undefined;
      // Models write JSON for many reasons: in that dialect nothing distinguishes a call from an example.
      if (!dialect || dialect.id === "json") return;
      this.#rescue = new Rescue(dialect, request, tools);
      options.onDialect?.(settingOf(dialect));
    };
    if (found instanceof Promise) this.finding = found.then(begin);
    else begin(found);
  }

  read(given: readonly Event[]): readonly Event[] {
    if (this.#fresh) this.#begin(this.#fresh, given);
    const [rescue, thoughts] = [this.#rescue, this.#thoughts];
    const events = thoughts ? given.flatMap((event) => thoughts.feed(event)) : given;
    if (thoughts?.spoke) this.#thoughts = undefined;
    if (!rescue) return events;
    const read = events.flatMap((event) => rescue.feed(event));
    if (events.at(-1)?.type === "finish") this.#tell(rescue);
    return read;
  }

  /** Only an answer that begins with `<` is searched for thinking; hardly any does. */
  #begin(request: Request, events: readonly Event[]): void {
    const first = events.find((event) => (event.type === "text" ? event.text.trim() !== "" : OPENING.has(event.type)));
    if (!first) return;
    this.#fresh = undefined;
    if (first.type === "text" && first.text.trimStart().startsWith("<")) this.#thoughts = new Rescue(THOUGHTS, request, []);
  }

  async *each(events: AsyncIterable<Event>): AsyncGenerator<Event, void, undefined> {
    for await (const event of events) {
      if (this.finding) await this.finding;
      yield* this.read([event]);
    }
  }

  #tell({ calls, dialect }: Rescue): void {
    if (calls.length === 0) return;
    const names = calls.map(({ name }) => name).join(", ");
    this.#hearer.onWarning?.({ code: "rescued", message: `read in the text of the answer, as ${dialect.id} writes calls: ${names}` });
  }
}

/** Passes an answer on through a `Reader`. Events that arrive before the dialect is known wait. */
class Retold implements Telling {
  readonly #reader: Reader;
  readonly #hear: Hear;
  readonly #telling: Telling;
  #waiting: Event[] = [];
  #stopped = false;

  constructor(engine: Engine, request: Request, options: GenerateOptions, reader: Reader, hear: Hear) {
    this.#reader = reader;
    this.#hear = hear;
    this.#telling = engine.tell!(request, options, (events) => {
      if (reader.finding) append(this.#waiting, events);
      else this.#pass(events);
    });
    reader.finding?.then(() => this.#pass(this.#waiting.splice(0)));
  }

  pause(): void {
    this.#telling.pause();
  }
  resume(): void {
    this.#telling.resume();
  }
  stop(): void {
    this.#stopped = true;
    this.#telling.stop();
  }

  #pass(events: readonly Event[]): void {
    const read = this.#reader.read(events);
    if (read.length > 0 && !this.#stopped) this.#hear(read);
  }
}

/** The tools that the model may call. */
function callable({ tools = [], toolChoice }: Request): readonly Tool[] {
  if (toolChoice === "none") return [];
  const names = namedBy(toolChoice);
  return names ? tools.filter(({ name }) => names.includes(name)) : tools;
}
