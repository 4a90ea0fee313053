// Translation between two wires, where one can express something that the other expresses differently or not at all.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Json, JsonObject, Message, Request, WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";
import type { WireProfile } from "../../src/wires/wire.ts";
import { complaintOf, PATHS } from "./helpers.ts";
import { validateRequest } from "./validators.ts";

const decode = (id: WireId, body: object): Request =>
  getWire(id).decodeRequest({ path: PATHS[id] ?? "/api/chat", query: {}, headers: {}, body: { model: "m", ...body } });
function send(to: WireId, request: Request, profile?: WireProfile) {
  const { body, context } = getWire(to).encodeRequest(request, profile);
  return { body: body as Record<string, never>, warnings: context.warnings.map(({ message }) => message) };
}
const hi = [{ role: "user", content: "Hi" }];

test.each([
  ["https://x.example/y.pdf", undefined, { source: { type: "url", url: "https://x.example/y.pdf" } }],
  ["https://x.example/Y.PDF?v=1.2#page=2", undefined, { source: { type: "url" } }],
  ["https://x.example/get?id=7", "y.pdf", { source: { type: "url" }, title: "y.pdf" }],
])("the type of a file given by URL, %s (%s), follows from its name", (file_url, filename, document) => {
  const content = [{ type: "input_file", file_url, ...(filename && { filename }) }];
  const request = decode("openai-responses", { input: [{ role: "user", content }] });
  expect(send("anthropic", request).body.messages).toMatchObject([{ content: [{ type: "document", ...document }] }]);
  expect(send("openai-responses", request).body.input).toMatchObject([{ content }]);
});
test.each<WireId>(["openai-chat", "openai-responses", "gemini", "ollama"])(
  "results with a field of their own bring no empty message to %s",
  (to) => {
    const use = { type: "tool_use", id: "t", name: "f", input: {} };
    const content = [{ type: "tool_result", tool_use_id: "t", content: "ok" }];
    const messages = [...hi, { role: "assistant", content: [use] }, { role: "user", id: "msg_1", content }];
    const { body, warnings } = send(to, decode("anthropic", { max_tokens: 9, messages }));
    expect(body.messages ?? body.input ?? body.contents).toHaveLength(3);
    expect(warnings).toContainEqual(expect.stringMatching(/^id of anthropic/));
  },
);
test("a file whose type is unknown becomes a text label", () => {
  const content = [{ type: "input_file", file_url: "https://x.example/constructor" }];
  const { messages } = send("anthropic", decode("openai-responses", { input: [{ role: "user", content }] })).body;
  expect(messages).toMatchObject([{ content: "[application/octet-stream https://x.example/constructor]" }]);
});

test.each<[WireId, WireProfile]>([
  ["openai-chat", { systemAnywhere: false }],
  ["openai-responses", { systemAnywhere: false }],
  ["ollama", { systemAnywhere: false }],
  ["gemini", {}],
])("a system text after a result, as Claude Code sends it, moves into the result for %s", (to, profile) => {
  const request = decode("anthropic", {
    max_tokens: 9,
    messages: [
      ...hi,
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "Read", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "A" }] },
      { role: "system", content: [{ type: "text", text: "9 tokens left", cache_control: { type: "ephemeral" } }] },
    ],
  });
  const { body, warnings } = send(to, request, profile);
  const [messages = []] = [body.messages, body.input, body.contents].filter((list): list is never => Array.isArray(list)) as Json[][];
  expect(messages).toHaveLength(3);
  expect(JSON.stringify(messages[2])).toMatch(/"(content|output)":"A\\n\\n<system>\\n9 tokens left\\n<\/system>"/);
  expect(warnings).toEqual(["a system text in mid-conversation was sent as a labelled text in the result before it"]);
});

