import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, JsonObject, Message, Opaque, Part, Request, Response, Warning } from "../../src/core/nouns.ts";
import { openCapsule } from "../../src/wires/capsule.ts";
import { gemini } from "../../src/wires/gemini.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import type { WireProfile } from "../../src/wires/wire.ts";
import { describeShared } from "../shared.ts";
import { captures, complaintOf } from "./helpers.ts";
import { validateCount, validateRequest, validateStream } from "./validators.ts";

const PATH = "/v1beta/models/m:generateContent";
const hi = { role: "user", parts: [{ text: "Hi" }] };
const decode = (body: unknown, path = PATH, query = {}): Request => gemini.decodeRequest({ path, query, headers: {}, body });
const decoded = (contents: unknown[], fields: object = {}) => decode({ contents, ...fields });
const asking = (fields: object) => decoded([hi], fields);
const encode = (request: Partial<Request>, profile?: WireProfile) =>
  gemini.encodeRequest({ model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], ...request }, profile);
// biome-ignore lint/suspicious/noExplicitAny: a body is looked into freely
const bodyOf = (request: Partial<Request>, profile?: WireProfile): any => encode(request, profile).body;
const mine = (kind: string, data: Opaque["data"]): Opaque => ({ wire: "gemini", kind, data });
const user = (text: string) => ({ role: "user" as const, content: [{ type: "text" as const, text }] });
const assistant = (...content: Part[]) => ({ role: "assistant" as const, content });
const call = (id: string, name = "f", args = {}) => ({ type: "tool-call" as const, id, name, arguments: args });
const result = (id: string, output: Opaque["data"], name = "f") => ({ role: "tool" as const, id, name, output });

/** Encodes a request for a server, and decodes it as a client's. */
function roundTrip(request: Request): Request {
  const { path, body } = gemini.encodeRequest(request);
  const [bare = "", query = ""] = path.split("?");
  return decode(printBody(body), bare, Object.fromEntries(new URLSearchParams(query)));
}

const complaint = (body: unknown): string => complaintOf(decode, body);

test("a picture of a thought goes back as one", () => {
  const parts = [{ inlineData: { mimeType: "image/png", data: "AAAA" }, thought: true }, { text: "Hm", thought: true }, { text: "A cat" }];
  const request = decoded([hi, { role: "model", parts }, hi]);
  expect(bodyOf(request).contents[1].parts).toEqual(parts);
  expect(openaiChat.encodeRequest(request).context.warnings.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^thought of/),
  );
});

test("parts of a result that are no media are left out with a warning", () => {
  const inlineData = { mimeType: "image/png", data: "AAAA" };
  const functionResponse = { name: "f", response: {}, parts: [{ text: "a cat" }, { inlineData }, { new9: 9 }] };
  const request = decoded([hi, { parts: [{ functionResponse }] }]);
  expect(request.messages[1]).toMatchObject({ media: [{ mediaType: "image/png" }] });
  const at = "contents[1].parts[0].functionResponse.parts";
  expect(request.warnings?.map(({ message }) => message.split(" ")[0])).toEqual([`${at}[0]`, `${at}[2]`]);
});

test("a mode is a word or its number, and no other number", () => {
  const choiceOf = (mode: unknown) =>
    decode({ contents: [hi], tools: [{ functionDeclarations: [{ name: "f" }] }], toolConfig: { functionCallingConfig: { mode } } })
      .toolChoice;
  expect([choiceOf("ANY"), choiceOf(2), choiceOf(3)]).toEqual(["required", "required", "none"]);
  expect(() => choiceOf(99)).toThrow("mode must be one of MODE_UNSPECIFIED");
});

describe("the path", () => {
  test.each([
    ["/v1beta/models/gemini-2.5-pro:generateContent", "gemini-2.5-pro"],
    ["/v1/models/hf.co/unsloth/gemma-3:Q4_K_M:streamGenerateContent", "hf.co/unsloth/gemma-3:Q4_K_M"],
    ["/v1beta/models/a%20b%2Fc%3A1:countTokens", "a b/c:1"],
    ["/v1beta/models/100%:generateContent", "100%"],
    ["/proxy/v1beta/tunedModels/mine:generateContent", "tunedModels/mine"],
    ["/v1/projects/p/locations/l/publishers/google/models/x:generateContent", "x"],
    ["/elsewhere", ""],
  ])("%s names the model", (path, model) => {
    expect(decode({ contents: [hi] }, path).model).toBe(model);
  });
  test("the method and `alt` decide whether and how the answer streams", () => {
    const streaming = "/v1beta/models/m:streamGenerateContent";
    expect(decode({ contents: [hi] }, streaming, { alt: "sse" }).stream).toBe("sse");
    expect(decode({ contents: [hi] }, streaming).stream).toBe("array");
    expect(decode({ contents: [hi] }).stream).toBeUndefined();
  });
  test.each([
    [{ model: "hf.co/a b:Q4" }, "/v1beta/models/hf.co/a%20b:Q4:generateContent"],
    [{ model: "models/x", stream: "sse" }, "/v1beta/models/x:streamGenerateContent?alt=sse"],
    [{ model: "x", stream: "ndjson" }, "/v1beta/models/x:streamGenerateContent?alt=sse"],
    [{ model: "tunedModels/x", stream: "array" }, "/v1beta/tunedModels/x:streamGenerateContent"],
  ] as const)("%j is sent to its path", (request, path) => {
    expect(encode(request).path).toBe(path);
  });
});

