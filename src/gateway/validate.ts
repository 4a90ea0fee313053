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

/** What is wrong, with the place where it is and not what stands there; `undefined`: nothing, or nobody can tell. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  const [problem] = parameters ? soon(() => schemaProblems(parameters, args)) : [];
  return problem && `${problem.path.map((key) => `/${key}`).join("")} ${problem.message}`.trimStart();
}

const place = createContext({});
const script = new Script("work()");

/** Nothing, if it took too long: only this stops a regular expression. */
function soon(work: () => Problem[]): Problem[] {
  try {
    place.work = work;
    return script.runInContext(place, { timeout: LOOK_MS }) as Problem[];
  } catch {
    return [];
  }
}
