/** Which upstream answers for a model, and under which name: by rules with globs, by what the upstreams list, or because there is only one. */
import { bounded, unlessAborted } from "../engines/bounded.ts";
import type { Engine } from "../engines/engine.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { layered } from "./modes.ts";
import { Refusal } from "./refusal.ts";
import { circleOf, type ModelRule, ruleFor } from "./rules.ts";

export interface Target {
  readonly upstream: string;
  readonly engine: Engine;
  /** As the upstream calls it. */
  readonly model: string;
  /** The name or pattern of the configuration that led here. */
  readonly rule?: ModelRule | undefined;
}

/** How long a list counts, and how long the lack of one. */
const FRESH_MS = 30_000;
const FAILED_MS = 5_000;

/** An exchange does not wait longer for a list: the name is then taken as it is. */
const WAIT_MS = 2_000;

type List = readonly ModelInfo[] | undefined;

interface Listing {
  /** The last one that came, however old. */
  last: List;
  until: number;
  coming: Promise<List> | undefined;
}

export class Models {
  readonly upstreams: Readonly<Record<string, Engine>>;
  readonly #names: readonly string[];
  readonly #rules: readonly ModelRule[];
  readonly #listings = new Map<string, Listing>();
  /** By upstream and model, as far as servers were asked; and who is being asked. */
  readonly #contexts = new Map<string, number | undefined>();
  readonly #asking = new Map<string, Promise<void>>();
  /** By rule, then by upstream. */
  readonly #layered = new Map<ModelRule | undefined, Map<string, Engine>>();

  constructor(upstreams: Readonly<Record<string, Engine>>, rules: readonly ModelRule[] = []) {
    this.upstreams = upstreams;
    this.#names = Object.keys(upstreams);
    this.#rules = rules;
    for (const { name, upstream } of rules) {
      if (upstream !== undefined && !Object.hasOwn(upstreams, upstream))
        throw new Error(`the model "${name}" names an unknown upstream "${upstream}"`);
    }
    const circle = circleOf(rules);
    if (circle) throw new Error(`the alias "${circle[0]}" leads in a circle: ${circle.join(" → ")}`);
  }

