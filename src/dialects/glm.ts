/**
 * GLM-4.5 to 5.3. Keys and values are wrapped in tags, as raw text; up to 4.6 each is on a line of its own:
 *
 *     <think>I need the weather.</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>
 */
import type { Effort, JsonObject, Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import { callPieces, type Gap, glmScanner, PRESERVED, thought } from "./glm-syntax.ts";
import { pythonJson, pythonLiteral } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { dialectOf, functionObject, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, resultText, textOf, textParts, thinkingOf, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|user|>", "<|observation|>", "<|endoftext|>"];
const TURNS = ["[gMASK]", "<sop>", "<|system|>", "<|assistant|>"];

/** LongCat writes the same calls, with a prefix in the tags, or JSON between its tags. */
const createScanner = glmScanner({ stops: [...STOPS, "</longcat_s>"], control: TURNS }, ["", "longcat_"]);

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ...PRESERVED, "/nothink", "<tool_response>", "</tool_response>", "<eop>", "[MASK]", "[sMASK]"]);

interface Variant {
  readonly gap: Gap;
  /** What is written instead of thinking; `noneYet`: in the current turn, if that differs. */
  readonly none: Pieces;
  readonly noneYet?: Pieces;
  /** The prompt opens thinking. Otherwise the model does, and `/nothink` after user messages switches it off. */
  readonly opens: boolean;
  /** Whether history keeps thinking. `wish`: the request's `thinking.keep`. */
  readonly keeps: (wish: boolean | undefined) => boolean;
  readonly tool: (tool: Tool) => JsonObject;
  /** Thinking is written untrimmed, and a result of several parts as one text. */
  readonly plain?: true;
  /** How the system turn names each effort. */
  readonly efforts?: Readonly<Record<Effort, string>>;
  /** Thinking cannot be switched off. */
  readonly alwaysThinks?: true;
}

const V47: Variant = { gap: "", none: t`</think>`, opens: true, keeps: (wish = false) => wish, tool: functionTool };
const V5: Variant = { ...V47, tool: ({ strict: _, ...tool }) => functionObject(tool), plain: true };
const V52: Variant = {
  ...V5,
  none: t`<think></think>`,
  efforts: { minimal: "High", low: "High", medium: "High", high: "High", xhigh: "Max", max: "Max" },
};

const VARIANTS: Readonly<Record<string, Variant>> = {
  "glm-4.7-flash": V47,
  "glm-4.6": { gap: "\n", none: t`<think></think>`, opens: false, keeps: () => false, tool: functionTool },
  "glm-5.1": { ...V5, noneYet: t`<think></think>` },
  "glm-5.2": V52,
  "glm-5.3": {
    ...V52,
    keeps: (wish = true) => wish,
    efforts: { minimal: "Low", low: "Low", medium: "High", high: "High", xhigh: "Max", max: "Max" },
    alwaysThinks: true,
  },
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { gap, none, noneYet = none, opens, efforts, alwaysThinks } = variant;
  const unwished = options.thinking === false;
  const silent = unwished && !alwaysThinks;
  const effort = unwished ? "minimal" : (request.thinking?.effort ?? "max");
  const keeps = variant.keeps(request.thinking?.keep);
  const said = (parts: readonly Part[], current: boolean): Pieces => {
    const { thinking, text } = thoughtAndText(parts);
    const words = text.trim();
    const thoughts = variant.plain ? thinkingOf(parts) || thinking : thinking.trim();
    return [
      t`<|assistant|>${gap}${(current || keeps) && thinking ? thought(thoughts) : current && !silent ? noneYet : none}`,
      words && [gap, words],
      writtenCalls(parts, (call) => callPieces(call, gap)).map((call) => [gap, call]),
    ];
  };
  return {
    messages: [
      t`[gMASK]<sop>${efforts && !silent && t`<|system|>Reasoning Effort: ${efforts[effort]}`}`,
      options.declared,
      dialogue(turnsOf(request.messages), {
        other: (role, content) => {
          const text = textOf(content);
          if (role === "system") return t`<|system|>${gap}${text}`;
          return t`<|user|>${gap}${text}${silent && !opens && !text.endsWith("/nothink") && t`/nothink`}`;
        },
        said,
        results: (results) =>
          results.map((result, i) => [(i === 0 || partsOf(result, variant)) && t`<|observation|>`, resultPieces([result], variant)]),
      }),
    ],
    open: t`<|assistant|>${silent ? [gap, none] : opens && t`<think>`}`,
  };
}

/**
 * Before GLM-5, a list of text parts becomes one result per part, each as Python prints it, behind a mark of its own: the models were
 * trained on that.
 */
const partsOf = ({ output }: RenderableResult, { plain }: Variant) => (plain ? undefined : textParts(output));

const resultPieces = (results: readonly RenderableResult[], variant: Variant): Pieces =>
  results
    .flatMap((result) => partsOf(result, variant)?.map(pythonLiteral) ?? resultText(result.output))
    .map((text) => t`${variant.gap}<tool_response>${variant.gap}${text}${variant.gap}</tool_response>`);

const toolPieces = (tools: readonly Tool[], { gap, tool: written }: Variant): Pieces => t`<|system|>
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(written(tool))}\n`)}</tools>

For each function call, output the function name and arguments within the following XML format:
<tool_call>{function-name}${gap}${[1, 2].map(
  (n) => t`<arg_key>{arg-key-${`${n}`}}</arg_key>${gap}<arg_value>{arg-value-${`${n}`}}</arg_value>${gap}`,
)}...${gap}</tool_call>`;

export const glm = dialectOf({
  id: "glm",
  title: "GLM",
  models: ["GLM-4.5", "GLM-4.6", "GLM-4.7", "GLM-5"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, variant) => calls.map((call) => callPieces(call, variant.gap)),
  results: resultPieces,
  thinking: thought,
});