test.each<[WireId, string, boolean]>([
  ["gemini", "gemini-2.5-flash", false],
  ["gemini", "gemini-3-pro-preview", false],
  ["gemini", "gemini-3.5-flash", false],
  ["gemini", "gemini-3.5-flash-lite", true],
  ["gemini", "gemini-3.6-flash", true],
  ["gemini", "gemini-flash-latest", true],
  ["gemini", "my-model", false],
  ["anthropic", "claude-3-5-sonnet-20241022", false],
  ["anthropic", "claude-opus-4-20250514", false],
  ["anthropic", "claude-haiku-4-5-20251001", false],
  ["anthropic", "claude-opus-4-6", true],
  ["anthropic", "anthropic/claude-sonnet-4.6", true],
  ["anthropic", "claude-sonnet-5", true],
])("%s: whether %s refuses to continue an unfinished answer", (to, model, isRefused) => {
  const begun = [...hi, { role: "assistant", content: "Once upon" }];
  const { body, warnings } = send(to, decode("openai-chat", { model, messages: begun }));
  const said = (body.messages ?? body.contents) as unknown as { role: string }[];
  expect(said.at(-1)?.role === "user").toBe(isRefused);
  expect(warnings.some((message) => message.includes("ends with the model's own words"))).toBe(isRefused);
  const own = decode(to, { model, max_tokens: 9, messages: begun, contents: [{ role: "model", parts: [{ text: "Once" }] }] });
  expect(send(to, { ...own, model }).warnings).not.toContainEqual(expect.stringContaining("own words"));
  const tool_calls = [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }];
  const calling = decode("openai-chat", { model, messages: [...hi, { role: "assistant", content: null, tool_calls }] });
  expect(send(to, calling).warnings).not.toContainEqual(expect.stringContaining("own words"));
});

describe("thinking on Anthropic", () => {
  const wishes: [WireId, object][] = [
    ["ollama", { messages: hi, think: true }],
    ["ollama", { messages: hi, think: "high" }],
    ["openai-chat", { messages: hi, reasoning_effort: "low" }],
    ["openai-responses", { input: "Hi", reasoning: { effort: "low" } }],
    ["gemini", { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { thinkingConfig: { thinkingBudget: 4000 } } }],
  ];
  test.each(wishes)("is shown to a client of %s that asks for it: %j", (id, body) => {
    expect(send("anthropic", decode(id, body)).body.thinking).toMatchObject({ display: "summarized" });
  });
  test("is not shown to a client that does not want it", () => {
    const generationConfig = { thinkingConfig: { thinkingBudget: 4000, includeThoughts: false } };
    const request = decode("gemini", { contents: [{ parts: [{ text: "Hi" }] }], generationConfig });
    expect(send("anthropic", request).body.thinking).toMatchObject({ display: "omitted" });
  });
  test("is sent as Anthropic's own clients wrote it, and compatible servers get no fields they may not know", () => {
    for (const thinking of [
      { type: "adaptive" },
      { type: "enabled", budget_tokens: 50_000 },
      { type: "enabled", budget_tokens: 2000, display: "omitted" },
    ])
      expect(send("anthropic", decode("anthropic", { max_tokens: 9000, messages: hi, thinking })).body.thinking).toEqual(thinking);
    expect(send("anthropic", decode(...wishes[0]!), { unsignedThinking: true }).body.thinking).toEqual({ type: "adaptive" });
  });
  test("leaves room for the answer, with a warning", () => {
    const asked = (thinkingBudget: number, maxOutputTokens: number) =>
      send(
        "anthropic",
        decode("gemini", {
          contents: [{ parts: [{ text: "Hi" }] }],
          generationConfig: { maxOutputTokens, thinkingConfig: { thinkingBudget } },
        }),
      );
    const { body, warnings } = asked(24_576, 8192);
    expect(body).toMatchObject({ max_tokens: 8192, thinking: { budget_tokens: 4096 } });
    expect(warnings).toEqual([expect.stringContaining("leaves nothing for the answer")]);
    expect(asked(4000, 8192)).toMatchObject({ body: { thinking: { budget_tokens: 4000 } }, warnings: [] });
    expect(asked(4000, 1500).body).toMatchObject({ thinking: { budget_tokens: 1024 } });
  });
});

