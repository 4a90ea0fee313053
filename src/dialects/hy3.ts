/**
 * Tencent Hy3 and Hy4. GLM's keys and values in a block, each on a line of its own. All tags have a suffix, which is another one
 * in Hy4; only the tags of Hy3's preview have none:
 *
 *     <tool_calls:opensource>
 *     <tool_call:opensource>get_weather<tool_sep:opensource>
 *     <arg_key:opensource>city</arg_key:opensource>
 *     <arg_value:opensource>Paris</arg_value:opensource>
 *     </tool_call:opensource>
 *     </tool_calls:opensource>
 */
import type { Effort, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, pythonJson } from "./print.ts";
import { type Markup, markup, type Pieces } from "./prompt.ts";
import { element } from "./scan/heads.ts";
import { think } from "./scan/steps.ts";
import { each, scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { batched, callsOf, dialogue, hoisted, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const suffixedBy = (suffix: string) => (token: string) => token.replace(/｜?>$/, `${suffix}$&`);
const suffixed = suffixedBy(":opensource");
/** The last is what Hy4 writes, and Hy3 on some servers. */
const SPELLINGS = [suffixed, String, suffixedBy(":6124c78e")];
const spelled = (...tokens: readonly string[]): string[] => SPELLINGS.flatMap((spell) => tokens.map((token) => spell(token)));

const STOP = "<｜hy_eos｜>";
const PREVIEW_BOS = "<｜hy_begin▁of▁sentence｜>";
const TURNS = ["<｜hy_begin_of_sentence｜>", "<｜hy_User｜>", "<｜hy_Assistant｜>", "<｜reasoning_mode｜>", "<｜hy_pad｜>"];
const TAGS = [
  ...["<tool_calls>", "</tool_calls>", "<tool_call>", "</tool_call>", "<tool_sep>"],
  ...["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>", "</think>"],
];
const STOPS = [suffixed(STOP), STOP, "<eos:6124c78e>"];

// ---- Scanning

const calls = SPELLINGS.map((spell) => {
  const [block, call, key, value] = [spell("<tool_calls>"), spell("<tool_call>"), spell("<arg_key>"), spell("<arg_value>")];
  const [callClose, valueClose] = [spell("</tool_call>"), spell("</arg_value>")];
  const ends = new Marks([spell("<tool_sep>"), valueClose, key, callClose]); // Hy4 writes no separator, small quants the wrong tag
  const steps = tagCalls({
    open: [block],
    close: [spell("</tool_calls>")],
    calls: [{ open: call, head: { ends, endsInside: ends, next: [key, callClose], read: (name) => ({ name: name.trim() }) } }],
    callClose,
    params: [{ open: key, head: element(spell("</arg_key>"), value), value, close: valueClose }],
    stops: STOPS,
    bareNames: "never",
  });
  return { block, call, steps };
});

const createScanner = scannerOf({
  calls: Object.fromEntries(calls.map(({ block, steps }) => [block, steps.block])),
  closers: spelled("</tool_calls>"),
  thinking: { open: each(spelled("<think>"), think), close: spelled("</think>"), stray: "text" },
  stops: STOPS,
  control: [...spelled(...TURNS), PREVIEW_BOS, suffixed("</think>"), "</think:6124c78e>"],
  callsInThinking: "promote-if-unclosed",
  inLine: Object.fromEntries(calls.map(({ call, steps }) => [call, steps.bare])),
});

// ---- Rendering

const TOKENS = [...TURNS, ...TAGS, "<tool_responses>", "</tool_responses>", "<tool_response>", "</tool_response>"];
const t = markup([...spelled(...TOKENS), ...STOPS, PREVIEW_BOS]);
const TOKEN = /<(?:\/?(?:arg|tool)_\w+|\/?think|｜\w+｜)>/g;
const respelled = (text: string): string => text.replace(TOKEN, suffixed);

interface Variant {
  readonly t: Markup;
  readonly bos: Pieces;
  /** Whether history keeps the thinking of the current turn or of another. `wish`: the request's `thinking.keep`. */
  readonly keeps: (current: boolean, hasTools: boolean, wish: boolean | undefined) => boolean;
}

const withSuffix: Markup = (literals, ...data) => t(Object.assign(literals.map(respelled), { raw: literals.raw }), ...data);
const VARIANTS: Readonly<Record<string, Variant>> = {
  hy3: { t: withSuffix, bos: withSuffix`<｜hy_begin_of_sentence｜>`, keeps: (current, hasTools, wish = hasTools) => current || wish },
  "hy3-preview": { t, bos: t`<｜hy_begin▁of▁sentence｜>`, keeps: (current, hasTools, wish = false) => wish && current && hasTools },
};

/** The template knows two efforts, and none. */
const EFFORTS: Readonly<Record<Effort, string>> = { minimal: "low", low: "low", medium: "high", high: "high", xhigh: "high", max: "high" };

function render(request: Request, { t, bos, keeps }: Variant, options: Setting): Rendered {
  const { messages, tools = [], thinking = {} } = request;
  const { system, rest } = hoisted(request, "");
  const thinks = options.thinking === true;
  const last = messages.at(-1);
  /** Whether this is an answer at the end of the conversation, which the model is to continue. */
  const isOpen = (said: readonly Part[]): boolean => last?.role === "assistant" && last.content === said && callsOf(said).length === 0;
  return {
    bos,
    messages: [
      [system, system && options.declared && "\n\n", options.declared],
      t`<｜reasoning_mode｜>reasoning_effort:${thinks ? EFFORTS[thinking.effort ?? "high"] : "no_think"}`,
      dialogue(turnsOf(rest), {
        other: (_, content) => t`<｜hy_User｜>${textOf(content)}`,
        said: (said, current) => [
          t`<｜hy_Assistant｜><think>${keeps(current, tools.length > 0, thinking.keep) && thinkingOf(said)}</think>${textOf(said)}`,
          batched(said, (calls) => callPieces(calls, t)),
          !isOpen(said) && t`<｜hy_eos｜>`,
        ],
        results: (results) => resultPieces(results, t),
      }),
    ],
    open: last?.role !== "assistant" && t`<｜hy_Assistant｜><think>${!thinks && t`</think>`}`,
  };
}

const callPieces = (calls: readonly RenderableCall[], t: Markup): Pieces =>
  t`<tool_calls>\n${calls.map(
    (call) =>
      t`<tool_call>${call.name}<tool_sep>\n${argumentTexts(call, /<\/?(?:arg_|tool_)/).map(
        ({ key, text }) => t`<arg_key>${key}</arg_key>\n<arg_value>${text}</arg_value>\n`,
      )}</tool_call>\n`,
  )}</tool_calls>`;

const resultPieces = (results: readonly RenderableResult[], t: Markup): Pieces =>
  t`<tool_responses>\n${results.map(({ output }) => t`<tool_response>\n${resultText(output)}\n</tool_response>\n`)}</tool_responses>`;

const toolPieces = (tools: readonly Tool[], t: Markup): Pieces => t`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For function call returns, you should first print <tool_calls>
For each function call, you should return object like:
<tool_call>{function-name}<tool_sep>
${[1, 2].map((n) => t`<arg_key>{arg-key-${`${n}`}}</arg_key>\n<arg_value>{arg-value-${`${n}`}}</arg_value>\n`)}...
</tool_call>
At the end of function call returns, you should print </tool_calls>`;

export const hy3 = dialectOf({
  id: "hy3",
  title: "Tencent Hy3",
  models: ["Hy3", "Hy4"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: spelled(...TAGS),
  createScanner,
  render,
  tools: (tools, { t }) => toolPieces(tools, t),
  calls: (calls, { t }) => callPieces(calls, t),
  results: (results, { t }) => resultPieces(results, t),
  thinking: (text) => withSuffix`<think>${text}</think>`,
});
