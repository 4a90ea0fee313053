/** One question with one tool, as each wire asks it: what `dragoman start` asks itself, and what it gives people to try. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireId } from "../core/nouns.ts";

/** In all the files. */
export const QUESTION = "What is the weather in Paris?";
export const TOOL = "get_weather(city)";

export interface Tryout {
  readonly wire: WireId;
  readonly title: string;
  path(model: string): string;
}

export const TRYOUTS: readonly Tryout[] = [
  { wire: "gemini", title: "Gemini", path: (model) => `/v1beta/models/${model}:generateContent` },
  { wire: "openai-chat", title: "OpenAI chat", path: () => "/v1/chat/completions" },
  { wire: "openai-responses", title: "OpenAI Responses", path: () => "/v1/responses" },
  { wire: "anthropic", title: "Anthropic", path: () => "/v1/messages" },
  { wire: "ollama", title: "Ollama", path: () => "/api/chat" },
];

/** The body of the request. */
export const fileOf = ({ wire }: Pick<Tryout, "wire">): string =>
  fileURLToPath(new URL(`../../docs/examples/${wire}.json`, import.meta.url));

/** A command for a shell, on two lines. */
export function curlOf(tryout: Tryout, url: string, model: string): string {
  const file = fileOf(tryout);
  const near = relative(process.cwd(), file);
  return `curl ${url}${tryout.path(model)} \\\n  -H content-type:application/json -d @${near.startsWith("..") ? file : near}`;
}