describe("thinking on Gemini and OpenAI", () => {
  const shown = (request: Request) => {
    const { generationConfig } = send("gemini", request).body as { generationConfig?: { thinkingConfig?: { includeThoughts?: boolean } } };
    const { reasoning } = send("openai-responses", request).body as { reasoning?: { summary?: string } };
    return [generationConfig?.thinkingConfig?.includeThoughts, reasoning?.summary];
  };
  const enabled = { type: "enabled", budget_tokens: 5000 };
  test.each<[WireId, object]>([
    ["anthropic", { max_tokens: 9000, messages: hi, thinking: enabled }],
    ["anthropic", { max_tokens: 9000, messages: hi, thinking: { type: "adaptive" } }],
    ["ollama", { messages: hi, think: true }],
    ["ollama", { messages: hi, think: "high" }],
    ["openai-chat", { messages: hi, reasoning_effort: "low" }],
  ])("is shown to a client of %s, whose own API would show it: %j", (id, body) => {
    expect(shown(decode(id, body))).toEqual([true, "auto"]);
  });
  test.each<[WireId, object]>([
    ["anthropic", { max_tokens: 9000, messages: hi, thinking: { ...enabled, display: "omitted" } }],
    ["anthropic", { max_tokens: 9000, messages: hi, output_config: { effort: "high" } }],
    ["ollama", { messages: hi, think: false }],
    ["openai-chat", { messages: hi }],
  ])("is not shown to a client of %s that asks for none: %j", (id, body) => {
    const [gemini, responses] = shown(decode(id, body));
    expect([gemini ?? false, responses]).toEqual([false, undefined]);
  });
});

describe("a conversation with calls and no tools", () => {
  const call = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: '{"a":1}' } });
  const messages = [
    ...hi,
    { role: "assistant", content: null, tool_calls: [call("1", "f"), call("2", "g"), call("3", "f")] },
    ...["1", "2", "3"].map((tool_call_id) => ({ role: "tool", tool_call_id, content: "r" })),
  ];
  test("gets its tools declared for Anthropic, with a tool choice that forbids calling them", () => {
    const input_schema = { type: "object", properties: {} };
    expect(send("anthropic", decode("openai-chat", { messages })).body).toMatchObject({
      tools: [
        { name: "f", input_schema },
        { name: "g", input_schema },
      ],
      tool_choice: { type: "none" },
    });
  });
  test("is unchanged if it came from Anthropic's own clients, or has no calls", () => {
    const content = [{ type: "tool_use", id: "1", name: "f", input: {} }];
    const results = [{ type: "tool_result", tool_use_id: "1", content: "r" }];
    const own = decode("anthropic", {
      max_tokens: 9,
      messages: [...hi, { role: "assistant", content }, { role: "user", content: results }],
    });
    for (const request of [own, decode("openai-chat", { messages: hi })]) {
      expect(send("anthropic", request).body).not.toHaveProperty("tools");
      expect(send("anthropic", request).body).not.toHaveProperty("tool_choice");
    }
  });
});

test("an unfinished answer is sent to Anthropic without trailing blanks, which it refuses", () => {
  const begun = (text: string) => decode("openai-chat", { messages: [...hi, { role: "assistant", content: text }] });
  const { body, warnings } = send("anthropic", begun("It is \n"));
  expect(body.messages).toEqual([...hi, { role: "assistant", content: "It is" }]);
  expect(warnings).toEqual([expect.stringContaining("blank")]);
  expect(send("anthropic", begun("It is"))).toMatchObject({ warnings: [] });
  const earlier = decode("openai-chat", { messages: [...hi, { role: "assistant", content: "It is " }, ...hi] });
  expect(send("anthropic", earlier)).toMatchObject({ body: { messages: [{}, { content: "It is " }, {}] }, warnings: [] });
});

describe("a tool result with several text parts", () => {
  const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
  const parts = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ];
  const request = decode("openai-chat", {
    messages: [...hi, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "1", content: parts }],
  });
  test.each<[WireId, object]>([
    ["anthropic", { messages: [{}, {}, { content: [{ content: "a\nb" }] }] }],
    ["openai-responses", { input: [{}, {}, { output: "a\nb" }] }],
    ["gemini", { contents: [{}, {}, { parts: [{ functionResponse: { response: { output: "a\nb" } } }] }] }],
    ["ollama", { messages: [{}, {}, { content: "a\nb" }] }],
  ])("becomes lines of one text for %s, without a warning", (to, body) => {
    expect(send(to, request)).toMatchObject({ body, warnings: [] });
  });
  test("stays a list in its own wire, and Gemini's data stays data", () => {
    expect(send("openai-chat", request).body).toMatchObject({ messages: [{}, {}, { content: parts }] });
    const contents = [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ functionCall: { id: "1", name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response: { output: parts } } }] },
    ];
    expect(send("gemini", decode("gemini", { contents })).body).toMatchObject({ contents: [{}, {}, contents[2]] });
    expect(send("openai-chat", decode("gemini", { contents })).body).toMatchObject({ messages: [{}, {}, { content: parts }] });
  });
});

