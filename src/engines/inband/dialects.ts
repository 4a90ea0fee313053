/** Finds the dialect of an engine's model: from the configuration, or else from the server's chat template and the model's name. */
import { type Confidence, detectDialect } from "../../dialects/detect.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { getDialect } from "../../dialects/registry.ts";
import type { About, CallOptions, Engine } from "../engine.ts";
import { Remembered } from "../remembered.ts";

export interface FoundDialect {
  readonly dialect: Dialect;
  /** Absent if the dialect was configured. */
  readonly confidence?: Confidence;
  /** The reason, for people to read. */
  readonly why: string;
}

/** A dialect or its name: `hermes`, `hermes/qwen2.5-7b-instruct`; or `auto`: detected from the server's template and the model's name. */
export type DialectSetting = Dialect | string;

/** How long a result is kept: a server may be restarted with another model. */
const FRESH_MS = 300_000;
const FAILED_MS = 10_000;

type Found = FoundDialect | undefined | Promise<FoundDialect | undefined>;

export class DialectFinder {
  readonly #about: Engine["about"];
  readonly #fixed: FoundDialect | undefined;
  readonly #found = new Remembered<{ readonly found: Found }>();

  /** Throws if no dialect has the name. */
  constructor(setting: DialectSetting, about: Engine["about"]) {
    this.#about = about;
    if (setting === "auto") return;
    this.#fixed = { dialect: typeof setting === "string" ? getDialect(setting) : setting, why: "it is configured" };
  }

  /** `undefined`: not detected. Never throws, even if the server does not answer. A known dialect is returned without a promise. */
  find(model: string, options: CallOptions = {}): Found {
    if (this.#fixed) return this.#fixed;
    const known = this.#found.get(model);
    if (known) return known.found;
    const asking = this.#ask(model, options).then((found) => {
      this.#found.set(model, { found }, found ? FRESH_MS : FAILED_MS);
      return found;
    });
    this.#found.set(model, { found: asking }, FAILED_MS);
    return asking;
  }

  async #ask(model: string, { headers }: CallOptions): Promise<FoundDialect | undefined> {
    // Without the signal: the result serves later requests, too. Without the tap: this question belongs to no recorded exchange.
    const about: About = (await this.#about?.(model, { headers }).catch(() => undefined)) ?? {};
    const detections = [model, ...(about.names ?? [])].flatMap(
      (name) => detectDialect({ model: name, ...(about.template === undefined ? {} : { template: about.template }) }) ?? [],
    );
    const best = ORDER.flatMap((confidence) => detections.find((detection) => detection.confidence === confidence) ?? [])[0];
    return best && { dialect: getDialect(best), confidence: best.confidence, why: best.why };
  }
}

const ORDER: readonly Confidence[] = ["certain", "likely", "possible"];