  /** Without a promise, unless somebody must be asked first. */
  resolve(asked: string): Target | Promise<Target> {
    const rule = ruleFor(asked, this.#rules);
    if (rule?.alias !== undefined) return afterwards(this.resolve(rule.alias), (target) => ({ ...target, rule: target.rule ?? rule }));
    if (rule?.upstream === undefined) return this.#unruled(asked, rule);
    const { upstream, model } = rule;
    if (model !== undefined || !rule.name.includes("*")) return this.#target(upstream, model ?? asked, rule);
    return afterwards(this.#onlyModel(upstream, asked), (only) => this.#target(upstream, only, rule));
  }

  #unruled(asked: string, rule: ModelRule | undefined): Target | Promise<Target> {
    const [only, ...others] = this.#names;
    if (only !== undefined && others.length === 0) {
      return afterwards(rule?.model ?? this.#onlyModel(only, asked), (model) => this.#target(only, model, rule));
    }
    const slash = asked.indexOf("/");
    if (slash > 0 && Object.hasOwn(this.upstreams, asked.slice(0, slash)))
      return this.#target(asked.slice(0, slash), asked.slice(slash + 1), rule);
    return this.#listed(asked, rule);
  }

  async #listed(asked: string, rule: ModelRule | undefined): Promise<Target> {
    const lists = await Promise.all(this.#names.map(async (name) => [name, await this.#list(name)] as const));
    for (const [name, models = []] of lists) if (models.some(({ id }) => id === asked)) return this.#target(name, asked, rule);
    const all = lists.flatMap(([name, models = []]) => models.map(({ id }) => ({ name, id })));
    const known = all.map(({ name, id }) => (all.filter((other) => other.id === id).length > 1 ? `${name}/${id}` : id));
    throw new Refusal(404, `no upstream has the model "${asked}"${known.length > 0 ? `; there are: ${shortList(known)}` : ""}`);
  }

  /** Where an upstream has one model, clients that ask for another by habit mean that one. */
  #onlyModel(upstream: string, asked: string): string | Promise<string> {
    return afterwards(this.#list(upstream), (models = []) => (models.length === 1 && models[0] ? models[0].id : asked));
  }

  /** What to ask for instead, where an upstream does not list what it was asked for. */
  instead({ upstream, model }: Target): string | undefined {
    const names = (this.#listings.get(upstream)?.last ?? []).map(({ id }) => id);
    if (names.length === 0 || names.includes(model)) return undefined;
    return `${upstream} has: ${shortList(names)}; --model, or an alias, chooses one`;
  }

  /** How many tokens a target takes, if that is known by now: nobody waits for it, but the next one will know. */
  contextOf({ upstream, model, rule }: Target): number | undefined {
    if (rule?.context !== undefined) return rule.context;
    const known = this.#listings.get(upstream)?.last?.find(({ id }) => id === model);
    this.#list(upstream);
    if (known && known.contextLength === undefined) this.#ask(upstream, model);
    return known && this.#sizeOf(upstream, known);
  }

  #sizeOf(upstream: string, { id, contextLength }: ModelInfo): number | undefined {
    return contextLength ?? this.#contexts.get(`${upstream}\n${id}`);
  }

  /** Servers that do not say it in their list say it when they are asked for the model; each is asked once for a list, and only for what it lists. */
  #ask(upstream: string, model: string): Promise<void> {
    const key = `${upstream}\n${model}`;
    const before = this.#asking.get(key);
    if (before) return before;
    const asking = (this.upstreams[upstream]?.about?.(model) ?? Promise.resolve(undefined)).then(
      (about) => void this.#contexts.set(key, about?.context ?? this.#contexts.get(key)),
      () => void this.#asking.delete(key),
    );
    this.#asking.set(key, asking);
    return asking;
  }

  /** A server that has one model, as llama-server does, is asked for it before anybody is told of it. */
  async #learn(upstream: string, [only, ...others]: readonly ModelInfo[]): Promise<void> {
    if (only && others.length === 0 && only.contextLength === undefined) await within(WAIT_MS, this.#ask(upstream, only.id));
  }

  /** What clients can ask for: the names of the rules, then what the upstreams list; what another one lists, too, with the upstream's name. */
  async list(): Promise<ModelInfo[]> {
    const lists = await Promise.all(this.#names.map(async (name) => [name, await this.#list(name)] as const));
    await Promise.all(lists.map(([name, models = []]) => this.#learn(name, models)));
    const ruled = this.#rules.filter(({ name }) => !name.includes("*")).map(({ name }) => name);
    const found = new Map<string, ModelInfo>();
    for (const id of ruled) found.set(id, this.#described(id, await this.#targetOf(id)));
    for (const [name, models = []] of lists) {
      for (const model of models) {
        const id = found.has(model.id) && !ruled.includes(model.id) ? `${name}/${model.id}` : model.id;
        const contextLength = this.#sizeOf(name, model);
        if (!found.has(id)) found.set(id, { ...model, id, ...(contextLength === undefined ? {} : { contextLength }) });
      }
    }
    return [...found.values()];
  }

  /** What is known of a name that a request may have, be it listed or one that a pattern or the only model answers for. */
  async find(id: string): Promise<ModelInfo | undefined> {
    const listed = (await this.list()).find((model) => model.id === id || model.id === `${id}:latest`);
    if (listed) return listed;
    const target = await this.#targetOf(id);
    if (!target) return undefined;
    const models = (await this.#list(target.upstream)) ?? [];
    const isThere = models.length === 0 ? target.rule !== undefined : models.some((model) => model.id === target.model);
    return isThere ? this.#described(id, target) : undefined;
  }

  /** `undefined`: nobody answers for it. */
  async #targetOf(id: string): Promise<Target | undefined> {
    try {
      return await this.resolve(id);
    } catch {
      return undefined;
    }
  }

  #described(id: string, target: Target | undefined): ModelInfo {
    const contextLength = target && this.contextOf(target);
    return contextLength === undefined ? { id } : { id, contextLength };
  }

  /** Whether any upstream answers. */
  async ready(): Promise<boolean> {
    const lists = await Promise.all(this.#names.map((name) => this.#list(name)));
    return lists.some((models) => models !== undefined);
  }

  #target(upstream: string, model: string, rule: ModelRule | undefined): Target {
    return { upstream, engine: this.#engine(upstream, rule), model, rule };
  }

  /** The upstream's engine in the modes of a rule. */
  #engine(upstream: string, rule: ModelRule | undefined): Engine {
    const known = this.#layered.get(rule);
    const engines = known ?? new Map<string, Engine>();
    if (!known) this.#layered.set(rule, engines);
    const made = engines.get(upstream);
    if (made) return made;
    const engine = layered(this.upstreams[upstream]!, rule ?? {});
    engines.set(upstream, engine);
    return engine;
  }

  /** `undefined`: it does not say. An old list is good enough while a new one is on its way; whoever has none waits, but not for long. */
  #list(upstream: string): List | Promise<List> {
    const known = this.#listings.get(upstream);
    const listing = known ?? { last: undefined, until: 0, coming: undefined };
    if (!known) this.#listings.set(upstream, listing);
    if (listing.until > Date.now()) return listing.last;
    listing.coming ??= this.#fetch(upstream, listing);
    return listing.last ?? within(WAIT_MS, listing.coming);
  }

  async #fetch(upstream: string, listing: Listing): Promise<List> {
    const models = await this.upstreams[upstream]!.models().catch(() => undefined);
    listing.last = models;
    // It may have loaded since then what it did not have at hand, or run with another context by now.
    for (const key of this.#asking.keys()) if (key.startsWith(`${upstream}\n`)) this.#asking.delete(key);
    listing.until = Date.now() + (models ? FRESH_MS : FAILED_MS);
    listing.coming = undefined;
    return models;
  }
}

/** What comes of a value, at once if it is here. */
const afterwards = <T, U>(value: T | Promise<T>, make: (value: T) => U): U | Promise<U> =>
  value instanceof Promise ? value.then(make) : make(value);

/** `undefined`: it takes longer. */
const within = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  bounded({ signals: [], ms }, (signal) => unlessAborted(signal, work)).catch(() => undefined);

const shortList = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
