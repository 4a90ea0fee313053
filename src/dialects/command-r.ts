/**
 * Cohere's Command R and Command R+. Calls are a list in a code block after the word `Action:`:
 *
 *     Action:
 *     ```json
 *     [
 *         {
 *             "tool_name": "get_weather",
 *             "parameters": {
 *                 "city": "Paris"
 *             }
 *         }
 *     ]```
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Request, Tool } from "../core/nouns.ts";
import { STOPS, TURNS, t, turnPieces } from "./cohere-syntax.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsTree, compactJson, prettyJson } from "./print.ts";
import { type Pieces, trimmed } from "./prompt.ts";
import { jsonCalls, release } from "./scan/json-calls.ts";
import { listedOf, perhaps } from "./scan/json-places.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { batched, contentPieces, dialogue, leadingSystem, resultText, textOf, turnsOf } from "./transcript.ts";

const ACTION = "Action:";
const FENCE = "```";

// ---- Scanning

const calls = jsonCalls({ marks: [FENCE, ...STOPS] });

const createScanner = scannerOf({
  calls: { [ACTION]: perhaps([`${FENCE}json`, FENCE], listedOf(calls), release) },
  closers: [FENCE],
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

/** The system text of a request with tools that has none. */
const VARIANTS = {
  "command-r-plus": `## Task and Context
You help people answer their questions and other requests interactively. You will be asked a very wide array of requests on all kinds of topics. You will be equipped with a wide range of search engines or similar tools to help you, which you use to research your answer. You should focus on serving the user's needs as best you can, which will be wide-ranging.

## Style Guide
Unless the user asks for a different style of answer, you should answer in full sentences, using proper grammar and spelling.`,
};

const RULES = `# Safety Preamble
The instructions in this section override those in the task description and style guide sections. Don't answer questions that are harmful or immoral.

# System Preamble
## Basic Rules
You are a powerful conversational AI trained by Cohere to help people. You are augmented by a number of tools, and your job is to use and consume the output of these tools to best help the user. You will see a conversation history between yourself and a user, ending with an utterance from the user. You will then see a specific instruction instructing you what kind of response to generate. When you answer the user's requests, you cite your sources in your answers, according to those instructions.

# User Preamble
`;

/** Comes after the conversation. */
const FORMAT = `Write 'Action:' followed by a json-formatted list of actions that you want to perform in order to produce a good response to the user's last input. You can use any of the supplied tools any number of times, but you should aim to execute the minimum number of necessary actions for the input. You should use the \`directly-answer\` tool if calling the other tools is unnecessary. The list of actions you want to call should be formatted as a list of json objects, for example:
\`\`\`json
[
    {
        "tool_name": title of the tool in the specification,
        "parameters": a dict of parameters to input into the tool as they are defined in the specs, or {} if it takes no parameters
    }
]\`\`\``;

/** There are two templates: one for requests with tools, and one for those without, which adds no text to the request's own. */
function render(request: Request, fallback: string, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const rules = declared ? [RULES, system ? textOf(system) : fallback, "\n\n", declared] : system && textOf(system);
  return {
    bos: t`<BOS_TOKEN>`,
    messages: [
      rules !== undefined && turnPieces("system", rules),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, trimmed(contentPieces(content, {}))),
        said: (said) => {
          const text = textOf(said).trim();
          const called = batched(said, callPieces);
          // The template does not close a turn with calls.
          return called.length > 0 ? t`<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>${text}\n${called}\n` : turnPieces("assistant", text);
        },
        results: resultPieces,
      }),
      declared && turnPieces("system", FORMAT),
    ],
    open: t`<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>`,
  };
}

const toolPieces = (tools: readonly Tool[]): Pieces => `## Available Tools
Here is a list of tools that you have available to you:

${tools.map(pythonFunction).join("\n\n")}`;

/** A tool as a Python function without a body. */
function pythonFunction({ name, description = "", parameters = {} }: Tool): string {
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const params = Object.entries(isObject(parameters.properties) ? parameters.properties : {}).map(([key, value]) => {
    const schema = isObject(value) ? value : {};
    const isOptional = !required.includes(key);
    const type = isOptional ? `Optional[${pythonType(schema)}]` : pythonType(schema);
    const about = typeof schema.description === "string" ? schema.description : "";
    return { signature: `${key}: ${type}${isOptional ? " = None" : ""}`, line: `\n        ${key} (${type}): ${about}` };
  });
  return `\`\`\`python
def ${name}(${params.map(({ signature }) => signature).join(", ")}) -> List[Dict]:
    """${description}${params.length > 0 ? `\n\n    Args:${params.map(({ line }) => line).join("")}` : ""}
    """
    pass
\`\`\``;
}

const TYPES: Readonly<Record<string, string>> = { string: "str", number: "float", integer: "int", boolean: "bool", null: "None" };

/** What the template intends: its own code fails on lists, objects and schemas without a type. */
function pythonType({ type, items, additionalProperties }: JsonObject): string {
  const inner = (schema: Json | undefined): string => pythonType(isObject(schema) ? schema : {});
  if (Array.isArray(type)) return `Union[${type.map((one) => inner({ type: one })).join(",")}]`;
  if (type === "array") return `List[${inner(items)}]`;
  if (type === "object") return `Dict[str, ${inner(additionalProperties)}]`;
  return (typeof type === "string" && TYPES[type]) || "Any";
}

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  `${ACTION}\n${FENCE}json\n[\n${calls.map(callText).join(",\n")}\n]${FENCE}`;

const callText = (call: RenderableCall): string => `    {
        "tool_name": ${compactJson(call.name)},
        "parameters": ${prettyJson(argumentsTree(call)).replaceAll("\n", "\n        ")}
    }`;

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => turnPieces("system", `<results>\n${resultText(output).trim()}</results>`));

export const commandR = dialectOf({
  id: "command-r",
  title: "Command R",
  models: ["Command R", "Command R+"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: () => [], // there are no marks for it
});
