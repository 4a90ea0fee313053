import { describe, expect, test } from "vitest";
import { getDialect, type Tool } from "../../src/index.ts";
import { dragoman, folder } from "./run.ts";

const files = folder();
const tools: Tool[] = [
  { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] } },
  { name: "get_time", parameters: { type: "object", properties: {} } },
];
const file = files.file(
  "tools.json",
  tools.map((tool) => ({ type: "function", function: tool })),
);
const none = files.file("none.json", []);

const run = (dialect: string, ...args: string[]) => dragoman(["grammar", "--dialect", dialect, "--tools", file, ...args]);
const made = (dialect: string, ...args: Parameters<NonNullable<ReturnType<typeof getDialect>["grammar"]>>) =>
  getDialect(dialect).grammar?.(...args);
const all = { parallelCalls: true };

test("GBNF is printed to stdout, triggers and warnings to stderr", () => {
  const { code, stdout, stderr } = run("hermes");
  expect(code).toBe(0);
  expect(stdout).toBe(made("hermes", tools, "auto", all)?.gbnf);
  expect(stderr).toBe(`\
dragoman: trigger (word): <tool_call>
dragoman: preserved: <tool_call> </tool_call> <think> </think>
dragoman: relaxed: pattern at /properties/city of get_weather
`);
});

test("what is relaxed for all tools names none", () => {
  expect(run("json", "--choice", "none").stderr).toContain("dragoman: relaxed: toolChoice\n");
});

test("tools may be piped in", () => {
  const piped = dragoman(
    ["grammar", "-d", "hermes", "--tools", "-"],
    JSON.stringify({ tools: tools.map((tool) => ({ type: "function", function: tool })) }),
  );
  expect(piped.stdout).toBe(run("hermes").stdout);
});

test.each([
  ["required", "required"],
  ["none", "none"],
  ["get_time", { name: "get_time" }],
] as const)("--choice %s", (word, choice) => {
  const { code, stdout, stderr } = run("qwen3-coder", "--choice", word);
  expect(code).toBe(0);
  expect(stdout).toBe(made("qwen3-coder", tools, choice, all)?.gbnf);
  expect(stderr).not.toContain("trigger");
});

test("--no-parallel-calls allows one call", () => {
  expect(run("glm", "--no-parallel-calls").stdout).toBe(made("glm", tools, "auto", { parallelCalls: false })?.gbnf);
});

test("a variant may follow the dialect", () => {
  const variant = "mistral-nemo-2407";
  expect(run(`mistral/${variant}`).stdout).toBe(made("mistral", tools, "auto", { ...all, variant })?.gbnf);
  expect(run("mistral/nemo")).toMatchObject({ code: 2, stderr: expect.stringContaining("mistral-nemo-2407") });
});

test("--tag prints the structural tag", () => {
  const { stdout, stderr } = run("deepseek-v4", "--tag");
  expect(JSON.parse(stdout)).toEqual(made("deepseek-v4", tools, "auto", all)?.structuralTag);
  expect(stderr).not.toContain("trigger");
});

test("--json prints everything, and stderr is empty", () => {
  const { stdout, stderr } = run("minimax-m2", "--json");
  expect(JSON.parse(stdout)).toEqual(made("minimax-m2", tools, "auto", all));
  expect(stderr).toBe("");
  expect(JSON.parse(run("llama3", "--json").stdout)).toMatchObject({ gbnf: "", triggers: [] });
});

describe("a mistake is one line, and exit code 2", () => {
  test.each<[string[], string]>([
    [["-d", "hermes"], "give the declared tools (as in --tools tools.json)"],
    [
      ["-d", "hermes", "--tools", file, "--choice", "get_date"],
      'there is no tool "get_date"; --choice takes auto, required, none, get_weather, get_time',
    ],
    [["-d", "hermes", "--tools", none, "--choice", "required"], "a call is required, but there are no tools"],
    [["-d", "hermes", "--tools", none], "there are no tools, so there is nothing to constrain the model to"],
    [
      ["-d", "llama3", "--tools", file],
      'in llama3 nothing marks where a call begins, so there is no grammar for "auto"; try --choice required',
    ],
    [
      ["-d", "hermes", "--tools", file, "--tag", "--json"],
      "option '--tag' cannot be used with option '--json'; see dragoman grammar --help",
    ],
  ])("%j", (args, line) => {
    expect(dragoman(["grammar", ...args])).toEqual({ code: 2, stdout: "", stderr: `dragoman: ${line}\n` });
  });
});
