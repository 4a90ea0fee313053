/** Checks arguments against a tool's schema. Problems are worded for the model, so that it can correct them: `days: must be integer`. */

import type { JsonObject } from "../core/nouns.ts";
import { schemaProblems } from "../engines/schema/check.ts";
import type { StandardIssue, StandardSchema } from "./infer.ts";

export type Checked = { readonly arguments: unknown; readonly problems?: undefined } | { readonly problems: readonly string[] };
export type Check = (args: JsonObject) => Checked | Promise<Checked>;

/** More problems than this are left out. */
const MAX_PROBLEMS = 8;

export function checkOfJsonSchema(schema: JsonObject): Check {
  return (args) => {
    const texts = new Set(schemaProblems(schema, args).map(({ path, message }) => `${path.join(".") || "the arguments"}: ${message}`));
    return texts.size === 0 ? { arguments: args } : { problems: [...texts].slice(0, MAX_PROBLEMS) };
  };
}

export function checkOfStandardSchema(schema: StandardSchema): Check {
  return async (args) => {
    const result = await schema["~standard"].validate(args);
    if (!result.issues) return { arguments: result.value };
    return { problems: result.issues.slice(0, MAX_PROBLEMS).map(issueText) };
  };
}

function issueText({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
  return `${keys.join(".") || "the arguments"}: ${message}`;
}
