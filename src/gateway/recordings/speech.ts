/** What a recording's upstream speaks, told by the path of its requests. */
import type { WireId } from "../../core/nouns.ts";
import type { ServerId } from "../../engines/engine.ts";
import type { Edge } from "./recording.ts";

export type Spoken = { readonly wire: WireId } | { readonly server: ServerId };

/** The ends of paths, and what is spoken there; whatever precedes the end belongs to the user's base URL. */
const ENDS: readonly (readonly [RegExp, Spoken])[] = [
  [/\/chat\/completions$/, { wire: "openai-chat" }],
  [/\/responses$/, { wire: "openai-responses" }],
  [/\/messages$/, { wire: "anthropic" }],
  [/:(?:generateContent|streamGenerateContent)$/, { wire: "gemini" }],
  [/\/api\/chat$/, { wire: "ollama" }],
  [/\/completion$/, { server: "llama-server" }],
  [/\/v1\/completions$/, { server: "vllm" }], // or SGLang, whose answers are the same
  [/\/api\/generate$/, { server: "ollama" }],
];

export const pathOf = ({ request }: Edge): string => new URL(request.url, "http://recorded").pathname;

/** `undefined`: no model answers at this path. */
export function speechOf(path: string): { readonly spoken: Spoken; readonly end: string } | undefined {
  for (const [pattern, spoken] of ENDS) {
    const [end] = pattern.exec(path) ?? [];
    if (end !== undefined) return { spoken, end };
  }
  return undefined;
}
