/**
 * An upstream as the gateway knows it: the models that it lists, how many tokens each of them takes, and its engine in the modes of a rule.
 * Lists are cached for a while, and refreshed in the background, so an exchange hardly ever waits for them.
 */
import { bounded, unlessAborted } from "../engines/bounded.ts";
import type { Engine } from "../engines/engine.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { layered } from "./modes.ts";
import type { ModelRule } from "./rules.ts";

/** How long a list is valid, and how long a failure to get one. */
const FRESH_MS = 30_000;
const FAILED_MS = 5_000;

/** How long an exchange waits for a list; after that, the model's name is used as it is. */
const WAIT_MS = 2_000;

type List = readonly ModelInfo[] | undefined;

export class Upstream {
  readonly name: string;
  readonly #engine: Engine;
  readonly #layered = new Map<ModelRule | undefined, Engine>();
  #last: List;
  #until = 0;
  #coming: Promise<List> | undefined;
  /** Context lengths by model, as far as the server was asked; and the requests for them. */
  readonly #contexts = new Map<string, number | undefined>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(name: string, engine: Engine) {
    this.name = name;
    this.#engine = engine;
  }

  /** The engine in the modes of a rule. */
  engineFor(rule: ModelRule | undefined): Engine {
    const made = this.#layered.get(rule) ?? layered(this.#engine, rule ?? {});
    this.#layered.set(rule, made);
    return made;
  }

  /** The latest list, however old. */
  get last(): List {
    return this.#last;
  }

  /** `undefined`: there is no list. An old one is used while a new one is fetched; without an old one, the caller waits up to 2 s. */
  list(): List | Promise<List> {
    if (this.#until > performance.now()) return this.#last;
    this.#coming ??= this.#fetch();
    return this.#last ?? within(WAIT_MS, this.#coming);
  }

  async #fetch(): Promise<List> {
    this.#last = await this.#engine.models().catch(() => undefined);
    this.#asking.clear(); // the server may have loaded a model since, or changed its context length
    this.#until = performance.now() + (this.#last ? FRESH_MS : FAILED_MS);
    this.#coming = undefined;
    return this.#last;
  }

  /** The list, with context lengths where known. For a server with a single model, such as llama-server, this waits for the length. */
  async described(): Promise<ModelInfo[]> {
    const models = (await this.list()) ?? [];
    const [only, ...others] = models;
    if (only && others.length === 0 && only.contextLength === undefined) await within(WAIT_MS, this.#ask(only.id));
    return models.map((model) => {
      const contextLength = this.#sizeOf(model);
      return contextLength === undefined ? model : { ...model, contextLength };
    });
  }

  /** How many tokens a model takes, if already known. Otherwise the server is asked in the background, for later requests. */
  contextOf(model: string): number | undefined {
    const known = this.#last?.find(({ id }) => id === model);
    this.list();
    if (known && known.contextLength === undefined) this.#ask(model);
    return known && this.#sizeOf(known);
  }

  #sizeOf({ id, contextLength }: ModelInfo): number | undefined {
    return contextLength ?? this.#contexts.get(id);
  }

  /** Asks for a model's context length, which some servers do not give in their list: once per list, and only for models in it. */
  #ask(model: string): Promise<void> {
    const before = this.#asking.get(model);
    if (before) return before;
    const asking = (this.#engine.about?.(model) ?? Promise.resolve(undefined)).then(
      (about) => void this.#contexts.set(model, about?.context ?? this.#contexts.get(model)),
      () => void this.#asking.delete(model),
    );
    this.#asking.set(model, asking);
    return asking;
  }
}

/** `undefined` if the work takes longer, or fails. */
const within = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  bounded({ signals: [], ms }, (signal) => unlessAborted(signal, work)).catch(() => undefined);
