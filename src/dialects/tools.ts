/** Tools as text. */
import type { JsonObject, Tool } from "../core/nouns.ts";
import type { Dialect } from "./dialect.ts";
import { pythonJson } from "./print.ts";
import { plainText } from "./prompt.ts";

/** A tool as the function object that most formats print. */
export function functionObject({ name, description, parameters, strict }: Tool): JsonObject {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parameters }),
    ...(strict !== undefined && { strict }),
  };
}

/** The same in OpenAI's wrapper. */
export const functionTool = (tool: Tool): JsonObject => ({ type: "function", function: functionObject(tool) });

/** The convention of a dialect, explained as text to a model that was not trained on it: the tools, then the format by example. */
export function explain(tools: readonly Tool[], dialect: Pick<Dialect, "renderToolCalls" | "renderToolResults">): string {
  if (tools.length === 0) return "";
  const calls = dialect.renderToolCalls([{ id: "call_0", name: "tool_name", arguments: { text: "hello", count: 2 } }]);
  const results = dialect.renderToolResults([{ id: "call_0", name: "tool_name", output: "done" }]);
  return `You can call these tools, one JSON object per line:
${tools.map(({ strict: _, ...tool }) => pythonJson(functionObject(tool))).join("\n")}

To call tools, write the calls exactly in this form, then stop:
${plainText(calls)}

The results come back in this form:
${plainText(results)}

Call a tool only when it is needed; otherwise answer in plain text.`;
}
