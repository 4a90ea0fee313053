/**
 * SmolLM3. Hermes' calls in turns like Qwen's, after a system message with headings; results are user messages:
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonLiteral } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { thinkingWord, withoutThinkingWords } from "./thinking-words.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenCalls, turnsOf } from "./transcript.ts";

const STOPS = ["<|im_end|>", "<|end_of_text|>"];
const PRESERVED = ["<tool_call>", "</tool_call>", "<think>", "</think>"];

const createScanner = jsonTags(["<tool_call>"], { stops: STOPS, control: ["<|im_start|>"] });

// ---- Rendering

const t = markup(["<|im_start|>", ...STOPS, ...PRESERVED]);

interface Variant {
  /** The system message gives the date. */
  readonly dated: boolean;
  /** The system message is closed even if there are no tools. */
  readonly closes: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "smollm3-3b": { dated: true, closes: false },
  "unsloth-smollm3-3b": { dated: false, closes: true },
};

const NAME = "You are a helpful AI assistant named SmolLM, trained by Hugging Face.";
const THINKS =
  " Your role as an assistant involves thoroughly exploring questions through a systematic thinking process before providing the final precise and accurate solutions. This requires engaging in a comprehensive cycle of analysis, summarizing, exploration, reassessment, reflection, backtracking, and iteration to develop well-considered thinking process. Please structure your response into two main sections: Thought and Solution using the specified format: <think> Thought section </think> Solution section. In the Thought section, detail your reasoning process in steps. Each step should include detailed considerations such as analysing questions, summarizing relevant findings, brainstorming new ideas, verifying the accuracy of the current steps, refining any errors, and revisiting previous steps. In the Solution section, based on various attempts, explorations, and reflections from the Thought section, systematically present the final solution that you deem correct. The Solution section should be logical, accurate, and concise and detail necessary steps needed to reach the conclusion.";

/** In a system text: it replaces the template's own. */
const OVERRIDE = "/system_override";

function render(request: Request, { dated, closes }: Variant, { declared, thinking, now = new Date() }: Setting): Rendered {
  const { system = [], rest } = leadingSystem(request.messages);
  const given = textOf(system);
  const thinks = thinkingWord(given) ?? thinking ?? true;
  const custom = withoutThinkingWords(given).trimEnd();
  const today = now.toLocaleDateString("en-GB", { day: "2-digit", month: "long", year: "numeric" });
  const head = given.includes(OVERRIDE)
    ? [custom.replaceAll(OVERRIDE, "").trimEnd(), declared && ["\n\n", declared]]
    : [
        "## Metadata\n\nKnowledge Cutoff Date: June 2025\n",
        dated && `Today Date: ${today}\n`,
        `Reasoning Mode: ${thinks ? "/think" : "/no_think"}\n\n## Custom Instructions\n\n`,
        custom || [NAME, thinks && THINKS],
        "\n\n",
        declared && [declared, "\n\n"],
      ];
  const isClosed = closes || declared || given.includes(OVERRIDE);
  const open = t`<|im_start|>assistant\n${!thinks && t`<think>\n\n</think>\n`}`;
  return {
    messages: [
      t`<|im_start|>system\n${head}${isClosed && t`<|im_end|>\n`}`,
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => t`${open}${textThenCalls(said, callPieces, textOf(said).replace(/^\n+/, ""))}<|im_end|>\n`,
        results: resultPieces,
      }),
    ],
    open,
  };
}

const turn = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces => results.map(({ output }) => turn("user", resultText(output)));

const toolPieces = (tools: readonly Tool[]): Pieces => t`### Tools

You may call one or more functions to assist with the user query.
You are provided with function signatures within <tools></tools> XML tags:

<tools>
${tools.map((tool) => `${pythonLiteral(functionTool(tool))}\n`)}</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;

export const smollm3 = dialectOf({
  id: "smollm3",
  title: "SmolLM3",
  models: ["SmolLM3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: (text) => t`<think>\n${text}\n</think>\n`,
});
