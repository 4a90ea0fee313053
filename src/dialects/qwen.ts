/**
 * What Hermes' calls and Qwen3-Coder's have in common: Qwen's turns and thinking, and the tags around a call and around a result.
 *
 *     <|im_start|>user
 *     <tool_response>
 *     4 °C
 *     </tool_response><|im_end|>
 */
import type { Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { speak } from "./scan/steps.ts";
import { type Spec, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { functionTool } from "./tools.ts";
import { type Content, contentPieces } from "./transcript.ts";

export const STOPS = ["<|im_end|>", "<|endoftext|>"];
export const PRESERVED = ["<tool_call>", "</tool_call>", "<think>", "</think>"];

/** All but the first belong to other vendors' models. */
const CLOSERS = ["</tool_call>", "</longcat_tool_call>", "</zyphra_tool_call>", "</tool_calls>", "</TOOLCALL>"];

export const MARKS = ["<tool_call>", ...CLOSERS, "</think>", ...STOPS];

/** After a tag: a call as a JSON object, or a list of them. */
export const json = jsonCalls({ marks: MARKS });

/** `first`: the step at the beginning of an answer. */
export const scannerOfCalls = (calls: Spec["calls"], first = speak) =>
  scannerOf({
    calls,
    closers: CLOSERS,
    thinking: { ...THINK_TAGS, behind: first },
    stops: STOPS,
    start: first,
    control: ["<|im_start|>"],
    callsInThinking: "promote-if-unclosed",
  });

export const t = markup(["<|im_start|>", ...STOPS, ...PRESERVED, "<tool_response>", "</tool_response>"]);

const vision = markup(["<|vision_start|>", "<|image_pad|>", "<|video_pad|>", "<|vision_end|>"]);
const VISION = { image: "<|image_pad|>", video: "<|video_pad|>" };

/** Text, images and videos in their order. */
export const shownContent = (content: Content): Pieces =>
  contentPieces(content, VISION, (placeholder) => vision`<|vision_start|>${placeholder}<|vision_end|>`);

export const turnPieces = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;
export const thought = (text: string): Pieces => t`<think>\n${text}\n</think>\n\n`;
export const resultPieces = (results: readonly RenderableResult[], print: (result: RenderableResult) => Pieces): Pieces =>
  joined(
    results.map((result) => t`<tool_response>\n${print(result)}\n</tool_response>`),
    "\n",
  );

/** A call between its tags. */
export const tagged = (json: string): Pieces => t`<tool_call>\n${json}\n</tool_call>`;
export const callPieces = (call: RenderableCall): Pieces => tagged(callObject(call));

/** Qwen3's declaration of tools, which others adopted. */
export const toolPieces = (tools: readonly Tool[], print = pythonJson): Pieces => t`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${print(functionTool(tool))}\n`)}</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;
