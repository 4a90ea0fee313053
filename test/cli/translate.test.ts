import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { getWire } from "../../src/index.ts";
import { listWires } from "../../src/wires/registry.ts";
import { validateRequest, validateStream } from "../wires/validators.ts";
import { dragoman, folder } from "./run.ts";

const file = "docs/examples/request.json";
const body = readFileSync(file, "utf8");
const files = folder();
const translate = (from: string, to: string, args: string[] = [], input = body) =>
  dragoman(["translate", "--from", from, "--to", to, ...args], input);
const ids = listWires().map(({ id }) => id);

describe("a request", () => {
  test.each(ids)("to %s", (id) => {
    const { code, stdout, stderr } = translate("openai-chat", id, [file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(getWire(id).encodeRequest(request).body)));
    expect(validateRequest(id, stdout)).toEqual([]);
  });
  test("from a pipe or from a file", () => {
    expect(translate("openai-chat", "gemini", ["-"])).toEqual(translate("openai-chat", "gemini", [file]));
  });
  test.each(ids)("--json can be read again: to %s and back", (id) => {
    const there = translate("openai-chat", id, ["--json"]);
    expect(JSON.parse(there.stdout)).toMatchObject({ path: expect.stringMatching(/^\//), headers: {}, body: {} });
    const back = translate(id, "openai-chat", [], there.stdout);
    expect(JSON.parse(back.stdout)).toMatchObject({ ...JSON.parse(body), messages: [{ content: "Be brief." }, { role: "user" }] });
  });
  test("--indent is readable, and shows the path", () => {
    const { stdout } = translate("openai-chat", "gemini", ["--indent"]);
    expect(stdout).toMatch(/^POST \/v1beta\/models\/gemma-4:generateContent\n\{\n {2}"systemInstruction": \{\n/);
  });
  test("--indent prints JSON: escapes are JSON's, and numbers keep their bytes", () => {
    const args = '{"n": 12345678901234567890}';
    const messages = [
      { role: "user", content: "a\u202eb\x7f" },
      { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }] },
      { role: "tool", tool_call_id: "c", content: "ok" },
    ];
    const { stdout } = translate("openai-chat", "gemini", ["--indent"], JSON.stringify({ model: "m", messages }));
    const printed = stdout.slice(stdout.indexOf("\n"));
    expect(printed).toContain('"text": "a\\u202eb\\u007f"');
    expect(printed).toContain(`"args": ${args}`);
    expect(JSON.parse(printed)).toMatchObject({ contents: [{ parts: [{ text: "a\u202eb\x7f" }] }, {}, {}] });
  });
  test("--model replaces the model, and supplies it for Gemini, whose body has none", () => {
    expect(JSON.parse(translate("openai-chat", "anthropic", ["--model", "other"]).stdout)).toMatchObject({ model: "other" });
    const contents = JSON.stringify({ contents: [{ parts: [{ text: "Hi" }] }] });
    expect(JSON.parse(translate("gemini", "ollama", ["--model", "a/b"], contents).stdout)).toMatchObject({ model: "a/b" });
    expect(translate("gemini", "ollama", [], contents)).toEqual({
      code: 2,
      stdout: "",
      stderr: "dragoman: the request names no model; give one with --model\n",
    });
  });
  test("from Ollama's /api/generate", () => {
    const { stdout } = translate("ollama", "gemini", [], JSON.stringify({ model: "m", prompt: "Hi" }));
    expect(JSON.parse(stdout)).toEqual({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] });
  });
  test("call arguments keep their exact bytes", () => {
    const args = '{"n": 12345678901234567890, "x": 1.0}';
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: args } }] },
      { role: "tool", tool_call_id: "c", content: "ok" },
    ];
    expect(translate("openai-chat", "gemini", [], JSON.stringify({ model: "m", messages })).stdout).toContain(`"args":${args}`);
  });
  test("what cannot be expressed is reported, once each", () => {
    const loud = JSON.stringify({ ...JSON.parse(body), stop: ["x"], seed: 1, tools: [{ type: "web_search" }] });
    const { code, stderr } = translate("openai-chat", "openai-responses", [], loud);
    expect(code).toBe(0);
    const lines = stderr.split("\n").slice(0, -1);
    expect(lines).toEqual(expect.arrayContaining([expect.stringMatching(/^dragoman: .*seed.* left out$/)]));
    expect(new Set(lines).size).toBe(lines.length);
  });
});

describe("--stream", () => {
  test.each(["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"])(
    "input that is not a stream of %s is a mistake",
    (from) => {
      for (const text of ["", "hello world\n", '{"model":"m","messages":[]}'])
        expect(translate(from, "openai-chat", ["--stream"], text)).toMatchObject({
          code: 2,
          stdout: "",
          stderr: expect.stringMatching(new RegExp(`^dragoman: stdin is not a stream of ${from}: .*\\n$`)),
        });
    },
  );
  test("an error that a server streamed is translated", () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"too much"}}\n\n';
    expect(translate("anthropic", "openai-chat", ["--stream"], error)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("too much"),
    });
  });
  const recorded = "test/fixtures/openai-chat/reasoning-content.sse";

  test.each(ids)("to %s", (id) => {
    const { code, stdout, stderr } = translate("openai-chat", id, ["--stream", recorded]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(validateStream(id, stdout)).toEqual([]);
    expect(stdout).toContain("write_file");
  });
  test("--request gives the request that the stream answers", () => {
    const stream = (fields: object) => {
      const request = files.file("asked.json", { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true, ...fields });
      return translate("openai-chat", "openai-chat", ["--stream", "--request", request, "test/fixtures/openai-chat/well-formed.sse"])
        .stdout;
    };
    expect(stream({})).not.toContain("prompt_tokens");
    expect(stream({ stream_options: { include_usage: true } })).toContain("prompt_tokens");
  });
  test("a truncated call is left out, with a warning", () => {
    const { stdout, stderr } = translate("openai-chat", "gemini", ["--stream", "test/fixtures/openai-chat/cut-by-length.sse"]);
    expect(stdout).not.toContain("functionCall");
    expect(stdout).toContain("MAX_TOKENS");
    expect(stderr).toBe("dragoman: a call that was cut has no place in gemini and was left out\n");
  });
  test("from a pipe", () => {
    const piped = translate("openai-chat", "gemini", ["--stream"], readFileSync(recorded, "utf8"));
    expect(piped.stdout).toBe(translate("openai-chat", "gemini", ["--stream", recorded]).stdout);
  });
});
