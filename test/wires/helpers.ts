// Helpers shared by the tests of all wires.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest } from "../../src/core/errors.ts";
import type { WireId } from "../../src/core/nouns.ts";
import { shared } from "../shared.ts";

/** The message with which a decoder refuses a body. */
export function complaintOf(decode: (body: unknown) => unknown, body: unknown): string {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof BadRequest && error.info.code === "bad-request" && error.info.status === 400) return error.message;
    throw error;
  }
  return "nothing to complain about";
}

interface Capture<Body> {
  file: string;
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Body;
}

/** The captured requests of real clients; only inside `describeShared`. */
export function captures<Body>(isWanted: (capture: Capture<Body>) => boolean): Capture<Body>[] {
  const folder = join(shared, "captures");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\d+\.json$/.test(file));
  return files
    .map((file) => ({ file, ...(JSON.parse(readFileSync(join(folder, file), "utf8")) as Omit<Capture<Body>, "file">) }))
    .filter(isWanted);
}

/** The next request of a client that sends the whole answer back, as SDKs do. */
export const echoes: Record<WireId, (answer: never) => object> = {
  "openai-chat": ({ choices: [{ message }] }: { choices: [{ message: object }] }) => ({ messages: [hi, message] }),
  "openai-responses": ({ output }: { output: object[] }) => ({ input: [hi, ...output] }),
  anthropic: ({ content }: { content: object[] }) => ({ max_tokens: 9, messages: [hi, { role: "assistant", content }] }),
  gemini: ({ candidates: [{ content }] }: { candidates: [{ content: object }] }) => ({
    contents: [{ role: "user", parts: [{ text: "Hi" }] }, content],
  }),
  ollama: ({ message }: { message: object }) => ({ messages: [hi, message] }),
};
const hi = { role: "user", content: "Hi" };
export const PATHS: Partial<Record<WireId, string>> = { gemini: "/v1beta/models/m:generateContent" };
