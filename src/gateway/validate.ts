/**
 * Whether a model's arguments are what the tool's schema asks for. They are passed on either way: the client knows its tools better than
 * its schema does; but a model that keeps getting them wrong is worth a line in the log.
 *
 *     outsideSchema({ name: "read", parameters: { type: "object", required: ["path"] } }, {})   // "must have required property 'path'"
 */
import { createContext, Script } from "node:vm";
import type { Ajv, ValidateFunction } from "ajv";
import type { JsonObject, Tool } from "../core/nouns.ts";

/** Compiling a schema costs more than an exchange: so much of them is kept, and larger ones are not looked at. */
const MAX_KEPT_CHARS = 500_000;
const MAX_CHARS = 65_536;

/** How long anybody looks: a `pattern`, or alternatives inside of alternatives, may take for ever, and meanwhile nobody else would be answered. */
const LOOK_MS = 250;

const compiled = new Map<string, ValidateFunction | undefined>();
let kept = 0;
/** It never lets go of a schema: whoever wants one forgotten forgets all of it. */
let compiler: Ajv | undefined;

/** What is wrong, with the place where it is and not what stands there; `undefined`: nothing, or nobody can tell. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  if (!parameters) return undefined;
  const { $schema: _, ...schema } = parameters;
  const text = JSON.stringify(schema);
  if (text.length > MAX_CHARS) return undefined;
  const { Ajv } = await import("ajv");
  if (!compiled.has(text)) {
    if (kept + text.length > MAX_KEPT_CHARS) {
      compiled.clear();
      kept = 0;
    }
    if (kept === 0) {
      compiler = new Ajv({ strict: false, logger: false, validateFormats: false, addUsedSchema: false });
      compiler.compile({}); // the first one takes its time, whatever it is
    }
    kept += text.length;
    compiled.set(
      text,
      soon(() => compiler?.compile(schema)),
    );
  }
  const validate = compiled.get(text);
  const isInside = validate && soon(() => validate(args));
  if (isInside === undefined) compiled.set(text, undefined); // nobody looks at it again
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