describe("contents", () => {
  test("roles and system texts are read, and a missing role is the user's", () => {
    const contents = [{ parts: [{ text: "a" }] }, { role: "model", parts: [{ text: "b" }] }, { role: "USER", parts: { text: "c" } }];
    for (const system of ["S", { parts: [{ text: "S" }], role: "user" }, { parts: { text: "S" } }]) {
      expect(decoded(contents, { systemInstruction: system }).messages).toEqual([
        { role: "system", content: [{ type: "text", text: "S" }] },
        user("a"),
        assistant({ type: "text", text: "b" }),
        user("c"),
      ]);
    }
  });
  test("snake_case is read like camelCase, and a single object like a list of one", () => {
    const camel = {
      systemInstruction: { parts: [{ text: "S" }] },
      contents: [
        {
          role: "user",
          parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }, { fileData: { mimeType: "a/b", fileUri: "gs://x" } }],
        },
        { role: "model", parts: [{ functionCall: { name: "f", args: {} }, thoughtSignature: "c2ln" }] },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "x" } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } },
      generationConfig: {
        maxOutputTokens: 5,
        topP: 1,
        stopSequences: ["X"],
        responseMimeType: "application/json",
        responseSchema: { type: "OBJECT" },
        thinkingConfig: { includeThoughts: true, thinkingBudget: 7 },
        mediaResolution: "M",
      },
    };
    const snake = {
      system_instruction: { parts: { text: "S" } },
      contents: [
        {
          role: "user",
          parts: [{ inline_data: { mime_type: "image/png", data: "AAAA" } }, { file_data: { mime_type: "a/b", file_uri: "gs://x" } }],
        },
        { role: "model", parts: { function_call: { name: "f", args: {} }, thought_signature: "c2ln" } },
        { role: "function", parts: { function_response: { name: "f", response: { output: "x" } } } },
      ],
      tools: { function_declarations: { name: "f", parameters_json_schema: { type: "object" } } },
      tool_config: { function_calling_config: { mode: "any", allowed_function_names: "f" } },
      generation_config: {
        max_output_tokens: 5,
        top_p: 1,
        stop_sequences: "X",
        response_mime_type: "application/json",
        response_schema: { type: "OBJECT" },
        thinking_config: { include_thoughts: true, thinking_budget: 7 },
        mediaResolution: "M",
      },
    };
    expect(decode(snake)).toEqual(decode(camel));
    expect(decode(camel)).toMatchObject({ maxTokens: 5, stop: ["X"], toolChoice: { name: "f" }, thinking: { budget: 7, show: true } });
  });
  test("media are read, and written as they were", () => {
    const parts = [
      { inlineData: { mimeType: "image/png", data: "AAAA", displayName: "a.png" } },
      { fileData: { fileUri: "https://example.com/v", mimeType: "video/mp4" }, videoMetadata: { fps: 1 } },
    ];
    const request = decoded([{ role: "user", parts }]);
    expect(request.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "media", mediaType: "image/png", data: "AAAA", name: "a.png" },
          { type: "media", mediaType: "video/mp4", url: "https://example.com/v", state: [mine("videoMetadata", { fps: 1 })] },
        ],
      },
    ]);
    expect(bodyOf(request).contents).toEqual([{ role: "user", parts }]);
  });
  test("results without an id find their calls by name and order, and keep their place between the user's texts", () => {
    const { messages } = decoded([
      hi,
      {
        role: "model",
        parts: [{ functionCall: { name: "f" } }, { functionCall: { name: "g", args: { a: 1 } } }, { functionCall: { name: "f" } }],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "g", response: { output: "G" } } },
          { functionResponse: { name: "f", response: { output: "F1" } } },
          { functionResponse: { name: "f", response: { output: "F2" } } },
          { text: "and?" },
        ],
      },
    ]);
    expect(messages.slice(1)).toEqual([
      assistant(call("call_0"), call("call_1", "g", { a: 1 }), call("call_2")),
      result("call_1", "G", "g"),
      result("call_0", "F1"),
      result("call_2", "F2"),
      { ...user("and?"), state: [{ ...mine("#beside", true), quiet: true }] },
    ]);
  });
  test.each([
    [{ output: "x" }, { output: "x" }],
    [{ output: null }, { output: null }],
    [{ error: "no" }, { output: "no", isError: true }],
    [
      { name: "f", content: "x" },
      { output: "x", state: [{ ...mine("#named", true), quiet: true }] },
    ],
    [
      { name: "f", content: { a: 1 } },
      { output: { a: 1 }, state: [{ ...mine("#named", true), quiet: true }] },
    ],
    [{ name: "g", content: "x" }, { output: { name: "g", content: "x" } }],
    [{ name: "f", content: "x", more: 1 }, { output: { name: "f", content: "x", more: 1 } }],
    [{ output: { name: "f", content: "x" } }, { output: { name: "f", content: "x" } }],
    [{ result: "ok" }, { output: { result: "ok" } }],
    [{ output: { a: 1 } }, { output: { output: { a: 1 } } }],
    [{ output: { output: "x" } }, { output: { output: "x" } }],
    [{ output: { error: "x" } }, { output: { error: "x" } }],
    [{ output: "x", error: "y" }, { output: { output: "x", error: "y" } }],
    [{}, { output: {} }],
  ])("the function response %j survives the round trip", (response, meaning) => {
    const contents = [hi, { role: "model", parts: [{ functionCall: { id: "1", name: "f", args: {} } }] }];
    const answer = { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response } }] };
    const request = decoded([...contents, answer]);
    expect(request.messages[2]).toEqual({ role: "tool", id: "1", name: "f", ...meaning });
    expect(bodyOf(request).contents[2]).toEqual(answer);
  });
  test("images in results survive the round trip", () => {
    const parts = [{ inlineData: { mimeType: "image/png", data: "AAAA" } }];
    const answer = { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response: { output: "see" }, parts } }] };
    const request = decoded([hi, { role: "model", parts: [{ functionCall: { id: "1", name: "f" } }] }, answer]);
    expect(request.messages[2]).toEqual({ ...result("1", "see"), media: [{ type: "media", mediaType: "image/png", data: "AAAA" }] });
    expect(bodyOf(request).contents[2]).toEqual(answer);
    const old = encode({ ...request, model: "gemini-2.5-pro" });
    expect(old.body).toMatchObject({
      contents: [{}, {}, { parts: [{ functionResponse: {} }] }, { parts: [{ text: expect.stringContaining("call 1") }, ...parts] }],
    });
    expect(old.context.warnings).toEqual([{ code: "converted", message: expect.stringContaining("media in a tool result") }]);
  });
  test("chunks that a client kept as separate contents are one message", () => {
    const model = (...parts: object[]) => ({ role: "model", parts });
    const thought = { text: "h", thought: true };
    const { messages } = decoded([
      hi,
      model(thought),
      model(thought),
      model({ text: "I " }),
      model({ text: "do" }),
      model({ functionCall: { id: "1", name: "f" } }),
      model({ text: "" }),
    ]);
    expect(messages[1]).toEqual(assistant({ type: "thinking", text: "hh" }, { type: "text", text: "I do" }, call("1")));
  });
  test("an empty text is dropped, but its message stays", () => {
    expect(
      decoded([
        { role: "user", parts: [{ text: "" }, { text: "a" }] },
        { role: "model", parts: [{ text: "" }] },
      ]).messages,
    ).toEqual([user("a"), assistant()]);
    expect(bodyOf({ messages: [user("a"), assistant()] }).contents[1]).toEqual({ role: "model", parts: [{ text: "" }] });
  });
  test("a system text in the middle of a conversation becomes labelled user text; one at the start becomes the instruction", () => {
    const system = (text: string) => ({ ...user(text), role: "system" as const });
    const { body, context } = encode({ messages: [system("A"), { ...system("B"), role: "developer" }, user("u"), system("C")] });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: "A" }, { text: "B" }] },
      contents: [hi, { role: "user", parts: [{ text: "<system>\nC\n</system>" }] }].map((content, i) =>
        i === 0 ? { role: "user", parts: [{ text: "u" }] } : content,
      ),
    });
    expect(context.warnings).toMatchObject([{ code: "converted" }]);
    expect(validateRequest("gemini", body)).toEqual([]);
  });
  test("a conversation of only a system text becomes labelled user text", () => {
    expect(bodyOf({ messages: [{ ...user("A"), role: "system" }] })).toEqual({
      contents: [{ role: "user", parts: [{ text: "<system>\nA\n</system>" }] }],
    });
  });
  test("all results of a turn are in one content, and the user's texts after them in others", () => {
    const messages = [user("a"), assistant(call("1"), call("2")), result("1", "x"), result("2", { y: 1 }), user("b"), user("c")];
    const { contents } = bodyOf({ messages });
    expect(contents.map(({ parts }: { parts: object[] }) => parts.map((part) => Object.keys(part)[0]))).toEqual([
      ["text"],
      ["functionCall", "functionCall"],
      ["functionResponse", "functionResponse"],
      ["text"],
      ["text"],
    ]);
    expect(roundTrip({ model: "m", messages }).messages).toEqual(messages);
  });
  test("a result with a $ref goes as text: Gemini 3 would follow it (N19)", () => {
    const { body, context } = encode({ messages: [user("a"), assistant(call("1")), result("1", { a: [{ $ref: "#/x" }] })] });
    expect(body).toMatchObject({
      contents: [{}, {}, { parts: [{ functionResponse: { response: { output: '{"a":[{"$ref":"#/x"}]}' } } }] }],
    });
    expect(context.warnings).toMatchObject([{ code: "converted" }]);
  });
  test("an unreadable call keeps its result; without a result it becomes text; a truncated call is left out", () => {
    const malformed = (id: string): Part => ({
      type: "malformed",
      raw: '{"name":"f","arguments":"{"}',
      code: "bad-arguments",
      reason: "r",
      id,
    });
    const { body, context } = encode({
      messages: [user("a"), assistant(malformed("1"), malformed("2"), { ...call("3"), truncated: true }), result("1", "x")],
    });
    expect(body).toMatchObject({
      contents: [
        {},
        { parts: [{ functionCall: { id: "1", name: "f", args: { unreadable: "{" } } }, { text: expect.stringContaining('"f"') }] },
        {},
      ],
    });
    expect(context.warnings).toHaveLength(3);
    expect(validateRequest("gemini", body)).toEqual([]);
  });
});

describe("opaque state", () => {
  test("a thoughtSignature on text, thinking and calls comes back", () => {
    const contents = [
      hi,
      {
        role: "model",
        parts: [
          { text: "t", thought: true, thoughtSignature: "YQ==" },
          { text: "x", thoughtSignature: "Yg==" },
          { functionCall: { id: "1", name: "f", args: {} }, thoughtSignature: "Yw==" },
          { text: "", thoughtSignature: "ZA==" },
        ],
      },
      { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response: { output: "x" } } }] },
    ];
    const request = decoded(contents);
    expect(request.messages[1]).toEqual(
      assistant(
        { type: "thinking", text: "t", state: [mine("thoughtSignature", "YQ==")] },
        { type: "text", text: "x", state: [mine("thoughtSignature", "Yg==")] },
        { ...call("1"), state: [mine("thoughtSignature", "Yw==")] },
        { type: "text", text: "", state: [mine("thoughtSignature", "ZA==")] },
      ),
    );
    expect(bodyOf(request).contents).toEqual(contents);
  });
  test("skip_thought_signature_validator is not kept as a signature, and is sent where one is missing", () => {
    const part = { functionCall: { id: "1", name: "f", args: {} }, thoughtSignature: "skip_thought_signature_validator" };
    const second = { functionCall: { id: "2", name: "f", args: {} } };
    const request = decoded([hi, { role: "model", parts: [part, second] }]);
    expect(request.messages[1]).toEqual(assistant(call("1"), call("2")));
    expect(bodyOf(request).contents[1].parts).toEqual([part, second]);
  });
  test("another wire's state is left out, with a warning", () => {
    const state: Opaque[] = [
      { wire: "anthropic", kind: "signature", data: "s" },
      { wire: "anthropic", kind: "cache_control", data: {}, quiet: true },
    ];
    const { body, context } = encode({
      messages: [user("a"), assistant({ type: "thinking", text: "h", state }, { type: "text", text: "x" })],
      extra: [{ wire: "openai-chat", kind: "user", data: "u" }],
    });
    expect(body).toMatchObject({ contents: [{}, { parts: [{ text: "h", thought: true }, { text: "x" }] }] });
    expect(context.warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining("signature of anthropic"),
      expect.stringContaining("user of openai-chat"),
    ]);
  });
  test("unknown fields survive at every level", () => {
    const body = {
      contents: [
        {
          role: "user",
          parts: [
            { text: "a", partMetadata: { p: 1 } },
            { inlineData: { mimeType: "a/b", data: "AAAA", new1: 1 }, new2: 2 },
          ],
          new3: 3,
        },
        { role: "model", parts: [{ functionCall: { id: "1", name: "f", args: {}, new4: 4 }, thoughtSignature: "Yw==", new5: 5 }], new6: 6 },
        {
          role: "user",
          parts: [
            {
              functionResponse: {
                id: "1",
                name: "f",
                response: { output: "x" },
                scheduling: "SILENT",
                parts: [{ inlineData: { mimeType: "a/b", data: "AAAA" }, new7: 7 }],
              },
            },
            { executableCode: { code: "x" } },
          ],
          new8: 8,
        },
        {
          role: "model",
          parts: [
            { toolCall: { id: "s" }, thoughtSignature: "eA==" },
            { text: "t", thought: true, new9: 9 },
          ],
          newA: 10,
        },
      ],
      systemInstruction: { parts: [{ text: "S", newB: 11 }], newC: 12 },
      tools: [
        { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" }, behavior: "NON_BLOCKING" }] },
        { googleSearch: {} },
        { urlContext: {}, newD: 13 },
      ],
      toolConfig: { functionCallingConfig: { mode: "AUTO", newE: 14 }, retrievalConfig: { languageCode: "de" } },
      generationConfig: {
        temperature: 1,
        mediaResolution: "M",
        thinkingConfig: { includeThoughts: true, newF: 15 },
        responseModalities: ["TEXT"],
      },
      safetySettings: [{ category: "C", threshold: "OFF" }],
      cachedContent: "cachedContents/1",
      labels: { a: "b" },
      newG: 16,
    };
    expect(bodyOf(decode(body))).toEqual(body);
    expect(decode(body).warnings).toBeUndefined();
  });
  test("bytes are read in both alphabets of base64, since Python's google-genai writes the URL-safe one", () => {
    const inlineData = { mimeType: "text/plain", data: "Pz8_Pj4-fn5-" };
    const request = decoded([{ role: "user", parts: [{ inlineData: { mimeType: "image/jpeg", data: "_9j_-w==" } }, { inlineData }] }]);
    expect(request.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "media", mediaType: "image/jpeg", data: "/9j/+w==" },
          { type: "media", mediaType: "text/plain", data: "Pz8/Pj4+fn5+" },
        ],
      },
    ]);
    const [, part] = partsOf([...thought("???>>>~~~", [{ wire: "anthropic", kind: "signature", data: "s?>~" }]), ...called("1")]);
    const signature = (part as { thoughtSignature: string }).thoughtSignature;
    expect(signature).toMatch(/[+/]/);
    const thoughtSignature = signature.replaceAll("+", "-").replaceAll("/", "_");
    expect(decoded([hi, { role: "model", parts: [{ ...(part as object), thoughtSignature }] }]).messages[1]).toEqual({
      role: "assistant",
      content: [{ type: "thinking", text: "???>>>~~~", state: [{ wire: "anthropic", kind: "signature", data: "s?>~" }] }, call("1")],
    });
  });
  test.each(["skip_thought_signature_validator", btoa("skip_thought_signature_validator")])("%s is not a signature", (thoughtSignature) => {
    const parts = [{ functionCall: { id: "1", name: "f", args: {} }, thoughtSignature }];
    expect(decoded([hi, { role: "model", parts }]).messages[1]).toEqual(assistant(call("1")));
  });
  test("thinking that a call carried comes before it, and a broken capsule is ignored", () => {
    const [part] = partsOf([
      ...thought("first I", [{ wire: "anthropic", kind: "signature", data: "s" }]),
      { type: "text", text: "so" },
      ...called("1"),
    ]).slice(-1);
    const back = (parts: object[]) => decoded([hi, { role: "model", parts }]).messages[1];
    const thinking = { type: "thinking", text: "first I", state: [{ wire: "anthropic", kind: "signature", data: "s" }] };
    expect(back([{ text: "so" }, part as object])).toEqual({
      role: "assistant",
      content: [thinking, { type: "text", text: "so" }, call("1")],
    });
    expect(back([{ text: "first", thought: true }, { text: "so" }, part as object])).toEqual({
      role: "assistant",
      content: [thinking, { type: "text", text: "so" }, call("1")],
    });
    const { thoughtSignature } = part as { thoughtSignature: string };
    for (const broken of [thoughtSignature.slice(0, 40), thoughtSignature.replace(/.{4}$/, "!!!!")])
      expect(back([{ functionCall: { id: "1", name: "f" }, thoughtSignature: broken }])).toEqual(assistant(call("1")));
  });
});

