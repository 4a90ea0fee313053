/**
 * MiniMax-M3. Arguments are nested elements that have their names; every tag of a call follows the same token:
 *
 *     ]<]minimax[>[<tool_call>
 *     ]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Paris]<]minimax[>[</city>]<]minimax[>[</invoke>
 *     ]<]minimax[>[</tool_call>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsTree, print, pythonJson, quoted, type Tree } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { elementArguments } from "./scan/elements.ts";
import { ATTRIBUTES } from "./scan/heads.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { batched, contentPieces, dialogue, leadingSystem, resultContent, thinkingOf, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["[e~["];
const TURNS = ["]~!b[", "]~b]"];
const MARK = "]<]minimax[>[";
const PRESERVED = [MARK, "<mm:think>", "</mm:think>"];
const IMAGE = "]<]image[>[";
const VIDEO = "]<]video[>[";
const [INVOKE, INVOKE_CLOSE] = [`${MARK}<invoke `, `${MARK}</invoke>`];
const [OPEN, CLOSE] = [`${MARK}<tool_call>`, `${MARK}</tool_call>`];

// ---- Scanning

const calls = tagCalls({
  open: [OPEN],
  close: [CLOSE],
  calls: [{ open: INVOKE, head: ATTRIBUTES }],
  callClose: INVOKE_CLOSE,
  params: [],
  stops: STOPS,
  bareNames: "never",
  body: elementArguments({ mark: MARK, block: "tool_call", call: "invoke", item: "item", stops: STOPS }),
});

const createScanner = scannerOf({
  calls: { [OPEN]: calls.block, [INVOKE]: calls.bare },
  closers: [CLOSE],
  thinking: { open: { "<mm:think>": think }, close: ["</mm:think>"], stray: "control" },
  stops: STOPS,
  control: [...TURNS, CLOSE, INVOKE_CLOSE, MARK, IMAGE, VIDEO],
  inCalls: [MARK, INVOKE_CLOSE],
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ...PRESERVED, IMAGE, VIDEO]);

const VARIANTS = {
  "minimax-m3":
    "Your model version is MiniMax-M3, developed by MiniMax. Knowledge cutoff: January 2026. Founded in early 2022, MiniMax is a global AI foundation model company committed to advancing the frontiers of AI towards AGI.",
};

/** The rule about thinking in the system turn, and what opens the answer. */
const MODES = {
  enabled: {
    rule: "enabled. You MUST think step by step before every response, including after receiving function/tool results.",
    open: t`<mm:think>`,
  },
  disabled: { rule: "disabled. Do not output any thinking process.", open: t`</mm:think>` },
  adaptive: {
    rule: "adaptive. You are encouraged to think for complex decision-making, multi-step reasoning, or when analyzing function/tool results.",
    open: [],
  },
};

function render(request: Request, identity: string, options: Setting): Rendered {
  const { declared } = options;
  const { system, rest } = leadingSystem(request.messages);
  const thinks = options.thinking;
  const { rule, open } = MODES[thinks === undefined ? "adaptive" : thinks ? "enabled" : "disabled"];
  return {
    messages: [
      t`]~!b[]~b]system\n${identity}\n\n<thinking_instructions>
You have a thinking capability that allows you to reason step by step before responding. When thinking is enabled, wrap your reasoning in <mm:think></mm:think> tags before your response. When thinking is disabled, begin your response directly after the </mm:think> prefix. When thinking is adaptive, decide on your own whether to think for the current turn.
Current thinking mode: ${rule}
</thinking_instructions>[e~[\n`,
      turn("developer", [
        system && system.length > 0 ? contentPieces(system, PLACEHOLDERS) : "You are a helpful assistant.",
        declared && ["\n\n", declared],
      ]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role === "user" ? role : "developer", contentPieces(content, PLACEHOLDERS)),
        said: (said) => turn("ai", saidPieces(said)),
        results: (results) => t`]~b]tool${resultPieces(results)}[e~[\n`,
      }),
    ],
    open: t`]~b]ai\n${open}`,
  };
}

const turn = (role: string, text: Pieces): Pieces => t`]~b]${role}\n${text}[e~[\n`;

const PLACEHOLDERS = { image: IMAGE, video: VIDEO };

function saidPieces(said: readonly Part[]): Pieces {
  const { thinking, text } = thoughtAndText(said, "<mm:think>", "</mm:think>");
  const thoughts = thinkingOf(said) || thinking;
  return [thoughts ? thought(thoughts) : t`</mm:think>`, text, batched(said, callPieces)];
}

const thought = (text: string): Pieces => t`<mm:think>${text}</mm:think>`;

const callPieces = (calls: readonly RenderableCall[]): Pieces => t`]<]minimax[>[<tool_call>
${calls.map((call) => t`]<]minimax[>[<invoke name=${quoted(call.name)}>${valuePieces(argumentsTree(call))}]<]minimax[>[</invoke>\n`)}]<]minimax[>[</tool_call>`;

const element = (name: string, value: Pieces): Pieces => t`]<]minimax[>[<${name}>${value}]<]minimax[>[</${name}>`;

/** Null is left out; in a list it is an empty element. */
const valuePieces = (tree: Tree): Pieces =>
  print<Pieces>(tree, {
    string: (text) => text,
    word: (word) => (word === null ? undefined : String(word)),
    pair: (key, value) => (value === undefined ? value : element(key, value)),
    wrap: (open, items) => (open === "[" ? items.map((item) => element("item", item)) : items),
  });

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map((result) => ["\n<response>", contentPieces(resultContent(result), PLACEHOLDERS), "</response>"]);

const toolPieces = (tools: readonly Tool[]): Pieces => t`# Tools
You may call one or more tools to assist with the user query.
Here are the tools available in JSONSchema format:

<tools>
${tools.map((tool) => `<tool>${pythonJson(functionObject(tool))}</tool>\n`)}</tools>

To call tools, wrap all invocations in a single ]<]minimax[>[<tool_call>]<]minimax[>[</tool_call> block. Parameter values containing nested objects or arrays are recursively expanded into XML elements. Example:

]<]minimax[>[<tool_call>
]<]minimax[>[<invoke name="tool-name-1">]<]minimax[>[<param-1>value-1]<]minimax[>[</param-1>]<]minimax[>[<param-2>]<]minimax[>[<item>]<]minimax[>[<key-a>val-a]<]minimax[>[</key-a>]<]minimax[>[<key-b>val-b]<]minimax[>[</key-b>]<]minimax[>[</item>]<]minimax[>[</param-2>]<]minimax[>[</invoke>
]<]minimax[>[<invoke name="tool-name-2">]<]minimax[>[<param-1>value-1]<]minimax[>[</param-1>]<]minimax[>[</invoke>
]<]minimax[>[</tool_call>`;

export const minimaxM3 = dialectOf({
  id: "minimax-m3",
  title: "MiniMax-M3",
  models: ["MiniMax-M3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: thought,
});
