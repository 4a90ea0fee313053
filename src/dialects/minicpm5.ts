/**
 * MiniCPM5. Each parameter is in a tag, its value raw text, or XML's CDATA if it has markup or newlines; no block surrounds the calls:
 *
 *     <function name="write_file"><param name="path">a.html</param><param name="text"><![CDATA[<b>Hi</b>]]></param></function>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, pythonJson, pythonLiteral, quoted, type Tree } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { resultPieces, STOPS, t, thought, turnPieces } from "./qwen.ts";
import { NAME } from "./scan/heads.ts";
import type { Step } from "./scan/scan.ts";
import { cut } from "./scan/steps.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenCalls, thoughtAndText, turnsOf } from "./transcript.ts";

const TAGS = ["<function", "</function>", "<param", "</param>"];

// ---- Scanning

/** Some servers lose the blank after a token, or show it as the tokenizer spells it. */
const spaced = (tag: string): string[] => [" ", "", "\u0120"].map((blank) => `${tag}${blank}name=`);
const FUNCTION = spaced("<function");
const PARAM = spaced("<param");

/** Models put a section on lines of its own, too. */
const CDATA = new Marks(["<![CDATA[", "\n<![CDATA["]);
const CLOSER = "]]></param>";
const CLOSER_BELOW = "]]>\n</param>";
const IN_SECTION = new Marks([CLOSER, CLOSER_BELOW, ...STOPS]);

/** Only the end of a CDATA section ends the value in it. */
const section =
  (value: Step): Step =>
  (s) => {
    const mark = s.match(CDATA, true);
    if (mark === undefined && s.last) s.pos = s.stop;
    if (mark === undefined) return s.last ? cut : undefined;
    s.pos += mark.length;
    if (mark !== "" && s.param) s.param = { ...s.param, closer: CLOSER, marks: IN_SECTION };
    return value;
  };

const { bare } = tagCalls({
  open: [],
  close: [],
  calls: FUNCTION.map((open) => ({ open, head: NAME })),
  callClose: "</function>",
  params: PARAM.map((open) => ({ open, head: NAME, close: "</param>" })),
  stops: STOPS,
  bareNames: "never",
  closeSlips: { [CLOSER_BELOW]: CLOSER },
  wrappers: ["arguments", "properties"],
  valueHead: section,
});

const createScanner = scannerOf({
  calls: each(FUNCTION, bare),
  closers: ["</function>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|im_start|>"],
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const f = markup(TAGS);

const VARIANTS = { minicpm5: "<s>" };

function render(request: Request, bos: string, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const { declared, thinking } = options;
  return {
    bos: { text: bos, control: true },
    messages: [
      (system || declared) && turnPieces("system", [system && textOf(system), system && declared && "\n\n", declared]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, textOf(content)),
        said: (said, current) => turnPieces("assistant", saidPieces(said, current)),
        results: (results) => turnPieces("user", answers(results)),
      }),
    ],
    open: t`<|im_start|>assistant\n${thinking !== undefined && (thinking ? t`<think>\n` : t`<think>\n\n</think>\n\n`)}`,
  };
}

function saidPieces(said: readonly Part[], thinks: boolean): Pieces {
  const { thinking, text } = thoughtAndText(said);
  const isThought = thinks && thinking !== "";
  return [isThought && thought(thinking), textThenCalls(said, callPieces, isThought ? text.replace(/^\n+/, "") : text)];
}

/** A value as Python prints it, or as JSON if Python needs escapes that JSON does not have. */
const printed = (value: Tree): string => {
  const text = pythonLiteral(value);
  return /\\[xU]/.test(text) ? pythonJson(value) : text;
};

const callPieces = (call: RenderableCall): Pieces =>
  f`<function name=${quoted(call.name)}>${argumentTexts(call, /<\/?(?:param|function)/, printed).map(
    ({ key, text, string }) => f`<param name=${quoted(key)}>${string && /[<&\n]/.test(text) ? `<![CDATA[${text}]]>` : text}</param>`,
  )}</function>`;

const answers = (results: readonly RenderableResult[]): Pieces => resultPieces(results, ({ output }) => resultText(output));

const toolPieces = (tools: readonly Tool[]): Pieces => f`# Tools

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

Tool usage guidelines:
- You may call zero or more functions. If no function calls are needed, just answer normally and do not include any <function ... </function>.
- When calling a function, return an XML object within <function ... </function> using:
<function name="function-name"><param name="param-name">param-value</param></function>
- param-value may be multi-line. If it contains <, & or newline characters, wrap it in a CDATA block: <param name="param-name"><![CDATA[...multi-line value...]]></param>`;

export const minicpm5 = dialectOf({
  id: "minicpm5",
  title: "MiniCPM5",
  models: ["MiniCPM5"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [...TAGS, "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: answers,
  thinking: thought,
});