describe("a tool result in chat completions", () => {
  const call = { id: "1", type: "function", function: { name: "f", arguments: "{}" } };
  const called = [...hi, { role: "assistant", tool_calls: [call] }];
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  test("keeps images that a client of this API put there, but not for OpenAI's own servers, which refuse them", () => {
    for (const content of [[image], [{ type: "text", text: "Seen" }, image], [image, { type: "text", text: "Seen" }]]) {
      const request = decode("openai-chat", { messages: [...called, { role: "tool", tool_call_id: "1", content }] });
      expect(send("openai-chat", request)).toMatchObject({ body: { messages: [{}, {}, { role: "tool", content }] }, warnings: [] });
      expect(send("openai-chat", request, { official: true }).body.messages).toHaveLength(4);
    }
  });
  test.each<[string, object[], string]>([
    ["texts with fields of their own", [{ type: "text", text: "a", id: "lc_1" }], "a"],
    [
      "an object that only looks like a part",
      [{ type: "image", data: "AA==", mimeType: "image/png" }],
      '[{"type":"image","data":"AA==","mimeType":"image/png"}]',
    ],
  ])("of another API: %s", (_, output, content) => {
    const contents = [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ functionCall: { id: "1", name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response: { output } } }] },
    ];
    expect(send("openai-chat", decode("gemini", { contents })).body).toMatchObject({ messages: [{}, {}, { content }] });
  });
});
test("a video, or audio by link, becomes a label for OpenAI's own servers and is passed on to others", () => {
  const film = { fileData: { mimeType: "video/mp4", fileUri: "https://x.example/a.mp4" } };
  const request = decode("gemini", { contents: [{ role: "user", parts: [film] }] });
  const label = "[video/mp4 https://x.example/a.mp4]";
  expect(send("openai-chat", request, { official: true }).body).toMatchObject({ messages: [{ content: label }] });
  expect(send("openai-chat", request).body).toMatchObject({ messages: [{ content: [{ type: "video_url" }] }] });
});
test("Anthropic's `caller` is left out for other wires without a warning", () => {
  const use = { type: "tool_use", id: "c1", name: "f", input: {}, caller: { type: "direct" } };
  const messages = [...hi, { role: "assistant", content: [use] }, { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] }];
  const request = decode("anthropic", { max_tokens: 9, messages });
  expect(send("anthropic", request).body).toMatchObject({ messages: [{}, { content: [use] }, {}] });
  expect(send("openai-chat", request).warnings).toEqual([]);
});

describe("a warning names the field that was lost, not the object around it", () => {
  const image = { type: "image_url", image_url: { url: "https://x.example/a.png", detail: "low" } };
  test.each<[WireId, object, string]>([
    ["ollama", { messages: hi, options: { num_ctx: 9, temperature: 1 } }, "options.num_ctx of ollama"],
    [
      "gemini",
      { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { responseLogprobs: true, topP: 1 } },
      "generationConfig.responseLogprobs of gemini",
    ],
    ["openai-responses", { input: "Hi", text: { verbosity: "low" } }, "text.verbosity of openai-responses"],
    ["openai-chat", { messages: [{ role: "user", content: [image] }] }, "image_url.detail of openai-chat"],
    [
      "anthropic",
      { max_tokens: 9, messages: hi, tools: [{ type: "web_search_20250305", name: "web_search" }] },
      "tools[0] (web_search_20250305) of anthropic",
    ],
    ["openai-chat", { messages: hi, web_search_options: { a: { b: 1 } } }, "web_search_options of openai-chat"],
  ])("%s %#", (from, body, what) => {
    const target = from === "anthropic" ? "openai-chat" : "anthropic";
    const { warnings } = send(target, decode(from, body));
    expect(warnings).toEqual([`${what} has no place in ${target} and was left out`]);
  });
});

test("a prompt stored at OpenAI is refused, like everything else stored elsewhere", () => {
  const complaint = complaintOf((body) => decode("openai-responses", body as object), { prompt: { id: "pmpt_1" }, input: "Hi" });
  expect(complaint).toMatch(/^prompt is not stored here/);
});

