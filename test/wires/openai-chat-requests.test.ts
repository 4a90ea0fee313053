// Chat completions: requests written for servers.
import { describe, expect, test } from "vitest";
import type { JsonObject, Message, Request, Tool } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import type { WireProfile } from "../../src/wires/wire.ts";
import { describeShared } from "../shared.ts";
import { captures } from "./helpers.ts";
import { validateRequest } from "./validators.ts";

interface Body {
  [key: string]: unknown;
  messages: Record<string, unknown>[];
  tools?: { type: string; function: { name: string } }[];
}
const user: Message = { role: "user", content: [{ type: "text", text: "Hi" }] };
const ask = (fields: Partial<Request>): Request => ({ model: "m", messages: [user], ...fields });
function encode(fields: Partial<Request>, profile?: WireProfile) {
  const { body, context } = openaiChat.encodeRequest(ask(fields), profile);
  return {
    body: body as Body,
    context,
    codes: context.warnings.map(({ code }) => code),
    said: context.warnings.map(({ message }) => message),
  };
}
const decode = (body: unknown): Request => openaiChat.decodeRequest({ path: "", query: {}, headers: {}, body });
const callOf = (id: string, name: string, args = "{}"): Message => ({
  role: "assistant",
  content: [{ type: "tool-call", id, name, arguments: JSON.parse(args), json: args }],
});
const f: Tool = { name: "f", description: "F", parameters: { type: "object" } };

