/**
 * Ling 3 and Ring 2.6. GLM's calls, in turns of their own:
 *
 *     <role>ASSISTANT</role>
 *     <think>I need the weather.</think><tool_call>get_weather
 *     <arg_key>city</arg_key>
 *     <arg_value>Paris</arg_value>
 *     </tool_call><|role_end|>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { glmScanner, PRESERVED, thought } from "./glm-syntax.ts";
import { argumentTexts, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenCalls, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<|role_end|>", "<|endoftext|>"];
const ROLE = ["<role>", "</role>"];

/** The role tags are not control tokens: a model that writes about XML means them as text. */
const createScanner = glmScanner({ stops: STOPS, turns: ROLE });

// ---- Rendering

const t = markup([...ROLE, ...STOPS, ...PRESERVED, "<tool_response>", "</tool_response>"]);

/** The sentence about thinking in the system turn, unless the request's system text has one of them. */
const VARIANTS = { "ling-3.0": { on: "detailed thinking on", off: "detailed thinking off" } };

function render(request: Request, modes: (typeof VARIANTS)["ling-3.0"], options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const thinks = options.thinking ?? true;
  const text = textOf(system ?? []);
  const mode = !Object.values(modes).some((words) => text.includes(words)) && (thinks ? modes.on : modes.off);
  const keeps = request.thinking?.keep ?? true;
  return {
    messages: [
      turn("SYSTEM", [system && [text, (options.declared || mode) && "\n"], options.declared && [options.declared, "\n"], mode]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role === "user" ? "HUMAN" : "SYSTEM", textOf(content)),
        said: (said, current) => {
          const { thinking, text } = thoughtAndText(said);
          const words = thinking ? text.replace(/^\n+/, "") : text;
          return turn("ASSISTANT", ["\n", thought(current || keeps ? thinking : ""), textThenCalls(said, callPieces, words)]);
        },
        results: (results) => turn("OBSERVATION", ["\n", answers(results)]),
      }),
    ],
    open: t`<role>ASSISTANT</role>\n<think>${!thinks && t`</think>`}`,
  };
}

const turn = (role: string, text: Pieces): Pieces => t`<role>${role}</role>${text}<|role_end|>`;

const callPieces = (call: RenderableCall): Pieces =>
  t`<tool_call>${call.name}\n${argumentTexts(call, /<\/?(?:arg_|tool_call)/).map(
    ({ key, text }) => t`<arg_key>${key}</arg_key>\n<arg_value>${text}</arg_value>`,
  )}\n</tool_call>`;

const answers = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_response>\n${resultText(output)}\n</tool_response>`),
    "\n",
  );

const toolPieces = (tools: readonly Tool[]): Pieces => t`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

If none of the functions can be used, point it out. If the given question lacks the parameters required by the function, also point it out.
If you need to use a function, for each function call, output the function name and arguments within the following XML format:
<tool_call>{function-name}
${[1, 2].map((n) => t`<arg_key>{arg-key-${`${n}`}}</arg_key>\n<arg_value>{arg-value-${`${n}`}}</arg_value>\n`)}...
</tool_call>`;

export const ling3 = dialectOf({
  id: "ling3",
  title: "Ling 3",
  models: ["Ling 3", "Ring 2.6"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: answers,
  thinking: thought,
});
