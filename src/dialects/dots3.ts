/**
 * dots3 and Step3. Each parameter in a tag, its value as raw text, in a block of their own marks. dots3 has
 *
 *     <dots_function_call>
 *     <invoke name="get_weather">
 *     <parameter name="city">Paris</parameter>
 *     </invoke>
 *     </dots_function_call>
 *
 * Only their calls are known for sure: what their templates say of tools and results is said here in words of our own.
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, pythonJson, quoted } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { ATTRIBUTES } from "./scan/heads.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenBatch, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<|endofresponse|>", "<|EOT|>"];
const TURNS = ["<|system|>", "<|endofsystem|>", "<|userprompt|>", "<|endofuserprompt|>", "<|response|>", "<|BOT|>"];
const DOTS = ["<dots_function_call>", "</dots_function_call>"] as const;
const STEP = ["<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"] as const;
const STEP_CALL = ["<｜tool_call_begin｜>", "<｜tool_call_end｜>", "<｜tool_sep｜>"] as const;
const HEAD = "<｜tool_call_begin｜>function<｜tool_sep｜>";

// ---- Scanning

const form = { stops: STOPS, opaque: true, bareNames: "never", shy: true } as const;

const dots = tagCalls({
  ...form,
  open: [DOTS[0]],
  close: [DOTS[1]],
  calls: [{ open: "<invoke ", head: ATTRIBUTES }],
  callClose: "</invoke>",
  params: [{ open: "<parameter ", head: ATTRIBUTES, close: "</parameter>" }],
  json: jsonCalls({ marks: [...DOTS, "</think>", ...STOPS] }).marked,
});

const step = tagCalls({
  ...form,
  open: [STEP[0]],
  close: [STEP[1]],
  calls: [`${HEAD}<steptml:invoke `, "<steptml:invoke "].map((open) => ({ open, head: ATTRIBUTES })),
  callClose: "</steptml:invoke>",
  closeSlips: { [STEP_CALL[1]]: "</steptml:invoke>" },
  params: [{ open: "<steptml:parameter ", head: ATTRIBUTES, close: "</steptml:parameter>" }],
});

const createScanner = scannerOf({
  calls: { [DOTS[0]]: dots.block, [STEP[0]]: step.block },
  closers: [DOTS[1], STEP[1]],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: [...TURNS, ...STEP_CALL],
  inCalls: STEP_CALL,
  callsInThinking: "promote-if-unclosed",
  inLine: { "<invoke ": dots.bare, [`${HEAD}<steptml:invoke `]: step.bare, "<steptml:invoke ": step.bare },
});

// ---- Rendering

const PRESERVED = [...DOTS, ...STEP, ...STEP_CALL, "<think>", "</think>"];
const t = markup([...TURNS, ...STOPS, ...PRESERVED]);

interface Variant {
  readonly turn: (role: "system" | "user" | "assistant", text: Pieces) => Pieces;
  readonly open: Pieces;
  readonly calls: (calls: readonly RenderableCall[]) => Pieces;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  dots3: {
    turn: (role, text) => {
      if (role === "system") return t`<|system|>${text}<|endofsystem|>`;
      return role === "user" ? t`<|userprompt|>${text}<|endofuserprompt|>` : t`<|response|>${text}<|endofresponse|>`;
    },
    open: t`<|response|>`,
    calls: (calls) => t`<dots_function_call>\n${calls.map((call) => `${invoke(call, "")}\n`)}</dots_function_call>`,
  },
  step3: {
    turn: (role, text) => t`<|BOT|>${role}\n${text}<|EOT|>`,
    open: t`<|BOT|>assistant\n`,
    calls: (calls) =>
      t`<｜tool_calls_begin｜>\n${calls.map(
        (call) => t`<｜tool_call_begin｜>function<｜tool_sep｜>${invoke(call, "steptml:")}<｜tool_call_end｜>\n`,
      )}<｜tool_calls_end｜>`,
  },
};

const invoke = (call: RenderableCall, prefix: string): string =>
  [
    `<${prefix}invoke name=${quoted(call.name)}>`,
    ...argumentTexts(call, /<\/?(?:steptml:)?(?:parameter|invoke)/).map(
      ({ key, text }) => `<${prefix}parameter name=${quoted(key)}>${text}</${prefix}parameter>`,
    ),
    `</${prefix}invoke>`,
  ].join("\n");

function render(request: Request, { turn, open, calls }: Variant, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const { declared, thinking } = options;
  const said = (parts: readonly Part[], current: boolean): Pieces => {
    const { thinking, text } = thoughtAndText(parts);
    return [current && thinking && thought(thinking), textThenBatch(parts, calls, text)];
  };
  return {
    messages: [
      (system || declared) && turn("system", [system && textOf(system), system && declared && "\n\n", declared]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (parts, current) => turn("assistant", said(parts, current || request.thinking?.keep === true)),
        results: (results) => turn("user", answers(results)),
      }),
    ],
    open: [open, thinking !== undefined && (thinking ? t`<think>\n` : t`<think>\n\n</think>\n\n`)],
  };
}

const thought = (text: string): Pieces => t`<think>\n${text}\n</think>\n\n`;

const answers = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => `<tool_response>\n${resultText(output)}\n</tool_response>`),
    "\n",
  );

const toolPieces = (tools: readonly Tool[], { calls }: Variant): Pieces => [
  `# Tools\n\nYou can call these tools, given in JSONSchema format:\n${tools.map((tool) => `${pythonJson(functionObject(tool))}\n`).join("")}`,
  "\nTo call tools, write:\n",
  calls([{ name: "tool-name", arguments: { "parameter-name": "parameter-value" } }]),
];

export const dots3 = dialectOf({
  id: "dots3",
  title: "dots3 and Step3",
  models: ["dots3", "Step3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, variant) => variant.calls(calls),
  results: answers,
  thinking: thought,
});
