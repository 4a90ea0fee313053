import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import { describeShared } from "../shared.ts";
import { captures, complaintOf } from "./helpers.ts";

const decode = (body: unknown): Request => openaiChat.decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
const user = { role: "user", content: "Hi" };
/** The request decoded from these messages and fields. */
const decoded = (messages: unknown[], fields: object = {}) => decode({ model: "m", messages, ...fields });
const asking = (fields: object) => decoded([user], fields);
const call = (id: string | undefined, name: string, args: unknown) => ({ id, type: "function", function: { name, arguments: args } });
const assistant = (fields: object) => ({ role: "assistant", content: null, ...fields });

const complaint = (body: unknown): string => complaintOf(decode, body);

describe("messages", () => {
  test("roles and texts are read", () => {
    const messages = ["system", "developer", "user", "assistant"].map((role) => ({ role, content: role }));
    expect(decoded(messages).messages).toEqual(messages.map(({ role }) => ({ role, content: [{ type: "text", text: role }] })));
  });
  test("empty content gives no parts", () => {
    const empty = [
      { role: "user", content: "" },
      { role: "user", content: [] },
      { role: "assistant", content: null },
      { role: "assistant" },
    ];
    expect(decoded(empty).messages.map((message) => "content" in message && message.content)).toEqual([[], [], [], []]);
  });
  test("reasoning_content and reasoning are read as thinking, before the text", () => {
    for (const field of ["reasoning_content", "reasoning"]) {
      const spelling = { wire: "openai-chat", kind: "#spelling", data: field, quiet: true };
      const thought = { type: "thinking", text: "hm", ...(field === "reasoning" ? { state: [spelling] } : {}) };
      const content = [thought, { type: "text", text: "yes" }];
      expect(decoded([user, assistant({ content: "yes", [field]: "hm" })]).messages[1]).toEqual({ role: "assistant", content });
    }
  });
  test("images, audio and files are read", () => {
    const content = [
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
      { type: "image_url", image_url: { url: "https://example.com/a,b.png" } },
      { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,CCCC" } },
      { type: "file", file: { file_id: "file-1" } },
      { type: "image" },
    ];
    const request = decoded([{ role: "user", content }]);
    expect(request.messages[0]).toEqual({
      role: "user",
      content: [
        {
          type: "media",
          mediaType: "image/png",
          data: "AAAA",
          state: [{ wire: "openai-chat", kind: "image_url", data: { detail: "low" }, part: true }],
        },
        { type: "media", mediaType: "image/*", url: "https://example.com/a,b.png" },
        { type: "media", mediaType: "audio/wav", data: "BBBB" },
        { type: "media", mediaType: "application/pdf", data: "CCCC", name: "a.pdf" },
        {
          type: "media",
          mediaType: "application/octet-stream",
          state: [{ wire: "openai-chat", kind: "file", data: { file_id: "file-1" }, part: true }],
        },
        { type: "media", mediaType: "image/*" },
      ],
    });
    expect(request.extra).toBeUndefined();
  });
});

describe("calls and results", () => {
  const callOf = (args: unknown) => {
    const [, message] = decoded([user, assistant({ tool_calls: [call("1", "f", args)] })]).messages;
    return message?.role === "assistant" ? message.content[0] : undefined;
  };

  test("arguments given as text keep their exact text", () => {
    const json = '{"n":12345678901234567890, "x": 1.0}';
    expect(callOf(json)).toEqual({ type: "tool-call", id: "1", name: "f", arguments: { n: 12345678901234567000, x: 1 }, json });
  });
  test("arguments given as an object are accepted", () => {
    expect(callOf({ a: 1 })).toEqual({ type: "tool-call", id: "1", name: "f", arguments: { a: 1 } });
  });
  test.each([undefined, null, "", " ", "null"])("arguments %j are read as none", (args) => {
    expect(callOf(args)).toEqual({ type: "tool-call", id: "1", name: "f", arguments: {} });
  });
  test.each(['{"a": 1', "[1]", `${'{"a":'.repeat(300)}1${"}".repeat(300)}`])(
    "an unreadable call in the history is kept as malformed: %.9s",
    (args) => {
      const code = args.startsWith('{"a":{') ? "too-deep" : "bad-arguments";
      expect(callOf(args)).toMatchObject({ type: "malformed", id: "1", code, raw: JSON.stringify({ name: "f", arguments: args }) });
    },
  );
  test("a result of an unreadable call still gets its name", () => {
    const request = decoded([user, assistant({ tool_calls: [call("1", "f", "{")] }), { role: "tool", tool_call_id: "1", content: "x" }]);
    expect(request.messages[2]).toEqual({ role: "tool", id: "1", name: "f", output: "x" });
  });
  test("missing ids are minted, and results without one find their call", () => {
    const request = decoded([
      assistant({ tool_calls: [call(undefined, "f", {}), call("", "g", {}), call("call_0", "h", {})] }),
      { role: "tool", name: "g", content: "G" },
      { role: "tool", content: "F" },
      { role: "tool", tool_call_id: "call_0", content: "H" },
      { role: "tool", content: "?" },
    ]);
    expect(request.messages.slice(1)).toEqual([
      { role: "tool", id: "call_1", name: "g", output: "G" },
      { role: "tool", id: "call_0", name: "f", output: "F" },
      { role: "tool", id: "call_2", name: "h", output: "H" },
      { role: "tool", id: "call_3", name: "", output: "?" },
    ]);
  });
  test("the legacy function_call and role function are read", () => {
    const request = decoded([
      assistant({ function_call: { name: "f", arguments: '{"a":1}' } }),
      { role: "function", name: "f", content: "ok" },
    ]);
    expect(request.messages).toEqual([
      { role: "assistant", content: [{ type: "tool-call", id: "call_0", name: "f", arguments: { a: 1 }, json: '{"a":1}' }] },
      { role: "tool", id: "call_0", name: "f", output: "ok" },
    ]);
  });
  test("a custom call becomes a call with an `input`", () => {
    const custom = { id: "1", type: "custom", custom: { name: "patch", input: "*** Begin" } };
    expect(decoded([assistant({ tool_calls: [custom] })]).messages[0]).toMatchObject({
      content: [{ type: "tool-call", id: "1", name: "patch", arguments: { input: "*** Begin" }, state: [{ kind: "#custom" }] }],
    });
  });
  test.each([
    ['{"a":1}', '{"a":1}'],
    [{ a: 1 }, { a: 1 }],
    [null, ""],
    [[{ type: "text", text: "x" }], [{ type: "text", text: "x" }]],
    [[{ type: "dog" }], [{ type: "dog" }]],
  ])("a result %j keeps its shape", (content, output) => {
    expect(decoded([{ role: "tool", tool_call_id: "1", content }]).messages[0]).toMatchObject({ output });
  });
  test("images in a result are separated from its text", () => {
    const content = [
      { type: "text", text: "see" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
    ];
    expect(decoded([{ role: "tool", tool_call_id: "1", content }]).messages[0]).toMatchObject({ output: "see", media: [{ data: "AA" }] });
  });
  test("a provider's state on a call is carried along", () => {
    const google = { google: { thought_signature: "sig" } };
    const signed = { ...call("1", "f", {}), extra_content: google };
    expect(decoded([assistant({ tool_calls: [signed] })]).messages[0]).toMatchObject({
      content: [{ state: [{ wire: "gemini", kind: "thoughtSignature", data: "sig" }] }],
    });
    const other = { ...signed, extra_content: { acme: 1 } };
    expect(decoded([assistant({ tool_calls: [other] })]).messages[0]).toMatchObject({
      content: [{ state: [{ wire: "openai-chat", kind: "extra_content", data: { acme: 1 } }] }],
    });
  });
});

describe("tools", () => {
  const f = { name: "f", description: "F", parameters: { type: "object" } };

  test("tools are read wrapped, bare, legacy and custom", () => {
    expect(asking({ tools: [{ type: "function", function: { ...f, strict: true } }] }).tools).toEqual([{ ...f, strict: true }]);
    expect(asking({ tools: [f] }).tools).toEqual([f]);
    expect(asking({ functions: [f] }).tools).toEqual([f]);
    expect(asking({ tools: [{ type: "custom", custom: { name: "c", format: { type: "text" } } }] }).tools).toEqual([
      { name: "c", kind: "custom", state: [{ wire: "openai-chat", kind: "custom", data: { format: { type: "text" } }, part: true }] },
    ]);
    const grammar = { syntax: "lark", definition: "start: x" };
    expect(asking({ tools: [{ type: "custom", custom: { name: "c", format: { type: "grammar", grammar } } }] }).tools).toEqual([
      { name: "c", kind: "custom", grammar },
    ]);
    expect(asking({ tools: [] }).tools).toBeUndefined();
  });
  test("a tool that only the server knows is kept apart, with a warning", () => {
    const request = asking({ tools: [{ type: "web_search" }, f] });
    expect(request.tools).toEqual([f]);
    expect(request.extra).toEqual([{ wire: "openai-chat", kind: "tools[0]", data: { type: "web_search" } }]);
    expect(request.warnings).toEqual([{ code: "tool-kind", message: expect.stringContaining("tools[0]") }]);
  });
  test.each([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [{ type: "function", function: { name: "f" } }, { name: "f" }],
    [{ type: "custom", custom: { name: "f" } }, { name: "f" }],
    [
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] } },
      { allowed: ["f"] },
    ],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
      { allowed: ["f"], required: true },
    ],
  ])("tool_choice %j", (choice, toolChoice) => {
    expect(asking({ tools: [f], tool_choice: choice }).toolChoice).toEqual(toolChoice);
  });
  test("the legacy function_call is read as a tool choice", () => {
    expect(asking({ functions: [f], function_call: { name: "f" } }).toolChoice).toEqual({ name: "f" });
    expect(asking({ functions: [f], function_call: "none" }).toolChoice).toBe("none");
  });
});

