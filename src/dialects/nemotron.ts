/**
 * NVIDIA's Nemotrons before the third: Nemotron Nano v2, with turns of its own, and the Llama-Nemotrons, with Llama's. Calls are a list
 * between tags, and so are results:
 *
 *     <TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</TOOLCALL>
 *     <TOOL_RESPONSE>[4 °C]</TOOL_RESPONSE>
 */
import type { Message, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { thinkingWord, withoutThinkingWords } from "./thinking-words.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { batched, dialogue, hoisted, resultText, textOf, thoughtAndText, turnsOf } from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<SPECIAL_12>", "<|eot_id|>"];

const createScanner = jsonTags(["<TOOLCALL>"], {
  stops: STOPS,
  control: ["<SPECIAL_10>", "<SPECIAL_11>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
});

// ---- Rendering

const t = markup([
  ...["<SPECIAL_10>", "<SPECIAL_11>", "<SPECIAL_12>", "<think>", "</think>", "<TOOLCALL>", "</TOOLCALL>"],
  ...["<AVAILABLE_TOOLS>", "</AVAILABLE_TOOLS>", "<TOOL_RESPONSE>", "</TOOL_RESPONSE>"],
]);

/** Joins the pieces that are not empty. */
const some = (pieces: readonly Pieces[], separator: string): Pieces =>
  joined(
    pieces.filter((piece) => piece),
    separator,
  );

/** How a family writes its turns. */
interface Variant extends Pick<Rendered, "bos" | "open"> {
  readonly system: (text: string, declared: Pieces, thinking: boolean | undefined) => Pieces;
  readonly user: (text: string) => Pieces;
  readonly said: (text: string, calls: readonly Pieces[]) => Pieces;
  readonly results: (results: readonly RenderableResult[]) => Pieces;
  /** The roles whose messages may switch thinking with `/think` and `/no_think`. */
  readonly switchedBy?: readonly Message["role"][];
  /** What follows the generation prompt, if the model is to think and if not. */
  readonly thinks?: Pieces;
  readonly silent?: Pieces;
  /** The text around the declared tools. */
  readonly words?: { readonly before: Pieces; readonly after: Pieces };
}

const BEFORE = "You can use the following tools to assist the user if required:\n";
const FORMAT = t`

If you decide to call any tool(s), use the following format:
<TOOLCALL>[{{"name": "tool_name1", "arguments": "tool_args1"}}, {{"name": "tool_name2", "arguments": "tool_args2"}}]</TOOLCALL>

`;

const VARIANTS: Readonly<Record<string, Variant>> = {
  "nemotron-nano-v2": {
    system: (text, declared) => t`<SPECIAL_10>System\n${some([text.trim(), declared], "\n\n")}\n\n`,
    user: (text) => t`<SPECIAL_11>User\n${withoutThinkingWords(text).trim()}\n`,
    said: (text, calls) => t`<SPECIAL_11>Assistant\n${some([text.trim(), ...calls], "\n")}\n<SPECIAL_12>\n`,
    results: (results) => t`<SPECIAL_11>User\n${resultPieces(results)}`,
    switchedBy: ["system", "developer", "user"],
    open: t`<SPECIAL_11>Assistant\n`,
    thinks: t`<think>\n`,
    silent: t`<think></think>`,
    words: {
      before: BEFORE,
      after: t`${FORMAT}The user will execute tool-calls and return responses from tool(s) in this format:
<TOOL_RESPONSE>[{{"tool_response1"}}, {{"tool_response2"}}]</TOOL_RESPONSE>

Based on the tool responses, you can call additional tools if needed, correct tool calls if any errors are found, or just respond to the user.`,
    },
  },
  "llama-nemotron-super-v1.5": {
    ...LLAMA3,
    system: (text, declared) => LLAMA3.turn("system", [text && `${text}\n\n`, declared]),
    user: (text) => LLAMA3.turn("user", text),
    said: (text, calls) => LLAMA3.turn("assistant", [text, calls]),
    results: (results) => LLAMA3.turn("tool", resultPieces(results)),
    switchedBy: ["system", "developer"],
    silent: t`<think>\n\n</think>\n\n`,
    words: {
      before: BEFORE,
      after: t`${FORMAT}Response from tool(s) will be returned in this format:
<TOOL_RESPONSE>[{{"response": "tool_response1"}}, {{"response": "tool_response2"}}]</TOOL_RESPONSE>

Based on the results returned by the tool(s), you can call additional tools if needed, correct tool calls if any errors are found, or just respond with the answer to the user.`,
    },
  },
  "llama-nemotron-nano-v1": {
    ...LLAMA3,
    system: (text, declared, thinking) => {
      const mode = thinking !== undefined && `detailed thinking ${thinking ? "on" : "off"}`;
      return LLAMA3.turn("system", some([mode, text.trim(), declared], "\n\n"));
    },
    user: (text) => LLAMA3.turn("user", text.trim()),
    said: (text, calls) => LLAMA3.turn("assistant", [text.trim(), calls]),
    results: (results) => results.map((result) => LLAMA3.turn("user", resultPieces([result]))),
  },
};

function render(request: Request, variant: Variant, { declared, thinking: asked }: Setting): Rendered {
  const { switchedBy = [] } = variant;
  const { system, rest } = hoisted(request);
  const heard = request.messages.flatMap((message) =>
    switchedBy.includes(message.role) && "content" in message ? textOf(message.content) : [],
  );
  const thinking = asked ?? heard.map(thinkingWord).findLast((word) => word !== undefined);
  const plain = thinkingWord(system) === undefined || switchedBy.length === 0 ? system : withoutThinkingWords(system).trim();
  return {
    ...variant,
    messages: [
      variant.system(plain, declared, thinking),
      dialogue(turnsOf(rest), {
        other: (_, content) => variant.user(textOf(content)),
        said: (said) => {
          const { thinking, text } = thoughtAndText(said);
          return variant.said(thinking ? text.trimStart() : text, batched(said, callPieces));
        },
        results: variant.results,
      }),
    ],
    open: [variant.open, thinking === false ? variant.silent : variant.thinks],
  };
}

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<TOOLCALL>[${calls.map((call) => callObject(call)).join(", ")}]</TOOLCALL>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  t`<TOOL_RESPONSE>[${results.map(({ output }) => resultText(output)).join(", ")}]</TOOL_RESPONSE>`;
const toolPieces = (tools: readonly Tool[], { words }: Variant): Pieces => [
  words?.before,
  t`<AVAILABLE_TOOLS>[${tools.map((tool) => pythonJson(functionObject(tool))).join(", ")}]</AVAILABLE_TOOLS>`,
  words?.after,
];

export const nemotron = dialectOf({
  id: "nemotron",
  title: "Nemotron",
  models: ["Nemotron Nano v2", "Llama-Nemotron"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<TOOLCALL>", "</TOOLCALL>", "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => t`<think>\n${text}\n</think>\n`,
});