describe("tools", () => {
  test("numbers for enum values, as clients of Google's protocol buffers write them, are understood", () => {
    const parameters = { type: 6, properties: { a: { type: 1 }, n: { type: 5, items: { type: 3 } } }, required: ["a"] };
    const functionDeclarations = [{ name: "f", parameters }];
    const request = asking({ tools: [{ functionDeclarations }], toolConfig: { functionCallingConfig: { mode: 2 } } });
    expect(request.tools?.[0]?.parameters).toEqual({
      type: "object",
      properties: { a: { type: "string" }, n: { type: "array", items: { type: "integer" } } },
      required: ["a"],
    });
    expect(request.toolChoice).toBe("required");
    expect(bodyOf(request)).toMatchObject({ tools: [{ functionDeclarations }], toolConfig: { functionCallingConfig: { mode: "ANY" } } });
  });
  const declared = (declaration: object) => asking({ tools: [{ functionDeclarations: [{ name: "f", ...declaration }] }] }).tools?.[0];

  test("three spellings of one schema are read as the same", () => {
    const parameters = {
      type: "object",
      properties: { a: { type: ["string", "null"] }, b: { type: "array", items: { type: "integer" } }, type: { type: "string" } },
      required: ["a"],
    };
    const upper = {
      type: "OBJECT",
      properties: { a: { type: "STRING", nullable: true }, b: { type: "ARRAY", items: { type: "INTEGER" } }, type: { type: "STRING" } },
      required: ["a"],
    };
    for (const spelled of [{ parametersJsonSchema: parameters }, { parameters: upper }, { parameters }])
      expect(declared(spelled)).toEqual({ name: "f", parameters });
    expect(declared({ description: "F", response: { type: "STRING" } })).toEqual({
      name: "f",
      description: "F",
      response: { type: "string" },
    });
  });
  test("tools are declared with JSON Schema, or in the older dialect with a report of what was lost", () => {
    const parameters = {
      type: "object",
      properties: { a: { const: "x" }, b: { $ref: "#/$defs/b", description: "B" } },
      $defs: { b: { type: ["integer", "null"], multipleOf: 2 } },
    };
    const tools = [{ name: "f", description: "F", parameters, response: { type: "string" } }];
    const { body } = encode({ tools });
    expect(body).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            {
              name: "f",
              description: "F",
              parametersJsonSchema: {
                type: "object",
                properties: { a: { const: "x" }, b: { type: ["integer", "null"], multipleOf: 2, description: "B" } },
              },
              responseJsonSchema: { type: "string" },
            },
          ],
        },
      ],
    });
    expect(validateRequest("gemini", body)).toEqual([]);
    const old = encode({ tools, output: { schema: parameters } }, { jsonSchema: false });
    const schema = {
      type: "OBJECT",
      properties: { a: { type: "STRING", enum: ["x"] }, b: { type: "INTEGER", nullable: true, description: "B" } },
    };
    expect(old.body).toMatchObject({
      tools: [{ functionDeclarations: [{ parameters: schema, response: { type: "STRING" } }] }],
      generationConfig: { responseSchema: schema },
    });
    expect(old.context.warnings).toContainEqual({ code: "schema", message: expect.stringContaining("multipleOf") });
    expect(validateRequest("gemini", old.body)).toEqual([]);
  });
  test("tool names that the API forbids are replaced, and restored in the answer", () => {
    const name = "mcp: söme tool";
    const { body, context } = encode({
      tools: [{ name }, { name: "9x" }],
      toolChoice: { name },
      messages: [user("a"), assistant(call("1", name)), result("1", "x", name)],
    });
    expect(validateRequest("gemini", body)).toEqual([]);
    const sent = (body as { tools: [{ functionDeclarations: { name: string }[] }] }).tools[0].functionDeclarations[0]?.name;
    const answer = gemini.decodeResponse(
      { candidates: [{ content: { parts: [{ functionCall: { name: sent } }] }, finishReason: "STOP" }] },
      context,
    );
    expect(answer.content).toEqual([{ ...call("call_1", name), json: "{}" }]);
  });
  test("a custom tool becomes a function with one string; a deferred tool that was not referred to is not offered", () => {
    const { body, context } = encode({
      tools: [
        { name: "c", kind: "custom" },
        { name: "d", deferred: true },
      ],
    });
    expect(body).toMatchObject({ tools: [{ functionDeclarations: [{ name: "c", parametersJsonSchema: { required: ["input"] } }] }] });
    expect(context.warnings).toHaveLength(2);
  });
  test("a request with only the server's own tools works", () => {
    const request = asking({ tools: [{ googleSearch: {} }] });
    expect(request.tools).toBeUndefined();
    expect(bodyOf(request).tools).toEqual([{ googleSearch: {} }]);
  });
  test.each([
    [{ mode: "AUTO" }, "auto"],
    [{ mode: "NONE" }, "none"],
    [{ mode: "ANY" }, "required"],
    [{ mode: "ANY", allowedFunctionNames: ["f"] }, { name: "f" }],
    [
      { mode: "ANY", allowedFunctionNames: ["f", "g"] },
      { allowed: ["f", "g"], required: true },
    ],
    [{ mode: "VALIDATED", allowedFunctionNames: ["f"] }, { allowed: ["f"] }],
    [{ mode: "VALIDATED" }, undefined],
    [{ mode: "MODE_UNSPECIFIED" }, undefined],
  ])("functionCallingConfig %j", (functionCallingConfig, toolChoice) => {
    const request = asking({ tools: [{ functionDeclarations: [{ name: "f" }, { name: "g" }] }], toolConfig: { functionCallingConfig } });
    expect(request.toolChoice).toEqual(toolChoice);
    const isSaid = functionCallingConfig.mode !== "MODE_UNSPECIFIED" && toolChoice !== "none";
    if (isSaid) expect(bodyOf(request).toolConfig).toEqual({ functionCallingConfig });
  });
  test("a request for streamed arguments is reported as dropped", () => {
    const toolConfig = { functionCallingConfig: { mode: "AUTO", streamFunctionCallArguments: true } };
    const request = asking({ tools: [{ functionDeclarations: [{ name: "f" }] }], toolConfig });
    expect(request.warnings).toMatchObject([{ code: "dropped" }]);
    expect(bodyOf(request).toolConfig).toEqual({ functionCallingConfig: { mode: "AUTO" } });
  });
});

test("fields that mean nothing cause no warning on other wires", () => {
  const request = decoded([{ role: "user", parts: [{ text: "Hi", thought: false }] }], {
    tools: [{ functionDeclarations: [{ name: "f" }], codeExecution: null }],
  });
  expect(getWire("openai-chat").encodeRequest(request).context.warnings).toEqual([]);
  const marked = decoded([{ role: "user", parts: [{ text: "Hi", thought: true }] }]);
  expect(bodyOf(marked).contents).toEqual([{ role: "user", parts: [{ text: "Hi", thought: true }] }]);
});