describe("a request comes back unchanged", () => {
  const part = (fields: object) => ({ role: "user", content: [{ type: "text", text: "see" }, fields] });
  test.each<[string, object]>([
    ["roles", { messages: ["system", "developer", "user", "assistant", "system"].map((role) => ({ role, content: role })) }],
    [
      "no content",
      {
        messages: [
          { role: "user", content: "" },
          { role: "assistant", content: "" },
        ],
      },
    ],
    ["thinking", { messages: [{ role: "assistant", content: "yes", reasoning_content: "hm" }] }],
    ["thinking under two names", { messages: [{ role: "assistant", content: "yes", reasoning: "hm", reasoning_content: "hm" }] }],
    ["empty thinking (DeepSeek demands the field)", { messages: [{ role: "assistant", content: "yes", reasoning_content: "" }] }],
    [
      "thinking under one name, null under the other",
      { messages: [{ role: "assistant", content: "yes", reasoning: "hm", reasoning_content: "" }] },
    ],
    ["audio as bytes (Mistral)", { messages: [part({ type: "input_audio", input_audio: "//NkxAA" })] }],
    ["audio by link (Mistral)", { messages: [part({ type: "input_audio", input_audio: "https://x/a.mp3" })] }],
    ["a file as bytes (Perplexity)", { messages: [part({ type: "file_url", file_url: { url: "JVBERi0" }, file_name: "a.pdf" })] }],
    ["a file by link (Perplexity)", { messages: [part({ type: "file_url", file_url: { url: "https://x/a.pdf" } })] }],
    [
      "the name of the assistant",
      {
        messages: [
          { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "1", name: "f", content: "ok" },
        ],
      },
    ],
    ["an image", { messages: [part({ type: "image_url", image_url: { url: "data:image/png;base64,AA", detail: "low" } })] }],
    ["a linked image", { messages: [part({ type: "image_url", image_url: { url: "https://x/y.png" } })] }],
    ["a sound", { messages: [part({ type: "input_audio", input_audio: { data: "AA", format: "wav" } })] }],
    ["a file", { messages: [part({ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA" } })] }],
    ["a file by link (OpenRouter)", { messages: [part({ type: "file", file: { filename: "a.pdf", file_data: "https://x/a.pdf" } })] }],
    ["a document (Mistral)", { messages: [part({ type: "document_url", document_url: "https://x/1805.04770", document_name: "a" })] }],
    ["a document as bytes", { messages: [part({ type: "document_url", document_url: "data:application/pdf;base64,AA" })] }],
    [
      "thinking in the content (Mistral)",
      {
        messages: [
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: [{ type: "text", text: "Hm." }], closed: true },
              { type: "text", text: "4" },
            ],
          },
        ],
      },
    ],
    [
      "references in an answer and in its thinking (Mistral)",
      {
        messages: [
          {
            role: "assistant",
            content: [
              {
                type: "thinking",
                thinking: [
                  { type: "text", text: "Hm." },
                  { type: "reference", reference_ids: [1] },
                ],
              },
              { type: "text", text: "4" },
              { type: "reference", reference_ids: [0] },
            ],
          },
        ],
      },
    ],
    ["the default effort (Groq)", { reasoning_effort: "default" }],
    ["a file by its id", { messages: [part({ type: "file", file: { file_id: "file-1" } })] }],
    ["a refusal", { messages: [{ role: "assistant", content: [{ type: "refusal", refusal: "no" }] }] }],
    [
      "calls and results",
      {
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"n": 1.0}' } }],
          },
          { role: "tool", tool_call_id: "1", content: "ok" },
        ],
      },
    ],
    [
      "a broken call",
      {
        messages: [
          { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"n": ' } }] },
        ],
      },
    ],
    [
      "a custom call",
      { messages: [{ role: "assistant", content: null, tool_calls: [{ id: "1", type: "custom", custom: { name: "p", input: "x\n" } }] }] },
    ],
    [
      "a result in parts",
      {
        messages: [
          { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "a" }] },
        ],
      },
    ],
    [
      "Gemini's signature",
      {
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                id: "1",
                type: "function",
                function: { name: "f", arguments: "{}" },
                extra_content: { google: { thought_signature: "s" } },
              },
            ],
          },
        ],
      },
    ],
    [
      "tools",
      {
        tools: [
          { type: "function", function: { name: "f", description: "F", parameters: { type: "object" } } },
          { type: "custom", custom: { name: "c", format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } } } },
        ],
      },
    ],
    [
      "a tool that only the server knows",
      { tools: [{ type: "web_search" }, { type: "function", function: { name: "f" } }, { type: "mcp", x: 1 }] },
    ],
    ["only tools that the server knows", { tools: [{ type: "web_search" }], tool_choice: "required" }],
    [
      "choices",
      {
        tools: [{ type: "function", function: { name: "f" } }],
        tool_choice: { type: "function", function: { name: "f" } },
        parallel_tool_calls: false,
      },
    ],
    [
      "allowed tools",
      {
        tools: [{ type: "function", function: { name: "f" } }],
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "f" } }] } },
      },
    ],
    [
      "settings",
      {
        temperature: 0,
        top_p: 0.5,
        top_k: 3,
        min_p: 0.1,
        seed: 1,
        presence_penalty: 1,
        frequency_penalty: -1,
        repetition_penalty: 1.1,
        max_completion_tokens: 5,
        stop: ["a"],
        reasoning_effort: "none",
      },
    ],
    [
      "structured output",
      { response_format: { type: "json_schema", json_schema: { name: "n", description: "D", schema: { type: "object" }, strict: false } } },
    ],
    ["any JSON", { response_format: { type: "json_object" } }],
    ["an output format that only the server knows", { response_format: { type: "grammar", grammar: "x" } }],
    ["streaming", { stream: true, stream_options: { include_usage: true, include_obfuscation: false } }],
    [
      "unknown fields everywhere",
      {
        odd: { a: [1] },
        logprobs: true,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "x", cache_control: { type: "ephemeral" } },
              { type: "image_url", image_url: { url: "https://x", odd: 1 }, odd: 2 },
            ],
            odd: 3,
          },
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}", odd: 4 }, odd: 5 }],
            odd: 6,
          },
          { role: "tool", tool_call_id: "1", content: "ok", odd: 7 },
        ],
        tools: [{ type: "function", function: { name: "f", odd: 8 }, odd: 9 }],
        response_format: { type: "json_schema", json_schema: { name: "n", schema: {}, odd: 10 } },
      },
    ],
  ])("%s", (_, fields) => {
    const body = { model: "m", messages: [{ role: "user", content: "Hi" }], ...fields };
    const { body: again, context } = openaiChat.encodeRequest(decode(body));
    expect(again).toEqual(body);
    expect(context.warnings).toEqual([]);
  });
  test("a file's bytes are bytes on other wires, too, and thinking given twice is read once", () => {
    const file = { type: "file_url", file_url: { url: "JVBERi0" }, file_name: "a.pdf" };
    const answer = { role: "assistant", content: "yes", reasoning: "hm", reasoning_content: "hm" };
    const { messages } = decode({ model: "m", messages: [part(file), answer] });
    expect(messages).toMatchObject([
      { content: [{}, { type: "media", mediaType: "application/pdf", data: "JVBERi0", name: "a.pdf" }] },
      { content: [{ type: "thinking", text: "hm" }, { text: "yes" }] },
    ]);
    expect(encode({ messages: messages.slice(1) }, { official: true }).body.messages).toEqual([{ role: "assistant", content: "yes" }]);
  });
});

