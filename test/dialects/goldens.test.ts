// The prompts of the models' own chat templates, byte for byte. The exceptions are data: `exceptions`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import type { Dialect, Prompt, RenderOptions } from "../../src/dialects/dialect.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import { describeShared, shared } from "../shared.ts";

interface GoldenMessage {
  role: string;
  content?: unknown;
  reasoning_content?: string;
  thinking?: string;
  tool_calls?: unknown[];
}
interface Golden {
  id: string;
  messages: GoldenMessage[];
  tools: unknown[] | null;
  options: { [name: string]: unknown };
  prompt?: string;
  error?: string;
}
interface GoldenFile {
  settings: { bos_token: string | null };
  cases: Golden[];
}

const calls = (message: GoldenMessage): number => message.tool_calls?.length ?? 0;
const anyMessage = (golden: Golden, has: (message: GoldenMessage) => boolean): boolean => golden.messages.some(has);
const textBesideCall = (golden: Golden): boolean => anyMessage(golden, (message) => calls(message) > 0 && Boolean(message.content));
const thinkingChunks = ({ content }: GoldenMessage): boolean =>
  Array.isArray(content) && content.some((part: { type: string }) => part.type === "thinking");
const plainResult = ({ role, content }: GoldenMessage): boolean =>
  role === "tool" && !(typeof content === "string" && /^[{[]/.test(content));
const parallel = (golden: Golden): boolean => anyMessage(golden, (message) => calls(message) > 1);
const ids =
  (...names: string[]) =>
  ({ id }: Golden): boolean =>
    names.includes(id);

/** Cases that Dragoman renders differently: what no client can ask for, and template defects (`../shared/README.md`, section 2). */
const exceptions: { in?: string[]; notIn?: string[]; variants?: string[]; cases: (golden: Golden) => boolean }[] = [
  { cases: ({ error }) => error !== undefined },
  { cases: ({ id }) => id.startsWith("native-") },
  { cases: ids("builtin-tools", "date-string", "model-identity", "tools-in-system", "bad-ids") },
  {
    in: ["deepseek-v3", "deepseek-v3.1", "functiongemma", "harmony", "llama3", "xlam"],
    cases: ids("call-args-json-string"),
  },
  {
    variants: ["qwen2.5-7b-instruct", "mistral-small-3.2-2506", "mistral-nemo-2407", "vllm-llama4-pythonic"],
    cases: ids("call-args-json-string"),
  },
  {
    in: ["glm", "granite", "hermes", "kimi-k2", "minimax-m2", "mistral", "phi4-mini", "pythonic", "qwen3-coder"],
    cases: ids("result-object"),
  },
  { notIn: ["functiongemma", "gemma4", "harmony"], cases: ids("developer-user", "tools-developer-user") },
  { cases: ({ id, prompt }) => /^call-content-(null|missing)$/.test(id) && prompt?.includes("None") === true },
  { in: ["functiongemma"], cases: ids("tools-reserved-names", "tools-union", "round-next-user-no-final") },
  { in: ["gemma4"], cases: ids("tools-union") },
  { in: ["gemma4", "llama3", "xlam", "harmony"], cases: textBesideCall },
  { variants: ["hermes-3-llama-3.1-8b"], cases: textBesideCall },
  { variants: ["hermes-3-llama-3.1-8b"], cases: ({ tools }) => !tools?.length }, // these models have another template, with nothing but turns
  { in: ["llama3"], cases: ids("tools-empty-list") },
  { variants: ["mistral-small-3.2-2506", "mistral-nemo-2407"], cases: textBesideCall },
  { variants: ["mistral-small-3.2-2506", "mistral-nemo-2407"], cases: ids("tools-empty-list") },
  { variants: ["mistral-nemo-2407"], cases: ids("tools-special-chars") },
  { variants: ["mistral-nemo-2407"], cases: (golden) => anyMessage(golden, plainResult) },
  { in: ["pythonic"], cases: ids("special-chars", "sentinels") },
  { variants: ["lfm2.5-instruct", "lfm2-8b-a1b"], cases: (golden) => anyMessage(golden, (message) => calls(message) > 0) },
  { variants: ["lfm2.5-instruct", "lfm2-8b-a1b", "vllm-llama4-pythonic"], cases: ids("content-parts") },
  { variants: ["vllm-llama4-pythonic"], cases: ids("args-types", "args-exotic-numbers") },
  { in: ["kimi-k2"], cases: ids("parallel-out-of-order", "result-no-name", "foreign-ids") },
  { in: ["minimax-m2", "harmony", "phi4-mini"], cases: ids("system-mid") },
  { in: ["harmony"], cases: parallel },
  { in: ["harmony"], cases: (golden) => anyMessage(golden, (message) => message.reasoning_content !== undefined) },
  { in: ["harmony"], cases: ({ tools }) => JSON.stringify(tools).split('"properties"').length > (tools?.length ?? 0) + 1 },
  { in: ["phi4-mini"], cases: (golden) => anyMessage(golden, (message) => calls(message) > 0) },
  { in: ["phi4-mini"], cases: ({ options }) => options.add_generation_prompt === false },
];

/** Blanks next to a mark or before a newline are ignored where a template leaks its own indentation. */
const unindented = (text: string): string => text.replace(/ +(?=<｜|\n)|(?<=｜>) +/g, "");

/** What is compared if a template leaks its own indentation, or lacks what every prompt needs. */
const comparable: Readonly<Record<string, { golden?: (text: string) => string; ours?: (text: string) => string }>> = {
  "deepseek-v3": { golden: (text) => unindented(text.trim().replace(/(?<=<｜begin▁of▁sentence｜>)\n/, "")), ours: unindented },
  // The official template declares no tools.
  "deepseek-v3.1": { ours: (text) => text.replace(/\n\n## Tools\n[\s\S]*without separators or spaces\n/, "") },
};

const binds = (dialect: string, variant: string, golden: Golden): boolean =>
  !exceptions.some(
    (row) =>
      (row.in?.includes(dialect) ?? true) &&
      (row.variants?.includes(variant) ?? true) &&
      !row.notIn?.includes(dialect) &&
      row.cases(golden),
  );

/** Template variables as a request and its options. */
function asked({ messages, tools, options }: Golden): { request: Request; options: RenderOptions } {
  const { add_generation_prompt, enable_thinking, thinking, reasoning_effort, preserve_thinking, clear_thinking } = options;
  const body = { messages, ...(tools && { tools }), ...(reasoning_effort !== undefined && { reasoning_effort }) };
  const request = openaiChat.decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
  const keep =
    preserve_thinking === true || clear_thinking === false || messages.some((message) => message.thinking || thinkingChunks(message));
  const thinks = enable_thinking ?? thinking;
  return {
    request: {
      ...request,
      ...(keep && { thinking: { ...request.thinking, keep } }),
      ...(tools?.length === 0 && { tools: [] }), // a template distinguishes it from none
    },
    options: {
      addGenerationPrompt: add_generation_prompt !== false,
      ...(typeof thinks === "boolean" && { thinking: thinks }),
      now: new Date(2026, 0, 15, 12),
    },
  };
}

describeShared("goldens", () => {
  for (const dialect of listDialects()) {
    const folder = join(shared, "goldens", dialect.id);
    for (const variant of dialect.variants) {
      const path = join(folder, `${variant}.json`);
      if (existsSync(path)) describe(`${dialect.id} ${variant}`, () => testTemplate(dialect, variant, path));
    }
  }
});

function testTemplate(dialect: Dialect, variant: string, path: string): void {
  const { settings, cases } = JSON.parse(readFileSync(path, "utf8")) as GoldenFile;
  const rendered = (golden: Golden): Prompt => {
    const { request, options } = asked(golden);
    const bos = Boolean(settings.bos_token) && (golden.prompt?.trimStart().startsWith(settings.bos_token ?? "") ?? false);
    return dialect.render(request, { ...options, variant, bos });
  };

  test.each(cases.filter((golden) => binds(dialect.id, variant, golden)))("$id", (golden) => {
    const { golden: wanted, ours } = { golden: (text: string) => text, ours: (text: string) => text, ...comparable[dialect.id] };
    expect(ours(promptText(rendered(golden)))).toBe(wanted(golden.prompt ?? ""));
  });

  test("a case that is excepted still renders", () => {
    for (const golden of cases.filter((golden) => !binds(dialect.id, variant, golden))) expect(promptText(rendered(golden))).not.toBe("");
  });

  test("a control piece is one control token, and all text between two of them is one piece", () => {
    const honest = cases.filter(({ id }) => id !== "sentinels").map(rendered);
    const tokens = new Set(honest.flat().flatMap((piece) => (piece.control ? [piece.text] : [])));
    for (const prompt of honest) {
      for (const [i, piece] of prompt.entries()) {
        const inside = [...tokens].filter((token) => piece.text.includes(token));
        expect(inside).toEqual(piece.control ? [piece.text] : []);
        expect(piece.control || prompt[i - 1]?.control || i === 0, "neighbours are merged").toBe(true);
        expect(piece.text).not.toBe("");
      }
    }
  });
}