describe("settings", () => {
  test("every setting that the nouns know is read", () => {
    const schema = { type: "object" };
    const request = asking({
      parallel_tool_calls: false,
      stream: true,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.1,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 2,
      repetition_penalty: 1.1,
      max_tokens: 10,
      max_completion_tokens: 20,
      stop: "END",
      reasoning_effort: "xhigh",
      response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
      n: 1,
      user: null,
    });
    expect(request).toEqual({
      from: "openai-chat",
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      parallelCalls: false,
      stream: "sse",
      sampling: {
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        minP: 0.1,
        seed: 7,
        presencePenalty: 1,
        frequencyPenalty: 2,
        repeatPenalty: 1.1,
      },
      maxTokens: 20,
      stop: ["END"],
      thinking: { effort: "xhigh" },
      output: { schema, name: "n", strict: true },
      extra: [{ wire: "openai-chat", kind: "user", data: null, quiet: true }],
    });
  });
  test("no default is filled in for what the client did not send", () => {
    expect(asking({ stop: null, temperature: null, response_format: { type: "text" } })).toEqual({
      from: "openai-chat",
      model: "m",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    expect(asking({ response_format: { type: "json_object" }, reasoning_effort: "none", stream: false, stop: ["a", "b"] })).toMatchObject({
      output: {},
      thinking: { enabled: false },
      stream: false,
      stop: ["a", "b"],
    });
  });
  test("fields that are not modelled are kept", () => {
    const request = decoded([{ ...user, name: "Ann" }], { logprobs: true, stream_options: { include_usage: true } });
    expect(request.extra).toEqual([
      { wire: "openai-chat", kind: "logprobs", data: true },
      { wire: "openai-chat", kind: "stream_options", data: { include_usage: true }, quiet: true },
    ]);
    expect(request.messages[0]?.state).toEqual([{ wire: "openai-chat", kind: "name", data: "Ann" }]);
  });
});

describe("a bad request is refused with the place of the fault and what to do", () => {
  test.each<[unknown, string]>([
    ["{", "the body is not JSON"],
    [[], "the body must be a JSON object"],
    [undefined, "the body must be a JSON object"],
    [{ model: "m" }, "messages must be a list of messages that is not empty; it is missing"],
    [{ model: 1, messages: [user] }, "model must be a string; it is 1"],
    [{ messages: "hi" }, 'messages must be a list; it is "hi"'],
    [{ messages: [{ content: "x" }] }, "messages[0].role must be one of system, developer, user, assistant, tool, function; it is missing"],
    [{ messages: [{ role: "user", content: 5 }] }, "messages[0].content must be a string or a list of parts; it is 5"],
    [{ messages: [{ role: "user", content: [{ type: "smell" }] }] }, "messages[0].content[0].type must be one of text,"],
    [
      { messages: [user, assistant({ tool_calls: [{ function: {} }] })] },
      "messages[1].tool_calls[0].function.name must be a string that is not empty",
    ],
    [{ messages: [user, assistant({ tool_calls: [{ id: "1" }] })] }, "messages[1].tool_calls[0].function must be an object"],
    [
      { messages: [user, assistant({ tool_calls: [call("1", "f", 5)] })] },
      "messages[1].tool_calls[0].function.arguments must be an object; it is 5",
    ],
    [
      { messages: [user], tools: [{ type: "function", function: { name: "f", parameters: "{}" } }] },
      "tools[0].function.parameters must be an object",
    ],
    [{ messages: [user], tools: [{ type: "function" }] }, "tools[0].name must be a string that is not empty"],
    [{ messages: [user], tool_choice: "often" }, "tool_choice must be one of auto, none, required, any"],
    [
      { messages: [user], tool_choice: { type: "function", function: { name: "g" } } },
      "tool_choice.function.name must be the name of one of the tools",
    ],
    [{ messages: [user], n: 2 }, "n must be 1"],
    [{ messages: [user], stop: [1] }, "stop[0] must be a string"],
    [{ messages: [user], reasoning_effort: "huge" }, "reasoning_effort must be one of none,"],
    [{ messages: [user], metadata: JSON.parse("[".repeat(600) + "]".repeat(600)) }, "the body nests deeper than 512 levels"],
  ])("%.60j", (body, message) => {
    expect(complaint(body)).toContain(message);
  });
});

test("a body that nests too deep says so, also if it has a number that must be read apart", () => {
  const body = `{"messages": [], "seed": 12345678901234567890, "metadata": ${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  expect(complaint(body)).toBe("the body nests deeper than 512 levels");
});

test("the body may be text", () => {
  expect(decode(JSON.stringify({ model: "m", messages: [user] }))).toEqual(decoded([user]));
});

describeShared("recorded requests", () => {
  const chats = captures<{ messages: object[] }>(({ path }) => path.endsWith("/chat/completions"));

  test.each(chats)("$file", ({ body }) => {
    const request = decode(JSON.stringify(body));
    expect(request.messages).toHaveLength(body.messages.length);
    expect(JSON.stringify(request)).not.toContain('"malformed"');
  });
});