describe("settings", () => {
  const config = (generationConfig: object) => asking({ generationConfig });

  test("every setting that the nouns know is read", () => {
    const generationConfig = {
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: 2,
      maxOutputTokens: 20,
      stopSequences: ["END"],
      responseMimeType: "application/json",
      responseJsonSchema: { type: "object" },
      thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
    };
    const request = config({ ...generationConfig, candidateCount: 1 });
    expect(request).toEqual({
      from: "gemini",
      model: "m",
      messages: [user("Hi")],
      sampling: { temperature: 0.5, topP: 0.9, topK: 40, seed: 7, presencePenalty: 1, frequencyPenalty: 2 },
      maxTokens: 20,
      stop: ["END"],
      output: { schema: { type: "object" } },
      thinking: { effort: "high", show: true },
    });
    expect(bodyOf(request)).toEqual({ contents: [hi], generationConfig });
  });
  test("no default is filled in for what the client did not send", () => {
    expect(config({ responseMimeType: "text/plain", thinkingConfig: {}, stopSequences: [] })).toEqual({
      from: "gemini",
      model: "m",
      messages: [user("Hi")],
    });
    expect(bodyOf({})).toEqual({ contents: [hi] });
  });
  test.each([
    [{ thinkingBudget: 0 }, { enabled: false }],
    [{ thinkingBudget: -1 }, { enabled: true }],
    [{ thinkingBudget: 100 }, { enabled: true, budget: 100 }],
    [{ thinkingLevel: "low" }, { effort: "low" }],
    [{ thinkingLevel: "xhigh" }, { effort: "xhigh" }],
    [
      { thinkingLevel: "MINIMAL", includeThoughts: false },
      { effort: "minimal", show: false },
    ],
    [{ thinkingLevel: "THINKING_LEVEL_UNSPECIFIED" }, undefined],
  ])("thinkingConfig %j", (thinkingConfig, thinking) => {
    expect(config({ thinkingConfig }).thinking).toEqual(thinking);
    if (thinking) expect(roundTrip(config({ thinkingConfig })).thinking).toEqual(thinking);
  });
  test.each([
    ["gemini-2.5-pro", { effort: "low" }, { thinkingBudget: 1024 }],
    ["gemini-2.5-pro", { effort: "high", budget: 99 }, { thinkingBudget: 99 }],
    ["gemini-3-pro", { effort: "max", show: true }, { thinkingLevel: "HIGH", includeThoughts: true }],
    ["gemini-3-pro", { effort: "xhigh" }, { thinkingLevel: "HIGH" }],
    ["gemini-3-pro", { effort: "low", budget: 99 }, { thinkingLevel: "LOW" }],
    ["gemini-3-pro", { enabled: false, effort: "low" }, { thinkingBudget: 0 }],
  ] as const)("%s gets %j in the words it knows", (model, thinking, thinkingConfig) => {
    expect(bodyOf({ model, thinking }).generationConfig).toEqual({ thinkingConfig });
  });
  test("XHIGH, which few models have, goes back to its own wire unchanged", () => {
    const { body, context } = encode(config({ thinkingConfig: { thinkingLevel: "xhigh" } }));
    expect(body).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: "XHIGH" } } });
    expect(context.warnings).toEqual([]);
  });
  test("structured output is read and written", () => {
    expect(config({ responseMimeType: "application/json" }).output).toEqual({});
    const schema = { type: "OBJECT", properties: { a: { type: "STRING" } } };
    for (const key of ["responseSchema", "responseJsonSchema"])
      expect(config({ [key]: schema }).output).toEqual({ schema: { type: "object", properties: { a: { type: "string" } } } });
    const other = { responseMimeType: "text/x.enum", responseSchema: { type: "STRING", enum: ["a"] } };
    expect(config(other).output).toBeUndefined();
    expect(bodyOf(config(other)).generationConfig).toEqual(other);
  });
  test("settings that the API has no place for are reported", () => {
    const { body, context } = encode({
      parallelCalls: false,
      sampling: { minP: 0.1, repeatPenalty: 1 },
      stop: ["1", "2", "3", "4", "5", "6"],
      thinking: { keep: true },
      tools: [{ name: "f", strict: true }],
    });
    expect(context.warnings).toHaveLength(6);
    expect(validateRequest("gemini", body)).toEqual([]);
  });
});

describe("token counts and models", () => {
  test("a token count may hold contents or a whole request", () => {
    const path = "/v1beta/models/m:countTokens";
    const whole = { model: "models/m", contents: [hi], systemInstruction: { parts: [{ text: "S" }] }, safetySettings: [{ a: 1 }] };
    expect(decode({ contents: [hi] }, path)).toEqual({ from: "gemini", model: "m", messages: [user("Hi")] });
    const request = decode({ generateContentRequest: whole }, path);
    expect(request).toEqual({
      from: "gemini",
      model: "m",
      messages: [{ ...user("S"), role: "system" }, user("Hi")],
      extra: [mine("safetySettings", [{ a: 1 }])],
    });
    const counted = gemini.encodeTokenCountRequest?.(request);
    expect(counted).toMatchObject({ path, body: { generateContentRequest: whole } });
    expect(validateCount("gemini", { generateContentRequest: { ...whole, safetySettings: [] } })).toEqual([]);
    expect(gemini.decodeTokenCount?.(gemini.encodeTokenCount?.({ tokens: 7 }))).toBe(7);
  });
  test("lists of models are read and written", () => {
    const models = [{ id: "a/b:c", name: "A", contextLength: 5 }];
    expect(gemini.encodeModels(models)).toEqual({
      models: [
        {
          name: "models/a/b:c",
          displayName: "A",
          inputTokenLimit: 5,
          supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
        },
      ],
    });
    expect(gemini.decodeModels(gemini.encodeModels(models))).toEqual(models);
    expect(gemini.decodeModels({ models: [{}, 1, { name: "models/x" }] })).toEqual([{ id: "x" }]);
  });
});

describe("a bad request is refused with the place of the fault and what to do", () => {
  test.each<[unknown, string]>([
    ["{", "the body is not JSON"],
    [{}, "contents must be a list of contents that is not empty; it is missing"],
    [{ contents: [] }, "contents must be a list of contents that is not empty"],
    [{ contents: [{ role: "robot", parts: [] }] }, "contents[0].role must be one of"],
    [{ contents: [{ parts: ["a"] }] }, "contents[0].parts[0] must be an object"],
    [{ contents: [{ parts: [{ text: 1 }] }] }, "contents[0].parts[0].text must be a string; it is 1"],
    [
      { contents: [{ role: "model", parts: [{ functionCall: {} }] }] },
      "contents[0].parts[0].functionCall.name must be a string that is not empty",
    ],
    [
      { contents: [{ role: "model", parts: [{ function_call: { name: "f", args: "{}" } }] }] },
      "contents[0].parts[0].functionCall.args must be an object",
    ],
    [
      { contents: [{ role: "user", parts: [{ functionCall: { name: "f" } }] }] },
      "contents[0].parts[0] is only allowed in a content whose role is",
    ],
    [
      { contents: [{ role: "model", parts: [{ functionResponse: { name: "f" } }] }] },
      "contents[0].parts[0] is only allowed in a content whose role is",
    ],
    [
      { contents: [hi], tools: [{ functionDeclarations: [{}] }] },
      "tools[0].functionDeclarations[0].name must be a string that is not empty",
    ],
    [{ contents: [hi], toolConfig: { functionCallingConfig: { mode: "OFTEN" } } }, "toolConfig.functionCallingConfig.mode must be one of"],
    [
      { contents: [hi], toolConfig: { functionCallingConfig: { allowedFunctionNames: ["x"] } } },
      "toolConfig.functionCallingConfig.allowedFunctionNames[0] must be the name of one of the tools",
    ],
    [{ contents: [hi], generationConfig: { candidateCount: 2 } }, "generationConfig.candidateCount must be 1"],
    [{ contents: [hi], generation_config: { top_p: "1" } }, "generationConfig.topP must be a number"],
    [
      { contents: [hi], generationConfig: { thinkingConfig: { thinkingLevel: "x" } } },
      "generationConfig.thinkingConfig.thinkingLevel must be one of",
    ],
  ])("%j: %s", (body, message) => {
    expect(complaint(body)).toContain(message);
  });
});

