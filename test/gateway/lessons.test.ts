// A model that refuses a setting is asked again without it, later requests are adapted beforehand, and the client gets a warning.
import { describe, expect, test } from "vitest";
import type { Json, WireId } from "../../src/core/nouns.ts";
import { type Body, picky } from "./picky.ts";

const limitOf = ({ max_tokens, max_completion_tokens, max_output_tokens, generationConfig }: Body): number =>
  Number(max_tokens ?? max_completion_tokens ?? max_output_tokens ?? (generationConfig as Body | undefined)?.maxOutputTokens);
const hi = [{ role: "user", content: "Hi" }];
const said = (message: string, more: object = {}) => ({ error: { message, type: "invalid_request_error", ...more } });

describe("a token limit higher than the model accepts", () => {
  test.each<[WireId, number, string]>([
    [
      "openai-chat",
      16384,
      "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
    ],
    ["openai-chat", 8192, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"],
    [
      "openai-chat",
      16384,
      "max_tokens=32000 cannot be greater than max_model_len=max_total_tokens=16384. Please request fewer output tokens.",
    ],
    [
      "openai-chat",
      16384,
      "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window`",
    ],
    [
      "openai-responses",
      16384,
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
    ],
    ["anthropic", 8192, "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"],
    ["gemini", 8192, "it has a maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive)."],
  ])("%s accepts %i: the limit is lowered, and for later requests beforehand", async (wire, most, message) => {
    const { bodies, post } = await picky(wire, (body) => (limitOf(body) > most ? said(message) : undefined));
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/messages", { model: "m", max_tokens: 32000, messages: hi });
      expect([status, headers["x-dragoman-warnings"]]).toEqual([
        200,
        expect.stringContaining(`the limit of 32000 tokens was lowered to ${most}`),
      ]);
    }
    expect((await post("/v1/messages", { model: "m", max_tokens: 100, messages: hi })).headers["x-dragoman-warnings"] ?? "").not.toContain(
      "lowered",
    );
    expect(bodies.map(limitOf)).toEqual([32000, most, most, 100]);
  });
  test("in FastAPI's words", async () => {
    const detail = [
      { type: "less_than_equal", loc: ["body", "max_tokens"], msg: "Input should be less than or equal to 8192", input: 32000 },
    ];
    const { bodies, post } = await picky("openai-chat", (body) => (limitOf(body) > 8192 ? { detail } : undefined), 422);
    expect((await post("/v1/messages", { model: "m", max_tokens: 32000, messages: hi })).status).toBe(200);
    expect(bodies.map(limitOf)).toEqual([32000, 8192]);
  });
  test("if every limit is refused, the client soon gets the error", async () => {
    const { bodies, post } = await picky("openai-chat", (body) =>
      said(`max_tokens is too large. This model supports at most ${limitOf(body) - 1} tokens`),
    );
    expect((await post("/v1/messages", { model: "m", max_tokens: 32000, messages: hi })).status).toBe(400);
    expect(bodies).toHaveLength(5);
  });
});

test("a token limit lower than the model accepts is raised, and for later requests beforehand", async () => {
  const { bodies, post } = await picky("openai-responses", (body) =>
    limitOf(body) < 16
      ? said("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.")
      : undefined,
  );
  for (let i = 0; i < 2; i++) {
    const { status, headers } = await post("/v1/messages", { model: "m", max_tokens: 1, messages: hi });
    expect([status, headers["x-dragoman-warnings"]]).toEqual([200, "the limit of 1 tokens was raised to 16: the model takes no less"]);
  }
  expect(bodies.map(limitOf)).toEqual([1, 16, 16]);
});

describe("an output format that a model refuses beside tools", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const asked = {
    model: "m",
    messages: hi,
    response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
  };
  const formatOf = ({ generationConfig, tools }: Body) => [(generationConfig as Body | undefined)?.responseMimeType, tools !== undefined];

  test("is asked for in words, with a warning", async () => {
    const { bodies, post } = await picky("gemini", (body) =>
      formatOf(body)[0] && body.tools ? said("Function calling with a response mime type: 'application/json' is unsupported") : undefined,
    );
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/chat/completions", asked);
      expect([status, headers["x-dragoman-warnings"]]).toEqual([
        200,
        "the format of the answer is not enforced: the model takes none beside tools",
      ]);
    }
    const { tools: _, ...without } = asked;
    await post("/v1/chat/completions", without);
    const json = "application/json";
    expect(bodies.map(formatOf)).toEqual([
      [json, true],
      [undefined, true],
      [undefined, true],
      [json, false],
    ]);
    expect(bodies[1]).toMatchObject({ systemInstruction: { parts: [{ text: expect.stringContaining(JSON.stringify(schema)) }] } });
  });
});

