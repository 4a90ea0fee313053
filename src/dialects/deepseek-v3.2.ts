/**
 * DeepSeek-V3.2:
 *
 *     <｜DSML｜function_calls>
 *     <｜DSML｜invoke name="get_weather">
 *     <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
 *     <｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>
 *     </｜DSML｜invoke>
 *     </｜DSML｜function_calls>
 */
import type { Message, Request, Tool } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import { callBlock, createScanner, exampleBlock, PRESERVED, STOPS, saidPieces, schemaLines, type Tags, t, thought } from "./dsml.ts";
import type { Pieces } from "./prompt.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { hoisted, resultText, type Turn, textOf, thinkingOf, turnsOf } from "./transcript.ts";

interface Variant extends Tags {
  /** How the generation prompt opens an answer without thinking. */
  readonly none: Pieces;
  /** An answer is opened behind every user message and all results, even if none follows, and tools follow a system text, even if it is empty. */
  readonly always?: true;
}

const TAGS = { word: "function_calls" };
/** llama.cpp's template, and what the vendor's own encoder writes. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  "deepseek-v3.2": { ...TAGS, none: t`<think></think>` },
  "deepseek-ai-v3.2": { ...TAGS, none: t`</think>`, nothing: "\n", always: true },
};
/** What opens an assistant message after a user message and after results; after another assistant message there is no mark. */
const OPENS: Partial<Record<Message["role"], Pieces>> = { user: t`<｜Assistant｜>`, tool: "\n\n" };

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { system, rest } = hoisted(request);
  const { declared } = options;
  const thinks = options.thinking ?? false;
  const turns = turnsOf(rest);
  const opens = OPENS[rest.at(-1)?.role ?? "system"];
  /** What opens the answer that the user did not wait for. */
  const skipped = (open: Pieces, next: Turn | undefined): Pieces =>
    variant.always && next && next.side !== "assistant" && t`${open}</think>`;
  return {
    bos: t`<｜begin▁of▁sentence｜>`,
    messages: [
      system,
      declared && [(system || variant.always) && "\n\n", declared],
      turns.map((turn, n) => {
        if (turn.side !== "assistant") return t`<｜User｜>${textOf(turn.content)}${skipped(OPENS.user, turns[n + 1])}`;
        return turn.rounds.map(({ said, results }, i) => {
          const before = turn.rounds[i - 1];
          const open = before ? before.results.length > 0 && OPENS.tool : turns[n - 1] && OPENS.user;
          const thinking = said && thinks && turn.current ? thought(thinkingOf(said)) : t`</think>`;
          return [
            said && [open ? [open, thinking] : [], saidPieces(said, (calls) => callBlock(calls, variant))],
            results.length > 0 && ["\n\n", resultPieces(results), i === turn.rounds.length - 1 && skipped(OPENS.tool, turns[n + 1])],
          ];
        });
      }),
    ],
    open: opens && [opens, thinks ? t`<think>` : variant.none],
  };
}

const toolPieces = (tools: readonly Tool[]): Pieces => t`## Tools

You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the user:
${exampleBlock("$FUNCTION_NAME", TAGS)}

String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types (numbers, booleans, arrays, objects).

If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. Here is an example:

<｜DSML｜function_calls>
...
</｜DSML｜function_calls>

<function_results>
...
</function_results>

<think>...thinking about results</think>

Here are the functions available in JSONSchema format:
<functions>
${schemaLines(tools)}</functions>
`;

const resultPieces = (results: readonly RenderableResult[]): Pieces => [
  "<function_results>\n",
  results.map(({ output }) => `<result>${resultText(output)}</result>\n`),
  "</function_results>",
];

export const deepseekV32 = dialectOf({
  id: "deepseek-v3.2",
  title: "DeepSeek V3.2",
  models: ["DeepSeek-V3.2", "DeepSeek-V3.2-Speciale"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callBlock,
  results: resultPieces,
  thinking: thought,
});
