/**
 * Whether a model's arguments are what the tool's schema asks for. They are passed on either way: the client knows its tools better than
 * its schema does; but a model that keeps getting them wrong is worth a line in the log.
 *
 *     outsideSchema({ name: "read", parameters: { type: "object", required: ["path"] } }, {})   // "/path is missing"
 */
import { createContext, Script } from "node:vm";
import type { JsonObject, Tool } from "../core/nouns.ts";
import { type Problem, schemaProblems } from "../engines/schema-check.ts";

/** How long anybody looks: a `pattern` may take for ever, and meanwhile nobody else would be answered. */
const LOOK_MS = 250;
const MAX_LOOKS = 10_000;
/** Schemas that took too long are not looked at again. */
const slow = new Set<string>();
const MAX_SLOW = 100;

/** What is wrong, with the place where it is and not what stands there; `undefined`: nothing, or nobody can tell. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  if (!parameters || (slow.size > 0 && slow.has(JSON.stringify(parameters)))) return undefined;
  const problems = soon(() => schemaProblems(parameters, args, MAX_LOOKS));
  if (!problems) {
    if (slow.size >= MAX_SLOW) slow.clear();
    slow.add(JSON.stringify(parameters));
  }
  const [problem] = problems ?? [];
  return problem && `${problem.path.map((key) => `/${key}`).join("")} ${problem.message}`.trimStart();
}

const place = createContext({});
const script = new Script("work()");

/** `undefined`: it took too long. Only this stops a regular expression. */
function soon(work: () => Problem[]): Problem[] | undefined {
  try {
    place.work = work;
    return script.runInContext(place, { timeout: LOOK_MS }) as Problem[];
  } catch {
    return undefined;
  } finally {
    place.work = undefined;
  }
}
