// Models that refuse one way to ask for thinking are asked in another. And requests of Ollama's clients that only load a model reach no
// upstream.
import { describe, expect, test } from "vitest";
import type { Json, Request, WireId } from "../../src/core/nouns.ts";
import { refusesThinking, ThinkingWays } from "../../src/engines/again/thinking.ts";
import { type Body, picky } from "./picky.ts";

/** Where each wire has its thinking settings. */
const SETTINGS: Partial<Record<WireId, (body: Body) => unknown>> = {
  gemini: ({ generationConfig }) => (generationConfig as { thinkingConfig?: Json } | undefined)?.thinkingConfig,
  anthropic: ({ thinking }) => thinking,
  ollama: ({ think }) => think,
  "openai-chat": ({ reasoning_effort }) => reasoning_effort,
};

/** A server that refuses some thinking settings; `said`: the settings it got. */
async function thinking(wire: WireId, refuses: (said: string) => string | undefined) {
  const said: string[] = [];
  const { post } = await picky(wire, (body) => {
    const how = JSON.stringify(SETTINGS[wire]?.(body)) ?? "nothing";
    said.push(how);
    const message = refuses(how);
    return message === undefined ? undefined : { error: wire === "ollama" ? message : { message, type: "invalid_request_error" } };
  });
  return { said, ask: post, post: (settings: object) => post("/v1/responses", { model: "m", input: "Hi", ...settings }) };
}

const effort = { reasoning: { effort: "low" } };

describe("a model that refuses the thinking settings", () => {
  test("is asked with a budget instead of an effort, also for later requests", async () => {
    const { said, post } = await thinking("gemini", (how) =>
      how.includes("thinkingLevel") ? "Thinking level is not supported for this model." : undefined,
    );
    const first = await post(effort);
    expect([first.status, first.headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("asked in another way")]);
    expect((await post(effort)).status).toBe(200);
    expect(said).toEqual([expect.stringContaining("thinkingLevel"), '{"thinkingBudget":1024}', '{"thinkingBudget":1024}']);
  });
  test("is asked with a budget, if it has no adaptive thinking", async () => {
    const { said, post } = await thinking("anthropic", (how) =>
      how.includes("adaptive") ? "adaptive thinking is not supported on this model" : undefined,
    );
    expect((await post(effort)).status).toBe(200);
    expect(said).toEqual([expect.stringContaining('"adaptive"'), expect.stringContaining('"enabled"')]);
  });
  test("is asked with the effort below the highest", async () => {
    const { said, post } = await thinking("openai-chat", (how) =>
      how === '"max"' ? "Unsupported value: 'max' is not supported with this model, for reasoning_effort" : undefined,
    );
    expect((await post({ reasoning: { effort: "max" } })).status).toBe(200);
    expect(said).toEqual(['"max"', '"xhigh"']);
  });
  test("is asked without thinking, if it accepts none, with a warning", async () => {
    const { said, post } = await thinking("ollama", (how) => (how === "nothing" ? undefined : '"m" does not support thinking'));
    const answer = await post(effort);
    expect([answer.status, answer.headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("asked without")]);
    expect(said.at(-1)).toBe("nothing");
  });
  test("in every form: the client gets the error", async () => {
    const { said, post } = await thinking("openai-chat", () => "reasoning is not supported here");
    expect((await post(effort)).status).toBe(400);
    expect(said).toHaveLength(3);
  });
  test("gets those of its own wire's clients unchanged, whatever it refuses", async () => {
    const { said, ask } = await thinking("openai-chat", () => "reasoning is not supported here");
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }], reasoning_effort: "low" };
    for (let i = 0; i < 2; i++) expect((await ask("/v1/chat/completions", body)).status).toBe(400);
    expect(said).toEqual(['"low"', '"low"']);
  });
  test("for another reason is not asked again", async () => {
    const { said, post } = await thinking("openai-chat", () => "messages: field required, for whatever reason");
    expect((await post(effort)).status).toBe(400);
    expect(said).toHaveLength(1);
  });
});

test("a model that refuses everything is not remembered as refusing one way", async () => {
  let isBroken = true;
  const { said, post } = await thinking("openai-chat", () => (isBroken ? "thinking is not supported at the moment" : undefined));
  expect((await post(effort)).status).toBe(400);
  isBroken = false;
  expect((await post(effort)).status).toBe(200);
  expect(said.at(-1)).toBe('"low"');
});