// ---- Answers

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/gemini/${name}`, import.meta.url), "utf8");

function read(text: string, size = Number.POSITIVE_INFINITY): Event[] {
  const decoder = gemini.createStreamDecoder();
  const events: Event[] = [];
  for (let at = 0; at < text.length; at += size) events.push(...decoder.feed(text.slice(at, at + size)));
  return [...events, ...decoder.flush()];
}

const request = (fields: Partial<Request> = {}): Request => ({ model: "m", messages: [user("Hi")], stream: "sse", ...fields });

function write(events: readonly Event[], fields: Partial<Request> = {}, warnings: Warning[] = []): string {
  const encoder = gemini.createStreamEncoder(request(fields), { warn: (warning) => warnings.push(warning) });
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
}

// biome-ignore lint/suspicious/noExplicitAny: a chunk is looked into freely
const chunksOf = (stream: string): any[] =>
  stream
    .split("\n\n")
    .slice(0, -1)
    .map((event) => JSON.parse(event.slice("data: ".length)));
const partsOf = (events: readonly Event[]): object[] =>
  chunksOf(write([...events, stop])).flatMap(({ candidates: [candidate] }) => (candidate.finishReason ? [] : candidate.content.parts));

const stop: Event = { type: "finish", reason: "stop" };
const thought = (text: string, state?: Opaque[]): Event[] => [
  { type: "thinking-start" },
  { type: "thinking-delta", text },
  { type: "thinking-end", ...(state ? { state } : {}) },
];
const called = (id: string, json = "{}", more: object = {}, index = 0): Event[] => [
  { type: "tool-start", id, index, name: "f" },
  { type: "tool-delta", id, json },
  { type: "tool-end", id, index, name: "f", arguments: JSON.parse(json), json, ...more },
];

describe("answers read from servers", () => {
  test("thinking, text, a call with its signature and its exact bytes, and usage are read", () => {
    const json = '{"path": "a.txt", "size": 9007199254740993, "ratio": 1.0}';
    const args = { path: "a.txt", size: 9007199254740992, ratio: 1 };
    const state = [mine("thoughtSignature", "c2lnbmF0dXJl")];
    expect(read(fixture("thinking-call.sse"))).toEqual([
      { type: "start", id: "r1", model: "gemini-3-pro" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "Let me" },
      { type: "thinking-delta", text: " think." },
      { type: "thinking-end" },
      { type: "text", text: "I will write it." },
      { type: "tool-start", id: "call_0", index: 0, name: "write_file", state },
      { type: "tool-delta", id: "call_0", json },
      { type: "tool-end", id: "call_0", index: 0, name: "write_file", arguments: args, json, state },
      {
        type: "extension",
        wire: "gemini",
        data: { usageMetadata: { promptTokensDetails: [{ modality: "TEXT", tokenCount: 10 }] } },
        quiet: true,
      },
      { type: "usage", inputTokens: 10, outputTokens: 11, thinkingTokens: 4, cachedTokens: 3 },
      { type: "finish", reason: "tool-calls", native: "STOP" },
    ]);
  });
  test("parallel calls without ids, or with the same id, stay apart", () => {
    const { content, finish } = collect(read(fixture("parallel-calls.sse")));
    expect(content).toMatchObject([
      { id: "call_0", name: "f", arguments: { n: 1 } },
      { id: "call_1", name: "f", arguments: { n: 2 } },
      { id: "call_2", name: "g", arguments: {} },
      { id: "x", name: "f", arguments: {} },
      { id: "call_4", name: "f", arguments: { functionCall: { args: { a: 1 } } } },
    ]);
    expect(finish).toEqual({ reason: "tool-calls", native: "STOP" });
  });
  test("a JSON array printed over many lines is read", () => {
    const { content, usage } = collect(read(fixture("array.json")));
    expect(content).toMatchObject([{ text: "Hello\u2028 😀" }, { name: "f", arguments: { a: { b: [1, '}\\"'] } } }]);
    expect(usage).toEqual({ inputTokens: 1, outputTokens: 2 });
  });
  test("a list of several chunks is one answer, also if it is read as a whole", () => {
    const chunks = ["Hel", "lo"].map((text) => ({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }));
    const parts = [{ functionCall: { name: "f", args: { n: 1 } } }];
    const list = [...chunks, { candidates: [{ content: { parts }, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 2 } }];
    const answer = gemini.decodeResponse(list);
    expect(answer).toMatchObject({
      content: [{ text: "Hello" }, { name: "f", arguments: { n: 1 } }],
      usage: { inputTokens: 2 },
      finish: { reason: "tool-calls" },
    });
    const text = JSON.stringify(list);
    expect(gemini.decodeResponse(text)).toEqual(answer);
    expect(gemini.decodeResponse(text.replace('"n":1', '"n":1.0')).content[1]).toMatchObject({ json: expect.stringContaining("1.0") });
    expect(gemini.decodeResponse(text.slice(0, -9)).finish?.reason).toBe("error");
    for (const body of [[], "[]", ["x"]]) expect(gemini.decodeResponse(body).finish?.reason).toBe("error");
  });
  test("a malformed call is reported, with what the server said about it", () => {
    expect(collect(read(fixture("malformed.sse")))).toMatchObject({
      content: [{ text: "Now:" }, { type: "malformed", raw: expect.stringContaining("print(f(") }],
      finish: { reason: "error", native: "MALFORMED_FUNCTION_CALL", error: { code: "malformed-call" } },
    });
  });
  test("a blocked prompt finishes with content-filter", () => {
    expect(collect(read(fixture("blocked.sse")))).toMatchObject({
      content: [],
      finish: { reason: "content-filter", native: "PROHIBITED_CONTENT" },
    });
  });
  test("an error in the middle of a stream ends the answer", () => {
    expect(collect(read(fixture("error.sse")))).toMatchObject({
      content: [{ text: "So" }],
      finish: { reason: "error", error: { code: "overloaded" } },
    });
  });
  test("parts that only this wire knows keep their place", () => {
    const { content, usage, extensions } = collect(read(fixture("server-tools.sse")));
    expect(content).toMatchObject([
      { text: "One " },
      { text: "", state: [{ kind: "part", data: { executableCode: {} } }] },
      { text: "", state: [{ kind: "part", data: { codeExecutionResult: {} } }] },
      { text: "two", state: [{ kind: "thoughtSignature" }] },
    ]);
    expect(usage).toEqual({ inputTokens: 11, outputTokens: 2 });
    expect(extensions?.map(({ quiet }) => quiet)).toEqual([true, undefined, true]);
  });
  test.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["OTHER", "content-filter"],
    ["UNEXPECTED_TOOL_CALL", "content-filter"],
    ["SOMETHING_NEW", "content-filter"],
  ])("finishReason %s is %s", (native, reason) => {
    const body = { candidates: [{ content: { parts: [{ text: "x" }] }, finishReason: native }] };
    expect(gemini.decodeResponse(body).finish).toMatchObject({ reason, native });
    expect(gemini.decodeResponse(JSON.stringify([body])).finish).toMatchObject({ reason, native });
  });
  test.each(["OTHER", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "SOMETHING_NEW"])(
    "%s: text before it is kept, no text is an error, and Gemini's own clients see it unchanged",
    (native) => {
      const given = (parts: object[]) => ({ candidates: [{ content: { role: "model", parts }, finishReason: native, index: 0 }] });
      const asked: Request = { model: "", messages: [user("Hi")] };
      const response = gemini.decodeResponse(given([{ text: "Hi" }]));
      expect(gemini.encodeResponse(response, asked)).toEqual(given([{ text: "Hi" }]));
      expect(openaiChat.encodeResponse(response, asked)).toMatchObject({
        choices: [{ message: { content: "Hi" }, finish_reason: "content_filter" }],
      });
      const call = { functionCall: { id: "1", name: "f", args: {} } };
      expect(gemini.encodeResponse(gemini.decodeResponse(given([call])), asked)).toEqual(given([call]));
      const nothing = gemini.decodeResponse(given([]));
      expect(nothing.finish).toMatchObject({ reason: "error", native, error: { code: "upstream" } });
      expect(gemini.hasReason?.({ type: "finish", ...nothing.finish! })).toBe(true);
      expect(gemini.encodeResponse(nothing, asked)).toMatchObject({ candidates: [{ finishReason: native }] });
    },
  );
  test.each(["end_turn", "constructor", "tool_calls"])("%s, a finish reason of another API, is not passed on", (native) => {
    const response = { content: [], finish: { reason: "content-filter" as const, native } };
    expect(gemini.encodeResponse(response, { model: "", messages: [] })).toMatchObject({ candidates: [{ finishReason: "SAFETY" }] });
  });
  test("arguments in chunks after the call's name are read", () => {
    const chunk = (...parts: object[]) => `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts } }] })}\n\n`;
    const named = (name: string) => chunk({ functionCall: { name, args: {} } });
    const more = (args: object) => chunk({ functionCall: { args } });
    const calls = (text: string) =>
      collect(read(text)).content.map((part) => (part.type === "tool-call" ? [part.name, part.arguments] : part.type));
    expect(calls(named("f") + more({ a: 1 }) + named("g") + named("f") + more({ a: 2 }))).toEqual([
      ["f", { a: 1 }],
      ["g", {}],
      ["f", { a: 2 }],
    ]);
    expect(calls(named("f") + chunk({ text: "x" }) + more({ a: 1 }))).toEqual([["f", {}], "text", "malformed"]);
  });
  test("without a finishReason the answer was cut off, unless there were calls", () => {
    const chunk = (part: object) => `data: ${JSON.stringify({ candidates: [{ content: { parts: [part] } }] })}\n\n`;
    expect(collect(read(chunk({ text: "x" }))).finish).toMatchObject({ reason: "error", error: { code: "upstream" } });
    expect(collect(read(chunk({ functionCall: { name: "f" } }))).finish).toEqual({ reason: "tool-calls" });
    expect(collect(read(`${chunk({ functionCall: { name: "f" } })}data: {"cand`)).finish).toMatchObject({ reason: "error" });
  });
  test("[DONE], comments and a missing blank line are harmless", () => {
    const [first, last] = ['{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}', '{"candidates":[{"finishReason":"STOP"}]}'];
    expect(collect(read(`\n: hi\n\ndata:${first}\n\ndata: ${last}\n\ndata: [DONE]\n\n`)).content).toEqual([{ type: "text", text: "x" }]);
    expect(collect(read(`data: ${first}\n\ndata: ${last}`)).finish).toEqual({ reason: "stop", native: "STOP" });
  });
  test.each([
    "<html>",
    "",
    "null",
    "[]",
    "{}",
    '{"candidates":[{"content":{"parts":[1,{"functionCall":{"args":[]}}]}}],"usageMetadata":5}',
  ])("nonsense ends with an error, not an exception: %s", (body) => {
    expect(gemini.decodeResponse(body).finish?.reason).toBe("error");
    expect(read(body).at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });
  test("any split gives the same events, and a stream cut anywhere still has one finish", () => {
    for (const file of readdirSync(new URL("../fixtures/gemini", import.meta.url))) {
      const text = fixture(file);
      const whole = read(text);
      for (const size of [1, 2, 7, 64]) expect(read(text, size)).toEqual(whole);
      for (let at = 0; at < text.length; at++) {
        const events = read(text.slice(0, at));
        expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
        expect(events.at(-1)?.type).toBe("finish");
      }
    }
  });
});

/** A whole answer reports all that only this wire knows at once, a stream chunk by chunk. */
const oneExtension = ({ extensions = [], ...response }: Response) => {
  const all = extensions.map(({ data }) => data as { candidates?: object[] });
  return {
    ...response,
    root: Object.assign({}, ...all, { candidates: [] }),
    candidate: Object.assign({}, ...all.map(({ candidates }) => candidates?.[0])),
  };
};

