// `--verbose`: each call as it is assembled.
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { createLog } from "../../src/cli/serve-log.ts";
import { verboseTap } from "../../src/cli/serve-verbose.ts";
import type { Event } from "../../src/core/nouns.ts";
import type { Exchange } from "../../src/gateway/index.ts";

const told = (events: Event[]): string[] => {
  let text = "";
  const log = createLog({ isTTY: true, write: (line: string) => (text += line) } as never);
  const tap = verboseTap(log)({ id: "req_1" } as Exchange);
  for (const event of events) tap?.event?.(event);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => stripVTControlCharacters(line).slice("00:00:00 ".length));
};

test("id, name, growing arguments, the final chunk, and the parsed result are logged", () => {
  const lines = told([
    { type: "text", text: "not shown" },
    { type: "tool-start", id: "call_7", index: 0, name: "write_file" },
    { type: "tool-delta", id: "call_7", json: '{"path":"te' },
    { type: "tool-delta", id: "call_7", json: 'st.txt"}' },
    { type: "tool-end", id: "call_7", index: 0, name: "write_file", arguments: { path: "test.txt" }, json: '{"path":"test.txt"}' },
  ]);
  expect(lines).toEqual([
    "call call_7 write_file",
    'call call_7 + {"path":"te',
    'call call_7 + st.txt"}',
    'call call_7 final chunk; built from 2: {"path":"test.txt"}',
    "call call_7 parsed: { path: 'test.txt' }",
  ]);
});

test("truncated and unreadable calls are logged, and control characters escaped", () => {
  const lines = told([
    { type: "tool-start", id: "a", index: 0, name: "f\x1b[31m" },
    { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, truncated: true },
    { type: "malformed", raw: "f(", code: "bad-arguments", reason: "no JSON" },
  ]);
  expect(lines[0]).not.toContain("\x1b");
  expect(lines.slice(1)).toEqual(["call a cut; built from 0: ", "call ? cannot be read (no JSON): f("]);
});
