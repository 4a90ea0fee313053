/** Which upstream answers for a model, and under which name: by rules with globs, by what the upstreams list, or because there is only one. */
import { BadRequest } from "../core/errors.ts";
import type { Request, Sampling, ThinkingSettings, Warning } from "../core/nouns.ts";
import { inWindow } from "../engines/again/window.ts";
import type { Engine } from "../engines/engine.ts";
import { estimateTokens } from "../engines/estimate.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { boundElsewhere, summarizing, unsearched } from "./bound.ts";
import { layered, type Modes } from "./modes.ts";
import { Refusal } from "./refusal.ts";

export interface ModelRule extends Modes {
  /** What clients ask for: a name, or a pattern in which `*` stands for anything. */
  readonly name: string;
  /** Another name to ask for instead; or the upstream, and its own name for the model (otherwise: what was asked for). */
  readonly alias?: string | undefined;
  readonly upstream?: string | undefined;
  readonly model?: string | undefined;
  /** Where the request says nothing. */
  readonly sampling?: Sampling | undefined;
  readonly thinking?: ThinkingSettings | undefined;
  readonly maxTokens?: number | undefined;
  /** How many tokens the model takes, prompt and answer together; without it, what the upstream lists. */
  readonly context?: number | undefined;
  /** Whether calls outside their tool's schema are counted and named in the log (`report`, the default). */
  readonly validate?: "off" | "report" | undefined;
}

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

async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The exact name before patterns, and of these the one that says most. */
export function ruleFor(asked: string, rules: readonly ModelRule[]): ModelRule | undefined {
  const exact = rules.find(({ name }) => name === asked);
  if (exact) return exact;
  const literal = (rule: ModelRule): number => rule.name.replaceAll("*", "").length;
  const matching = rules.filter(({ name }) => name.includes("*") && matches(name, asked));
  return matching.reduce<ModelRule | undefined>((best, rule) => (best && literal(best) >= literal(rule) ? best : rule), undefined);
}

/** The names that an alias leads through, if it never arrives. */
export function circleOf(rules: readonly ModelRule[]): string[] | undefined {
  for (const { name, alias } of rules) {
    const way = [name];
    for (let next = alias; next !== undefined; next = ruleFor(next, rules)?.alias) {
      if (way.includes(next, 1) || next === name) return [...way, next];
      way.push(next);
    }
  }
  return undefined;
}

/** Each literal is looked for once, from the left: no pattern takes long. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const literal of rest) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

const shortList = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(", ")} and ${names.length - 10} more` : names.join(", ");

/** The request as the target gets it. Throws for one that only a server of its own API can answer. */
export function aimed(given: Request, { model, rule, engine }: Target): Request {
  const bound = boundElsewhere(given, engine.wire);
  if (bound) throw new BadRequest(bound);
  const heard = unsearched(summarizing(given, engine.wire), engine.wire);
  const request = rule?.context !== undefined && (engine.wire === "ollama" || engine.speaking) ? inWindow(heard, rule.context) : heard;
  if (!rule) return model === request.model ? request : { ...request, model };
  const { sampling, thinking, maxTokens } = rule;
  return {
    ...request,
    model,
    ...(sampling ? { sampling: { ...sampling, ...request.sampling } } : {}),
    ...(thinking ? { thinking: { ...unsaid(thinking, request.thinking), ...request.thinking } } : {}),
    ...(maxTokens !== undefined && request.maxTokens === undefined ? { maxTokens } : {}),
  };
}

/** Whether, how hard and how long it thinks is one wish: who says one of these means no other. */
function unsaid(rule: ThinkingSettings, said: ThinkingSettings = {}): ThinkingSettings {
  if ((said.enabled ?? said.effort ?? said.budget) === undefined) return rule;
  const { enabled: _enabled, effort: _effort, budget: _budget, ...shown } = rule;
  return shown;
}

/** What a template adds of its own. */
const SLACK = 256;

/**
 * Servers refuse a limit that does not fit behind the prompt, and agents ask for 128,000: it is lowered to what fits, roughly. One that counts
 * more than we do says its own numbers, and is asked again; nobody says that there was more room.
 */
export function fitted(request: Request, context: number | undefined): { request: Request; warnings: Warning[] } {
  const { maxTokens } = request;
  if (maxTokens === undefined || context === undefined) return { request, warnings: [] };
  const room = context - estimateTokens(request) - Math.min(SLACK, context >> 4);
  // Where nothing fits, the server says so in its own numbers, and the client shortens its history.
  const limit = Math.max(room, Math.min(1024, context >> 3));
  if (maxTokens <= limit) return { request, warnings: [] };
  const message = `the limit of ${maxTokens} tokens was lowered to ${limit}: the model's context has ${context}`;
  return { request: { ...request, maxTokens: limit }, warnings: [{ code: "max-tokens", message }] };
}
