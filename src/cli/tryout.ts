/** One question with one tool, in each wire: `dragoman start` sends it to itself, and offers it to try. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { WireId } from "../core/nouns.ts";

/** The same in all files. */
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

/** How a shell's commands are written. */
export interface Shell {
  readonly curl: string;
  /** The line continuation. */
  readonly next: string;
  file(path: string): string;
  /** A command with environment variables. */
  command(variables: Readonly<Record<string, string>>, command: string): string;
}

export const POSIX: Shell = {
  curl: "curl",
  next: " \\\n  ",
  file: (path) => (/^[\w@%+=:,./-]+$/.test(path) ? `@${path}` : `'@${path.replaceAll("'", "'\\''")}'`),
  command: (variables, command) => [...Object.entries(variables).map(([name, value]) => `${name}=${value}`), command].join(" "),
};

/** In PowerShell `curl` is another command, and `@` begins an array of arguments. */
export const POWERSHELL: Shell = {
  curl: "curl.exe",
  next: " `\n  ",
  file: (path) => `"@${path}"`,
  command: (variables, command) => [...Object.entries(variables).map(([name, value]) => `$env:${name}="${value}"`), command].join("\n"),
};

export const usualShell = (): Shell => (process.platform === "win32" ? POWERSHELL : POSIX);

/** A `curl` command on two lines. */
export function curlOf(tryout: Tryout, url: string, model: string, { curl, next, file: given } = usualShell()): string {
  const file = fileOf(tryout);
  const near = relative(process.cwd(), file);
  return `${curl} ${url}${tryout.path(model)}${next}-H content-type:application/json -d ${given(near.startsWith("..") ? file : near)}`;
}