describe("what chat completions cannot express", () => {
  test("images in results move after the results", () => {
    const media = [{ type: "media", mediaType: "image/png", data: "AA" } as const];
    const { body, codes } = encode({
      messages: [user, callOf("1", "f"), { role: "tool", id: "1", name: "f", output: "see", media }, user],
    });
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "user"]);
    expect(body.messages[3]?.content).toMatchObject([{ type: "text", text: expect.stringContaining("call 1") }, { type: "image_url" }]);
    expect(codes).toEqual(["converted"]);
    expect(validateRequest("openai-chat", body)).toEqual([]);
  });
  test("an object as a result becomes JSON text, and a failure says so", () => {
    const { body, codes } = encode({
      messages: [
        user,
        callOf("1", "f"),
        { role: "tool", id: "1", name: "f", output: { a: 1 } },
        callOf("2", "f"),
        { role: "tool", id: "2", name: "f", output: "no such file", isError: true },
      ],
    });
    expect(body.messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual(['{"a":1}', "Error: no such file"]);
    expect(codes).toEqual(["converted", "converted"]);
  });
  test("text after a call moves before it", () => {
    const { body, codes } = encode({
      messages: [
        {
          role: "assistant",
          content: [
            { type: "tool-call", id: "1", name: "f", arguments: {} },
            { type: "text", text: "x" },
          ],
        },
        { role: "tool", id: "1", name: "f", output: "o" },
      ],
    });
    expect(body.messages[0]).toMatchObject({ content: "x", tool_calls: [{ id: "1" }] });
    expect(codes).toEqual(["converted"]);
  });
  test("names that are too long or have forbidden characters are replaced", () => {
    const name = `mcp.${"x".repeat(80)}`;
    const { body, context } = encode({
      tools: [{ name }],
      toolChoice: { name },
      messages: [user, callOf("1", name), { role: "tool", id: "1", name, output: "" }],
    });
    const sent = body.tools![0]!.function.name;
    expect(sent).toMatch(/^[\w-]{1,64}$/);
    expect(context.names).toEqual({ [sent]: name });
    expect(body.tool_choice).toEqual({ type: "function", function: { name: sent } });
    expect(validateRequest("openai-chat", body)).toEqual([]);
  });
  test("a deferred tool is not sent until it is referred to", () => {
    expect(encode({ tools: [f, { name: "g", deferred: true }] }).body.tools).toHaveLength(1);
    expect(encode({ tools: [f, { name: "g", deferred: true }], toolChoice: { name: "g" } }).body.tools).toHaveLength(2);
  });
  test("strict mode closes schemas", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } } };
    const { body, codes } = encode({ tools: [{ name: "f", parameters, strict: true }] }, { official: true });
    expect(body.tools![0]!.function).toMatchObject({ parameters: { required: ["a"], additionalProperties: false } });
    expect(codes).toEqual([]);
    expect(validateRequest("openai-chat", body)).toEqual([]);
  });
  test.each<[string, NonNullable<Request["thinking"]>, string | undefined, string[]]>([
    ["off", { enabled: false }, "none", []],
    ["an effort", { effort: "max" }, "max", []],
    ["a budget", { enabled: true, budget: 10_000 }, "medium", ["converted"]],
    ["on", { enabled: true }, undefined, ["dropped"]],
    ["shown and kept", { effort: "low", show: true, keep: true }, "low", ["dropped"]],
  ])("thinking: %s", (_, thinking, effort, codes) => {
    const out = encode({ thinking });
    expect([out.body.reasoning_effort, out.codes]).toEqual([effort, codes]);
  });
  test("another wire's state and extras are dropped, with one warning each", () => {
    const state = [{ wire: "anthropic", kind: "signature", data: "s" } as const];
    const thinking = { type: "thinking", text: "hm", state } as const;
    const { said } = encode({
      messages: [user, { role: "assistant", content: [thinking] }, { role: "assistant", content: [thinking] }],
      extra: [
        { wire: "anthropic", kind: "context_management", data: {} },
        { wire: "anthropic", kind: "metadata", data: {}, quiet: true },
      ],
    });
    expect(said.map((message) => message.split(" ")[0])).toEqual(["signature", "context_management"]);
  });
  test("a tool choice without tools is not sent", () => {
    expect(encode({ toolChoice: "auto", parallelCalls: true })).toMatchObject({
      codes: [],
      body: expect.not.objectContaining({ tool_choice: "auto" }),
    });
    expect(encode({ toolChoice: "required" }).codes).toEqual(["dropped"]);
  });
  test("media without a part type becomes a label", () => {
    const media = [
      { type: "media", mediaType: "application/pdf", url: "https://x/a.pdf", name: "a.pdf" },
      { type: "media", mediaType: "image/*" },
    ] as const;
    const { body, codes } = encode({ messages: [{ role: "user", content: [...media] }] });
    expect(body.messages[0]?.content).toEqual([
      { type: "text", text: "[application/pdf a.pdf https://x/a.pdf]" },
      { type: "text", text: "[image/*]" },
    ]);
    expect(codes).toEqual(["converted", "converted"]);
  });
});

