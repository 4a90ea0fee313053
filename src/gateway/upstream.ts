/**
 * An upstream as the gateway knows it: the models that it lists, how many tokens each of them takes, and its engine in the modes of a rule.
 * What it says of itself counts for a while; an exchange hardly ever waits for it.
 */
import { bounded, unlessAborted } from "../engines/bounded.ts";
import type { Engine } from "../engines/engine.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { layered } from "./modes.ts";
import type { ModelRule } from "./rules.ts";

/** How long a list counts, and how long the lack of one. */
const FRESH_MS = 30_000;
const FAILED_MS = 5_000;

/** An exchange does not wait longer for a list: the name is then taken as it is. */
const WAIT_MS = 2_000;

type List = readonly ModelInfo[] | undefined;

export class Upstream {
  readonly name: string;
  readonly #engine: Engine;
  readonly #layered = new Map<ModelRule | undefined, Engine>();
  #last: List;
  #until = 0;
  #coming: Promise<List> | undefined;
  /** By model, as far as the server was asked; and who is being asked. */
  readonly #contexts = new Map<string, number | undefined>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(name: string, engine: Engine) {
    this.name = name;
    this.#engine = engine;
  }

  /** Its engine in the modes of a rule. */
  engineFor(rule: ModelRule | undefined): Engine {
    const made = this.#layered.get(rule) ?? layered(this.#engine, rule ?? {});
    this.#layered.set(rule, made);
    return made;
  }

  /** The last list that came, however old. */
  get last(): List {
    return this.#last;
  }

  /** `undefined`: it does not say. An old list is good enough while a new one is on its way; whoever has none waits, but not for long. */
  list(): List | Promise<List> {
    if (this.#until > performance.now()) return this.#last;
    this.#coming ??= this.#fetch();
    return this.#last ?? within(WAIT_MS, this.#coming);
  }

  async #fetch(): Promise<List> {
    this.#last = await this.#engine.models().catch(() => undefined);
    this.#asking.clear(); // it may have loaded since then what it did not have at hand, or run with another context by now
    this.#until = performance.now() + (this.#last ? FRESH_MS : FAILED_MS);
    this.#coming = undefined;
    return this.#last;
  }

  /** The list, with all that is known of it. A server that has one model, as llama-server does, is asked for it before anybody is told of it. */
  async described(): Promise<ModelInfo[]> {
    const models = (await this.list()) ?? [];
    const [only, ...others] = models;
    if (only && others.length === 0 && only.contextLength === undefined) await within(WAIT_MS, this.#ask(only.id));
    return models.map((model) => {
      const contextLength = this.#sizeOf(model);
      return contextLength === undefined ? model : { ...model, contextLength };
    });
  }

  /** How many tokens a model takes, if that is known by now: nobody waits for it, but the next one will know. */
  contextOf(model: string): number | undefined {
    const known = this.#last?.find(({ id }) => id === model);
    this.list();
    if (known && known.contextLength === undefined) this.#ask(model);
    return known && this.#sizeOf(known);
  }

  #sizeOf({ id, contextLength }: ModelInfo): number | undefined {
    return contextLength ?? this.#contexts.get(id);
  }

  /** Servers that do not say it in their list say it when they are asked for the model; each is asked once for a list, and only for what it lists. */
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

/** `undefined`: it takes longer. */
const within = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  bounded({ signals: [], ms }, (signal) => unlessAborted(signal, work)).catch(() => undefined);
