import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Part, Request } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { scanText } from "../../src/dialects/scan/streams.ts";

interface Sample {
  dialect: "functiongemma" | "gemma4";
  variant: string;
  request: Request;
  text: string;
  completion: string;
  expected: { content: readonly Part[] };
}

const tiny = (name: string): string => fileURLToPath(new URL(`../../models/tiny/${name}`, import.meta.url));
const generator = tiny("generate.py");
const script = tiny("check-tokenizer.mjs");
const model = tiny("dragoman-tiny.gguf");
const python = process.platform === "win32" ? "python" : "python3";
const made = spawnSync(python, [generator, "--count", "400", "--seed", "2026"], {
  encoding: "utf8",
  maxBuffer: 1 << 28,
  env: { ...process.env, PYTHONIOENCODING: "utf-8", PYTHONDONTWRITEBYTECODE: "1" },
});

describe.skipIf(made.error !== undefined)(`the conversations that the tiny model learns (skipped without ${python})`, () => {
  const samples = made.error
    ? []
    : made.stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Sample);

  test("there are enough, in both dialects", () => {
    expect(made.stderr).toBe("");
    expect(new Set(samples.map(({ dialect }) => dialect))).toEqual(new Set(["functiongemma", "gemma4"]));
    expect(samples).toHaveLength(400);
  });

  test("the prompt is what the dialect renders, byte for byte", () => {
    for (const { dialect: id, variant, request, text } of samples) {
      const dialect = getDialect(id);
      expect(promptText(dialect.render(dialect.adapt?.(request) ?? request, { variant, bos: true }))).toBe(text);
    }
  });

  test("the dialect's scanner reads the expected calls and text in the completion", () => {
    for (const { dialect: id, variant, request, completion, expected } of samples) {
      const dialect = getDialect(id);
      const prompt = dialect.render(dialect.adapt?.(request) ?? request, { variant, bos: true });
      const events = scanText(dialect, completion, { prompt, ...(request.tools && { tools: request.tools }) });
      const calls = events.flatMap((event) => (event.type === "tool-end" ? [{ name: event.name, arguments: event.arguments }] : []));
      const said = events.flatMap((event) => (event.type === "text" ? event.text : [])).join("");
      expect(calls).toEqual(
        expected.content.flatMap((part) => (part.type === "tool-call" ? [{ name: part.name, arguments: part.arguments }] : [])),
      );
      expect(said).toBe(expected.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""));
      expect(events.filter((event) => event.type === "malformed")).toEqual([]);
      expect(dialect.stops).toContain(dialect.stops.find((stop) => completion.endsWith(stop)));
    }
  });

  test.skipIf(!existsSync(model))("llama.cpp and tokenizer.py give the same tokens (skipped without dragoman-tiny.gguf)", () => {
    const check = spawnSync(process.execPath, [script, model, "100"], { encoding: "utf8" });
    expect(check.stdout.trim().split("\n").at(-1)).toBe("100 prompts, 0 tokenized differently");
  });
});
