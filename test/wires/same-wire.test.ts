// Unknown fields of a request come back to the same wire, wherever they are, and no other wire sees them.
import { expect, test } from "vitest";
import type { WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const hi = { role: "user", content: "Hi" };
const said = { role: "user", content: [{ type: "input_text", text: "Hi" }] };
const f = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const patch = { type: "custom", custom: { name: "patch", format: { type: "text" } } };
const grammar = { syntax: "lark", definition: "start: X", x_new: 1 };
const flat = { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false };
const result = [said, { type: "function_call", call_id: "c", name: "f", arguments: "{}", status: "completed" }];

const requests: [string, WireId, object][] = [
  [
    "tool_choice",
    "openai-chat",
    { messages: [hi], tools: [f], tool_choice: { type: "function", function: { name: "f", x_new: 1 }, x_new: 2 } },
  ],
  [
    "tool_choice of allowed tools",
    "openai-chat",
    {
      messages: [hi],
      tools: [f],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }], x_new: 1 },
        x_new: 2,
      },
    },
  ],
  [
    "tool_choice of allowed tools, some of which only the server knows",
    "openai-chat",
    {
      messages: [hi],
      tools: [f],
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: {
          mode: "auto",
          tools: [
            { type: "x_new", name: "a" },
            { type: "function", function: { name: "f", x_new: 1 }, x_new: 2 },
            { type: "x_new", name: "b" },
          ],
        },
      },
    },
  ],
  [
    "tool_choice of allowed tools, some of which only the server knows",
    "openai-responses",
    {
      input: [said],
      tools: [flat],
      tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f", x_new: 1 }, { type: "x_new" }] },
    },
  ],
  [
    "null",
    "openai-chat",
    {
      messages: [
        { role: "user", content: [{ type: "text", text: "Hi", x_new: null }], x_new: null },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}", x_new: null }, x_new: null }],
        },
        { role: "tool", tool_call_id: "c", content: "ok", x_new: null },
      ],
      tools: [{ type: "function", function: { name: "f", x_new: null }, x_new: null }],
      response_format: { type: "json_object", x_new: null },
      x_new: null,
    },
  ],
  [
    "null",
    "anthropic",
    {
      max_tokens: 9,
      messages: [
        { role: "user", content: [{ type: "text", text: "Hi", x_new: null }], x_new: null },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {}, x_new: null }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "ok", x_new: null }] },
      ],
      tools: [{ name: "f", input_schema: { type: "object" }, x_new: null }],
      thinking: { type: "adaptive", x_new: null },
      output_config: { x_new: null },
      x_new: null,
    },
  ],
  [
    "null",
    "gemini",
    {
      contents: [{ role: "user", parts: [{ text: "Hi", x_new: null }], x_new: null }],
      tools: [{ functionDeclarations: [{ name: "f", x_new: null }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true, x_new: null }, x_new: null },
      toolConfig: { functionCallingConfig: { mode: "AUTO", x_new: null } },
      x_new: null,
    },
  ],
  [
    "null",
    "openai-responses",
    {
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi", x_new: null }], x_new: null },
        { type: "function_call", call_id: "c", name: "f", arguments: "{}", status: "completed", x_new: null },
        { type: "function_call_output", call_id: "c", output: "ok", x_new: null },
      ],
      tools: [{ ...flat, x_new: null }],
      text: { format: { type: "json_object", x_new: null }, x_new: null },
      reasoning: { effort: "low", x_new: null },
      x_new: null,
    },
  ],
  [
    "null",
    "ollama",
    {
      messages: [
        { ...hi, x_new: null },
        { role: "assistant", content: "", tool_calls: [{ id: "c", function: { name: "f", arguments: {}, x_new: null }, x_new: null }] },
      ],
      tools: [{ type: "function", function: { name: "f", x_new: null }, x_new: null }],
      options: { x_new: null },
      x_new: null,
    },
  ],
  ["response_format: text", "openai-chat", { messages: [hi], response_format: { type: "text", x_new: 1 } }],
  ["response_format: json_object", "openai-chat", { messages: [hi], response_format: { type: "json_object", x_new: 1 } }],
  [
    "response_format: json_schema",
    "openai-chat",
    {
      messages: [hi],
      response_format: { type: "json_schema", json_schema: { name: "o", schema: { type: "object" }, x_new: 1 }, x_new: 2 },
    },
  ],
  [
    "a custom call",
    "openai-chat",
    {
      messages: [
        hi,
        { role: "assistant", content: null, tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "x", x_new: 1 } }] },
        { role: "tool", tool_call_id: "c", content: "ok" },
      ],
      tools: [patch],
    },
  ],
  [
    "a custom tool's grammar",
    "openai-chat",
    { messages: [hi], tools: [{ type: "custom", custom: { name: "patch", format: { type: "grammar", grammar, x_new: 2 } } }] },
  ],
  ["tool_choice", "openai-responses", { input: [said], tools: [flat], tool_choice: { type: "function", name: "f", x_new: 1 } }],
  ["a format", "openai-responses", { input: [said], tools: [{ type: "custom", name: "patch", format: { type: "text", x_new: 1 } }] }],
  ["a grammar", "openai-responses", { input: [said], tools: [{ type: "custom", name: "patch", format: { type: "grammar", ...grammar } }] }],
  [
    "texts of a result",
    "openai-responses",
    {
      input: [
        ...result,
        {
          type: "function_call_output",
          call_id: "c",
          output: [
            { type: "input_text", text: "a", x_new: 1 },
            { type: "input_text", text: "b" },
          ],
        },
      ],
      tools: [flat],
    },
  ],
  [
    "tool_choice",
    "anthropic",
    {
      max_tokens: 9,
      messages: [hi],
      tools: [{ name: "f", input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name: "f", x_new: 1 },
    },
  ],
];