describe("an output format that a model does not know", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const asked = { model: "m", input: "Hi", text: { format: { type: "json_schema", name: "x", schema } } };
  const typeOf = ({ response_format }: Body) => (response_format as Body | undefined)?.type;

  test.each([
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`. See supported models.",
  ])("becomes plain JSON with the schema in words, also for later requests: %s", async (message) => {
    const { bodies, post } = await picky("openai-chat", (body) => (typeOf(body) === "json_schema" ? said(message) : undefined));
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/responses", asked);
      expect([status, headers["x-dragoman-warnings"]]).toEqual([
        200,
        "the format of the answer is not enforced: the model takes no schema",
      ]);
    }
    expect(bodies.map(typeOf)).toEqual(["json_schema", "json_object", "json_object"]);
    expect(bodies.at(-1)!.messages).toMatchObject([{ role: "system", content: expect.stringContaining(JSON.stringify(schema)) }, {}]);
  });
  test("is asked for in words, if the model knows no JSON mode either", async () => {
    const { bodies, post } = await picky("openai-chat", (body) =>
      typeOf(body) ? said("'response_format.type' must be 'text'") : undefined,
    );
    expect((await post("/v1/responses", asked)).status).toBe(200);
    expect((await post("/v1/responses", asked)).status).toBe(200);
    expect(bodies.map(typeOf)).toEqual(["json_schema", "json_object", undefined, undefined]);
    expect(JSON.stringify(bodies.at(-1)!.messages).split("Answer with nothing but")).toHaveLength(2);
  });
  test("is mentioned in the prompt, if the model demands the word JSON", async () => {
    const { bodies, post } = await picky("openai-chat", ({ messages }) =>
      /json/i.test(JSON.stringify(messages))
        ? undefined
        : said("'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."),
    );
    const { status, headers } = await post("/v1/responses", { ...asked, text: { format: { type: "json_object" } } });
    expect([status, headers["x-dragoman-warnings"] ?? ""]).toEqual([200, expect.not.stringContaining("enforced")]);
    expect(bodies.map(typeOf)).toEqual(["json_object", "json_object"]);
  });
  test.each([
    "Invalid schema for response_format 'x': 'uri' is not supported",
    "Invalid schema for response_format 'tool_result': 'uri' is not supported",
    "invalid JSON schema for response_format: 'x': /properties/a: `additionalProperties:false` must be set on every object",
  ])("a faulty schema is reported to the client, and teaches nothing: %s", async (message) => {
    const { bodies, post } = await picky("openai-chat", () => said(message));
    const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
    for (const request of [asked, { ...asked, tools }]) expect((await post("/v1/responses", request)).status).toBe(400);
    expect(bodies).toHaveLength(2);
  });
});

describe("a model that cannot be forced to call a tool", () => {
  const refusal = "The tool_choice parameter does not support being set to required or object in thinking mode";
  const tools = ["f", "g"].map((name) => ({ name, input_schema: { type: "object" } }));
  const namesOf = ({ tools }: Body) => (tools as { function: { name: string } }[]).map((tool) => tool.function.name);

  test.each([
    [{ type: "any" }, ["f", "g"]],
    [{ type: "tool", name: "g" }, ["g"]],
  ])("may answer in words, with a warning: %j", async (tool_choice, names) => {
    const { bodies, post } = await picky("openai-chat", ({ tool_choice }) =>
      tool_choice !== undefined && tool_choice !== "auto" ? said(refusal) : undefined,
    );
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/messages", { model: "m", max_tokens: 9, messages: hi, tools, tool_choice });
      expect([status, headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("the model cannot be made to call a tool")]);
    }
    expect(bodies.slice(1).map(({ tool_choice }) => tool_choice)).toEqual(["auto", "auto"]);
    expect(bodies.slice(1).map(namesOf)).toEqual([names, names]);
  });
  test("keeps thinking when it is not forced", async () => {
    const { bodies, post } = await picky("openai-chat", ({ tool_choice }) => (tool_choice === "required" ? said(refusal) : undefined));
    const asked = { model: "m", max_tokens: 2000, messages: hi, tools, thinking: { type: "enabled", budget_tokens: 1024 } };
    await post("/v1/messages", { ...asked, tool_choice: { type: "any" } });
    await post("/v1/messages", asked);
    expect(bodies.map(({ reasoning_effort }) => reasoning_effort)).toEqual(["minimal", "minimal", "minimal"]);
  });
});

test("a model without parallel_tool_calls is asked without it, also for later requests", async () => {
  const { bodies, post } = await picky("openai-chat", ({ parallel_tool_calls }) =>
    parallel_tool_calls === undefined
      ? undefined
      : said("Unsupported parameter: 'parallel_tool_calls' is not supported with this model.", { param: "parallel_tool_calls" }),
  );
  const tools = [{ type: "function", name: "f", parameters: { type: "object" }, strict: false }];
  const warnings: unknown[] = [];
  for (const parallel_tool_calls of [true, false]) {
    const { status, headers } = await post("/v1/responses", { model: "m", input: "Hi", tools, parallel_tool_calls });
    expect(status).toBe(200);
    warnings.push(headers["x-dragoman-warnings"]);
  }
  expect(bodies.map(({ parallel_tool_calls }) => parallel_tool_calls)).toEqual([true, undefined, undefined]);
  expect(warnings).toEqual([undefined, "the model refuses the wish for one call at a time: it was asked without"]);
});

test.each([
  "Too many strict tools (21). The maximum number of strict tools supported is 20.",
  "Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf).",
  "Schemas contains too many optional parameters (25), which would make grammar compilation inefficient.",
  "Schema is too complex for compilation. Try reducing the number of tools or simplifying tool schemas.",
])("strict tools that are too many or too large for a model are sent without strict, smaller ones with it: %s", async (message) => {
  const strictIn = ({ tools }: Body) => (tools as Body[]).filter(({ strict }) => strict).length;
  const { bodies, post } = await picky("anthropic", (body) => (strictIn(body) > 2 ? said(message) : undefined));
  const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
  const tools = ["a", "b", "c"].map((name) => ({ type: "function", function: { name, parameters, strict: true } }));
  for (const some of [tools, tools, tools.slice(1)]) {
    const { status, headers } = await post("/v1/chat/completions", { model: "m", messages: hi, tools: some });
    expect(status).toBe(200);
    if (some === tools) expect(headers["x-dragoman-warnings"]).toContain("the schemas of the strict tools are not enforced");
  }
  expect(bodies.map(strictIn)).toEqual([3, 0, 0, 2]);
});

test.each([
  "The `reasoning_content` in the thinking mode must be passed back to the API.",
  "Missing reasoning_content field in the assistant message at message index 2.",
  "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
])("a model that demands thinking with every call gets a dot where there is none: %s", async (message) => {
  const { bodies, post } = await picky("openai-chat", ({ messages }) =>
    (messages as Body[]).some((message) => message.tool_calls && !message.reasoning_content) ? said(message) : undefined,
  );
  const use = { type: "tool_use", id: "c1", name: "f", input: {} };
  const messages = [
    ...hi,
    { role: "assistant", content: [use] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "42" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "So", signature: "" },
        { ...use, id: "c2" },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c2", content: "43" }] },
  ];
  for (let i = 0; i < 2; i++) expect((await post("/v1/messages", { model: "m", max_tokens: 9, messages })).status).toBe(200);
  expect(bodies).toHaveLength(3);
  const thoughts = (bodies[2]!.messages as Body[]).flatMap(({ role, reasoning_content }) =>
    role === "assistant" ? [reasoning_content] : [],
  );
  expect(thoughts).toEqual([".", "So"]);
});

test.each<[number, object]>([
  [
    400,
    said(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    ),
  ],
  [400, said("messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported")],
  [
    422,
    {
      detail: [
        { type: "extra_forbidden", loc: ["body", "messages", 1, "assistant", "reasoning_content"], msg: "Extra inputs are not permitted" },
      ],
    },
  ],
])("a server that accepts no thinking from earlier turns is asked without it, also for later requests: %i %j", async (status, error) => {
  const isThought = ({ messages }: Body) => (messages as Body[]).some(({ reasoning_content }) => reasoning_content !== undefined);
  const { bodies, post } = await picky("openai-chat", (body) => (isThought(body) ? error : undefined), status);
  const content = [
    { type: "thinking", thinking: "So", signature: "" },
    { type: "text", text: "Yes" },
  ];
  for (let i = 0; i < 2; i++) {
    const { status, headers } = await post("/v1/messages", {
      model: "m",
      max_tokens: 9,
      messages: [...hi, { role: "assistant", content }, ...hi],
    });
    expect([status, headers["x-dragoman-warnings"]]).toEqual([200, "the model refuses thinking of before: it was asked without"]);
  }
  expect(bodies.map(isThought)).toEqual([true, false, false]);
});

test.each(["invalid message content type: <nil>", "Invalid 'content': 'content' field must be a string or an array of objects."])(
  "a server that demands text with every call gets an empty one: %s",
  async (message) => {
    const contents = ({ messages }: Body) => (messages as Body[]).map(({ content }) => content);
    const { bodies, post } = await picky("openai-chat", (body) => (contents(body).includes(null) ? said(message) : undefined));
    const messages = [
      ...hi,
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "42" }] },
    ];
    for (let i = 0; i < 2; i++) expect((await post("/v1/messages", { model: "m", max_tokens: 9, messages })).status).toBe(200);
    expect(bodies.map(contents)).toEqual([
      ["Hi", null, "42"],
      ["Hi", "", "42"],
      ["Hi", "", "42"],
    ]);
  },
);

test("a server that accepts only its own form of call ids gets it, also for later requests", async () => {
  type Message = { tool_calls?: { id: string }[]; tool_call_id?: string };
  const idsOf = ({ messages }: Body) =>
    (messages as Message[]).flatMap(({ tool_calls = [], tool_call_id }) => [
      ...tool_calls.map(({ id }) => id),
      ...(tool_call_id ? [tool_call_id] : []),
    ]);
  const { bodies, post } = await picky("openai-chat", (body) => {
    const id = idsOf(body).find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    return id === undefined
      ? undefined
      : { object: "error", message: `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`, code: "3280" };
  });
  const round = (id: string) => [
    { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "42" }] },
  ];
  const messages = [...hi, ...round("toolu_01"), ...round("Ab3dEf6hI")];
  expect((await post("/v1/messages", { model: "m", max_tokens: 9, messages })).status).toBe(200);
  expect((await post("/v1/messages", { model: "m", max_tokens: 9, messages: [...messages, ...round("toolu_02")] })).status).toBe(200);
  const sent = ["call00000", "call00000", "Ab3dEf6hI", "Ab3dEf6hI"];
  expect(bodies.slice(1).map(idsOf)).toEqual([sent, [...sent, "call00002", "call00002"]]);
});

test("a server that refuses to show thinking is asked without it, and still thinks as hard", async () => {
  const { bodies, post } = await picky("openai-responses", ({ reasoning }) =>
    (reasoning as Body | undefined)?.summary
      ? said("Your organization must be verified to generate reasoning summaries.", { param: "reasoning.summary" })
      : undefined,
  );
  for (let i = 0; i < 2; i++)
    await post("/v1/messages", { model: "m", max_tokens: 2000, messages: hi, thinking: { type: "enabled", budget_tokens: 1024 } });
  expect(bodies.map(({ reasoning }) => reasoning)).toEqual([
    { effort: "minimal", summary: "auto" },
    { effort: "minimal" },
    { effort: "minimal" },
  ]);
});

// Python's google-genai declares it for every function with a return type.
test.each<[string, number, object]>([
  [
    "Mistral",
    422,
    { detail: [{ type: "extra_forbidden", loc: ["body", "tools", 0, "function", "response"], msg: "Extra inputs are not permitted" }] },
  ],
  [
    "Azure",
    400,
    said("Unknown parameter: 'tools[0].function.response'.", { param: "tools[0].function.response", code: "unknown_parameter" }),
  ],
])("%s refuses a tool's response schema: it is asked without, also for later requests", async (_, status, error) => {
  const toolsOf = ({ tools }: Body) => tools as unknown as [{ function: Body }];
  const { bodies, post } = await picky("openai-chat", (body) => (toolsOf(body)[0].function.response ? error : undefined), status);
  const declared = { name: "f", parametersJsonSchema: { type: "object" }, responseJsonSchema: { type: "string" } };
  for (let i = 0; i < 2; i++) {
    const body = { contents: [{ role: "user", parts: [{ text: "Hi" }] }], tools: [{ functionDeclarations: [declared] }] };
    const { status, headers } = await post("/v1beta/models/m:generateContent", body);
    expect([status, headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("the schemas of what tools give back")]);
  }
  expect(bodies.map((body) => toolsOf(body)[0].function.response)).toEqual([{ type: "string" }, undefined, undefined]);
});

describe("sampling settings that a model refuses", () => {
  const gemini = { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { temperature: 1, topP: 0.95, topK: 64 } };
  const path = "/v1beta/models/m:generateContent";
  const unsupported = (key: string) => said(`Unsupported parameter: '${key}' is not supported with this model.`, { param: key });

  test("are left out, one after the other, also for later requests", async () => {
    const { bodies, post } = await picky("openai-chat", (body) => {
      const key = ["top_p", "top_k"].find((key) => key in body);
      return key === undefined ? undefined : unsupported(key);
    });
    for (let i = 0; i < 2; i++) expect((await post(path, gemini)).status).toBe(200);
    expect(bodies.map(({ temperature, top_p, top_k }) => [temperature, top_p, top_k])).toEqual([
      [1, 0.95, 64],
      [1, undefined, 64],
      [1, undefined, undefined],
      [1, undefined, undefined],
    ]);
  });
  test("in Mistral's words", async () => {
    const detail = [{ type: "extra_forbidden", loc: ["body", "top_k"], msg: "Extra inputs are not permitted", input: 64 }];
    const refused = { object: "error", message: { detail }, type: "invalid_request_error", param: null, code: null };
    const { bodies, post } = await picky("openai-chat", (body) => ("top_k" in body ? refused : undefined), 422);
    expect((await post(path, gemini)).status).toBe(200);
    expect(bodies.map(({ top_k }) => top_k)).toEqual([64, undefined]);
  });
  test("are left out for the refused value, and no other", async () => {
    const { bodies, post } = await picky("openai-chat", ({ top_p }) =>
      top_p === 0 ? said("top_p must be in (0, 1], got 0.0.") : undefined,
    );
    for (const topP of [0, 0.5, 0]) await post(path, { ...gemini, generationConfig: { topP } });
    expect(bodies.map(({ top_p }) => top_p)).toEqual([0, undefined, 0.5, undefined]);
  });
  test("of two that exclude each other, one is kept", async () => {
    const both = said("`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
    const { bodies, post } = await picky("openai-chat", (body) => ("temperature" in body && "top_p" in body ? both : undefined));
    const { headers } = await post(path, gemini);
    expect(headers["x-dragoman-warnings"]).toContain("the model refuses topP: it was asked without");
    expect(bodies.at(-1)).toMatchObject({ temperature: 1 });
  });
  test("of the server's own clients are sent unchanged, whatever it refuses", async () => {
    const { bodies, post } = await picky("openai-chat", ({ top_p }) => (top_p === undefined ? undefined : unsupported("top_p")));
    for (let i = 0; i < 2; i++) expect((await post("/v1/chat/completions", { model: "m", messages: hi, top_p: 0.5 })).status).toBe(400);
    expect((await post(path, gemini)).status).toBe(200);
    expect((await post("/v1/chat/completions", { model: "m", messages: hi, top_p: 0.5 })).status).toBe(400);
    expect(bodies).toHaveLength(5);
  });
  test("Anthropic never gets top_p beside a temperature, with thinking or without", async () => {
    const { bodies, post } = await picky("anthropic", () => undefined);
    for (const more of [{}, { thinkingConfig: { thinkingBudget: 8192 } }])
      await post(path, { ...gemini, generationConfig: { ...gemini.generationConfig, ...more } });
    for (const body of bodies) expect([body.temperature, body.top_p]).toEqual([1, undefined]);
  });
});

