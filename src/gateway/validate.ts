/**
 * Whether a model's arguments are what the tool's schema asks for. They are passed on either way: the client knows its tools better than
 * its schema does; but a model that keeps getting them wrong is worth a line in the log.
 *
 *     outsideSchema({ name: "read", parameters: { type: "object", required: ["path"] } }, {})   // "must have required property 'path'"
 */
import { createContext, Script } from "node:vm";
import type { Ajv, ValidateFunction } from "ajv";
import type { JsonObject, Tool } from "../core/nouns.ts";

/** Compiling a schema costs more than an exchange: so many characters of them are kept, and larger ones are not looked at. */
const MAX_KEPT = 500_000;
const MAX_CHARS = 16_384;

/** How long anybody looks: a `pattern`, or alternatives inside of alternatives, may take for ever, and meanwhile nobody else would be answered. */
const LOOK_MS = 250;

/** Ajv never lets go of a schema: when there are too many, it goes with all of them. */
class Validators {
  readonly #ajv: Ajv;
  readonly #known = new Map<string, ValidateFunction | undefined>();
  #chars = 0;

  constructor(ajv: Ajv) {
    this.#ajv = ajv;
    ajv.compile({}); // the first one takes its time, whatever it is
  }

  get isFull(): boolean {
    return this.#chars > MAX_KEPT;
  }

  of(text: string, schema: JsonObject): ValidateFunction | undefined {
    if (this.#known.has(text)) return this.#known.get(text);
    this.#chars += text.length;
    const validate = soon(() => this.#ajv.compile(schema));
    this.#known.set(text, validate);
    return validate;
  }
  /** Nobody looks at it again. */
  drop(text: string): void {
    this.#known.set(text, undefined);
  }
}

let validators: Promise<Validators> | undefined;

const load = async (): Promise<Validators> => {
  const { Ajv } = await import("ajv");
  return new Validators(new Ajv({ strict: false, logger: false, validateFormats: false, addUsedSchema: false }));
};

/** What is wrong, with the place where it is and not what stands there; `undefined`: nothing, or nobody can tell. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  if (!parameters) return undefined;
  const { $schema: _, ...schema } = parameters;
  const text = JSON.stringify(schema);
  if (text.length > MAX_CHARS) return undefined;
  validators ??= load();
  const known = await validators;
  const validate = known.of(text, schema);
  if (known.isFull) validators = undefined;
  const isInside = validate && soon(() => validate(args));
  if (validate && isInside === undefined) known.drop(text);
  const [error] = isInside === false ? (validate?.errors ?? []) : [];
  return error && [error.instancePath, error.message].filter(Boolean).join(" ");
}

const place = createContext({});
const script = new Script("work()");

/** `undefined`: it took too long, or went wrong; a schema that is none judges nothing. Nothing else than this stops a regular expression. */
function soon<T>(work: () => T): T | undefined {
  try {
    place.work = work;
    return script.runInContext(place, { timeout: LOOK_MS }) as T;
  } catch {
    return undefined;
  }
}