describe("a file that only Google's servers can read", () => {
  const uris = ["gs://bucket/a.png", "https://generativelanguage.googleapis.com/v1beta/files/abc"];
  const asked = (fileUri: string, mimeType = "image/png") =>
    decode("gemini", { contents: [{ role: "user", parts: [{ fileData: { mimeType, fileUri } }] }] });
  test.each(uris)("%s becomes a label for other wires, with a warning, and is unchanged for Gemini", (uri) => {
    for (const to of ["openai-chat", "anthropic", "openai-responses", "ollama"] as const) {
      const { body, warnings } = send(to, asked(uri));
      expect(JSON.stringify(body)).toContain(`"[image/png ${uri}]"`);
      expect(warnings).toEqual(["media of the type image/png was sent as a label"]);
    }
    expect(send("gemini", asked(uri))).toMatchObject({ body: { contents: [{ parts: [{ fileData: { fileUri: uri } }] }] }, warnings: [] });
  });
  test("any other link stays a link", () => {
    expect(JSON.stringify(send("anthropic", asked("https://x.example/a.png")).body)).toContain(
      '{"type":"url","url":"https://x.example/a.png"}',
    );
  });
});

describe("an image that a Gemini model generated", () => {
  const parts = [{ text: "Look: " }, { inlineData: { mimeType: "image/png", data: "AAAA" } }, { text: "nice" }];
  const answer = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] };
  const gemini = getWire("gemini");
  const stream = () => {
    const decoder = gemini.createStreamDecoder();
    const chunks = parts.map((part) => ({ candidates: [{ content: { role: "model", parts: [part] } }] }));
    const text = [...chunks, { candidates: [{ finishReason: "STOP" }] }].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    return [...decoder.feed(text), ...decoder.flush()];
  };
  const asked: Request = { model: "m", messages: [] };
  test.each<WireId>(["openai-chat", "openai-responses", "anthropic", "ollama"])("is reported as missing to a client of %s", (id) => {
    for (const response of [gemini.decodeResponse(answer), collect(stream())]) {
      const warnings: string[] = [];
      const body = getWire(id).encodeResponse(response, asked, { warn: ({ message }) => warnings.push(message) });
      const { content } = getWire(id).decodeResponse(JSON.stringify(body));
      expect(content.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe("Look: [image/png]nice");
      expect(warnings).toEqual([`part.inlineData of gemini has no place in ${id} and was left out`]);
    }
  });
  test("reaches Gemini's own clients unchanged, whole and streamed", () => {
    for (const response of [gemini.decodeResponse(answer), collect(stream())])
      expect(gemini.encodeResponse(response, asked)).toMatchObject({ candidates: [{ content: { parts } }] });
    const encoder = gemini.createStreamEncoder({ ...asked, stream: "sse" });
    const sent = stream()
      .map((event: Event) => encoder.encode(event))
      .join("");
    const said = sent
      .split("\n\n")
      .flatMap((line) => (line ? (JSON.parse(line.slice(6)) as { candidates: { content: { parts: JsonObject[] } }[] }).candidates : []))
      .flatMap(({ content }) => content.parts.filter((part: Json) => JSON.stringify(part) !== '{"text":""}'));
    expect(said).toEqual(parts);
  });
});

describe("call ids that are too long for OpenAI", () => {
  const long = (n: number) => `mcp_server_with_a_long_name__and_a_tool_1760000000000_${n}`.padEnd(70, "x");
  const messages = (...ids: string[]): Message[] => [
    { role: "user", content: [] },
    { role: "assistant", content: ids.map((id) => ({ type: "tool-call", id, name: "f", arguments: {} })) },
    ...ids.map((id): Message => ({ role: "tool", id, name: "f", output: "r" })),
  ];
  type Sent = { messages: { tool_calls?: { id: string }[]; tool_call_id?: string }[]; input: { type: string; call_id?: string }[] };
  const idsOf = (to: WireId, ids: string[], profile?: WireProfile): [string[], string[]] => {
    const body = send(to, { model: "m", messages: messages(...ids) }, profile).body as unknown as Sent;
    if (to === "openai-chat")
      return [body.messages.flatMap((m) => m.tool_calls?.map(({ id }) => id) ?? []), body.messages.flatMap((m) => m.tool_call_id ?? [])];
    const of = (type: string) => body.input.flatMap((item) => (item.type === type ? (item.call_id ?? []) : []));
    return [of("function_call"), of("function_call_output")];
  };
  test.each<[WireId, number]>([
    ["openai-chat", 40],
    ["openai-responses", 64],
  ])("are shortened for %s: unique, and the same every time", (to, max) => {
    const [calls, results] = idsOf(to, [long(1), long(2), "call_1"], { official: true });
    expect(results).toEqual(calls);
    expect(new Set(calls).size).toBe(3);
    expect(calls.every((id) => id.length <= max)).toBe(true);
    expect(calls[2]).toBe("call_1");
    expect(idsOf(to, [long(2)], { official: true })[0]).toEqual([calls[1]]);
  });
  test("are sent unchanged to other servers", () => {
    expect(idsOf("openai-chat", [long(1)])).toEqual([[long(1)], [long(1)]]);
  });
});

