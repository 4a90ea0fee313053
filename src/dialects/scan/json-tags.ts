/** Calls as JSON between tags, `<tool_call>{…}</tool_call>`, an object or a list of objects: the form of many families. */
import { jsonCalls } from "./json-calls.ts";
import { each, type Spec, scannerOf, THINK_TAGS } from "./table.ts";

/** `rest`: the rest of the dialect's marks and steps. */
export function jsonTags(tags: readonly string[], { thinking = THINK_TAGS, ...rest }: Partial<Spec> & Pick<Spec, "stops">) {
  const closers = tags.map((tag) => tag.replace("<", "</"));
  const { marked } = jsonCalls({ marks: [...tags, ...closers, ...thinking.close, ...rest.stops] });
  const calls = each(tags, marked);
  return scannerOf({ calls, closers, thinking, callsInThinking: "promote-if-unclosed", ...rest });
}