test("a server that knows the token limit only by its newer name gets that, from any client", async () => {
  const { bodies, post } = await picky("openai-chat", (body) =>
    "max_tokens" in body
      ? said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
      : undefined,
  );
  expect((await post("/v1/chat/completions", { model: "m", messages: hi, max_completion_tokens: 100 })).status).toBe(200);
  expect((await post("/v1/messages", { model: "m", messages: hi, max_tokens: 100 })).status).toBe(200);
  expect(bodies.slice(-2)).toMatchObject([{ max_completion_tokens: 100 }, { max_completion_tokens: 100 }]);
  expect(bodies.length).toBeLessThanOrEqual(3);
});

describe("servers without stream_options", () => {
  const mistral = [{ type: "extra_forbidden", loc: ["body", "stream_options"], msg: "Extra inputs are not permitted", input: {} }];
  const refusals: [string, number, object][] = [
    ["older versions of Azure", 400, said("Unrecognized request argument supplied: stream_options")],
    ["other models of Azure", 400, said("Validation error at #/stream_options: Extra inputs are not permitted")],
    ["Mistral", 422, { object: "error", message: { detail: mistral }, type: "invalid_request_error", param: null, code: null }],
    [
      "TGI",
      422,
      { error: "Failed to deserialize the JSON body into the target type: unknown field `stream_options`", error_type: "validation" },
    ],
  ];
  const asked = { model: "m", max_tokens: 9, stream: true, messages: hi };
  test.each(refusals)("%s: they are asked without, also for later requests", async (_, status, error) => {
    const { bodies, post } = await picky("openai-chat", (body) => ("stream_options" in body ? error : undefined), status);
    for (const path of ["/v1/messages", "/v1/chat/completions", "/v1/messages"]) {
      const { status, headers } = await post(path, asked);
      expect([status, headers["x-dragoman-warnings"]]).toEqual([200, expect.stringContaining("refuses stream_options")]);
    }
    expect(bodies.map((body) => "stream_options" in body)).toEqual([true, false, false, false]);
  });
  test("a client that sent stream_options itself gets the refusal", async () => {
    const { bodies, post } = await picky("openai-chat", () => refusals[0]![2]);
    const { status } = await post("/v1/chat/completions", { ...asked, stream_options: { include_usage: true } });
    expect([status, bodies.length]).toEqual([400, 1]);
  });
});

