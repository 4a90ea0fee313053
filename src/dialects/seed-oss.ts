/**
 * Seed-OSS. Qwen3-Coder's tags in a block of its own, with each value on the line of its tags:
 *
 *     <seed:think>I need the weather.</seed:think>
 *     <seed:tool_call>
 *     <function=get_weather>
 *     <parameter=city>Paris</parameter>
 *     </function>
 *     </seed:tool_call>
 */
import { isObject } from "../core/json.ts";
import type { JsonObject, Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, tagName, valueText } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { NAME } from "./scan/heads.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, thinkingOf, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<seed:eos>"];
const PRESERVED = ["<seed:tool_call>", "</seed:tool_call>", "<seed:think>", "</seed:think>"];

// ---- Scanning

const calls = tagCalls({
  open: ["<seed:tool_call>"],
  close: ["</seed:tool_call>"],
  calls: [{ open: "<function=", head: NAME }],
  callClose: "</function>",
  params: [{ open: "<parameter=", head: NAME, close: "</parameter>" }],
  stops: STOPS,
  bareNames: "never",
});

const createScanner = scannerOf({
  calls: { "<seed:tool_call>": calls.block, "<function=": calls.bare },
  closers: ["</seed:tool_call>"],
  thinking: { open: { "<seed:think>": think }, close: ["</seed:think>"], stray: "control" },
  stops: STOPS,
  control: ["<seed:bos>", "<seed:pad>", "<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"],
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([...["<seed:bos>", ...STOPS, "<seed:pad>", ...PRESERVED], ...["<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"]]);

const VARIANTS = {
  "seed-oss": "You are Doubao, a helpful AI assistant. You may call one or more functions to assist with the user query.",
};

function render(request: Request, fallback: string, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const silent = options.thinking === false;
  const { declared } = options;
  const { budget = 0 } = request.thinking ?? {};
  return {
    messages: [
      (system || declared) && turn("system", [system ? textOf(system) : fallback, declared]),
      silent ? turn("system", NO_THINKING) : budget > 0 && turn("system", budgetText(budget)),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => t`<seed:bos>assistant${saidPieces(said)}<seed:eos>`,
        results: resultPieces,
      }),
    ],
    open: t`<seed:bos>assistant\n${silent && NO_THOUGHT}`,
  };
}

const turn = (role: string, text: Pieces): Pieces => t`<seed:bos>${role}\n${text}<seed:eos>`;

const NO_THINKING =
  "You are an intelligent assistant that can answer questions in one step without the need for reasoning and thinking, that is, your thinking budget is 0. Next, please skip the thinking process and directly start answering the user's questions.\n";

/** The most tokens of each step of budgets, and how many tokens its thinking may go on without counting them. */
const STEPS = [
  [512, 128],
  [1024, 256],
  [4096, 512],
] as const;

function budgetText(budget: number): string {
  const [, interval] = STEPS.find(([most]) => budget <= most) ?? [0, 1024];
  return `You are an intelligent assistant with reflective ability. In the process of thinking and reasoning, you need to strictly follow the thinking budget, which is ${budget}. That is, you need to complete your thinking within ${budget} tokens and start answering the user's questions. You will reflect on your thinking process every ${interval} tokens, stating how many tokens have been used and how many are left.\n`;
}

const NO_THOUGHT = t`<seed:think>
<seed:cot_budget_reflect>The current thinking budget is 0, so I will directly start answering the question.</seed:cot_budget_reflect>
</seed:think>`;

/** Thinking, text and calls each begin a line; an empty line separates text and calls. */
function saidPieces(said: readonly Part[]): Pieces {
  const thinking = thinkingOf(said).trim();
  const text = textOf(said).trim();
  const calls = writtenCalls(said, callPieces);
  return [thinking && ["\n", thought(thinking)], text && ["\n", text, calls.length > 0 ? "\n" : []], calls.map((call) => ["\n", call])];
}

const callPieces = (call: RenderableCall): Pieces => t`<seed:tool_call>
<function=${tagName(call.name)}>
${argumentTexts(call, /<\/?(?:parameter|function)/, valueText).map(({ key, text }) => `<parameter=${tagName(key)}>${text}</parameter>\n`)}</function>
</seed:tool_call>`;

const TYPES = new Map([
  ["string", "str"],
  ["number", "int"],
  ["integer", "int"],
  ["boolean", "bool"],
  ["array", "list"],
]);
const typeName = ({ type }: JsonObject): string => (typeof type === "string" && TYPES.get(type)) || "Any";

/** A tool as a Python function with a docstring. */
function toolText({ name, description = "", parameters = {} }: Tool): string {
  const { properties = {}, required } = parameters;
  const params = Object.entries(properties ?? {}).map(([key, schema]) => [key, isObject(schema) ? schema : {}] as const);
  const needed = ([key]: readonly [string, JsonObject]) => Array.isArray(required) && required.includes(key);
  const lines = params.map((param) => {
    const [key, schema] = param;
    return `\n    - ${key} (${typeName(schema)}) [${needed(param) ? "必填" : "选填"}]: ${schema.description ?? ""}`;
  });
  return `

Function:
def ${name}(${params.map(([key, schema]) => `${key}: ${typeName(schema)}`).join(",")}):
    """
    ${description.trim()}

${lines.length > 0 ? "    Args:" : ""}${lines.join("")}

    """`;
}

const toolPieces = (tools: readonly Tool[]): Pieces => t`${tools.map(toolText)}
工具调用请遵循如下格式:
<seed:tool_call>
<function=example_function_name>
<parameter=example_parameter_1>value_1</parameter>
<parameter=example_parameter_2>This is the value for the second parameter
that can span
multiple lines</parameter>
</function>
</seed:tool_call>
`;

const resultPieces = (results: readonly RenderableResult[]): Pieces => results.map(({ output }) => turn("tool", resultText(output)));
const thought = (text: string): Pieces => t`<seed:think>${text}</seed:think>`;

export const seedOss = dialectOf({
  id: "seed-oss",
  title: "Seed-OSS",
  models: ["Seed-OSS"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: thought,
});
