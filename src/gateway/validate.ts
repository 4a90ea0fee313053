/**
 * Whether a model's arguments are what the tool's schema asks for. They are passed on either way: the client knows its tools better than
 * its schema does; but a model that keeps getting them wrong is worth a line in the log.
 *
 *     outsideSchema({ name: "read", parameters: { type: "object", required: ["path"] } }, {})   // "must have required property 'path'"
 */
import type { Ajv, ValidateFunction } from "ajv";
import type { JsonObject, Tool } from "../core/nouns.ts";

/** Compiling a schema costs more than an exchange: so many are kept, and larger ones are not looked at. */
const MAX_KEPT = 200;
const MAX_CHARS = 65_536;

const compiled = new Map<string, ValidateFunction | undefined>();
let ajv: Promise<Ajv> | undefined;

/** What is wrong, with the place where it is and not what stands there; `undefined`: nothing, or nobody can tell. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  if (!parameters) return undefined;
  const validate = await validatorOf(parameters);
  if (!validate || validate(args)) return undefined;
  const [error] = validate.errors ?? [];
  return error && [error.instancePath, error.message].filter(Boolean).join(" ");
}

async function validatorOf({ $schema: _, ...schema }: JsonObject): Promise<ValidateFunction | undefined> {
  const text = JSON.stringify(schema);
  if (text.length > MAX_CHARS) return undefined;
  if (compiled.has(text)) return compiled.get(text);
  ajv ??= import("ajv").then(({ Ajv }) => new Ajv({ strict: false, logger: false, validateFormats: false, addUsedSchema: false }));
  const compiler = await ajv;
  if (compiled.size >= MAX_KEPT) compiled.clear();
  compiled.set(text, compiling(compiler, schema));
  return compiled.get(text);
}

/** A schema that is none judges nothing. */
function compiling(compiler: Ajv, schema: JsonObject): ValidateFunction | undefined {
  try {
    return compiler.compile(schema);
  } catch {
    return undefined;
  }
}