describe("prompt cache marks", () => {
  const mark = { cache_control: { type: "ephemeral" } };
  const f = { name: "f", parameters: { type: "object", properties: {} } };
  const chat = {
    cache_control: { type: "ephemeral", ttl: "1h" },
    messages: [
      { role: "system", content: [{ type: "text", text: "S", ...mark }] },
      { role: "user", content: "Hi", ...mark }, // as opencode's openai-compatible provider sends it
      {
        role: "assistant",
        content: "A",
        reasoning_content: "Hm",
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "R", ...mark },
    ],
    tools: [{ type: "function", function: f, ...mark }],
  };
  test("of a chat client reach Anthropic, the last four of them", () => {
    const system = [...chat.messages[0]!.content].map((part) => ({ ...(part as object), text: "Be brief." }));
    const more = [{ role: "system", content: system }, ...chat.messages];
    const { body, warnings } = send("anthropic", decode("openai-chat", { ...chat, messages: more }));
    expect(body).toMatchObject({
      cache_control: { type: "ephemeral", ttl: "1h" },
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "S", ...mark },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "Hi", ...mark }] },
        { role: "assistant" },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "R", ...mark }] },
      ],
    });
    expect(validateRequest("anthropic", body)).toEqual([]);
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(warnings.filter((warning) => warning.includes("cache"))).toEqual([]);
  });
  test("on a whole message move to its last block that may have one, never to thinking", () => {
    const content = { role: "assistant", content: "A", reasoning_content: "Hm", ...mark };
    const { body } = send("anthropic", decode("openai-chat", { messages: [...hi, content, ...hi] }), { unsignedThinking: true });
    expect((body.messages as unknown as Json[])[1]).toEqual({
      role: "assistant",
      content: [expect.objectContaining({ type: "thinking", thinking: "Hm" }), { type: "text", text: "A", ...mark }],
    });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(1);
  });
  test("of an Anthropic client reach a chat server that accepts them, and no other", () => {
    const { cache_control: _own, ...unmarked } = chat;
    const request = decode("anthropic", send("anthropic", decode("openai-chat", unmarked)).body);
    const { body } = send("openai-chat", request, { cacheMarks: true });
    expect(body).toMatchObject({
      messages: [
        { role: "system", content: [{ type: "text", text: "S", ...mark }] },
        { role: "user", content: [{ type: "text", text: "Hi", ...mark }] },
        { role: "assistant" },
        { role: "tool", content: "R", ...mark },
      ],
      tools: [{ type: "function", function: { name: "f" }, ...mark }],
    });
    expect(JSON.stringify(send("openai-chat", request).body)).not.toContain("cache_control");
  });
  test("stay in place on the same wire", () => {
    expect(send("openai-chat", decode("openai-chat", chat)).body).toMatchObject(chat);
  });
});