describe("profiles", () => {
  test("official: contains nothing that OpenAI would refuse", () => {
    const { body, codes } = encode(
      {
        sampling: { temperature: 1, topK: 3 },
        stop: ["1", "2", "3", "4", "5"],
        messages: [
          user,
          {
            role: "assistant",
            content: [
              { type: "thinking", text: "hm" },
              { type: "text", text: "x" },
            ],
          },
        ],
      },
      { official: true },
    );
    expect(body).not.toHaveProperty("top_k");
    expect(body.messages[1]).toEqual({ role: "assistant", content: "x" });
    expect(body.stop).toHaveLength(4);
    expect(codes).toEqual(["dropped", "dropped", "dropped"]);
  });
  test("official: parameters are one object with properties", () => {
    const functionOf = (parameters: JsonObject) =>
      encode({ messages: [user], tools: [{ name: "f", parameters }] }, { official: true }).body.tools?.[0]?.function;
    expect(functionOf({ type: "object" })).toEqual({ name: "f", parameters: { type: "object", properties: {} } });
    expect(functionOf({})).toEqual({ name: "f", parameters: { type: "object", properties: {} } });
    const a = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const b = { type: "object", properties: { b: { type: "string" } } };
    const both = { type: "object", properties: { ...a.properties, ...b.properties } };
    expect(functionOf({ anyOf: [a, b] })).toEqual({ name: "f", parameters: both });
  });
  test("each server gets its own spelling of thinking, roles and limits", () => {
    const messages: Message[] = [
      { role: "developer", content: [{ type: "text", text: "d" }] },
      { role: "assistant", content: [{ type: "thinking", text: "hm" }] },
    ];
    const { body } = encode({ messages, maxTokens: 5 }, { thinkingField: "reasoning", maxTokensField: "max_tokens", developerRole: false });
    expect(body).toMatchObject({ max_tokens: 5, messages: [{ role: "system" }, { reasoning: "hm" }] });
  });
  test("custom tools become functions where a server has no custom tools", () => {
    const call: Message = { role: "assistant", content: [{ type: "tool-call", id: "1", name: "p", arguments: { input: "x" } }] };
    const result: Message = { role: "tool", id: "1", name: "p", output: "o" };
    const { body, codes } = encode(
      { tools: [{ name: "p", kind: "custom", grammar: { syntax: "lark", definition: "start: x" } }], messages: [user, call, result] },
      { customTools: false },
    );
    expect(body.tools).toMatchObject([
      { type: "function", function: { name: "p", parameters: { required: ["input"] }, description: expect.stringContaining("start: x") } },
    ]);
    expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { arguments: '{"input":"x"}' } }] });
    expect(codes).toEqual(["converted"]);
  });
  test("system texts in the middle of a conversation become labelled user text", () => {
    const system: Message = { role: "system", content: [{ type: "text", text: "s" }] };
    const { body } = encode({ messages: [system, system, user, system] }, { systemAnywhere: false });
    expect(body.messages).toEqual([
      { role: "system", content: "s\n\ns" },
      { role: "user", content: "Hi\n\n<system>\ns\n</system>" },
    ]);
  });
  describe("a system text right after results moves into the last result, so that the tool loop continues", () => {
    const call: Message = { role: "assistant", content: ["a", "b"].map((id) => ({ type: "tool-call", id, name: "f", arguments: {} })) };
    const result = (id: string, more: object = {}): Message => ({ role: "tool", id, name: "f", output: `result ${id}`, ...more });
    const told = (text: string): Message => ({ role: "system", content: [{ type: "text", text }] });
    const sent = (...messages: Message[]) => encode({ messages: [user, call, ...messages] }, { systemAnywhere: false });
    const image = { type: "media" as const, mediaType: "image/png", data: "AAAA" };

    test("with a label, and a warning", () => {
      const { body, codes } = sent(result("a"), result("b"), told("9 tokens left"), told("8 tokens left"));
      expect(body.messages.slice(2).map(({ content }) => content)).toEqual([
        "result a",
        "result b\n\n<system>\n9 tokens left\n</system>\n\n<system>\n8 tokens left\n</system>",
      ]);
      expect(codes).toEqual(["converted"]);
    });
    test("before the media of results, and before the user's text", () => {
      const { messages } = sent(result("b"), result("a", { media: [image] }), told("9 tokens left"), user).body;
      expect(messages.slice(3)).toMatchObject([
        { role: "tool", content: "result a\n\n<system>\n9 tokens left\n</system>" },
        { role: "user", content: [{ text: "[media of the result of f, call a]" }, { type: "image_url" }, { text: "Hi" }] },
      ]);
    });
    test("as one more part, if the result is a list of parts", () => {
      const { messages } = sent(result("b"), result("a", { output: [{ type: "text", text: "A" }] }), told("9 tokens left")).body;
      expect(messages.at(-1)?.content).toEqual([
        { type: "text", text: "A" },
        { type: "text", text: "<system>\n9 tokens left\n</system>" },
      ]);
    });
    test("but after a user's text it stays there", () => {
      expect(sent(result("a"), user, told("9 tokens left")).body.messages.at(-1)?.content).toBe("Hi\n\n<system>\n9 tokens left\n</system>");
    });
    test("the same way at every turn", () => {
      const turns = [result("a"), told("9 tokens left"), call, result("a"), told("8 tokens left")];
      const before = sent(...turns.slice(0, 2)).body.messages;
      expect(sent(...turns).body.messages.slice(0, before.length)).toEqual(before);
    });
    test.each(["hermes", "gemma4", "harmony", "glm", "minimax-m2", "kimi-k2", "deepseek-v3.2"])(
      "%s keeps the thinking of the tool loop",
      (id) => {
        const thinking = { type: "thinking" as const, text: "Once more." };
        const thought: Message = { role: "assistant", content: [thinking, { type: "tool-call", id: "a", name: "f", arguments: {} }] };
        const { body } = encode({ messages: [user, thought, result("a"), told("9 tokens left")] }, { systemAnywhere: false });
        const prompt = promptText(getDialect(id).render({ ...decode(body), thinking: { enabled: true } }));
        expect(prompt).toContain("Once more.");
        expect(prompt).toContain("9 tokens left");
      },
    );
  });
  describe("neighbouring messages of one role are merged for templates that demand alternating turns", () => {
    const text = (text: string) => ({ type: "text" as const, text });
    const image = { type: "media" as const, mediaType: "image/png", data: "AAAA" };
    const call = { type: "tool-call" as const, id: "c", name: "f", arguments: {} };
    const roles = (messages: Message[], profile = { systemAnywhere: false }) => encode({ messages }, profile).body.messages;
    const said = (role: "user" | "assistant", ...content: (ReturnType<typeof text> | typeof image)[]): Message => ({ role, content });

    test("neighbouring texts become paragraphs, media stay parts", () => {
      expect(roles([said("user", text("a"), image), said("user", text("b")), said("user", text("c"))])).toEqual([
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "text", text: "b\n\nc" },
          ],
        },
      ]);
      expect(roles([user, said("assistant", text("a")), said("assistant", text("b"))])).toMatchObject([
        {},
        { role: "assistant", content: "a\n\nb" },
      ]);
    });
    test("media of results are in the user's next message", () => {
      const result: Message = { role: "tool", id: "c", name: "f", output: "o", media: [image] };
      const sent = roles([user, { role: "assistant", content: [call] }, result, said("user", text("And?"))]);
      expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
      expect(sent[3]?.content).toMatchObject([{ type: "text" }, { type: "image_url" }, { text: "And?" }]);
    });
    test("calls and results stay apart, and so do messages with fields of their own", () => {
      const made: Message = { role: "assistant", content: [call, { ...call, id: "d" }] };
      const result = (id: string): Message => ({ role: "tool", id, name: "f", output: "o" });
      const named: Message = { ...user, state: [{ wire: "openai-chat", kind: "name", data: "Ann" }] } as Message;
      const sent = roles([user, named, made, result("c"), result("d")]).map(({ role }) => role);
      expect(sent).toEqual(["user", "user", "assistant", "tool", "tool"]);
    });
    test("a conversation that goes on keeps its prefix", () => {
      const turns = [user, said("user", text("b")), said("assistant", text("c")), said("user", text("d")), said("user", text("e"))];
      expect(roles(turns).slice(0, 2)).toEqual(roles(turns.slice(0, 3)));
    });
    test("other servers get them unchanged", () => {
      expect(roles([user, user], {} as never)).toHaveLength(2);
    });
  });
});

describeShared("recorded requests", () => {
  const chats = captures<Body>(({ path }) => path.endsWith("/chat/completions"));

  test.each(chats)("$file is sent on and read again as the same request", ({ body }) => {
    const request = decode(body);
    const sent = openaiChat.encodeRequest(request);
    expect(sent.context.warnings).toEqual([]);
    expect(validateRequest("openai-chat", sent.body)).toEqual([]);
    const { extra, ...again } = decode(sent.body);
    expect(again).toEqual({ ...request, extra: undefined });
    expect(extra ?? []).toEqual(expect.arrayContaining(request.extra ?? []));
  });
});

test.each([
  ["audio/mpeg", "mp3"],
  ["audio/x-wav", "wav"],
  ["audio/flac", "flac"],
])("%s is sent as %s", (mediaType, format) => {
  const { body } = encode({ messages: [{ role: "user", content: [{ type: "media", mediaType, data: "AA" }] }] });
  expect(body.messages[0]).toMatchObject({ content: [{ type: "input_audio", input_audio: { data: "AA", format } }] });
});