describe("counts that are missing from usage", () => {
  const counted = (usageMetadata: object) => ({
    candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
    usageMetadata,
  });
  test.each<[string, object, object | undefined]>([
    ["only the prompt", { promptTokenCount: 10 }, { inputTokens: 10 }],
    ["the prompt is the total", { promptTokenCount: 10, totalTokenCount: 10 }, { inputTokens: 10 }],
    ["the answer follows from the total", { promptTokenCount: 10, totalTokenCount: 15 }, { inputTokens: 10, outputTokens: 5 }],
    ["the prompt follows from the total", { candidatesTokenCount: 5, totalTokenCount: 15 }, { inputTokens: 10, outputTokens: 5 }],
    [
      "thoughts are missing, but are in the total",
      { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 35 },
      { inputTokens: 10, outputTokens: 25 },
    ],
    [
      "nothing but thoughts",
      { promptTokenCount: 10, thoughtsTokenCount: 7, totalTokenCount: 17 },
      { inputTokens: 10, outputTokens: 7, thinkingTokens: 7 },
    ],
    [
      "prompt tokens of a server's tools",
      { promptTokenCount: 10, toolUsePromptTokenCount: 4, totalTokenCount: 19 },
      { inputTokens: 14, outputTokens: 5 },
    ],
    ["only the total", { totalTokenCount: 15 }, undefined],
  ])("%s", (_, usageMetadata, usage) => {
    const response = gemini.decodeResponse(counted(usageMetadata));
    expect(response.usage).toEqual(usage);
    const body = gemini.encodeResponse(response, request()) as { usageMetadata: object };
    expect(body.usageMetadata).toMatchObject(usageMetadata); // Gemini's own clients get what the server sent
    const { usage: told } = openaiChat.encodeResponse(response, request()) as { usage?: JsonObject };
    if (usage)
      expect(told?.total_tokens).toBe(Object.entries(usage).reduce((all, [key, n]) => all + (key === "thinkingTokens" ? 0 : n), 0));
  });
  test("an invalid count is ignored", () => {
    const text = JSON.stringify(counted({ promptTokenCount: 0.5, candidatesTokenCount: -5 })).replace("0.5", "1e999");
    expect(gemini.decodeResponse(text).usage).toBeUndefined();
  });
  test("later chunks replace the counts of earlier ones", () => {
    const chunks = [
      { promptTokenCount: 10, totalTokenCount: 10 },
      { promptTokenCount: 10, candidatesTokenCount: 2 },
      { candidatesTokenCount: 5 },
    ];
    const stream = chunks.map((usage) => `data: ${JSON.stringify({ ...counted(usage), candidates: [] })}\n\n`).join("");
    expect(collect(read(stream)).usage).toEqual({ inputTokens: 10, outputTokens: 5 });
  });
});

describe("arguments that come in pieces (Vertex AI)", () => {
  type Piece = { name?: string; id?: string; partialArgs?: object[]; willContinue?: boolean; args?: object };
  const eventsOf = (calls: Piece[], finishReason: string | undefined = "STOP") => {
    const decoder = gemini.createStreamDecoder();
    const chunks = calls.map((functionCall) => ({ candidates: [{ content: { role: "model", parts: [{ functionCall }] } }] }));
    const events = [...chunks, { candidates: [finishReason === undefined ? {} : { finishReason }] }].flatMap((chunk) =>
      decoder.feed(`data: ${JSON.stringify(chunk)}\n\n`),
    );
    return [...events, ...decoder.flush()].filter(({ type }) => type !== "start");
  };
  const begin = (name: string): Piece => ({ name, willContinue: true });
  const pieces = (...partialArgs: object[]): Piece => ({ partialArgs, willContinue: true });
  const at = (jsonPath: string, value: object, willContinue?: true) => ({ jsonPath, ...value, ...(willContinue ? { willContinue } : {}) });

  test("are passed on as they come, and complete at the end", () => {
    expect(
      eventsOf([
        begin("f"),
        pieces(at("$.city", { stringValue: "Os" }, true)),
        pieces(at("$.city", { stringValue: 'l"o' }, true)),
        pieces(at("$.city", { stringValue: "!" })),
        pieces(at("$.days", { numberValue: 3 }), at("$.now", { boolValue: true })),
        {},
      ]),
    ).toEqual([
      { type: "tool-start", id: "call_0", index: 0, name: "f" },
      { type: "tool-delta", id: "call_0", json: '{"city":"Os' },
      { type: "tool-delta", id: "call_0", json: 'l\\"o' },
      { type: "tool-delta", id: "call_0", json: '!"' },
      { type: "tool-delta", id: "call_0", json: ',"days":3,"now":true' },
      { type: "tool-delta", id: "call_0", json: "}" },
      {
        type: "tool-end",
        id: "call_0",
        index: 0,
        name: "f",
        arguments: { city: 'Osl"o!', days: 3, now: true },
        json: '{"city":"Osl\\"o!","days":3,"now":true}',
      },
      { type: "finish", reason: "tool-calls", native: "STOP" },
    ]);
  });

  test.each<[string, object[], object]>([
    [
      "nested objects",
      [at("$.a.b.c", { numberValue: 1 }), at("$.a.b.d", { nullValue: "NULL_VALUE" }), at("$.a.e", { numberValue: 2 })],
      { a: { b: { c: 1, d: null }, e: 2 } },
    ],
    [
      "lists",
      [at("$.a[0]", { stringValue: "x" }), at("$.a[1]", { stringValue: "y" }), at("$.b", { boolValue: false })],
      { a: ["x", "y"], b: false },
    ],
    [
      "lists of objects",
      [at("$.a[0].b", { numberValue: 1 }), at("$.a[0].c", { numberValue: 2 }), at("$.a[1].b", { numberValue: 3 })],
      { a: [{ b: 1, c: 2 }, { b: 3 }] },
    ],
    [
      "lists of lists",
      [at("$.a[0][0]", { numberValue: 1 }), at("$.a[0][1]", { numberValue: 2 }), at("$.a[1][0]", { numberValue: 3 })],
      { a: [[1, 2], [3]] },
    ],
    [
      "keys in brackets",
      [at("$['a b'][\"c.d\"]", { numberValue: 1 }), at("$['it\\'s']", { numberValue: 2 })],
      { "a b": { "c.d": 1 }, "it's": 2 },
    ],
    [
      "a string that should have gone on, then another path",
      [at("$.a", { stringValue: "x" }, true), at("$.b", { stringValue: "" })],
      { a: "x", b: "" },
    ],
    ["a path that is only announced", [at("$.a", {}, true), at("$.a", { stringValue: "x" })], { a: "x" }],
    ["keys of a prototype", [at("$.__proto__.toString", { stringValue: "x" })], JSON.parse('{"__proto__":{"toString":"x"}}')],
    ["no arguments", [], {}],
  ])("%s", (_, all, expected) => {
    const oneByOne = eventsOf([begin("f"), ...all.map((piece) => pieces(piece)), {}]);
    const atOnce = eventsOf([{ name: "f", partialArgs: all }]);
    for (const events of [oneByOne, atOnce]) {
      const end = events.find((event) => event.type === "tool-end");
      expect(end).toMatchObject({ name: "f" });
      expect(JSON.stringify(end?.arguments)).toBe(JSON.stringify(expected));
      expect(events.flatMap((event) => (event.type === "tool-delta" ? event.json : [])).join("")).toBe(end?.json);
    }
  });

  test.each<[string, object[]]>([
    ["a value given twice", [at("$.a", { numberValue: 1 }), at("$.a", { numberValue: 2 })]],
    [
      "a key of an object that has ended",
      [at("$.a.b", { numberValue: 1 }), at("$.c", { numberValue: 2 }), at("$.a.d", { numberValue: 3 })],
    ],
    ["a list with a gap", [at("$.a[1]", { numberValue: 1 })]],
    ["an object inside a number", [at("$.a", { numberValue: 1 }), at("$.a.b", { numberValue: 2 })]],
    ["an object addressed as a list", [at("$.a.b", { numberValue: 1 }), at("$.a[0]", { numberValue: 2 })]],
    ["an invalid path", [at("$..a", { numberValue: 1 })]],
    ["a list at the top", [at("$[0]", { numberValue: 1 })]],
    ["no value", [at("$.a", {})]],
  ])("%s makes the call malformed, and nothing of it is lost", (_, all) => {
    const events = eventsOf([begin("f"), ...all.map((piece) => pieces(piece)), {}]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error", error: { code: "malformed-call" } });
    const malformed = events.find((event) => event.type === "malformed");
    expect(malformed?.raw).toContain(JSON.stringify(JSON.stringify(all.at(-1))).slice(1, -1));
  });

  test("several calls stay apart, even if their frames look alike", () => {
    const one = [
      begin("f"),
      pieces(at("$.a", { stringValue: "x" }, true)),
      pieces(at("$.a", { stringValue: "y" }, true)),
      pieces(at("$.a", { stringValue: "z" }, true)),
      {},
    ];
    const ends = eventsOf([...one, ...one, { name: "g", args: { b: 1 } }]).filter((event) => event.type === "tool-end");
    expect(ends.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["f", { a: "xyz" }],
      ["f", { a: "xyz" }],
      ["g", { b: 1 }],
    ]);
  });

  test.each<[string, Piece[], string | undefined]>([
    ["the answer ends", [begin("f")], "STOP"],
    ["the limit is reached", [begin("f"), pieces(at("$.a", { stringValue: "x" }, true))], "MAX_TOKENS"],
    ["the stream breaks off", [begin("f"), pieces(at("$.a", { stringValue: "x" }))], undefined],
    ["another call begins", [begin("f"), pieces(at("$.a", { stringValue: "x" })), { name: "g", args: {} }], "STOP"],
  ])("a call that should go on is truncated when %s", (_, calls, finishReason) => {
    const end = eventsOf(calls, finishReason).find((event) => event.type === "tool-end");
    expect(end).toMatchObject({ name: "f", truncated: true });
  });

  const ended = (calls: Piece[]) => {
    const events = eventsOf(calls);
    const ends = events.flatMap((event) =>
      event.type === "tool-end" ? [[event.id, event.name, event.arguments, event.truncated === true]] : [],
    );
    return { ends, events };
  };
  test.each<[string, Piece, [string, string, object, boolean]]>([
    ["a whole call of the same name", { name: "f", args: { b: 1 } }, ["call_1", "f", { b: 1 }, false]],
    ["another id", { id: "2", name: "f", partialArgs: [at("$.b", { numberValue: 1 })] }, ["2", "f", { b: 1 }, false]],
    ["another name", { name: "g", partialArgs: [at("$.b", { numberValue: 1 })] }, ["call_1", "g", { b: 1 }, false]],
  ])("%s starts another call, and the unfinished one is truncated", (_, next, end) => {
    const { ends, events } = ended([{ id: "1", ...begin("f") }, pieces(at("$.a", { stringValue: "x" }, true)), next]);
    expect(ends).toEqual([["1", "f", { a: "x" }, true], end]);
    expect(events.at(-1)).toMatchObject({ reason: "length" });
  });
  test.each<[string, object, Event["type"][]]>([
    ["text", { text: "Hi" }, ["text"]],
    ["a thought", { text: "Hm", thought: true }, ["thinking-start", "thinking-delta", "thinking-end"]],
  ])("%s between the pieces waits for the end of the call", (_, part, types) => {
    const parts = [{ functionCall: begin("f") }, part, { functionCall: pieces(at("$.a", { stringValue: "x" })) }, { functionCall: {} }];
    const events = read(
      [...parts.map((part) => ({ content: { parts: [part] } })), { finishReason: "STOP" }]
        .map((candidate) => `data: ${JSON.stringify({ candidates: [candidate] })}\n\n`)
        .join(""),
    );
    const said = ["start", "tool-start", "tool-delta", "tool-delta", "tool-end", ...types, "finish"];
    expect(events.map(({ type }) => type)).toEqual(said);
    for (const { id, createStreamEncoder } of listWires()) {
      const encoder = createStreamEncoder({ model: "m", messages: [], stream: id === "ollama" ? "ndjson" : "sse" });
      expect(validateStream(id, events.map((event) => encoder.encode(event)).join("") + encoder.end())).toEqual([]);
    }
  });

  test("arguments may also come whole after such a start", () => {
    const ends = eventsOf([begin("f"), { args: { a: 1 } }]).filter((event) => event.type === "tool-end");
    expect(ends).toMatchObject([{ name: "f", arguments: { a: 1 } }]);
  });
});