describe("a chat client's thinking settings are understood in the spelling of many servers", () => {
  test.each<[object, Request["thinking"]]>([
    [{ reasoning: { effort: "high" } }, { effort: "high" }],
    [{ reasoning: { effort: "none" } }, { enabled: false }],
    [{ reasoning: { max_tokens: 2000, exclude: false } }, { budget: 2000 }],
    [{ reasoning: { enabled: true } }, { enabled: true }],
    [{ reasoning: { effort: "high", exclude: true } }, { effort: "high", show: false }],
    [
      { reasoning_effort: "low", reasoning: { exclude: true } },
      { effort: "low", show: false },
    ],
    [
      { include_reasoning: false, enable_thinking: true },
      { enabled: true, show: false },
    ],
    [{ thinking: { type: "enabled", budget_tokens: 2000 } }, { enabled: true, budget: 2000 }],
    [{ thinking: { type: "disabled" } }, { enabled: false }],
    [{ thinking: { type: "enabled", clear_thinking: false } }, { enabled: true, keep: true }],
    [
      { enable_thinking: true, thinking_budget: 2000 },
      { enabled: true, budget: 2000 },
    ],
    [{ chat_template_kwargs: { enable_thinking: false } }, { enabled: false }],
    [{ chat_template_kwargs: { thinking: true } }, { enabled: true }],
    [{ chat_template_kwargs: { reasoning_effort: "low" } }, { effort: "low" }],
    [{ reasoning_effort: "low", reasoning: { effort: "high" } }, { effort: "low" }],
    [{ reasoning: "often", thinking: 5, enable_thinking: "yes" }, undefined],
    [{ reasoning: { effort: "constructor" } }, undefined],
  ])("%j", (fields, thinking) => {
    const request = decode("openai-chat", { messages: hi, ...fields });
    expect(request.thinking).toEqual(thinking);
    expect(send("openai-chat", request)).toEqual({ body: { model: "m", messages: hi, ...fields }, warnings: [] });
    const { warnings } = send("anthropic", request);
    expect(warnings.filter((warning) => / of openai-chat has no place/.test(warning))).toEqual([]);
  });
  test.each([{}, { usage: { include: true } }])("a client that asks in OpenRouter's spelling is answered in it: %j", (more) => {
    const request = decode("openai-chat", { messages: hi, reasoning: { effort: "high" }, stream: true, ...more });
    const encoder = getWire("openai-chat").createStreamEncoder(request);
    const events: Event[] = [
      { type: "thinking-start" },
      { type: "thinking-delta", text: "Hm" },
      { type: "thinking-end" },
      { type: "usage", inputTokens: 1, outputTokens: 2 },
      { type: "finish", reason: "stop" },
    ];
    const text = events.map((event) => encoder.encode(event)).join("");
    expect(text).toContain('"reasoning":"Hm"');
    expect(text).toContain('"usage":{"prompt_tokens":1');
    expect(send("anthropic", request).warnings).toEqual([]);
  });
  test("other variables of a template are still reported as left out", () => {
    const request = decode("openai-chat", { messages: hi, chat_template_kwargs: { enable_thinking: false, custom: 1 } });
    expect(send("anthropic", request).warnings).toEqual(["chat_template_kwargs of openai-chat has no place in anthropic and was left out"]);
  });
});

describe("what Anthropic's clients say inside another object is reported, too", () => {
  const asked = [
    ...hi,
    { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: [] as object[] }] },
  ];
  const result = (...content: object[]) => [
    ...asked.slice(0, 2),
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] },
  ];
  const cited = { type: "char_location", cited_text: "x", document_index: 0, document_title: null, start_char_index: 0, end_char_index: 1 };
  const source = { type: "text", media_type: "text/plain", data: "x" };
  const definition = { name: "g", input_schema: { type: "object" }, input_examples: [{}], cache_control: { type: "ephemeral" } };
  const addition = (definition: object) => [
    ...hi,
    { role: "user", content: [{ type: "tool_addition", tool: { type: "tool_definition", definition } }] },
  ];

  test.each<[string, object[], string[]]>([
    [
      "a block in a tool result",
      result({ type: "browser_state", tabs: [] }),
      ["block (browser_state) of anthropic has no place in gemini and was left out"],
    ],
    [
      "citations in a tool result",
      result({ type: "text", text: "x", citations: [cited] }),
      ["citations of anthropic has no place in gemini and was left out"],
    ],
    [
      "a tool reference and a cache mark in a tool result",
      result({ type: "tool_reference", tool_name: "f" }, { type: "text", text: "x", cache_control: { type: "ephemeral" } }),
      [],
    ],
    [
      "a document with citations enabled",
      [{ role: "user", content: [{ type: "document", source, citations: { enabled: true } }] }],
      ["citations of anthropic has no place in gemini and was left out"],
    ],
    ["a document with citations disabled", [{ role: "user", content: [{ type: "document", source, citations: { enabled: false } }] }], []],
    ["a tool with deferred loading", addition(definition), ["input_examples of anthropic has no place in gemini and was left out"]],
    [
      "one of Anthropic's own tools",
      addition({ type: "bash_20250124", name: "bash" }),
      ["bash_20250124 of anthropic was sent as a function"],
    ],
    [
      "a setting in a message of its own",
      [...hi, { role: "system", output_config: { effort: "low" } }],
      ["messages[1] of anthropic has no place in gemini and was left out"],
    ],
  ])("%s", (_, messages, warnings) => {
    const request = decode("anthropic", { max_tokens: 9, messages });
    expect(send("gemini", request).warnings).toEqual(warnings);
    expect(validateRequest("gemini", send("gemini", request).body)).toEqual([]);
    expect(send("anthropic", request).warnings).toEqual([]);
  });
});

