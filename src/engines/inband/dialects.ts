/** Which dialect the model behind an engine speaks: what the configuration says, or what the server's template and the model's name tell. */
import type { Confidence, Detection } from "../../dialects/detect.ts";
import { detectDialect } from "../../dialects/detect.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { getDialect, listDialects } from "../../dialects/registry.ts";
import type { About, CallOptions, Engine } from "../engine.ts";

export interface FoundDialect {
  readonly dialect: Dialect;
  readonly variant?: string | undefined;
  /** Absent: it was configured. */
  readonly confidence?: Confidence;
  /** For people. */
  readonly why: string;
}

/** As it is configured: `hermes`, or `hermes/qwen2.5-7b-instruct`. */
export const settingOf = ({ dialect, variant }: Pick<FoundDialect, "dialect" | "variant">): string =>
  variant === undefined ? dialect.id : `${dialect.id}/${variant}`;

/** What a setting says; `undefined`: it says `auto`. Throws where it names nothing. */
export function configured(setting: string): FoundDialect | undefined {
  if (setting === "auto") return undefined;
  const [id = "", variant] = setting.split("/");
  const dialect = getDialect(id);
  if (variant !== undefined && !dialect.variants.includes(variant)) {
    throw new Error(`unknown variant "${variant}" of ${id}; known: ${dialect.variants.join(", ")}`);
  }
  return { dialect, variant, why: "it is configured" };
}

/** A server may be started again with another model. */
const FRESH_MS = 300_000;
const FAILED_MS = 10_000;
/** Names come from clients. */
const MAX_MODELS = 256;

interface Entry {
  until: number;
  found: FoundDialect | undefined | Promise<FoundDialect | undefined>;
}

function settled(entry: Entry, found: FoundDialect | undefined): FoundDialect | undefined {
  entry.found = found;
  if (found) entry.until = Date.now() + FRESH_MS;
  return found;
}

export class DialectFinder {
  readonly #about: Engine["about"];
  readonly #fixed: FoundDialect | undefined;
  readonly #found = new Map<string, Entry>();

  /** `setting`: a dialect's id, with `/variant` behind it or not; or `auto`. */
  constructor(setting: string, about: Engine["about"]) {
    this.#about = about;
    this.#fixed = configured(setting);
  }

  /** `undefined`: nothing tells. Never throws: a server that does not answer tells nothing. What is known already comes without a promise. */
  find(model: string, options: CallOptions = {}): FoundDialect | undefined | Promise<FoundDialect | undefined> {
    if (this.#fixed) return this.#fixed;
    const known = this.#found.get(model);
    if (known && known.until > Date.now()) return known.found;
    if (this.#found.size >= MAX_MODELS) this.#found.clear();
    const entry: Entry = { until: Date.now() + FAILED_MS, found: this.#ask(model, options).then((found) => settled(entry, found)) };
    this.#found.set(model, entry);
    return entry.found;
  }

  async #ask(model: string, { headers }: CallOptions): Promise<FoundDialect | undefined> {
    // Without the signal: what is found serves the next request, too. Without the tap: it belongs to no exchange.
    const about: About = (await this.#about?.(model, { headers }).catch(() => undefined)) ?? {};
    const detections = [model, ...(about.names ?? [])].flatMap(
      (name) => detectDialect({ model: name, ...(about.template === undefined ? {} : { template: about.template }) }) ?? [],
    );
    const best = ORDER.flatMap((confidence) => detections.find((detection) => detection.confidence === confidence) ?? [])[0];
    return best && foundOf(best);
  }
}

const ORDER: readonly Confidence[] = ["certain", "likely", "possible"];

function foundOf({ id, variant, confidence, why }: Detection): FoundDialect | undefined {
  const dialect = listDialects().find((known) => known.id === id);
  return dialect && { dialect, variant, confidence, why };
}
