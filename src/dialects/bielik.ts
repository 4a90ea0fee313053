/**
 * Bielik 3, whose prompt explains the tools in Polish. Hermes' calls in turns like Qwen's; a mark precedes each result:
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Kraków"}}
 *     </tool_call><|im_end|>
 *     <|im_start|>user
 *     <|function_output|>4 °C<|im_end|>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|im_end|>"];
const PRESERVED = ["<tool_call>", "</tool_call>", "<think>", "</think>"];

const createScanner = jsonTags(["<tool_call>"], {
  stops: STOPS,
  control: ["<s>", "<|im_start|>", "<|function_list|>", "<|function_output|>"],
});

// ---- Rendering

const t = markup(["<s>", "<|im_start|>", ...STOPS, "<|function_list|>", "<|function_output|>", ...PRESERVED]);

const turn = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;

function render(request: Request, _: unknown, { declared, thinking }: Setting): Rendered {
  const { system = [], rest } = leadingSystem(request.messages);
  const given = textOf(system);
  return {
    bos: t`<s>`,
    messages: [
      (given || declared) && turn("system", [given, declared && ["\n\n", declared], thinking && THINKS]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => turn("assistant", saidPieces(said)),
        results: (results) => turn("user", resultPieces(results)),
      }),
    ],
    open: t`<|im_start|>assistant\n${thinking && t`<think>\n`}`,
  };
}

function saidPieces(said: readonly Part[]): Pieces {
  const { thinking, text } = thoughtAndText(said);
  return [thinking && thought(thinking.trim()), text.trimStart(), writtenCalls(said, callPieces).map((call) => ["\n", call])];
}

const thought = (text: string): Pieces => t`<think>\n${text}\n</think>\n`;
const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => t`<|function_output|>${resultText(output)}`);

const THINKS =
  "\n\nZanim odpowiesz na pytanie, najpierw przemyśl swoje kroki i umieść swoje myśli wewnątrz tagów <think>...</think>. Musisz najpierw pomyśleć, zanim udzielisz odpowiedzi. WAŻNE: Powinieneś myśleć w tym samym języku, co pytanie użytkownika. Jeśli pytanie jest zadane po polsku, powinieneś również myśleć po polsku. Jeśli pytanie jest po angielsku, myślisz również po angielsku itd. ** PAMIĘTAJ! ** Pytanie po polsku -> myślenie po polsku -> odpowiedź po polsku!*** BARDZO WAŻNE!!! *** Jesteś Bielikiem, polskim modelem językowym. Twoją główną cechą jest umiejętność pisania po polsku. Jeśli użytkownik zadaje Ci pytania po polsku, ZAWSZE odpowiadaj po polsku. Nawet, jeśli korzystasz z narzędzia, którego większość instrukcji jest po angielsku, powinieneś przede wszystkim odpowiadać po polsku, jeśli użytkownik zadaje pytanie w tym języku. ";

const toolPieces = (
  tools: readonly Tool[],
): Pieces => t`Masz dostęp do następujących narzędzi. Definicje narzędzi znajdują się poniżej wewnątrz znaczników <|function_list|>:
<|function_list|>
[${tools.map((tool) => pythonJson(functionTool(tool))).join(",\n")}]
<|function_list|>

Aby wywołać narzędzie, użyj formatu <tool_call>{"name": "nazwa_narzędzia", "arguments": {"argument": "wartość"}}</tool_call>. Wyniki działania narzędzi zostaną przekazane z markerem <|function_output|>.
`;

export const bielik = dialectOf({
  id: "bielik",
  title: "Bielik",
  models: ["Bielik 3"],
  variants: { "bielik-11b-v3.0-instruct": {} },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: thought,
});