describe("more stop strings than a server accepts", () => {
  const VLLM =
    "1 validation error:\n  {'type': 'too_long', 'loc': ('body', 'function-wrap[__log_extra_fields__()]', 'stop', 'list[str]'), 'msg': 'List should have at most 4 items after validation, not 5', 'input': ['1', '2', '3', '4', '5']}";
  test.each([
    [VLLM, { param: "body.stop" }],
    ["Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.", {}],
    ["'stop' : maximum number of items is 4", {}],
  ])("only the first are sent, also for later requests: %s", async (message, more) => {
    const { bodies, post } = await picky("openai-chat", ({ stop }) => ((stop as Json[]).length > 4 ? said(message, more) : undefined));
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/messages", {
        model: "m",
        max_tokens: 9,
        messages: hi,
        stop_sequences: ["1", "2", "3", "4", "5"],
      });
      expect([status, headers["x-dragoman-warnings"]]).toEqual([
        200,
        "the model refuses every stop string after the first 4: it was asked without",
      ]);
    }
    expect(bodies.map(({ stop }) => (stop as Json[]).length)).toEqual([5, 4, 4]);
  });
});

describe("media that a model refuses", () => {
  const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "a.pdf" };
  const shown = [
    { role: "user", content: [{ type: "text", text: "Look" }, png] },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "Read", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [pdf, png] }] },
  ];
  const kinds = (body: Body) =>
    [...new Set(JSON.stringify(body).match(/image_url|"file"|\[image\/png\]|\[application\/pdf a.pdf\]/g))].sort();
  const asked = { model: "m", max_tokens: 9, messages: shown };

  test.each<[string, number]>([
    ["image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", 500],
    ["At most 0 image(s) may be provided in one prompt.", 400],
    ["qwen3 is not a multimodal model", 400],
    ["Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`", 400],
    ["No endpoints found that support image input", 404],
    ["Invalid content type. image_url is only supported by certain models.", 400],
    ["'messages.0.content' must be a string", 400],
    ["Only 'text' content type is supported.", 404],
  ])("become labels, also for later requests: %s", async (message, status) => {
    const refuses = (body: Body) => (/image_url|"file"/.test(JSON.stringify(body)) ? { error: { message } } : undefined);
    const { bodies, post } = await picky("openai-chat", refuses, status);
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await post("/v1/messages", { ...asked, messages: shown.slice(0, 1) });
      expect([status, headers["x-dragoman-warnings"]]).toEqual([200, "the model refuses images: it was asked without"]);
    }
    expect(bodies).toHaveLength(3);
    expect(bodies.at(-1)!.messages).toMatchObject([{ content: [{ text: "Look" }, { text: "[image/png]" }] }]);
  });

  test.each([
    "Unsupported chat content part type: 'file'. Supported types: text, image_url, audio_url, input_audio, video_url",
    "Invalid 'content': 'content' objects must have a 'type' field that is either 'text' or 'image_url'.",
    "unsupported content[].type",
  ])("only the refused kind: %s", async (message) => {
    const { bodies, post } = await picky("openai-chat", (body) =>
      /"file"/.test(JSON.stringify(body)) ? { error: { message } } : undefined,
    );
    expect((await post("/v1/messages", asked)).status).toBe(200);
    expect(bodies.map(kinds)).toEqual([
      ['"file"', "image_url"],
      ["[application/pdf a.pdf]", "image_url"],
    ]);
  });

  test.each([
    "Could not process image",
    "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
    "Unsupported image format: heic is not supported",
  ])("a fault in a single image is reported to the client: %s", async (message) => {
    const { bodies, post } = await picky("openai-chat", (body) =>
      JSON.stringify(body).includes("image_url") ? { error: { message } } : undefined,
    );
    expect((await post("/v1/messages", asked)).status).toBe(400);
    expect(bodies).toHaveLength(1);
  });

  test("of the server's own clients are sent unchanged", async () => {
    const { bodies, post } = await picky("openai-chat", () => said("image input is not supported"));
    const content = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    expect((await post("/v1/chat/completions", { model: "m", messages: [{ role: "user", content }] })).status).toBe(400);
    expect(bodies).toHaveLength(1);
  });
});

