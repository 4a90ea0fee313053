/**
 * Tencent's Hunyuan-A13B and the dense Hunyuans that came with it. Calls are a list between tags; an answer may be in tags too:
 *
 *     <think>
 *     I need the weather.
 *     </think>
 *     <answer>
 *     <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
 *     </answer>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { answerBegin, answerEnd } from "./scan/steps.ts";
import { THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { batched, dialogue, leadingSystem, resultText, textOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|eos|>", "<|extra_0|>"];
const PRESERVED = ["<tool_calls>", "</tool_calls>", "<think>", "</think>"];

// ---- Scanning

/** "Assistant:", with which an answer begins if there are tools. */
const SPEAKER = "助手：";
const answer = answerBegin([
  SPEAKER,
  ...["<answer>", "<answer>\n"].flatMap((tag) => [tag, `\n${tag}`, tag + SPEAKER, `\n${tag}${SPEAKER}`]),
]);

const createScanner = jsonTags(["<tool_calls>"], {
  stops: STOPS,
  control: ["<|startoftext|>", "<|extra_4|>"],
  start: answer,
  thinking: { ...THINK_TAGS, behind: answer },
  inLine: { "\n</answer>": answerEnd, "</answer>": answerEnd },
});

// ---- Rendering

const t = markup(["<|startoftext|>", "<|extra_0|>", "<|extra_4|>", "<|eos|>", ...PRESERVED, "<tool_response>", "</tool_response>"]);

const FORM = t`<tool_calls>[{"name": "func_name1", "arguments": {"argument1": "value1", "argument2": "value2"}},...]</tool_calls>`;

function render(request: Request, _: unknown, { declared, thinking, now = new Date() }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const given = system && textOf(system);
  const head = declared ? [declared, reminder(given), dateTime(now)] : given;
  const [user, assistant] = declared ? ["用户：", SPEAKER] : ["", ""];
  return {
    messages: [
      head && t`<|startoftext|>${head}<|extra_4|>`,
      dialogue(turnsOf(rest), {
        other: (role, content, n) =>
          role === "system"
            ? t`${textOf(content)}<|extra_4|>`
            : t`${!declared && (n > 0 || !head) && t`<|startoftext|>`}${user}${textOf(content)}<|extra_0|>`,
        said: (said) => {
          const calls = batched(said, callPieces);
          return t`${calls.length === 0 && assistant}${textOf(said)}${calls}<|eos|>`;
        },
        results: (results) => results.map((result) => t`${declared ? resultPieces([result]) : resultText(result.output)}<|extra_0|>`),
      }),
    ],
    open: thinking === false && t`<think>\n\n</think>\n`,
  };
}

const DAYS = "日一二三四五六";
const dateTime = (now: Date): string => {
  const two = (n: number) => String(n).padStart(2, "0");
  const date = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join("-");
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(":");
  return `${date} ${time} 星期${DAYS[now.getDay()]}`;
};

/** After the tools: the request's system text, the form of calls once more, and the current time. */
const reminder = (rules: string | undefined): Pieces => {
  const form = t`\n如果你决定返回函数调用，请将其格式化为${FORM}，不得包含其他文本。`;
  const otherwise = "\n否则，请参考开头说的三种情况，以助手：开头进行回复。\n\n";
  if (rules === undefined) return [form, otherwise, "当前时间："];
  return [
    `\n额外要求：\n${rules}\n`,
    [form, "如果额外要求里有格式要求，请忽略，以此处为准。", otherwise],
    "如果额外要求里有时间信息，就以额外要求里的时间为准，否则，参考当前时间：",
  ];
};

const toolPieces = (
  tools: readonly Tool[],
): Pieces => t`你是一位函数组合专家。你会得到一个问题和一组可能的函数。根据问题，你需要进行一个或多个函数/工具调用以实现目的。
如果没有一个函数可以使用，请直接使用自然语言回复用户，以助手：开头。
如果给定的问题缺少函数所需的参数，请使用自然语言进行提问，向用户询问必要信息，以助手：开头。
如果调用结果已经足够回答用户问题，请对历史结果进行总结，使用自然语言回复用户，以助手：开头。
你应该只在工具调用部分返回函数调用。如果你决定调用任何函数，你必须将其格式化为${FORM}。你不应该在回复中包含任何其他文本。以下是你可以调用的函数列表，格式为JSON。

${pythonJson(tools.map(functionTool))}
`;

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<tool_calls>[${calls.map((call) => callObject(call)).join(", ")}]</tool_calls>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_response>${resultText(output)}</tool_response>`),
    "\n",
  );

export const hunyuan = dialectOf({
  id: "hunyuan",
  title: "Hunyuan",
  models: ["Hunyuan-A13B", "Hunyuan 0.5B to 7B"],
  variants: { "vllm-hunyuan-a13b": {} },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => t`<think>\n${text}\n</think>\n`,
});