/** Known fields that are rarely sent, from the SDKs' types. */
const allowed: typeof requests = [
  [
    "a name without a schema",
    "openai-chat",
    { messages: [hi], response_format: { type: "json_schema", json_schema: { name: "o", description: "d", strict: true } } },
  ],
  [
    "a function that does not say whether it is strict",
    "openai-responses",
    {
      input: [said],
      tools: [
        {
          type: "namespace",
          name: "n",
          description: "d",
          tools: [{ type: "function", name: "f", parameters: { type: "object" }, async: true, allowed_callers: ["direct"] }],
        },
      ],
    },
  ],
  [
    "the name on a result",
    "openai-responses",
    { input: [...result, { type: "function_call_output", call_id: "c", output: "ok", name: "f", namespace: "n" }], tools: [flat] },
  ],
  [
    "a call that is not completed",
    "openai-responses",
    { input: [said, { type: "function_call", call_id: "c", name: "f", arguments: "{}", status: "in_progress" }], tools: [flat] },
  ],
  [
    "a custom call's result that is stored on the server",
    "openai-responses",
    { input: [said, { type: "custom_tool_call_output", call_id: "c", output: "ok" }], tools: [flat] },
  ],
  ["how to show thinking", "anthropic", { max_tokens: 9, messages: [hi], thinking: { type: "adaptive", display: "updates" } }],
  [
    "an image in an assistant message",
    "anthropic",
    {
      max_tokens: 9,
      messages: [
        hi,
        { role: "assistant", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" }, title: null }] },
        hi,
      ],
    },
  ],
  [
    "an image in a system message",
    "gemini",
    {
      systemInstruction: { parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }] },
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    },
  ],
];

test.each([...requests, ...allowed])("%s (%s) passes through", (_, id, fields) => {
  const wire = getWire(id);
  const given = wire.decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...fields } });
  const { body, context } = wire.encodeRequest(given);
  expect(body).toMatchObject(fields);
  expect(context.warnings).toEqual([]);
  for (const other of listWires()) if (other.id !== id) expect(JSON.stringify(other.encodeRequest(given).body)).not.toContain("x_new");
});

test("a YouTube link has no media type, and gets none", () => {
  const fileData = { fileUri: "https://www.youtube.com/watch?v=x" };
  const body = { contents: [{ role: "user", parts: [{ fileData }] }] };
  const gemini = getWire("gemini");
  const request = gemini.decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body });
  expect(gemini.encodeRequest(request).body).toEqual(body);
});

test("a reference without a type is passed on in Responses", () => {
  const responses = getWire("openai-responses");
  const given = { path: "", query: {}, headers: {}, body: { model: "m", input: [said, { id: "msg_1" }] } };
  const { body } = responses.encodeRequest(responses.decodeRequest(given));
  expect(body).toMatchObject({ input: [said, { type: "item_reference", id: "msg_1" }] });
  const kept = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] };
  const recalled = responses.decodeRequest({ ...given, recall: () => kept });
  expect(recalled.messages[1]).toMatchObject({ role: "assistant", content: [{ text: "Hello" }] });
});

test("a system message with only a setting gets no content", () => {
  const messages = [hi, { role: "system", output_config: { effort: "low" } }, { role: "assistant", content: "Hi" }];
  const anthropic = getWire("anthropic");
  const body = { model: "m", max_tokens: 9, messages };
  expect(anthropic.encodeRequest(anthropic.decodeRequest({ path: "", query: {}, headers: {}, body })).body).toEqual(body);
});
