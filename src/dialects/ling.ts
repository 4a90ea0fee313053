/**
 * inclusionAI's Ling 2: Qwen3's declaration of tools and its calls, in turns of its own.
 *
 *     <role>ASSISTANT</role><tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call><|role_end|><role>OBSERVATION</role>
 *     <tool_response>
 *     4 °C
 *     </tool_response><|role_end|>
 */
import type { Part, Request } from "../core/nouns.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { callPieces, PRESERVED, resultPieces, thought, toolPieces } from "./qwen.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenCalls, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<|role_end|>", "<|endoftext|>"];

const createScanner = jsonTags(["<tool_call>"], { stops: STOPS, control: ["<role>", "</role>", "<|startoftext|>"] });

// ---- Rendering

const t = markup(["<role>", "</role>", "<|startoftext|>", ...STOPS, ...PRESERVED]);

const turn = (role: string, text: Pieces): Pieces => t`<role>${role}</role>${text}<|role_end|>`;

function render(request: Request, _: unknown, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    messages: [
      turn("SYSTEM", [system && `${textOf(system)}\n`, declared && [declared, "\n"], "detailed thinking off"]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role === "user" ? "HUMAN" : "SYSTEM", textOf(content)),
        said: (said, current) => turn("ASSISTANT", saidPieces(said, current)),
        results: (results) => turn("OBSERVATION", ["\n", printed(results)]),
      }),
    ],
    open: t`<role>ASSISTANT</role>`,
  };
}

/** Only the current turn shows thinking. */
function saidPieces(said: readonly Part[], current: boolean): Pieces {
  const { thinking, text } = thoughtAndText(said);
  if (!current || !thinking) return textThenCalls(said, callPieces, text);
  return ["\n", thought(thinking), textThenCalls(said, callPieces, text.replace(/^\n+/, ""))];
}

const printed = (results: Parameters<typeof resultPieces>[0]): Pieces => resultPieces(results, ({ output }) => resultText(output));

export const ling = dialectOf({
  id: "ling",
  title: "Ling",
  models: ["Ling 2"],
  variants: { "ling-2.0": {} },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: (tools) => toolPieces(tools),
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: printed,
  thinking: thought,
});