describe("answers to clients", () => {
  test("calls are whole, and exactly one finishReason comes last", () => {
    const stream = write([
      { type: "start", id: "r", model: "x" },
      ...thought("hm"),
      { type: "text", text: "Hi \u2028\u2029" },
      ...called("1", '{"a": 1.0,\n "b": "\u2028"}'),
      ...called("2", "{}", {}, 1),
      { type: "usage", inputTokens: 5, outputTokens: 9, thinkingTokens: 4, cachedTokens: 2 },
      { type: "finish", reason: "tool-calls" },
      { type: "text", text: "late" },
      stop,
    ]);
    expect(validateStream("gemini", stream)).toEqual([]);
    expect(stream).toContain('"args":{"a": 1.0,"b": "\\u2028"}');
    const chunk = (...parts: object[]) => ({
      candidates: [{ content: { role: "model", parts }, index: 0 }],
      modelVersion: "x",
      responseId: "r",
    });
    expect(chunksOf(stream)).toEqual([
      chunk({ text: "hm", thought: true }),
      chunk({ text: "Hi \u2028\u2029" }),
      chunk({ functionCall: { id: "1", name: "f", args: { a: 1, b: "\u2028" } }, thoughtSignature: expect.any(String) }),
      chunk({ functionCall: { id: "2", name: "f", args: {} } }),
      {
        candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP", index: 0 }],
        usageMetadata: {
          promptTokenCount: 5,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 4,
          cachedContentTokenCount: 2,
          totalTokenCount: 14,
        },
        modelVersion: "x",
        responseId: "r",
      },
    ]);
  });
  test("an array is sent element by element", () => {
    const encoder = gemini.createStreamEncoder(request({ stream: "array" }));
    const sent = [
      encoder.encode({ type: "text", text: "a" }),
      encoder.heartbeat(),
      encoder.encode(stop),
      encoder.heartbeat(),
      encoder.end(),
    ];
    expect(sent.map((text) => text.slice(0, 2))).toEqual(["[{", ",\n", ",\n", "", "]"]);
    expect(validateStream("gemini", sent.join(""))).toEqual([]);
    expect(collect(read(sent.join(""))).content).toEqual([{ type: "text", text: "a" }]);
  });
  test("a heartbeat is a data event with one empty text, and there is none after the end", () => {
    const encoder = gemini.createStreamEncoder({ ...request(), model: "" });
    expect(encoder.heartbeat()).toBe('data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"index":0}]}\n\n');
    encoder.encode(stop);
    expect(encoder.heartbeat() + encoder.end()).toBe("");
    expect(read(`${gemini.createStreamEncoder(request()).heartbeat()}`)).toMatchObject([{ type: "start" }, { type: "finish" }]);
  });
  test("a truncated call is left out, with a warning, and the reason is MAX_TOKENS", () => {
    const warnings: Warning[] = [];
    const stream = write(
      [...called("1", '{"a":1}', { truncated: true, json: undefined }), { type: "finish", reason: "length" }],
      {},
      warnings,
    );
    expect(chunksOf(stream)).toMatchObject([{ candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "MAX_TOKENS" }] }]);
    expect(warnings).toMatchObject([{ code: "dropped" }]);
  });
  test("an unreadable call is MALFORMED_FUNCTION_CALL if there was no other call", () => {
    const malformed: Event = { type: "malformed", raw: "<call", code: "no-name", reason: "it has no name" };
    const failed: Event = { type: "finish", reason: "error", error: { code: "malformed-call", message: "m" } };
    expect(chunksOf(write([malformed, failed]))).toMatchObject([
      { candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "it has no name: <call" }] },
    ]);
    expect(chunksOf(write([...called("1"), malformed, { type: "finish", reason: "tool-calls" }])).at(-1)).toMatchObject({
      candidates: [{ finishReason: "STOP" }],
    });
  });
  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "SAFETY"])(
    "the reason %s beside a complete call is passed on",
    (finishReason) => {
      const content = { role: "model", parts: [{ functionCall: { id: "1", name: "f", args: {} } }] };
      const answer = { candidates: [{ content, finishReason, finishMessage: "No such tool: g" }] };
      expect(gemini.encodeResponse(gemini.decodeResponse(answer), request())).toMatchObject(answer);
      const chunks = chunksOf(write(read(`data: ${JSON.stringify(answer)}\n\n`)));
      expect(chunks.flatMap(({ candidates: [{ finishMessage = [] }] }) => finishMessage)).toEqual(["No such tool: g"]);
      expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason, finishMessage: "No such tool: g" }] });
    },
  );
  test("an error in the middle of a stream is a data event of its own, and the last whole one", () => {
    const stream = write([
      { type: "text", text: "a" },
      { type: "finish", reason: "error", error: { code: "overloaded", message: "busy", retryAfterMs: 1500 } },
    ]);
    expect(validateStream("gemini", stream)).toEqual([]);
    expect(chunksOf(stream).at(-1)).toEqual({
      error: {
        code: 503,
        message: "busy",
        status: "UNAVAILABLE",
        details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.5s" }],
      },
    });
    expect(validateStream("gemini", write([{ type: "text", text: "a" }]))).toEqual([]); // no finish at all
    expect(validateStream("gemini", write([], { stream: "array" }))).toEqual([]);
  });
  test("thoughts the client does not want are not sent, but come back with the call", () => {
    const chunks = chunksOf(write([...thought("secret"), ...called("1"), stop], { thinking: { show: false } }));
    expect(chunks).toHaveLength(2);
    expect(openCapsule(chunks[0].candidates[0].content.parts[0].thoughtSignature)).toEqual({ thoughts: [{ thinking: "secret" }] });
  });
  test("a call with a signature of its own keeps it", () => {
    expect(partsOf([...thought("x"), ...called("1", "{}", { state: [mine("thoughtSignature", "c2ln")] })])).toMatchObject([
      {},
      { thoughtSignature: "c2ln" },
    ]);
  });
  test("another wire's state on a call comes back with it", () => {
    const state: Opaque[] = [{ wire: "openai-responses", kind: "id", data: "fc_1" }];
    const parts = partsOf(called("1", "{}", { state }));
    expect(decoded([hi, { role: "model", parts }]).messages[1]).toEqual(assistant({ ...call("1"), state }));
  });
  test("state that cannot be carried, and foreign extensions, cause warnings", () => {
    const warnings: Warning[] = [];
    write(
      [
        ...thought("x", [{ wire: "anthropic", kind: "signature", data: "s" }]),
        { type: "extension", wire: "anthropic", data: 1 },
        { type: "extension", wire: "ollama", data: 1, quiet: true },
        stop,
      ],
      {},
      warnings,
    );
    expect(warnings).toHaveLength(2);
  });
  test("the same wire gets back everything it sent, streamed and whole", () => {
    const parts = (text: string) => chunksOf(text.replaceAll("\r", "")).flatMap(({ candidates }) => candidates?.[0].content?.parts ?? []);
    for (const file of ["server-tools.sse", "thinking-call.sse", "malformed.sse", "blocked.sse", "error.sse"]) {
      const [given, events] = [fixture(file), read(fixture(file))];
      const sent = write(events);
      const spoken = parts(sent).filter(({ text, functionCall }) => text !== "" || functionCall);
      expect(spoken).toMatchObject(parts(given).filter(({ text, functionCall }) => text !== "" || functionCall));
      expect(read(sent)).toEqual(events);
      const body = printBody(gemini.encodeResponse(collect(events), request()));
      if (file !== "error.sse") expect(oneExtension(gemini.decodeResponse(body))).toEqual(oneExtension(collect(events)));
    }
    const [last] = chunksOf(write(read(fixture("blocked.sse"))));
    expect(last).toEqual({
      promptFeedback: { blockReason: "PROHIBITED_CONTENT", safetyRatings: [] },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
      modelVersion: "gemini-2.5-pro",
    });
  });
});

