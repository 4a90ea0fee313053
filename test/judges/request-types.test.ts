// What `encodeRequest` writes satisfies the SDKs' own request types: each body becomes a line of TypeScript, `({…}) satisfies ItsType`,
// without casts.
import { resolve } from "node:path";
import fc from "fast-check";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import type { WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { hasShared } from "../shared.ts";
import { request, requestFeatures } from "../wires/generate.ts";
import { captures } from "../wires/helpers.ts";

const HEAD = `\
import type { Messages } from "@anthropic-ai/sdk/resources";
import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
import type { ChatRequest, Message, Tool as OllamaTool, ToolCall } from "ollama";
import type OpenAI from "openai";

/** Over HTTP an enum is its text. */
type Spelt<T> = T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? Spelt<U>[] : T extends object ? { [K in keyof T]: Spelt<T[K]> } : T;
type Chat = OpenAI.ChatCompletionCreateParams;
type Responses = OpenAI.Responses.ResponseCreateParams;
/** The SDK speaks of version 2026-10-21, which has no sampling; we send 2023-06-01, which has. */
type Anthropic = Messages.MessageCreateParams & { temperature?: number; top_p?: number; top_k?: number };
/** The SDK's \`config\` goes over HTTP in these fields, and the model in the path. */
type Gemini = Spelt<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig;
  safetySettings?: SafetySetting[];
}>;
/** The types lag behind the server: no ids, no number of a call, not all of JSON Schema, no \`think: "max"\`. */
type Ollama = Omit<ChatRequest, "messages" | "tools" | "think"> & {
  think?: ChatRequest["think"] | "max";
  tools?: { type: string; function: Omit<OllamaTool["function"], "parameters"> & { parameters?: object } }[];
  messages?: (Omit<Message, "tool_calls"> & {
    tool_call_id?: string;
    tool_calls?: { id?: string; function: ToolCall["function"] & { index?: number } }[];
  })[];
};
`;
const TYPES: Record<WireId, string> = {
  "openai-chat": "Chat",
  "openai-responses": "Responses",
  anthropic: "Anthropic",
  gemini: "Gemini",
  ollama: "Ollama",
};

interface Body {
  label: string;
  wire: WireId;
  json: string;
}

function* featured(): Generator<Body> {
  const [sample] = fc.sample(request, { numRuns: 1, seed: 7 });
  for (const wire of listWires()) {
    for (const [feature, change] of Object.entries(requestFeatures)) {
      if (feature.startsWith("its own")) continue; // unknown fields
      const { body } = wire.encodeRequest(change(sample!, wire.id), { official: true });
      yield { label: `${wire.id}: ${feature}`, wire: wire.id, json: printBody(body) };
    }
  }
}

const PATHS: readonly (readonly [RegExp, WireId])[] = [
  [/\/chat\/completions$/, "openai-chat"],
  [/\/responses$/, "openai-responses"],
  [/\/messages$/, "anthropic"],
  [/enerateContent$/, "gemini"],
];

function* captured(): Generator<Body> {
  if (!hasShared) return;
  for (const { file, path, body } of captures(({ method }) => method === "POST")) {
    const { pathname, searchParams } = new URL(path, "http://x");
    const id = PATHS.find(([route]) => route.test(pathname))?.[1];
    if (!id) continue;
    const given = getWire(id).decodeRequest({ path: pathname, query: Object.fromEntries(searchParams), headers: {}, body });
    for (const wire of listWires()) {
      if (wire.id === id) continue;
      yield { label: `${file} to ${wire.id}`, wire: wire.id, json: printBody(wire.encodeRequest(given, { official: true }).body) };
    }
  }
}

/** The compiler's errors, by the label of the body. */
function complaintsAbout(bodies: readonly Body[]): { label: string; says: string }[] {
  const file = resolve("test/judges/requests.virtual.ts");
  const lines = bodies.map(({ wire, json }) => `(${json.replaceAll("\n", " ")}) satisfies ${TYPES[wire]};`);
  const before = HEAD.split("\n").length - 1;
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile("tsconfig.json", ts.sys.readFile).config, ts.sys, process.cwd());
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, version, ...more) =>
    resolve(name) === file ? ts.createSourceFile(name, HEAD + lines.join("\n"), version) : getSourceFile(name, version, ...more);
  const { fileExists } = host;
  host.fileExists = (name) => resolve(name) === file || fileExists(name);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start = 0, messageText }) => {
    const line = source?.getLineAndCharacterOfPosition(start).line ?? 0;
    const body = source?.fileName === file ? bodies[line - before] : undefined;
    return {
      label: body?.label ?? `${source?.fileName}:${line + 1}`,
      says: ts.flattenDiagnosticMessageText(messageText, " ").slice(0, 1000),
    };
  });
}

describe("requests satisfy the SDKs' types", () => {
  const all = [...featured(), ...captured()];
  const bodies = [...new Map(all.map((body) => [`${body.wire} ${body.json}`, body])).values()];
  const complaints = complaintsAbout([
    ...bodies,
    { label: "none at all", wire: "openai-chat", json: '{"model":"m","messages":[],"odd":1}' },
  ]);

  test("the compiler checks them, and nothing else", () => {
    const labels = new Set(bodies.map(({ label }) => label));
    expect(complaints.filter(({ label }) => !labels.has(label))).toHaveLength(1);
    expect(complaints.map(({ label }) => label)).toContain("none at all");
  });
  test.each(listWires().map(({ id }) => id))("%s", (id) => {
    const own = new Set(bodies.flatMap(({ wire, label }) => (wire === id ? [label] : [])));
    expect(own.size).toBeGreaterThan(40);
    expect(complaints.flatMap(({ label, says }) => (own.has(label) ? [`${label}: ${says}`] : []))).toEqual([]);
  });
});