describe("an error that refuses the thinking settings is recognized", () => {
  test.each([
    "Thinking level is not supported for this model.",
    "thinking.type.enabled is not supported for this model. Use thinking.type.adaptive and output_config.effort.",
    "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
    "This model does not support the effort parameter.",
    "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', 'medium', and 'high'.",
    "Unrecognized request argument supplied: reasoning_effort",
    "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions.",
    "The thinking budget 512 is invalid. Please choose a value between 1024 and 32768.",
    "Budget 0 is invalid. This model only works in thinking mode.",
    "Reasoning is mandatory for this endpoint and cannot be disabled.",
    '"m" does not support thinking',
    'think value "high" is not supported for this model',
    "Model m does not support parameter reasoningEffort.",
    "[{'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\"}]",
  ])("%s", (message) => expect(refusesThinking({ code: "bad-request", message })).toBe(true));

  test("its `param` decides which setting was refused", () => {
    const message = "Unsupported value: 'max'.";
    expect(refusesThinking({ code: "bad-request", message, param: "reasoning.effort" })).toBe(true);
    expect(refusesThinking({ code: "bad-request", message, param: "verbosity" })).toBe(false);
  });
});

describe("an error that only mentions thinking is not a refusal of it", () => {
  test.each([
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
    "messages.3.content.0: Invalid `signature` in `thinking` block",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item. This is not valid.",
    "Unknown parameter: 'input[2].reasoning'.",
    "[{'type': 'missing', 'loc': ('body', 'messages', 1, 'reasoning'), 'msg': 'Extra inputs are not permitted'}]",
    "Your credit is too low for thinking models",
  ])("%s", (message) => expect(refusesThinking({ code: "bad-request", message })).toBe(false));

  test("the client gets it at once, and the next request still thinks", async () => {
    let isBad = true;
    const { said, post } = await thinking("anthropic", () =>
      isBad ? "messages.1.content.0.type: Expected `thinking`, but found `tool_use`. This is not valid." : undefined,
    );
    expect((await post(effort)).status).toBe(400);
    isBad = false;
    const next = await post(effort);
    expect([next.status, next.headers["x-dragoman-warnings"]]).toEqual([200, undefined]);
    expect(said).toEqual([expect.stringContaining('"adaptive"'), expect.stringContaining('"adaptive"')]);
  });
});

describe("a refusal is not held against a model for good", () => {
  const request: Request = { model: "m", messages: [], thinking: { effort: "low" } };
  const start = () => {
    const clock = { ms: 0 };
    return { clock, ways: new ThinkingWays(() => clock.ms) };
  };

  test("after a while the settings are tried again, however many requests came in between", () => {
    const { clock, ways } = start();
    ways.took(request, 2);
    clock.ms = 599_999;
    expect(ways.first(request)).toBe(2);
    ways.took(request, 2);
    clock.ms = 600_000;
    expect(ways.first(request)).toBe(0);
  });
  test("a model that accepts the settings from others refused one request, not the settings", () => {
    const { ways } = start();
    ways.took(request, 0);
    ways.took(request, 2);
    expect(ways.first(request)).toBe(0);
  });
  test("if it accepts them after all, all requests get them again", () => {
    const { ways } = start();
    ways.took(request, 2);
    ways.took(request, 0);
    expect(ways.first(request)).toBe(0);
  });
  test("a model that refuses them beside tools still gets them without tools", () => {
    const { ways } = start();
    ways.took({ ...request, tools: [{ name: "f" }] }, 2);
    expect(ways.first(request)).toBe(0);
    expect(ways.first({ ...request, tools: [{ name: "g" }] })).toBe(2);
  });
  test("one refused request does not turn thinking off for others", async () => {
    let isBad = false;
    const { said, post } = await thinking("ollama", (how) =>
      isBad && how !== "nothing" ? "thinking is not supported with this" : undefined,
    );
    await post(effort);
    isBad = true;
    expect((await post(effort)).headers["x-dragoman-warnings"]).toContain("asked without");
    isBad = false;
    expect((await post(effort)).headers["x-dragoman-warnings"]).toBeUndefined();
    expect(said.at(-1)).toBe(said[0]);
  });
});

test("a system text alone is a question, too, and reaches the model", async () => {
  const { bodies, post } = await picky("openai-chat", () => undefined);
  const { body } = await post("/api/chat", { model: "m", messages: [{ role: "system", content: "Say hi." }], stream: false });
  expect(JSON.parse(body)).toMatchObject({ message: { content: "Hi" } });
  expect(bodies).toHaveLength(1);
});

test.each<[string, object, object]>([
  ["/api/generate", { model: "m" }, { response: "", done: true, done_reason: "load" }],
  ["/api/generate", { model: "m", keep_alive: 0 }, { response: "", done: true, done_reason: "unload" }],
  ["/api/chat", { model: "m", messages: [] }, { message: { role: "assistant", content: "" }, done: true, done_reason: "load" }],
])("Ollama's clients load a model with an empty request: %s %j", async (path, body, expected) => {
  const { bodies, post } = await picky("openai-chat", () => undefined);
  const answer = await post(path, body);
  expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, expected]);
  expect(bodies).toEqual([]);
});
