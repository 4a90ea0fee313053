/** Which upstream serves a model, and under which name: by rules with globs, by the upstreams' lists, or because there is only one upstream. */
import type { Engine } from "../engines/engine.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { Refusal } from "./refusal.ts";
import { circleOf, type ModelRule, ruleFor } from "./rules.ts";
import { Upstream } from "./upstream.ts";

export interface Target {
  readonly upstream: string;
  readonly engine: Engine;
  /** The upstream's own name for the model. */
  readonly model: string;
  /** The rule of the configuration that chose this target. */
  readonly rule?: ModelRule | undefined;
}

export class Models {
  readonly #upstreams: ReadonlyMap<string, Upstream>;
  readonly #rules: readonly ModelRule[];

  constructor(engines: Readonly<Record<string, Engine>>, rules: readonly ModelRule[] = []) {
    this.#upstreams = new Map(Object.entries(engines).map(([name, engine]) => [name, new Upstream(name, engine)]));
    this.#rules = rules;
    for (const { name, upstream } of rules) {
      if (upstream !== undefined && !this.#upstreams.has(upstream))
        throw new Error(`the model "${name}" names an unknown upstream "${upstream}"`);
    }
    const circle = circleOf(rules);
    if (circle) throw new Error(`the alias "${circle[0]}" leads in a circle: ${circle.join(" → ")}`);
  }

  /** Returns a promise only if an upstream's model list is needed first. */
  resolve(asked: string): Target | Promise<Target> {
    const rule = ruleFor(asked, this.#rules);
    if (rule?.alias !== undefined) return afterwards(this.resolve(rule.alias), (target) => ({ ...target, rule: target.rule ?? rule }));
    const upstream = rule?.upstream === undefined ? undefined : this.#upstreams.get(rule.upstream);
    if (!rule || !upstream) return this.#unruled(asked, rule);
    if (rule.model !== undefined || !rule.name.includes("*")) return targetOf(upstream, rule.model ?? asked, rule);
    return afterwards(onlyModel(upstream, asked), (only) => targetOf(upstream, only, rule));
  }

  #unruled(asked: string, rule: ModelRule | undefined): Target | Promise<Target> {
    const [only, ...others] = this.#upstreams.values();
    if (only && others.length === 0) {
      return afterwards(rule?.model ?? onlyModel(only, asked), (model) => targetOf(only, model, rule));
    }
    const name = rule?.model ?? asked;
    const [upstream, model] = this.#named(name);
    if (!upstream) return this.#listed(name, rule);
    const named = targetOf(upstream, model, rule);
    return afterwards(upstream.list(), (models) => (mayHave(models, model) ? named : this.#listed(name, rule, named)));
  }

  /** The upstream in a name such as `local/qwen3`, and its own name for the model. Such a name can also be a model's own. */
  #named(name: string): [upstream: Upstream | undefined, model: string] {
    const slash = name.indexOf("/");
    return [this.#upstreams.get(name.slice(0, Math.max(slash, 0))), name.slice(slash + 1)];
  }

  async #listed(asked: string, rule: ModelRule | undefined, otherwise?: Target): Promise<Target> {
    const all = (await this.#all((upstream) => upstream.list())).flatMap(([upstream, models = []]) =>
      models.map(({ id }) => ({ upstream, id })),
    );
    const found = all.find(({ id }) => id === asked);
    if (found) return targetOf(found.upstream, asked, rule);
    if (otherwise) return otherwise;
    const known = all.map(({ upstream, id }) => (all.filter((other) => other.id === id).length > 1 ? `${upstream.name}/${id}` : id));
    throw new Refusal(404, `no upstream has the model "${asked}"${known.length > 0 ? `; there are: ${shortList(known)}` : ""}`);
  }

  #all<T>(ask: (upstream: Upstream) => T | Promise<T>): Promise<(readonly [Upstream, T])[]> {
    return Promise.all([...this.#upstreams.values()].map(async (upstream) => [upstream, await ask(upstream)] as const));
  }

  /** A hint that names the upstream's models, if its list lacks the one asked for. */
  instead({ upstream, model }: Target): string | undefined {
    const names = (this.#upstreams.get(upstream)?.last ?? []).map(({ id }) => id);
    if (names.length === 0 || names.includes(model)) return undefined;
    return `${upstream} has: ${shortList(names)}; --model, or an alias, chooses one`;
  }

  /** The target's context length in tokens, if known by now. */
  contextOf({ upstream, model, rule }: Target): number | undefined {
    return rule?.context ?? this.#upstreams.get(upstream)?.contextOf(model);
  }

  /** The models that clients can ask for: names of rules, then the upstreams' lists. A name with another meaning gets its upstream's name as prefix. */
  async list(): Promise<ModelInfo[]> {
    const lists = await this.#all((upstream) => upstream.described());
    const ruled = this.#rules.filter(({ name }) => !name.includes("*")).map(({ name }) => name);
    const found = new Map<string, ModelInfo>();
    for (const id of ruled) found.set(id, this.#described(id, await this.#targetOf(id)));
    for (const [{ name }, models] of lists) {
      for (const model of models) {
        const [other, theirs] = this.#named(model.id);
        const isTaken = found.has(model.id) || (other !== undefined && mayHave(other.last, theirs));
        const id = isTaken && !ruled.includes(model.id) ? `${name}/${model.id}` : model.id;
        if (!found.has(id)) found.set(id, { ...model, id });
      }
    }
    return Promise.all([...found.values()].map((model) => this.#withModes(model)));
  }

  /** Marks a model without tools if its rule turns them off. */
  async #withModes(model: ModelInfo): Promise<ModelInfo> {
    const target = await this.#targetOf(model.id);
    return target?.rule?.tools === "off" ? { ...model, tools: false } : model;
  }

  /** What is known of a model name: a listed one, or one that is served through a pattern or by an upstream's only model. */
  async find(id: string): Promise<ModelInfo | undefined> {
    const listed = (await this.list()).find((model) => model.id === id || model.id === `${id}:latest`);
    if (listed) return listed;
    const target = await this.#targetOf(id);
    if (!target) return undefined;
    const models = (await this.#upstreams.get(target.upstream)?.list()) ?? [];
    const isThere = models.length === 0 ? target.rule !== undefined : models.some((model) => model.id === target.model);
    return isThere ? this.#withModes(this.#described(id, target)) : undefined;
  }

  /** `undefined`: no upstream serves the model. */
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
    const lists = await this.#all((upstream) => upstream.list());
    return lists.some(([, models]) => models !== undefined);
  }
}

const targetOf = (upstream: Upstream, model: string, rule: ModelRule | undefined): Target => ({
  upstream: upstream.name,
  engine: upstream.engineFor(rule),
  model,
  rule,
});

/** An upstream without a list may have any model. */
const mayHave = (models: readonly ModelInfo[] | undefined, model: string): boolean => models?.some(({ id }) => id === model) ?? true;

/** If an upstream has only one model, clients that ask for another one by habit get that. */
const onlyModel = (upstream: Upstream, asked: string): string | Promise<string> =>
  afterwards(upstream.list(), (models = []) => (models.length === 1 && models[0] ? models[0].id : asked));

/** Applies `make`, synchronously unless the value is a promise. */
const afterwards = <T, U>(value: T | Promise<T>, make: (value: T) => U | Promise<U>): U | Promise<U> =>
  value instanceof Promise ? value.then(make) : make(value);

const shortList = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");
