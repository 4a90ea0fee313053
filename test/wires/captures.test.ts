// Requests captured from real clients, translated to every other wire: the result is one that a server would accept.
import { describe, expect, test } from "vitest";
import type { Request, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { describeShared } from "../shared.ts";
import { captures } from "./helpers.ts";
import { validateCount, validateRequest } from "./validators.ts";

function wireOf(path: string): WireId | undefined {
  if (/\/chat\/completions/.test(path)) return "openai-chat";
  if (/\/responses/.test(path)) return "openai-responses";
  if (/\/messages/.test(path)) return "anthropic";
  if (/:(stream)?[gG]enerateContent|:countTokens/.test(path)) return "gemini";
  return /\/api\/chat/.test(path) ? "ollama" : undefined;
}

/** The only kinds of warnings that these requests may cause. */
const CODES = new Set(["dropped", "converted", "schema", "tool-kind", "tool-choice", "no-result"]);

describeShared("recorded requests", () => {
  const recorded = captures<unknown>(({ method, path }) => method === "POST" && wireOf(path) !== undefined).map((capture) => ({
    ...capture,
    wire: wireOf(capture.path)!,
  }));

  function decode({ wire, path, headers, body }: (typeof recorded)[number]): Request {
    const [route = "", query = ""] = path.split("?");
    return getWire(wire).decodeRequest({ path: route, query: Object.fromEntries(new URLSearchParams(query)), headers, body });
  }

  test("there are captures of four wires", () => {
    expect(new Set(recorded.map(({ wire }) => wire)).size).toBe(4);
  });

  describe.each(listWires().map((wire) => [wire.id, wire] as const))("to %s", (id, target) => {
    test.each(recorded)("$file", (capture) => {
      const request = decode(capture);
      const { body, context } = target.encodeRequest(request, { official: true });
      expect(validateRequest(id, body)).toEqual([]);
      expect(context.warnings.filter(({ code }) => !CODES.has(code))).toEqual([]);
      if (capture.wire === id) expect(context.warnings.filter(({ message }) => !/thinking/.test(message))).toEqual([]);
      const count = target.encodeTokenCountRequest?.(request);
      if (count && id !== "openai-responses") expect(validateCount(id, count.body)).toEqual([]);
    });
  });
});