describe("errors", () => {
  test.each([
    [{ code: "rate-limit", message: "slow", retryAfterMs: 3900 }, 429, "RESOURCE_EXHAUSTED"],
    [{ code: "overloaded", message: "busy" }, 503, "UNAVAILABLE"],
    [{ code: "not-found", message: "no such model" }, 404, "NOT_FOUND"],
    [{ code: "bad-request", message: "no" }, 400, "INVALID_ARGUMENT"],
    [{ code: "auth", message: "who?" }, 401, "UNAUTHENTICATED"],
    [
      {
        code: "context-length",
        message: "The input token count (900) exceeds the maximum number of tokens allowed (800).",
        tokens: { used: 900, limit: 800 },
      },
      400,
      "INVALID_ARGUMENT",
    ],
  ] as const)("%j is written and read back", (error, status, word) => {
    const encoded = gemini.encodeError(error);
    expect(encoded).toMatchObject({ status, body: { error: { code: status, message: error.message, status: word } } });
    expect(gemini.decodeError(status, encoded.headers, encoded.body)).toEqual({ ...error, status });
    expect(gemini.encodeError(error, request({ stream: "array" })).body).toEqual([encoded.body]);
    expect(gemini.decodeError(status, {}, JSON.stringify([encoded.body]))).toEqual({ ...error, status });
  });
});

// ---- Both ways

describe("what is encoded decodes to the same", () => {
  const text = fc.string({ unit: "binary", minLength: 1 });
  const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
  const signature = fc.constantFrom<(Opaque[] | undefined)[]>(undefined, [mine("thoughtSignature", "c2ln")]);
  const signed = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
    fc.tuple(arbitrary, signature).map(([thing, state]) => (state ? { ...thing, state } : thing));
  const textPart = signed(fc.record({ type: fc.constant("text" as const), text }));
  const thinkingPart = signed(fc.record({ type: fc.constant("thinking" as const), text }));
  const media = fc.record({ type: fc.constant("media" as const), mediaType: fc.constant("image/png"), data: fc.constant("AAAA") });

  test("for any request", () => {
    const round = fc.tuple(
      fc.array(fc.oneof(textPart, media), { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(textPart, thinkingPart), { maxLength: 3 }),
      fc.array(fc.tuple(args, fc.jsonValue({ maxDepth: 2 }), fc.boolean()), { maxLength: 3 }),
    );
    const requests = fc.record(
      {
        model: fc.constantFrom("m", "a/b:c", "gemini-3-pro", "x y?#%"),
        messages: fc.array(round, { minLength: 1, maxLength: 3 }).map((rounds) =>
          rounds.flatMap(([said, answer, calls], r) => [
            { role: "user" as const, content: said },
            ...(answer.length + calls.length > 0
              ? [
                  {
                    role: "assistant" as const,
                    content: [...answer, ...calls.map(([args], i) => call(`${r}.${i}`, "f", args))] as Part[],
                  },
                ]
              : []),
            ...calls.map(([, output, failed], i) => ({
              ...result(`${r}.${i}`, JSON.parse(JSON.stringify(output))),
              ...(failed ? { isError: true as const } : {}),
            })),
          ]),
        ),
        tools: fc.constant([
          { name: "f", description: "F", parameters: { type: "object", properties: { a: { type: "string" } } } },
          { name: "g" },
        ]),
        toolChoice: fc.constantFrom(
          "auto" as const,
          "required" as const,
          { name: "f" },
          { allowed: ["f", "g"] },
          { allowed: ["f", "g"], required: true as const },
        ),
        stream: fc.constantFrom("sse" as const, "array" as const),
        thinking: fc.constantFrom(
          { enabled: false },
          { enabled: true, budget: 5, show: true },
          { effort: "high" as const },
          { show: false },
        ),
        sampling: fc.constant({ temperature: 1, topP: 0.5, topK: 3, seed: 1, presencePenalty: 0, frequencyPenalty: 1 }),
        maxTokens: fc.constant(5),
        stop: fc.constant(["a", "b"]),
        output: fc.constantFrom({}, { schema: { type: "object" } }),
      },
      { requiredKeys: ["model", "messages", "tools"] },
    );
    fc.assert(
      fc.property(requests as fc.Arbitrary<unknown> as fc.Arbitrary<Request>, (request) => {
        expect(roundTrip(request)).toEqual({ from: "gemini", ...request });
        expect(gemini.encodeRequest(request).context.warnings.filter(({ code }) => code !== "converted")).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("for any events, cut anywhere", () => {
    const pieces = fc.oneof(
      textPart.map((part): Event[] => [part]),
      fc
        .tuple(fc.array(text, { minLength: 1, maxLength: 3 }), signature)
        .map(([texts, state]): Event[] => [
          { type: "thinking-start" },
          ...texts.map((text): Event => ({ type: "thinking-delta", text })),
          { type: "thinking-end", ...(state ? { state } : {}) },
        ]),
      fc
        .tuple(args, signature)
        .map(([args, state]): Event[] => [
          { type: "tool-end", id: "", index: 0, name: "f", arguments: args, json: JSON.stringify(args), ...(state ? { state } : {}) },
        ]),
    );
    const answers = fc.array(pieces, { maxLength: 6 }).map((list): Event[] => {
      let calls = 0;
      // Two thoughts in a row become one on this wire.
      const apart = list.filter((events, i) => events[0]?.type !== "thinking-start" || list[i - 1]?.[0]?.type !== "thinking-start");
      const events = apart.flat().flatMap((event): Event[] => {
        if (event.type !== "tool-end") return [event];
        const head = { id: `c${calls}`, index: calls++ };
        const started: Event = { type: "tool-start", ...head, name: "f", ...(event.state ? { state: event.state } : {}) };
        return [started, { type: "tool-delta", id: head.id, json: event.json ?? "" }, { ...event, ...head }];
      });
      const usage: Event = { type: "usage", inputTokens: 3, outputTokens: 5, thinkingTokens: 2 };
      return [
        { type: "start", id: "r", model: "m" },
        ...events,
        usage,
        { type: "finish", reason: calls > 0 ? "tool-calls" : "stop", native: "STOP" },
      ];
    });
    fc.assert(
      fc.property(answers, fc.constantFrom("sse" as const, "array" as const), fc.integer({ min: 1, max: 40 }), (events, stream, size) => {
        const sent = write(events, { stream });
        expect(validateStream("gemini", sent)).toEqual([]);
        expect(read(sent, size)).toEqual(events);
      }),
      { numRuns: 200 },
    );
  });
});

describeShared("recorded requests", () => {
  const requests = captures<{ contents?: { parts: object[] }[] }>(({ path, body }) => path.includes("/models/") && !!body?.contents);

  test("there are enough captures", () => expect(requests.length).toBeGreaterThan(20));
  test.each(requests)("$file", ({ path, query, body }) => {
    const request = decode(JSON.stringify(body), path, query);
    expect(request.warnings).toBeUndefined();
    const results = request.messages.filter(({ role }) => role === "tool");
    const calls = request.messages
      .flatMap((message) => (message.role === "assistant" ? message.content : []))
      .filter(({ type }) => type === "tool-call");
    expect(results).toHaveLength(calls.length);
    const encoded = gemini.encodeRequest(request);
    expect(validateRequest("gemini", encoded.body)).toEqual([]);
    expect(encoded.context.warnings).toEqual([]);
    expect(roundTrip(request)).toEqual({ from: "gemini", ...request });
    if (!path.endsWith("countTokens")) expect(encoded.path).toBe(path + (query.alt ? `?alt=${query.alt}` : ""));
  });
});

test("schemas in Gemini's own dialect reach Gemini unchanged, and other servers as JSON Schema", () => {
  const parameters = { type: "OBJECT", properties: { a: { type: "STRING", nullable: true, enum: ["x"] } }, propertyOrdering: ["a"] };
  const responseSchema = { type: "ARRAY", items: { type: "INTEGER" }, minItems: "1" };
  const given = {
    contents: [{ role: "user", parts: [{ text: "x" }] }],
    tools: [{ functionDeclarations: [{ name: "f", parameters }] }],
    generationConfig: { responseMimeType: "application/json", responseSchema },
  };
  const request = gemini.decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body: given });
  const { body } = gemini.encodeRequest(request);
  expect(body).toMatchObject({ tools: given.tools, generationConfig: given.generationConfig });
  expect(JSON.stringify(body)).not.toContain("JsonSchema");
  expect(request.tools?.[0]?.parameters).toMatchObject({ type: "object", properties: { a: { type: ["string", "null"] } } });
});

describe("contents as Google's servers accept them", () => {
  const contentsOf = (request: Request) => (gemini.encodeRequest(request).body as { contents: JsonObject[] }).contents;
  const call: Part = { type: "tool-call", id: "c1", name: "f", arguments: {} };
  const result: Message = { role: "tool", id: "c1", name: "f", output: "ok" };
  const user: Message = { role: "user", content: [{ type: "text", text: "Go on." }] };
  test("the user's text after results is in a content of its own, unless the client put them together", () => {
    const parts = (content: JsonObject) =>
      (content.parts as JsonObject[]).map((part) => Object.keys(part).find((key) => key !== "thoughtSignature"));
    const apart = contentsOf({ model: "m", messages: [user, { role: "assistant", content: [call] }, result, user] });
    expect(apart.map(parts)).toEqual([["text"], ["functionCall"], ["functionResponse"], ["text"]]);
    const contents = [
      { role: "user", parts: [{ text: "Go" }] },
      { role: "model", parts: [{ functionCall: { id: "c1", name: "f", args: {} }, thoughtSignature: "c2ln" }] },
      { role: "user", parts: [{ functionResponse: { id: "c1", name: "f", response: { output: "ok" } } }, { text: "Go on." }] },
    ];
    expect(
      contentsOf(gemini.decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body: { contents } })),
    ).toEqual(contents);
  });
  test("a conversation that begins with the model gets a user message before it", () => {
    const { body, context } = gemini.encodeRequest({ model: "m", messages: [{ role: "assistant", content: [call] }, result] });
    expect(body).toMatchObject({ contents: [{ role: "user", parts: [{ text: "." }] }, { role: "model" }, { role: "user" }] });
    expect(context.warnings.map(({ message }) => message)).toEqual([
      'a conversation that does not begin with the user was sent as one that begins with the user\'s "."',
    ]);
  });
});
