/**
 * Functionary v3.1: a Llama 3.1 that writes calls as in Meta's prompt for custom tools, with a name and a JSON object:
 *
 *     <function=get_weather>{"city": "Paris"}</function>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { nameThenObject } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { callsOf, dialogue, resultText, textOf, turnsOf, writtenCalls } from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"];
const TURNS = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|python_tag|>"];

// ---- Scanning

const calls = jsonCalls({ marks: ["<function=", "</function>", ...THINK_TAGS.close, ...STOPS] });

const createScanner = scannerOf({
  calls: { "<function=": nameThenObject(calls, ">") },
  closers: ["</function>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS]);

const VARIANTS = { "functionary-medium-v3.1": LLAMA3 };

function render({ messages }: Request, { bos, turn, open }: typeof LLAMA3, { declared }: Setting): Rendered {
  return {
    bos,
    messages: [
      turn("system", ["\nCutting Knowledge Date: December 2023\n\n", declared]),
      dialogue(turnsOf(messages), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => [open, textOf(said), writtenCalls(said, callPieces), callsOf(said).length > 0 ? t`<|eom_id|>` : t`<|eot_id|>`],
        results: resultPieces,
      }),
    ],
    open,
  };
}

const callPieces = (call: RenderableCall): Pieces => `<function=${call.name}>${argumentsText(call)}</function>`;

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => LLAMA3.turn("ipython", resultText(output)));

const toolPieces = (tools: readonly Tool[]): Pieces => `
You have access to the following functions:

${tools.map((tool) => `Use the function '${tool.name}' to '${tool.description ?? ""}'\n${pythonJson(functionObject(tool))}\n\n`).join("")}
Think very carefully before calling functions.
If a you choose to call a function ONLY reply in the following format:
<{start_tag}={function_name}>{parameters}{end_tag}
where

start_tag => \`<function\`
parameters => a JSON dict with the function argument name as key and function argument value as value.
end_tag => \`</function>\`

Here is an example,
<function=example_function_name>{"example_name": "example_value"}</function>

Reminder:
- If looking for real time information use relevant functions before falling back to brave_search
- Function calls MUST follow the specified format, start with <function= and end with </function>
- Required parameters MUST be specified
- Only call one function at a time
- Put the entire function call reply on one line

`;

export const functionaryV31 = dialectOf({
  id: "functionary-v3.1",
  title: "Functionary v3.1",
  models: ["functionary-small-v3.1", "functionary-medium-v3.1"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => calls.map(callPieces),
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
