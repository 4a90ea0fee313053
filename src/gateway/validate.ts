/**
 * Checks a model's arguments against the tool's schema. They are passed on either way, because the client knows its tools better than the
 * schema does; but a model that keeps getting them wrong is worth a line in the log.
 *
 *     outsideSchema({ name: "read", parameters: { type: "object", required: ["path"] } }, {})   // "/path is missing"
 */
import { createContext, Script } from "node:vm";
import type { JsonObject, Tool } from "../core/nouns.ts";
import { type Problem, schemaProblems } from "../engines/schema/check.ts";

/** The limit for one check: a `pattern` may take forever, and meanwhile the gateway would answer nobody. */
const LOOK_MS = 250;
/** A busy machine may pause the process, so a check is started again unless the limit was really spent on it. */
const MAX_TRIES = 8;
const MAX_LOOKS = 10_000;
/** Schemas that took too long are not checked again. */
const slow = new Set<string>();
const MAX_SLOW = 100;

/** The first violation: its path and what is wrong, but not the value. `undefined`: there is none, or the check took too long. */
export async function outsideSchema({ parameters }: Tool, args: JsonObject): Promise<string | undefined> {
  if (!parameters || (slow.size > 0 && slow.has(JSON.stringify(parameters)))) return undefined;
  const look = (): Problem[] => schemaProblems(parameters, args, MAX_LOOKS);
  const before = process.cpuUsage();
  let problems = soon(look);
  for (let tries = 1; !problems && tries < MAX_TRIES && spentMs(before) < LOOK_MS; tries++) problems = soon(look);
  if (!problems) {
    if (slow.size >= MAX_SLOW) slow.clear();
    slow.add(JSON.stringify(parameters));
  }
  const [problem] = problems ?? [];
  return problem && `${problem.path.map((key) => `/${key}`).join("")} ${problem.message}`.trimStart();
}

function spentMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const place = createContext({});
const script = new Script("work()");

/** `undefined` if the work took too long. Only the timeout of a script can interrupt a regular expression. */
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
