/** The profiles of well-known servers, and the default profiles for all others. */
import type { WireId } from "../core/nouns.ts";
import type { WireProfile } from "../wires/wire.ts";

export interface Known {
  readonly url: string;
  readonly wire: WireId;
  readonly profile: WireProfile;
  /** The environment variable that usually has its key. */
  readonly keyVariable?: string;
}

/**
 * Servers of open models: their templates know no developer role and no custom tools, and accept a system message only at the beginning.
 */
const OPEN_TEMPLATES: WireProfile = {
  developerRole: false,
  customTools: false,
  allowedTools: false,
  namedTool: false, // llama-server silently treats a named tool as `auto`; all of them know `required`
  systemAnywhere: false,
};
const OPEN_MODELS: WireProfile = { ...OPEN_TEMPLATES, maxTokensField: "max_tokens" };

export const KNOWN: Readonly<Record<string, Known>> = {
  ollama: { url: "http://127.0.0.1:11434", wire: "ollama", profile: { systemAnywhere: false } },
  "llama-server": {
    url: "http://127.0.0.1:8080/v1",
    wire: "openai-chat",
    profile: { ...OPEN_MODELS, thinkingField: "reasoning_content" },
  },
  lmstudio: { url: "http://127.0.0.1:1234/v1", wire: "openai-chat", profile: OPEN_MODELS },
  vllm: { url: "http://127.0.0.1:8000/v1", wire: "openai-chat", profile: { ...OPEN_MODELS, thinkingField: "reasoning" } },
  sglang: { url: "http://127.0.0.1:30000/v1", wire: "openai-chat", profile: OPEN_MODELS },
  openai: { url: "https://api.openai.com/v1", wire: "openai-chat", profile: { official: true }, keyVariable: "OPENAI_API_KEY" },
  anthropic: { url: "https://api.anthropic.com", wire: "anthropic", profile: {}, keyVariable: "ANTHROPIC_API_KEY" },
  gemini: { url: "https://generativelanguage.googleapis.com", wire: "gemini", profile: {}, keyVariable: "GEMINI_API_KEY" },
  openrouter: {
    url: "https://openrouter.ai/api/v1",
    wire: "openai-chat",
    profile: { thinkingField: "reasoning", customTools: false, allowedTools: false, maxTokensField: "max_tokens", cacheMarks: true },
    keyVariable: "OPENROUTER_API_KEY",
  },
};

/** The profile of an unknown server, by its wire. */
const PROFILES: Readonly<Record<WireId, WireProfile>> = {
  "openai-chat": OPEN_MODELS,
  "openai-responses": { ...OPEN_TEMPLATES, unsignedThinking: true },
  anthropic: { unsignedThinking: true },
  gemini: {},
  ollama: { systemAnywhere: false },
};

export const knownByUrl = (url: string): Known | undefined =>
  Object.values(KNOWN).find((known) => known.url.startsWith("https:") && new URL(known.url).host === new URL(url).host);

/** The profile of the server at a URL: that of a well-known server, or the default of its wire. */
export function usualProfile(wire: WireId, url: string): WireProfile {
  const known = knownByUrl(url);
  const isSame = known?.wire === wire || (known?.wire === "openai-chat" && wire === "openai-responses");
  return known && isSame ? known.profile : PROFILES[wire];
}