describe("messages after a tool result, if only the model may speak there", () => {
  const png = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const use = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "Read", input: {} }] };
  const returned = (content: object | string, ...more: object[]) => ({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c1", content }, ...more],
  });
  const text = (text: string) => ({ type: "text", text });
  const isRefused = ({ messages }: Body): boolean =>
    (messages as Body[]).some(({ role }, i) => role === "user" && (messages as Body[])[i - 1]?.role === "tool");

  test.each([
    ["Unexpected role 'user' after role 'tool'", 400],
    [
      "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
      500,
    ],
  ])("move into the result, also for later requests: %s", async (message, status) => {
    const { bodies, post } = await picky("openai-chat", (body) => (isRefused(body) ? { object: "error", message } : undefined), status);
    const shown = [...hi, use, returned([text("A"), png], text("Go on")), { role: "system", content: "9 tokens left" }];
    const later = [...shown, { role: "assistant", content: "Well" }, { role: "user", content: "And?" }];
    for (const messages of [shown, later]) {
      const { status, headers } = await post("/v1/messages", { model: "m", max_tokens: 9, messages });
      expect([status, headers["x-dragoman-warnings"]]).toEqual([
        200,
        expect.stringContaining("the model takes nothing after a tool's result"),
      ]);
    }
    expect(bodies).toHaveLength(3);
    const [, again, next] = bodies.map(({ messages }) => messages as Body[]);
    expect(again!.at(-1)).toMatchObject({
      role: "tool",
      content: "A\n\n[image/png]\n\n<user>\nGo on\n</user>\n\n<system>\n9 tokens left\n</system>",
    });
    expect(next!.slice(0, again!.length)).toEqual(again);
    expect(next!.slice(again!.length)).toMatchObject([{ content: "Well" }, { role: "user", content: "And?" }]);
  });

  test("of the server's own clients are sent unchanged", async () => {
    const { bodies, post } = await picky("openai-chat", () => ({ message: "Unexpected role 'user' after role 'tool'" }));
    const call = { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] };
    const messages = [...hi, call, { role: "tool", tool_call_id: "c1", content: "A" }, ...hi];
    expect((await post("/v1/chat/completions", { model: "m", messages })).status).toBe(400);
    expect(bodies).toHaveLength(1);
  });
});
