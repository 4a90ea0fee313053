/** Whether arguments fit a tool, and if not, why, in words that a model can act on: `days: must be integer`. */
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { JsonObject } from "../core/nouns.ts";
import type { StandardIssue, StandardSchema } from "./infer.ts";

export type Checked = { readonly arguments: unknown; readonly problems?: undefined } | { readonly problems: readonly string[] };
export type Check = (args: JsonObject) => Checked | Promise<Checked>;

/** More of them help nobody. */
const MAX_PROBLEMS = 8;

/** Throws if the schema is none. */
export function checkOfJsonSchema(schema: JsonObject): Check {
  const { $schema, ...rest } = schema;
  const validate: ValidateFunction = compilerOf($schema).compile(rest);
  return (args) => (validate(args) ? { arguments: args } : { problems: problemsOf(validate.errors ?? []) });
}

export function checkOfStandardSchema(schema: StandardSchema): Check {
  return async (args) => {
    const result = await schema["~standard"].validate(args);
    if (!result.issues) return { arguments: result.value };
    return { problems: result.issues.slice(0, MAX_PROBLEMS).map(issueText) };
  };
}

// ---- JSON Schema

const compilers = new Map<string, Ajv>();

/** A schema that does not say which draft it is in is in the newest. */
function compilerOf(draft: unknown): Ajv {
  const old = typeof draft === "string" && /draft-0[3-7]/.test(draft);
  const key = old ? "old" : "new";
  let ajv = compilers.get(key);
  if (!ajv) {
    // Not strict: schemas come from anywhere, and an unknown keyword is no fault. Not added: two tools may have the same $id.
    const options = { strict: false, allErrors: true, addUsedSchema: false, logger: false } as const;
    ajv = old ? new Ajv(options) : new Ajv2020(options);
    formats.default(ajv);
    compilers.set(key, ajv);
  }
  return ajv;
}

function problemsOf(errors: readonly ErrorObject[]): string[] {
  const texts = new Set(errors.map(problemText));
  return [...texts].slice(0, MAX_PROBLEMS);
}

function problemText({ keyword, instancePath, params, message = "is wrong" }: ErrorObject): string {
  const path = instancePath.split("/").slice(1).map(unescapePointer);
  const at = (...more: string[]): string => [...path, ...more].join(".") || "the arguments";
  switch (keyword) {
    case "required":
      return `${at(String(params.missingProperty))}: is missing`;
    case "additionalProperties":
      return `${at(String(params.additionalProperty))}: there is no such parameter`;
    case "enum":
      return `${at()}: must be one of ${JSON.stringify(params.allowedValues).slice(1, -1)}`;
    case "const":
      return `${at()}: must be ${JSON.stringify(params.allowedValue)}`;
    default:
      return `${at()}: ${message}`;
  }
}

const unescapePointer = (text: string): string => text.replaceAll("~1", "/").replaceAll("~0", "~");

// ---- Standard Schema

function issueText({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
  return `${keys.join(".") || "the arguments"}: ${message}`;
}
