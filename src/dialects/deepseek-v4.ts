/**
 * DeepSeek-V4, Flash and Pro. V4.1 writes a blank after every `｜DSML｜`, and `calls` instead of `tool_calls`:
 *
 *     <｜DSML｜tool_calls>
 *     <｜DSML｜invoke name="get_weather">
 *     <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
 *     </｜DSML｜invoke>
 *     </｜DSML｜tool_calls>
 */
import type { Effort, Message, Request, Tool } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import {
  callBlock,
  createScanner,
  exampleBlock,
  IMAGES,
  PRESERVED,
  STOPS,
  saidPieces,
  schemaLines,
  type Tags,
  t,
  thought,
} from "./dsml.ts";
import { pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { type Content, contentPieces, hoisted, inCallOrder, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const MUCH = `Reasoning Effort: Absolute maximum with no shortcuts permitted.
You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.

`;
const MOST = `Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause rather than any surface symptom.
Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no assumption remains unchecked and no error remains undiscovered.

`;

interface Variant {
  readonly tags: Tags;
  /** The instruction for each effort, which begins the prompt. */
  readonly efforts: Readonly<Partial<Record<Effort, string>>>;
  /** The effort of a request that names none. */
  readonly effort?: Effort;
  /**
   * Every system message has a mark, the first as well as later ones, and a developer message is one. Results are in the order of their
   * calls. Without tools, thinking is kept only behind the last message of another role.
   */
  readonly marksSystem: boolean;
}

const V4: Variant = { tags: { word: "tool_calls", nothing: "\n" }, efforts: { max: MUCH }, marksSystem: false };

const effortOf = (share: number): string =>
  `Reasoning Effort: ${share} (range 1-100, the higher the value, the more thorough the reasoning)\n\n`;

const VARIANTS: Readonly<Record<string, Variant>> = {
  "deepseek-v4": V4,
  // Here, and in Pro 0813, V4's maximum is only the second highest effort.
  "deepseek-v4-flash-0731": { ...V4, efforts: { high: MUCH, xhigh: MUCH, max: MOST } },
  "deepseek-v4.1-flash": {
    tags: { word: " calls", blank: " ", nothing: "\n" },
    efforts: {
      minimal: effortOf(50),
      low: effortOf(50),
      medium: effortOf(75),
      high: effortOf(75),
      xhigh: effortOf(100),
      max: effortOf(100),
    },
    effort: "high",
    marksSystem: true,
  },
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { tools = [], output, thinking } = request;
  const { marksSystem } = variant;
  const messages = marksSystem ? request.messages.map(asSystem) : request.messages;
  // Only leading system messages: to hoist a later one would change the prompt before it. A developer message counts as a user message.
  const behind = messages.findIndex(({ role }, i) => role !== "system" || (marksSystem && i > 0));
  const first = behind < 0 ? messages.length : behind;
  const { system } = hoisted({ messages: messages.slice(0, first) });
  const thinks = options.thinking ?? false;
  const keeps = tools.length > 0 || (!marksSystem && messages.some((message) => message.role === "tool"));
  const effort = thinking?.effort ?? variant.effort;
  const much = (thinks && effort && variant.efforts[effort]) || "";
  const rules = [
    options.declared ?? "",
    output?.schema ? `## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n${pythonJson(output.schema)}` : "",
  ].filter((part) => part !== "");
  const head = [...(system || (marksSystem && rules.length > 0) ? [system] : []), ...rules];
  const turns: Pieces[] = [];
  let userSide = false;
  const user = (text: Pieces): void => {
    turns.push(userSide ? ["\n\n", text] : t`<｜User｜>${text}`);
    userSide = true;
  };
  const all = turnsOf(messages.slice(first));
  for (const turn of all) {
    if (turn.side === "system" && marksSystem) {
      turns.push(t`<｜System｜>${textOf(turn.content)}`);
      userSide = false;
      continue;
    }
    if (turn.side !== "assistant") {
      user(marksSystem ? shown(turn.content) : textOf(turn.content));
      continue;
    }
    for (const [n, round] of turn.rounds.entries()) {
      const { said, results } = round;
      const isLast = turn === all.at(-1) && turn.rounds.slice(n).every((later) => later.results.length === 0);
      if (said) {
        turns.push(
          t`<｜Assistant｜>`,
          thinks && (keeps || (marksSystem ? isLast : turn.current)) ? thought(thinkingOf(said)) : t`</think>`,
          saidPieces(said, (calls) => callBlock(calls, variant.tags)),
        );
        userSide = false;
      }
      for (const result of marksSystem ? inCallOrder(round) : results) user(resultPieces([result], variant));
    }
  }
  return {
    bos: t`<｜begin▁of▁sentence｜>`,
    messages: [marksSystem && (much || head.length > 0 || first > 0) && t`<｜System｜>`, much, joined(head, "\n\n"), turns],
    open: t`<｜Assistant｜>${thinks ? t`<think>` : t`</think>`}`,
  };
}

const asSystem = (message: Message): Message => (message.role === "developer" ? { ...message, role: "system" } : message);

/** All parts, images too, are separated by empty lines. */
const shown = (content: Content): Pieces =>
  joined(
    content.map((part) => contentPieces([part], IMAGES)),
    "\n\n",
  );

const toolPieces = (tools: readonly Tool[], { tags }: Variant): Pieces => t`## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜${tags.word}>" block like the following:

${exampleBlock("$TOOL_NAME", tags)}

String parameters should be specified as is and set \`string="true"\`. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set \`string="false"\`.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

${schemaLines(tools)}
You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
`;

const resultPieces = (results: readonly RenderableResult[], { marksSystem }: Variant): Pieces =>
  joined(
    results.map(({ output, media = [] }) => {
      const text = resultText(output, marksSystem ? "\n\n" : undefined);
      return t`<tool_result>${marksSystem ? shown([{ type: "text", text }, ...media]) : text}</tool_result>`;
    }),
    "\n\n",
  );

export const deepseekV4 = dialectOf({
  id: "deepseek-v4",
  title: "DeepSeek V4",
  models: ["DeepSeek-V4", "DeepSeek-V4-Flash", "DeepSeek-V4-Pro", "DeepSeek-V4.1-Flash"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, { tags }) => callBlock(calls, tags),
  results: resultPieces,
  thinking: thought,
});