test("an image inside a document leaves a label", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const document = {
    type: "document",
    source: { type: "content", content: [{ type: "text", text: "before" }, image, { type: "text", text: "behind" }] },
  };
  const request = decode("anthropic", { max_tokens: 9, messages: [{ role: "user", content: [document] }] });
  expect(send("openai-chat", request).body.messages).toEqual([{ role: "user", content: "before\n[image/*]\nbehind" }]);
});

test("null in an Anthropic schema is dropped, since no other API accepts it", () => {
  const tools = [{ name: "f", input_schema: { type: "object", properties: null, required: null } }];
  for (const id of ["openai-chat", "openai-responses", "gemini", "ollama"] as const) {
    const { body } = send(id, decode("anthropic", { max_tokens: 9, messages: hi, tools }), { official: true });
    expect(validateRequest(id, body)).toEqual([]);
    expect(JSON.stringify(body.tools)).not.toContain("null,");
  }
});

test("TYPE_UNSPECIFIED in a Gemini schema is dropped", () => {
  const responseSchema = { type: "TYPE_UNSPECIFIED", enum: ["a"] };
  const request = decode("gemini", {
    contents: [{ parts: [{ text: "Hi" }] }],
    generationConfig: { responseMimeType: "application/json", responseSchema },
  });
  expect(request.output?.schema).toEqual({ enum: ["a"] });
});

test("an image in a system text becomes a label for OpenAI's own servers, which accept none there", () => {
  const system = [
    { type: "text", text: "See:" },
    { type: "image_url", image_url: { url: "https://x.example/y.png" } },
  ];
  const request = decode("openai-chat", { messages: [{ role: "system", content: system }, ...hi] });
  const { body, warnings } = send("openai-chat", request, { official: true });
  expect(validateRequest("openai-chat", body)).toEqual([]);
  expect(JSON.stringify(body)).toContain("[image/* https://x.example/y.png]");
  expect(warnings).toEqual(["media of the type image/* was sent as a label"]);
  expect(send("openai-chat", request).body.messages).toMatchObject([{ content: system }, ...hi]);
});

test("the name of an image is kept by Gemini only, others warn", () => {
  const inlineData = { mimeType: "image/png", data: "AAAA", displayName: "map.png" };
  const request = decode("gemini", { contents: [{ parts: [{ text: "Where?" }, { inlineData }] }] });
  expect(send("anthropic", request).warnings).toEqual(["the name of image/png has no place in anthropic and was left out"]);
  expect(send("gemini", request).warnings).toEqual([]);
});

test("logprobs requested through `include` are reported as left out; its other values are bookkeeping", () => {
  const asked = (...include: string[]) => send("gemini", decode("openai-responses", { input: "Hi", include })).warnings;
  expect(asked("message.output_text.logprobs")).toEqual(["include of openai-responses has no place in gemini and was left out"]);
  expect(asked("reasoning.encrypted_content")).toEqual([]);
});

test("OpenAI's prompt cache marks are left out without a warning, like Anthropic's", () => {
  const mark = { prompt_cache_breakpoint: { mode: "explicit" } };
  const messages = [{ role: "user", content: [{ type: "text", text: "Hi", ...mark }] }];
  expect(send("gemini", decode("openai-chat", { messages, prompt_cache_options: { mode: "explicit" } })).warnings).toEqual([]);
});

test("a part that only Google's servers know is reported by its name", () => {
  const parts = [{ executableCode: { language: "PYTHON", code: "1" } }];
  const request = decode("gemini", { contents: [{ parts: [{ text: "Hi" }] }, { role: "model", parts }, { parts: [{ text: "Go on" }] }] });
  expect(send("anthropic", request).warnings).toEqual(["part.executableCode of gemini has no place in anthropic and was left out"]);
  expect(send("gemini", request).body.contents).toMatchObject([{}, { role: "model", parts }, {}]);
});
