/** The arguments of calls as a text spells them: printing the objects again would change their numbers. */
import { valuesOf } from "../spans.ts";

/** Of all calls in a text, in their order; none, if the text holds another number of them than was expected. */
export function argumentsIn(text: string, count: number): (string | undefined)[] {
  const calls = count > 0 ? valuesOf(text, "functionCall") : [];
  if (calls.length !== count) return [];
  // Line ends can only stand between two values.
  return calls.map((call) => valuesOf(call, "args")[0]?.replace(/\s*[\r\n]\s*/g, ""));
}
