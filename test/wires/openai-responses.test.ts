import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { ErrorCode, Event, Json, JsonObject, Message, Opaque, Request, Tool, Warning, WireId } from "../../src/core/nouns.ts";
import { eventsOf } from "../../src/core/unfold.ts";
import { sealCapsule } from "../../src/wires/capsule.ts";
import { openaiResponses as wire } from "../../src/wires/openai-responses.ts";
import { getWire } from "../../src/wires/registry.ts";
import { merged } from "../events.ts";
import { describeShared } from "../shared.ts";
import { captures, complaintOf } from "./helpers.ts";
import { validateRequest, validateStream } from "./validators.ts";

const WIRE = "openai-responses";
const decode = (body: unknown): Request => wire.decodeRequest({ path: "/v1/responses", query: {}, headers: {}, body });
const asking = (fields: object) => decode({ model: "m", input: "Hi", store: false, ...fields });
const items = (input: unknown[], fields: object = {}) => decode({ model: "m", input, store: false, ...fields });
const messagesOf = (...input: unknown[]) => items(input).messages;
const sent = (request: Request, profile = {}): JsonObject & { input: JsonObject[]; tools: JsonObject[] } =>
  JSON.parse(JSON.stringify(wire.encodeRequest(request, profile).body));
const again = (request: Request): Request => decode(sent(request));
const own = (kind: string, data: Json, quiet?: true): Opaque => ({ wire: WIRE, kind, data, ...(quiet ? { quiet } : {}) });
const said = (text: string) => ({ type: "text" as const, text });
const user = (text: string): Message => ({ role: "user", content: [said(text)] });
const f = { name: "f", description: "d", parameters: { type: "object", properties: {} } };
const asked: Request = { model: "m", messages: [user("Hi")], stream: "sse" };

const complaint = (body: unknown): string => complaintOf(decode, body);

test("a custom call that was cut is never sent as a complete one", () => {
  const call = { type: "custom_tool_call", call_id: "c", name: "p", input: "*** Beg", status: "incomplete" };
  const request = items([{ role: "user", content: "Hi" }, call], { tools: [{ type: "custom", name: "p" }] });
  expect(request.messages[1]).toMatchObject({ content: [{ type: "tool-call", truncated: true }] });
  expect(sent(request).input[1]).toEqual(call);
  const cut = { type: "tool-call" as const, id: "c", name: "p", arguments: { input: "*** Beg" }, truncated: true as const };
  const made: Request = { ...request, messages: [user("Hi"), { role: "assistant", content: [cut] }] };
  expect(sent(made).input[1]).toMatchObject(call);
  const { body, context } = getWire("openai-chat").encodeRequest(request);
  expect(JSON.stringify(body)).not.toContain("Beg");
  expect(context.warnings.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^a call that was cut/));
});

// ---- Requests

describe("input", () => {
  test("a string is the user's text, and instructions are a system text before it", () => {
    expect(asking({ instructions: "Be brief." }).messages).toEqual([{ role: "system", content: [said("Be brief.")] }, user("Hi")]);
    expect(decode({ model: "m", input: "", max_output_tokens: 1 }).messages).toEqual([{ role: "user", content: [] }]);
  });
  test("messages are read with or without a type, as text or parts, of every role, anywhere", () => {
    const roles = ["user", "developer", "system", "assistant", "user", "system"];
    const messages = messagesOf(
      ...roles.map((role, i) =>
        i % 2 ? { role, content: role } : { type: "message", role, content: [{ type: "input_text", text: role }] },
      ),
    );
    expect(messages).toEqual(roles.map((role) => ({ role, content: [said(role)] })));
  });
  test("a system item at the start stays an item, and instructions stay instructions", () => {
    expect(
      sent(
        items([
          { role: "system", content: "S" },
          { role: "user", content: "U" },
        ]),
      ).instructions,
    ).toBeUndefined();
    expect(sent(items([{ role: "user", content: "U" }], { instructions: "S" }))).toMatchObject({
      instructions: "S",
      input: [{ role: "user" }],
    });
    expect(sent({ ...asked, messages: [{ role: "system", content: [said("S")] }, user("Hi")] })).toMatchObject({ instructions: "S" });
  });
  test("consecutive items of the model are one message, but a second text begins another", () => {
    expect(
      messagesOf(
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "a" },
            { type: "refusal", refusal: "no" },
          ],
        },
        { type: "function_call", call_id: "1", name: "f", arguments: '{"a": 1}' },
        { type: "function_call", call_id: "2", name: "f", arguments: "" },
        { role: "assistant", content: "b" },
        { role: "assistant", content: "c" },
      ),
    ).toEqual([
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm" },
          said("a"),
          { ...said("no"), state: [own("#refusal", true, true)] },
          { type: "tool-call", id: "1", name: "f", arguments: { a: 1 }, json: '{"a": 1}' },
          { type: "tool-call", id: "2", name: "f", arguments: {} },
          said("b"),
        ],
      },
      { role: "assistant", content: [said("c")] },
    ]);
  });
  test("images and files are read", () => {
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "high" },
      { type: "input_image", image_url: "https://example.com/a.png", detail: "auto" },
      { type: "input_image", file_id: "file-1", detail: "auto" },
      { type: "input_file", file_data: "data:application/pdf;base64,BBBB", filename: "a.pdf" },
      { type: "input_file", file_url: "https://example.com/a.pdf" },
      { type: "input_file", file_data: "CCCC" },
    ];
    const request = items([{ type: "message", role: "user", content }]);
    expect(request.messages[0]?.role === "user" && request.messages[0].content).toEqual([
      { type: "media", mediaType: "image/png", data: "AAAA", state: [own("detail", "high", true)] },
      { type: "media", mediaType: "image/*", url: "https://example.com/a.png" },
      { type: "media", mediaType: "image/*", state: [own("file_id", "file-1")] },
      { type: "media", mediaType: "application/pdf", data: "BBBB", name: "a.pdf" },
      { type: "media", mediaType: "application/pdf", url: "https://example.com/a.pdf" },
      { type: "media", mediaType: "application/octet-stream", data: "CCCC" },
    ]);
    expect(sent(request).input[0]?.content).toEqual([
      ...content.slice(0, 5),
      { type: "input_file", file_data: "data:application/octet-stream;base64,CCCC", filename: "file.octet-stream" },
    ]);
  });
  test("results may be text, JSON, or parts with images", () => {
    const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
    const [, ...results] = messagesOf(
      ...["1", "2", "3"].map(call),
      { type: "function_call_output", call_id: "1", output: "ok" },
      { type: "function_call_output", call_id: "2", output: { content: "bad", success: false } },
      {
        type: "function_call_output",
        call_id: "3",
        output: [
          { type: "input_text", text: "see" },
          { type: "input_image", image_url: "https://example.com/a.png" },
        ],
      },
    );
    expect(results).toEqual([
      { role: "tool", id: "1", name: "f", output: "ok" },
      { role: "tool", id: "2", name: "f", output: { content: "bad", success: false } },
      {
        role: "tool",
        id: "3",
        name: "f",
        output: "see",
        media: [{ type: "media", mediaType: "image/*", url: "https://example.com/a.png" }],
      },
    ]);
  });
  test("an unreadable call is kept, and sent back as it came", () => {
    const input = [
      { type: "function_call", call_id: "1", name: "f", arguments: '{"a":', status: "completed" },
      { type: "function_call_output", call_id: "1", output: "cannot read it" },
    ];
    const request = items(input);
    expect(request.messages[0]).toMatchObject({ content: [{ type: "malformed", id: "1", code: "bad-arguments" }] });
    expect(sent(request).input[0]).toMatchObject({ type: "function_call", call_id: "1", name: "f", arguments: '{"a":' });
  });
  test("items of the server's own keep their place, with a warning; references without one", () => {
    const input = [
      { type: "item_reference", id: "msg_1" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "a" },
          { type: "input_smell", smell: "b" },
        ],
      },
      { type: "code_interpreter_call", id: "ci_1", container_id: "1", status: "completed", code: "1", outputs: null },
      { type: "mcp_list_tools", id: "mcpl_1", server_label: "s", tools: [] },
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "compaction", encrypted_content: "zzz" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "b" }] },
    ];
    const request = items(input);
    expect(request.messages).toMatchObject([{ content: [{ text: "a" }, { text: "" }] }, user("b")]);
    expect(request.warnings?.map(({ code, message }) => [code, message.split(" ")[0]])).toEqual([
      ["item-kind", "input[2]"],
      ["item-kind", "input[3]"],
      ["item-kind", "input[4]"],
    ]);
    expect(sent(request).input).toEqual(input);
  });
  test("a part that the nouns do not have keeps its place, even if it is the only one of its message or result", () => {
    const smell = { type: "input_smell", smell: "b" };
    const input = [
      { type: "message", role: "user", content: [smell] },
      { type: "message", role: "assistant", id: "msg_1", status: "completed", content: [smell] },
      { type: "function_call", call_id: "1", name: "f", arguments: "{}", status: "completed" },
      { type: "function_call_output", call_id: "1", output: [{ type: "input_text", text: "a" }, smell] },
    ];
    const request = items(input);
    expect(sent(request).input).toEqual(input);
    const { body, context } = getWire("openai-chat").encodeRequest(request);
    expect(JSON.stringify(body)).not.toContain("smell");
    expect(context.warnings).toEqual([
      { code: "dropped", message: "item (input_smell) of openai-responses has no place in openai-chat and was left out" },
    ]);
  });
  test("audio is media for other wires, and goes back as it came", () => {
    const audio = { type: "input_audio", input_audio: { data: "QUJD", format: "mp3" } };
    const input = [{ type: "message", role: "user", content: [audio] }];
    const request = items(input);
    expect(sent(request).input).toEqual(input);
    expect(getWire("openai-chat").encodeRequest(request).body).toMatchObject({ messages: [{ content: [audio] }] });
  });
  test("state that only OpenAI's servers store is refused, with a clear message", () => {
    expect(complaint({ model: "m", input: "x", previous_response_id: "resp_1" })).toContain(
      "previous_response_id is not stored here: send the whole",
    );
    expect(complaint({ model: "m", input: "x", conversation: { id: "c" } })).toContain("conversation is not stored here");
    expect(complaint({ model: "m", input: "x", background: true })).toContain("background is not supported here");
    expect(complaint({ model: "m", input: "x", background: false, previous_response_id: null })).toBe("nothing to complain about");
  });
  test.each<[unknown, string]>([
    ["{", "the body is not JSON"],
    [{ model: "m" }, "input must be a string, or a list of items that is not empty; it is missing"],
    [{ model: "m", input: [] }, "input must be a string, or a list of items that is not empty"],
    [{ model: "m", input: 5 }, "input must be a list; it is 5"],
    [{ model: "m", input: [{ role: "robot", content: "x" }] }, "input[0].role must be one of system, developer, user, assistant"],
    [{ model: "m", input: [{ role: "user", content: 5 }] }, "input[0].content must be a string or a list of parts; it is 5"],
    [{ model: "m", input: [{ type: "function_call", call_id: "1", arguments: "{}" }] }, "input[0].name must be a string that is not empty"],
    [{ model: "m", input: "x", tools: [{ type: "function" }] }, "tools[0].name must be a string that is not empty"],
    [{ model: "m", input: "x", tool_choice: "often" }, "tool_choice must be one of auto, none, required"],
    [{ model: "m", input: "x", tool_choice: { type: "function", name: "g" } }, "tool_choice.name must be the name of one of the tools"],
    [{ model: "m", input: "x", reasoning: { effort: "huge" } }, "reasoning.effort must be one of none,"],
  ])("a bad request is refused with the place of the fault: %.70j", (body, message) => {
    expect(complaint(body)).toContain(message);
  });
});

describe("reasoning items", () => {
  const reasoning = (fields: object) => messagesOf({ type: "reasoning", ...fields })[0];
  test("content sealed by its server is kept as state, and sent back unchanged", () => {
    const item = {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "a" },
        { type: "summary_text", text: "b" },
      ],
      encrypted_content: "ZW5j",
    };
    expect(reasoning(item)).toEqual({
      role: "assistant",
      content: [
        {
          type: "thinking",
          text: "a\n\nb",
          state: [own("id", "rs_1", true), own("encrypted_content", "ZW5j"), own("summary", item.summary, true)],
        },
      ],
    });
    expect(sent(items([item])).input).toEqual([item]);
    const bare = { type: "reasoning", summary: [], encrypted_content: "ZW5j" };
    expect(sent(items([bare])).input).toEqual([{ ...bare, id: expect.stringMatching(/^rs_/) }]);
    const open = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "raw" }] };
    expect(reasoning(open)).toMatchObject({ content: [{ text: "raw" }] });
    expect(sent(items([open])).input).toEqual([open]);
  });
  test("content sealed by us is opened", () => {
    const state = [{ wire: "anthropic" as const, kind: "signature", data: "s" }];
    const sealed = sealCapsule({ thoughts: [{ thinking: "all of it", state }] });
    expect(reasoning({ id: "rs_drgm1", summary: [], encrypted_content: sealed })).toEqual({
      role: "assistant",
      content: [{ type: "thinking", text: "all of it", state }],
    });
    const broken = `${sealed?.slice(0, -9)}`;
    expect(reasoning({ summary: [{ type: "summary_text", text: "said" }], encrypted_content: broken })).toEqual({
      role: "assistant",
      content: [{ type: "thinking", text: "said" }],
    });
  });
  test("thinking of another server is sent only to servers that accept it", () => {
    const request: Request = {
      ...asked,
      messages: [user("Hi"), { role: "assistant", content: [{ type: "thinking", text: "hm" }, said("yes")] }],
    };
    const { body, context } = wire.encodeRequest(request);
    expect(JSON.stringify(body)).not.toContain("hm");
    expect(context.warnings).toEqual([{ code: "dropped", message: expect.stringContaining("thinking") }]);
    expect(sent(request, { unsignedThinking: true }).input[1]).toMatchObject({
      type: "reasoning",
      content: [{ type: "reasoning_text", text: "hm" }],
    });
    expect(decode(sent(request, { unsignedThinking: true }))).toEqual({ from: WIRE, ...request });
  });
});

describe("tools", () => {
  const custom = {
    type: "custom",
    name: "apply_patch",
    description: "d",
    format: { type: "grammar", syntax: "lark", definition: "start: x" },
  };
  const namespace = {
    type: "namespace",
    name: "agents",
    description: "Agents.",
    tools: [
      { type: "function", ...f, strict: false },
      { type: "custom", name: "c", format: { type: "text" } },
    ],
  };
  test("functions are read, strict or not", () => {
    const tools = asking({
      tools: [
        { type: "function", ...f, strict: false },
        { type: "function", ...f, name: "g", strict: true, defer_loading: true, output_schema: { type: "string" }, async: true },
        { type: "function", name: "h", parameters: null },
      ],
    }).tools;
    expect(tools).toEqual([
      f,
      {
        ...f,
        name: "g",
        strict: true,
        deferred: true,
        response: { type: "string" },
        state: [own("async", true)],
      },
      { name: "h", state: [own("strict", null, true)] },
    ]);
  });
  test("a function from another wire is not made strict", () => {
    expect(sent({ ...asked, tools: [f] }).tools).toEqual([{ type: "function", ...f, strict: false }]);
    expect(sent(asking({ tools: [{ type: "function", ...f }] })).tools).toEqual([{ type: "function", ...f, strict: null }]);
  });
  test("a strict function from another wire gets a strict schema on OpenAI's own servers", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } } };
    const { body, context } = wire.encodeRequest({ ...asked, tools: [{ name: "f", parameters, strict: true }] }, { official: true });
    expect(validateRequest(WIRE, body)).toEqual([]);
    expect(context.warnings).toEqual([]);
  });
  test("a custom tool keeps its grammar, and becomes a function for servers without custom tools", () => {
    const request = asking({ tools: [custom] });
    expect(request.tools).toEqual([
      { name: "apply_patch", description: "d", kind: "custom", grammar: { syntax: "lark", definition: "start: x" } },
    ]);
    expect(sent(request).tools).toEqual([custom]);
    const [bridged] = sent(request, { customTools: false }).tools;
    expect(bridged).toMatchObject({ type: "function", name: "apply_patch", parameters: { required: ["input"] } });
    expect(bridged?.description).toContain("start: x");
  });
  test("custom calls and their results are read", () => {
    const input = [
      { type: "custom_tool_call", call_id: "1", name: "apply_patch", input: "*** \n", id: "ctc_1", status: "completed" },
      { type: "custom_tool_call_output", call_id: "1", output: "ok", id: "ctco_1" },
    ];
    const declared = items(input, { tools: [custom] });
    expect(declared.messages[0]).toMatchObject({
      content: [{ type: "tool-call", id: "1", name: "apply_patch", arguments: { input: "*** \n" } }],
    });
    expect(declared.messages[1]).toMatchObject({ role: "tool", id: "1", name: "apply_patch", output: "ok" });
    expect(sent(declared).input).toEqual(input);
    expect(sent(items(input)).input).toEqual(input); // the tool is no longer declared
    // An item's id has a prefix for its type, and the type has changed.
    expect(sent(declared, { customTools: false }).input).toEqual([
      { type: "function_call", call_id: "1", name: "apply_patch", arguments: '{"input":"*** \\n"}', status: "completed" },
      { type: "function_call_output", call_id: "1", output: "ok" },
    ]);
  });
  test("a namespace is flattened, and restored", () => {
    const request = asking({ tools: [namespace, { type: "function", ...f, strict: false }] });
    expect(request.tools?.map(({ name, kind }) => [name, kind])).toEqual([
      ["agents__f", undefined],
      ["agents__c", "custom"],
      ["f", undefined],
    ]);
    expect(sent(request).tools).toEqual([namespace, { type: "function", ...f, strict: false }]);
    const input = [
      { type: "function_call", call_id: "1", name: "f", namespace: "agents", arguments: "{}", status: "completed" },
      { type: "function_call", call_id: "2", name: "f", namespace: "gone", arguments: "{}", status: "completed" },
    ];
    const history = items(input, { tools: [namespace] });
    expect(history.messages[0]).toMatchObject({ content: [{ name: "agents__f" }, { name: "gone__f" }] });
    expect(sent(history).input).toEqual(input);
  });
  test("a tool that only the server knows is kept apart, with a warning", () => {
    const tools = [
      { type: "web_search", external_web_access: true },
      { type: "function", ...f, strict: false },
      { type: "mcp", server_label: "x" },
    ];
    const request = asking({ tools });
    expect(request.tools).toEqual([f]);
    expect(request.warnings?.map(({ code }) => code)).toEqual(["tool-kind", "tool-kind"]);
    expect(sent(request).tools).toEqual(tools);
    expect(sent(asking({ tools: [tools[0]] })).tools).toEqual([tools[0]]);
  });
  test("a deferred tool is held back only if there is a tool search", () => {
    const tool: Tool = { ...f, deferred: true };
    expect(wire.encodeRequest({ ...asked, tools: [tool, { ...f, name: "g" }] })).toMatchObject({
      body: { tools: [{ name: "g" }] },
      context: { warnings: [{ code: "dropped" }] },
    });
    const tools = [
      { type: "function", ...f, strict: false, defer_loading: true },
      { type: "tool_search", execution: "client" },
    ];
    expect(sent(asking({ tools })).tools).toEqual(tools);
  });
  test("names that the API forbids are replaced, and the context maps them back", () => {
    const name = `mcp.${"x".repeat(80)}`;
    const request: Request = {
      ...asked,
      messages: [
        user("Hi"),
        { role: "assistant", content: [{ type: "tool-call", id: "i".repeat(70), name, arguments: {} }] },
        { role: "tool", id: "i".repeat(70), name, output: "ok" },
      ],
      tools: [{ name, parameters: {} }],
      toolChoice: { name },
    };
    const { body, context } = wire.encodeRequest(request);
    expect(validateRequest(WIRE, body)).toEqual([]);
    expect(Object.values(context.names)).toEqual([name]);
    const [sentName] = Object.keys(context.names);
    const answer = wire.decodeResponse({ output: [{ type: "function_call", call_id: "1", name: sentName, arguments: "{}" }] }, context);
    expect(answer.content).toMatchObject([{ type: "tool-call", name }]);
  });
  test.each<[unknown, unknown]>([
    ["auto", "auto"],
    ["none", "none"],
    ["required", "required"],
    [{ type: "function", name: "f" }, { name: "f" }],
    [{ type: "custom", name: "apply_patch" }, { name: "apply_patch" }],
    [{ type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] }, { allowed: ["f"] }],
    [
      {
        type: "allowed_tools",
        mode: "required",
        tools: [
          { type: "function", name: "f" },
          { type: "custom", name: "apply_patch" },
        ],
      },
      { allowed: ["f", "apply_patch"], required: true },
    ],
  ])("tool_choice %j", (choice, toolChoice) => {
    const request = asking({ tools: [{ type: "function", ...f, strict: false }, custom], tool_choice: choice });
    expect(request.toolChoice).toEqual(toolChoice);
    expect(sent(request).tool_choice).toEqual(choice === "none" ? undefined : choice);
  });
  test("a choice of the server's own tool is sent to its server only", () => {
    for (const tool_choice of [
      { type: "web_search_preview" },
      { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp", server_label: "x" }] },
    ]) {
      const request = asking({ tool_choice });
      expect(request.toolChoice).toBeUndefined();
      expect(request.warnings).toMatchObject([{ code: "tool-choice" }]);
      expect(sent(request).tool_choice).toEqual(tool_choice);
    }
    expect(asking({ tools: [namespace], tool_choice: { type: "function", name: "f" } }).toolChoice).toEqual({ name: "agents__f" });
  });
});

describe("settings", () => {
  test("every setting that the nouns know is read", () => {
    const schema = { type: "object" };
    const body = {
      model: "m",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      stream: true,
      store: false,
      parallel_tool_calls: false,
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 20,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      text: { format: { type: "json_schema", name: "n", schema, strict: false } },
    };
    expect(decode(body)).toEqual({
      from: WIRE,
      ...asked,
      parallelCalls: false,
      sampling: { temperature: 0.5, topP: 0.9 },
      maxTokens: 20,
      thinking: { effort: "high", show: true },
      output: { schema, name: "n", strict: false },
    });
    expect(sent(decode(body))).toEqual(body);
    expect(asking({ text: { format: { type: "json_object" } }, reasoning: { effort: "none" } })).toMatchObject({
      output: {},
      thinking: { enabled: false },
    });
    expect(asking({ text: { format: { type: "text" } }, stream: false })).toEqual({
      from: WIRE,
      model: "m",
      messages: [user("Hi")],
      stream: false,
    });
  });
  test("of several values with one meaning, the client's is sent back", () => {
    for (const effort of ["xhigh", "max"]) {
      expect(asking({ reasoning: { effort } }).thinking).toEqual({ effort });
      expect(sent(asking({ reasoning: { effort, summary: "detailed" } })).reasoning).toEqual({ effort, summary: "detailed" });
    }
  });
  test("nothing is stored, and reasoning is returned encrypted, unless the client wants otherwise", () => {
    expect(sent(asked)).toMatchObject({ store: false });
    expect(sent({ ...asked, thinking: { effort: "low" } })).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    for (const fields of [
      { store: true },
      { store: null },
      { include: ["message.output_text.logprobs"] },
      { reasoning: { effort: "low" }, include: null },
    ]) {
      expect(sent(asking(fields))).toMatchObject(fields);
    }
    expect(sent(decode({ model: "m", input: "Hi" }))).toEqual({ model: "m", input: [expect.anything()] }); // left to the server
  });
  test("settings that this API has no place for are reported", () => {
    const { body, context } = wire.encodeRequest({
      ...asked,
      sampling: { topK: 4, seed: 1, temperature: 1 },
      stop: ["x"],
      thinking: { budget: 5000 },
    });
    expect(body).toMatchObject({ temperature: 1, reasoning: { effort: "medium" } });
    expect(context.warnings.map(({ message }) => message.split(" ")[0])).toEqual(["topK", "seed", "stop", "a"]);
  });
  test("unknown fields survive at every level", () => {
    const body = {
      model: "m",
      input: [
        {
          type: "message",
          role: "user",
          x0: 0,
          content: [
            { type: "input_text", text: "a", x1: 1 },
            { type: "input_image", detail: "auto", image_url: "https://example.com/a", x2: { y: 2 } },
          ],
        },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "t", x3: 3 }], x4: 4 },
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          phase: "commentary",
          x5: 5,
          content: [{ type: "output_text", text: "b", annotations: [{ x6: 6 }], x7: 7 }],
        },
        { type: "function_call", call_id: "1", name: "f", arguments: "{}", status: "completed", id: "fc_1", x8: 8 },
        { type: "function_call_output", call_id: "1", output: "ok", x9: 9 },
      ],
      tools: [
        { type: "function", ...f, strict: false, x10: 10 },
        { type: "namespace", name: "n", description: "", x11: 11, tools: [{ type: "function", ...f, strict: false, x12: 12 }] },
        { type: "custom", name: "c", format: { type: "text" }, x13: 13 },
      ],
      reasoning: { effort: "low", x14: 14 },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema: {}, description: "x15" } },
      include: ["reasoning.encrypted_content"],
      store: false,
      prompt_cache_key: "k",
      metadata: { a: "b" },
      x16: 16,
    };
    expect(sent(decode(body))).toEqual(body);
  });
  test("bookkeeping is dropped without a warning elsewhere, anything else with one", () => {
    const { extra } = asking({ prompt_cache_key: "k", client_metadata: {}, user: "u", truncation: "auto", text: { verbosity: "low" } });
    expect(extra?.map(({ kind, quiet }) => [kind, quiet ?? false])).toEqual([
      ["prompt_cache_key", true],
      ["client_metadata", true],
      ["user", true],
      ["truncation", false],
      ["text", false],
    ]);
  });
  test("a token count is asked for", () => {
    const count = wire.encodeTokenCountRequest?.({ ...asked, maxTokens: 5, tools: [f] });
    expect(count).toMatchObject({ path: "/v1/responses/input_tokens" });
    expect(Object.keys(count?.body as object)).toEqual(["model", "input", "tools"]);
    expect(wire.decodeTokenCount?.(wire.encodeTokenCount?.({ tokens: 7 }))).toBe(7);
  });
});

// https://github.com/vercel/ai: `reasoningEffortUpdate` and `textFormatUpdate` of its OpenAI provider; Codex sends them to newer models, too.
describe("settings that change in the middle of a conversation", () => {
  const hi = { role: "user", content: "Hi" };
  const format = (name: string) => ({ type: "json_schema", name, schema: { type: "object", properties: { [name]: { type: "string" } } } });
  const update = (fields: object) => ({ type: "configuration_update", ...fields });
  const effort = (effort: string | null) => update({ reasoning: { effort } });
  const shaped = (format: object) => update({ text: { format } });
  const begun = { reasoning: { effort: "low", summary: "detailed" }, text: { format: format("first"), verbosity: "low" } };

  test.each<[string, object, object[], object]>([
    ["the last effort counts", begun, [effort("high"), hi, effort("xhigh")], { effort: "xhigh", show: true }],
    ["thinking is turned on", { reasoning: { effort: "none" } }, [effort("medium")], { effort: "medium" }],
    ["thinking is turned off", begun, [effort("none")], { enabled: false, show: true }],
    ["an update of something else leaves the effort", begun, [effort(null), shaped(format("a"))], { effort: "low", show: true }],
  ])("%s", (_, fields, updates, thinking) => {
    expect(items([hi, ...updates, hi], fields).thinking).toEqual(thinking);
  });
  test.each<[string, object, object[], object | undefined]>([
    ["the last format counts", begun, [shaped(format("a")), hi, shaped(format("b"))], { name: "b", schema: format("b").schema }],
    ["a format is added", {}, [shaped(format("a"))], { name: "a", schema: format("a").schema }],
    ["plain text again", begun, [shaped({ type: "text" })], undefined],
    ["an update of something else leaves the format", begun, [effort("high")], { name: "first", schema: format("first").schema }],
  ])("%s", (_, fields, updates, output) => {
    expect(items([hi, ...updates, hi], fields).output).toEqual(output);
  });
  test.each([begun, {}, { reasoning: { effort: "none" } }])(
    "its own server gets the settings it began with, and each update in its place: %j",
    (fields) => {
      const input = [
        hi,
        update({ id: "cu_1", reasoning: { effort: "max" }, text: { format: { ...format("a"), x_new: 1 } } }),
        hi,
        effort("low"),
        hi,
      ];
      const { body, context } = wire.encodeRequest(items(input, fields));
      expect(body).toEqual({
        model: "m",
        store: false,
        ...fields,
        input: input.map((item) =>
          "role" in item ? { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] } : item,
        ),
      });
      expect(context.warnings).toEqual([]);
    },
  );
  test.each(["openai-chat", "anthropic", "gemini", "ollama"] as const)(
    "%s gets the last ones, without a warning, and no further message",
    (to) => {
      const request = items([hi, update({ reasoning: { effort: "high" }, text: { format: format("a") } }), hi], begun);
      const { body, context } = getWire(to).encodeRequest(request);
      expect(JSON.stringify(body)).toContain('"a"');
      expect(JSON.stringify(body)).not.toContain("first");
      expect(getWire(to).decodeRequest({ path: "", query: {}, headers: {}, body }).thinking?.effort).toBe("high");
      expect(context.warnings.filter(({ message }) => /configuration|input\[|effort/.test(message))).toEqual([]);
    },
  );
  test("an effort that does not exist is refused, with its place", () => {
    expect(complaint({ model: "m", input: [hi, effort("huge")] })).toContain("input[1].reasoning.effort must be one of");
  });
});

describe("servers with other rules", () => {
  test("without a developer role: developer messages become system messages", () => {
    expect(
      sent(
        items([
          { role: "user", content: "a" },
          { role: "developer", content: "b" },
        ]),
        { developerRole: false },
      ).input[1],
    ).toMatchObject({ role: "system" });
  });
  test("without system texts in the middle of a conversation: they become labelled text", () => {
    const request = items([
      { role: "developer", content: "a" },
      { role: "user", content: "b" },
      { role: "system", content: "c" },
    ]);
    expect(
      sent(request, { systemAnywhere: false }).input.map(({ role, content }) => [role, JSON.stringify(content).includes("<system>")]),
    ).toEqual([
      ["developer", false],
      ["user", true],
    ]);
  });
  test("a failed tool says so, and media without a place become labels", () => {
    const messages: Message[] = [
      { role: "user", content: [{ type: "media", mediaType: "audio/wav", data: "AA" }] },
      { role: "assistant", content: [{ type: "tool-call", id: "1", name: "f", arguments: {}, json: '{ "a":1.0}' }] },
      { role: "tool", id: "1", name: "f", output: { a: 1 }, isError: true },
    ];
    const { body, context } = wire.encodeRequest({ model: "m", messages });
    expect(body).toMatchObject({
      input: [{ content: [{ text: "[audio/wav]" }] }, { arguments: '{ "a":1.0}' }, { output: 'Error: {"a":1}' }],
    });
    expect(context.warnings.map(({ code }) => code)).toEqual(["converted", "converted", "converted"]);
  });
});

test("any request survives being encoded and decoded", () => {
  const text = fc.string({ minLength: 1 });
  const media = fc.oneof(
    fc.record({ type: fc.constant("media" as const), mediaType: fc.constant("image/png"), data: fc.constant("AAAA") }),
    fc.record({
      type: fc.constant("media" as const),
      mediaType: fc.constant("application/pdf"),
      data: fc.constant("AAAA"),
      name: fc.constant("a.pdf"),
    }),
  );
  const texts = text.map(said);
  const told = fc.record({
    role: fc.constantFrom("developer" as const, "user" as const),
    content: fc.array(fc.oneof(texts, media), { minLength: 1, maxLength: 3 }),
  });
  const round = fc
    .tuple(
      fc.option(texts),
      fc.array(fc.tuple(fc.constantFrom("f", "c"), text, fc.oneof(text, fc.constant(""))), { minLength: 1, maxLength: 3 }),
      fc.nat(),
    )
    .map(([before, calls, n]): Message[] => [
      {
        role: "assistant",
        content: [
          ...(before ? [before] : []),
          ...calls.map(([name, value], i) => {
            const args: JsonObject = { input: value };
            return {
              type: "tool-call" as const,
              id: `call_${n}_${i}`,
              name,
              arguments: args,
              ...(name === "f" ? { json: JSON.stringify(args) } : {}),
            };
          }),
        ],
      },
      ...calls.map(([name, , output], i): Message => ({ role: "tool", id: `call_${n}_${i}`, name, output })),
    ]);
  const said2 = texts.map((part): Message => ({ role: "assistant", content: [part] }));
  const requests = fc.record(
    {
      model: text,
      messages: fc
        .tuple(
          fc.option(texts),
          fc.array(
            fc.oneof(
              told.map((message): Message[] => [message]),
              round,
              said2.map((message) => [message]),
            ),
            { minLength: 1, maxLength: 5 },
          ),
        )
        .map(([system, rounds]): Message[] => [
          ...(system ? [{ role: "system" as const, content: [system] }] : []),
          user("Hi"),
          ...rounds.flat(),
        ]),
      tools: fc.constant<Tool[]>([f, { name: "c", kind: "custom", grammar: { syntax: "regex", definition: "a*" } }]),
      toolChoice: fc.constantFrom("auto" as const, "required" as const, { name: "f" }, { allowed: ["f", "c"], required: true as const }),
      parallelCalls: fc.boolean(),
      stream: fc.constantFrom("sse" as const, false as const),
      thinking: fc.constantFrom({ enabled: false }, { effort: "max" as const }, { effort: "low" as const, show: true }),
      sampling: fc.constant({ temperature: 0.5, topP: 0.1 }),
      maxTokens: fc.nat(),
      output: fc.constantFrom({}, { schema: { type: "object" } }, { schema: {}, name: "n", strict: false }),
    },
    { requiredKeys: ["model", "messages", "tools"] },
  );
  fc.assert(
    fc.property(requests, (request) => {
      // Consecutive texts are one item only if they came from one message.
      fc.pre(
        new Set(request.messages.flatMap((message) => (message.role === "tool" ? [message.id] : []))).size ===
          request.messages.filter(({ role }) => role === "tool").length,
      );
      const merged = request.messages.some(
        (message, i) =>
          message.role === "assistant" && request.messages[i - 1]?.role === "assistant" && !onlyTexts(request.messages.slice(i - 1, i + 1)),
      );
      fc.pre(!merged);
      expect(wire.encodeRequest(request).context.warnings).toEqual([]);
      expect(again(request)).toEqual({ from: WIRE, ...request });
      expect(sent(again(request))).toEqual(sent(request));
    }),
  );
});
const onlyTexts = (messages: Message[]) =>
  messages.every((message) => message.role === "assistant" && message.content.every(({ type }) => type === "text"));

describeShared("recorded requests", () => {
  const requests = captures<JsonObject>(({ method, path }) => method === "POST" && path.endsWith("/responses"));

  test.each(requests)("$file", ({ file, body }) => {
    const request = decode(JSON.stringify(body));
    const { body: encoded, context } = wire.encodeRequest(request);
    expect(context.warnings).toEqual([]);
    expect(validateRequest(WIRE, encoded)).toEqual([]);
    expect(again(request)).toEqual({ from: WIRE, ...request });
    const hosted = (Array.isArray(body.tools) ? (body.tools as JsonObject[]) : []).filter(({ type }) => type === "web_search");
    expect(request.warnings ?? []).toHaveLength(hosted.length);
    if (file.startsWith("codex") && Array.isArray(body.input)) expect(JSON.parse(JSON.stringify(encoded))).toEqual(body);
  });
});

// ---- Answers of servers

const fixtures = join(import.meta.dirname, "../fixtures/openai-responses");
const fixture = (name: string) => readFileSync(join(fixtures, `${name}.sse`), "utf8");
function read(text: string, cuts: number[] = []): Event[] {
  const decoder = wire.createStreamDecoder();
  const edges = [0, ...cuts, text.length];
  return [...edges.slice(1).flatMap((end, i) => decoder.feed(text.slice(edges[i], end))), ...decoder.flush()];
}
const usage = { type: "usage", inputTokens: 120, outputTokens: 45, thinkingTokens: 30, cachedTokens: 64 };
const start = { type: "start", id: "resp_0f1e", model: "gpt-5.5" };
const callsOf = (events: Event[]) => events.filter(({ type }) => type === "tool-end" || type === "malformed");
const finishOf = (events: Event[]) => events.at(-1);

describe("answers read from servers' streams", () => {
  test("an answer of a single item of the API's own is reported once", () => {
    const item = {
      id: "apc_1",
      type: "apply_patch_call",
      status: "completed",
      call_id: "c1",
      operation: { type: "delete_file", path: "a" },
    };
    const frame = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const stream = [
      frame("response.created", { response: { id: "resp_1", status: "in_progress", output: [] } }),
      frame("response.output_item.added", { output_index: 0, item: { ...item, status: "in_progress" } }),
      frame("response.output_item.done", { output_index: 0, item }),
      frame("response.completed", { response: { id: "resp_1", status: "completed", output: [item] } }),
    ].join("");
    const { frames } = written(read(stream), asked);
    expect(frames.filter(({ type }) => type === "response.output_item.done")).toMatchObject([{ item }]);
    expect(frames.at(-1)?.response.output).toMatchObject([item]);
  });
  test("a text whose content index continues from the item before is read once", () => {
    const at = (output_index: number, fields: object) => `data: ${JSON.stringify({ output_index, ...fields })}\n\n`;
    const thought = { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] };
    const texts = ["One", "Two"].map((text) => ({ type: "output_text", text, annotations: [] }));
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: texts };
    const events = read(
      [
        at(0, { type: "response.output_item.added", item: { ...thought, content: [] } }),
        at(0, { type: "response.reasoning_text.delta", content_index: 0, delta: "Hm" }),
        at(0, { type: "response.output_item.done", item: thought }),
        at(1, { type: "response.output_item.added", item: { ...message, content: [] } }),
        ...texts.map(({ text }, i) => at(1, { type: "response.output_text.delta", content_index: i + 1, delta: text })),
        at(1, { type: "response.output_item.done", item: message }),
        at(1, { type: "response.completed", response: { id: "resp_1", status: "completed", output: [thought, message] } }),
      ].join(""),
    );
    expect(merged(events).flatMap((event) => (event.type === "text" || event.type === "thinking-delta" ? event.text : []))).toEqual(
      expect.arrayContaining(["Hm", "One", "Two"]),
    );
    expect(
      collect(events)
        .content.map((part) => ("text" in part ? part.text : ""))
        .join(""),
    ).toBe("HmOneTwo");
  });
  test("an item that ends with less text than was streamed adds nothing", () => {
    const message = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "One" }] };
    const frame = (fields: object) => `data: ${JSON.stringify({ output_index: 0, ...fields })}\n\n`;
    const pieces = ["One", "2"].map((delta, content_index) => frame({ type: "response.output_text.delta", content_index, delta }));
    const added = frame({ type: "response.output_item.added", item: { ...message, content: [] } });
    const events = read([added, ...pieces, frame({ type: "response.output_item.done", item: message })].join(""));
    expect(
      collect(events)
        .content.map((part) => ("text" in part ? part.text : ""))
        .join(""),
    ).toBe("One2");
  });
  test("an item that is done without an output index is recognized by its id", () => {
    const messages = ["One", "Two"].map((text, i) => ({ type: "message", id: `msg_${i}`, content: [{ type: "output_text", text }] }));
    const frame = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
    const added = messages.flatMap((item, output_index) => [
      frame({ type: "response.output_item.added", output_index, item: { ...item, content: [] } }),
      frame({ type: "response.output_text.delta", output_index, content_index: 0, delta: item.content[0]!.text }),
      frame({ type: "response.output_item.done", item }),
    ]);
    const end = frame({ type: "response.completed", response: { id: "resp_1", status: "completed", output: messages } });
    const { content } = collect(read(added.join("") + end));
    expect(content.map((part) => ("text" in part ? part.text : "")).join("")).toBe("OneTwo");
  });
  test.each([0, 1])("a call that only the last event has is not lost, and none is made twice: %i of two were streamed", (streamed) => {
    const frame = (fields: object) => `data: ${JSON.stringify(fields)}\n\n`;
    const message = { type: "message", id: "msg_1", content: [{ type: "output_text", text: "One" }] };
    const calls = [1, 2].map((n) => ({ type: "function_call", id: `fc_${n}`, call_id: `c${n}`, name: "f", arguments: `{"n":${n}}` }));
    const events = read(
      [
        frame({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "One" }),
        ...calls.slice(0, streamed).map((item, i) => frame({ type: "response.output_item.done", output_index: i + 1, item })),
        frame({ type: "response.completed", response: { id: "resp_1", status: "completed", output: [message, ...calls] } }),
      ].join(""),
    );
    expect(collect(events)).toMatchObject({
      content: [
        { text: "One" },
        { type: "tool-call", id: "c1", arguments: { n: 1 } },
        { type: "tool-call", id: "c2", arguments: { n: 2 } },
      ],
      finish: { reason: "tool-calls" },
    });
  });
  test("a turn with reasoning, text and calls is read", () => {
    const events = read(fixture("tool-turn"));
    const item = {
      id: "rs_a1",
      summary: [
        { type: "summary_text", text: "I should look." },
        { type: "summary_text", text: "Then write." },
      ],
    };
    expect(events).toEqual([
      start,
      { type: "thinking-start", state: [own("id", "rs_a1", true)] },
      { type: "thinking-delta", text: "I should " },
      { type: "thinking-delta", text: "look." },
      { type: "extension", wire: "openai-responses", data: { type: "response.reasoning_summary_part.added" }, quiet: true },
      { type: "thinking-delta", text: "\n\n" },
      { type: "thinking-delta", text: "Then " },
      { type: "thinking-delta", text: "write." },
      {
        type: "thinking-end",
        state: [own("id", "rs_a1", true), own("encrypted_content", "gAAAAB-sealed"), own("summary", item.summary, true)],
      },
      { type: "text", text: "I will", state: [own("#message", { id: "msg_b2", phase: "commentary" }, true)] },
      { type: "text", text: " write é 😀." },
      { type: "tool-start", id: "call_1", index: 0, name: "write_file", state: [own("id", "fc_c3", true)] },
      { type: "tool-delta", id: "call_1", json: '{"path":' },
      { type: "tool-delta", id: "call_1", json: '"/a b"' },
      { type: "tool-delta", id: "call_1", json: ',"n":1.0}' },
      {
        type: "tool-end",
        id: "call_1",
        index: 0,
        name: "write_file",
        arguments: { path: "/a b", n: 1 },
        json: '{"path":"/a b","n":1.0}',
        state: [own("id", "fc_c3", true)],
      },
      { type: "tool-start", id: "call_2", index: 1, name: "list", state: [own("id", "fc_c4", true)] },
      { type: "tool-delta", id: "call_2", json: "{}" },
      { type: "tool-end", id: "call_2", index: 1, name: "list", arguments: {}, json: "{}", state: [own("id", "fc_c4", true)] },
      usage,
      { type: "finish", reason: "tool-calls", native: "completed" },
    ]);
  });
  test("a server that sends only done items, or only the end, is understood", () => {
    const whole = collect(read(fixture("tool-turn")));
    const { content } = collect(read(fixture("done-only")));
    expect(content).toEqual(whole.content.slice(1, 3));
    expect(collect(read(fixture("completed-only")))).toEqual({ ...whole, content: whole.content.slice(0, 3) });
  });
  test("CRLF, comments and [DONE] are accepted", () => {
    expect(collect(read(fixture("crlf-comments")))).toMatchObject({ content: [{ text: "Hi you" }], finish: { reason: "stop" } });
    expect(collect(read(fixture("tool-turn").trimEnd()))).toEqual(collect(read(fixture("tool-turn"))));
  });
  test("calls with interleaved pieces, or all at index 0, stay apart", () => {
    for (const name of ["interleaved", "all-at-zero"]) {
      const events = read(fixture(name));
      expect(callsOf(events)).toMatchObject([
        { id: "call_1", index: 0, name: "f", arguments: { a: 1 } },
        { id: "call_2", index: 1, name: "g", arguments: { b: 2 } },
      ]);
      expect(events.filter(({ type }) => type.startsWith("tool-")).map((event) => "id" in event && event.id)).toEqual(
        [...events]
          .filter(({ type }) => type.startsWith("tool-"))
          .map((event) => "id" in event && event.id)
          .sort(),
      );
    }
  });
  test("a custom call is a call with one text", () => {
    const events = read(fixture("custom-call"));
    expect(callsOf(events)).toMatchObject([{ id: "call_9", name: "apply_patch", arguments: { input: '*** Begin Patch\n+"😀"\\n\n' } }]);
    expect(events.flatMap((event) => (event.type === "tool-delta" ? event.json : [])).join("")).toBe(
      '{"input":"*** Begin Patch\\n+\\"😀\\"\\\\n\\n"}',
    );
  });
  test("a tool found by a search is called in a namespace of its own name", () => {
    const item = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", namespace: "f", arguments: "{}", status: "completed" };
    const answer = wire.decodeResponse({ status: "completed", output: [item] });
    expect(answer.content).toMatchObject([{ type: "tool-call", name: "f", arguments: {} }]);
    const request = asking({ tools: [{ type: "function", ...f, strict: false, defer_loading: true }, { type: "tool_search" }] });
    const body = JSON.parse(JSON.stringify(wire.encodeResponse(answer, request)));
    expect(body.output).toEqual([item]);
    expect(sent(items([item])).input).toEqual([item]);
  });
  test("a call in a namespace gets the flattened name", () => {
    expect(callsOf(read(fixture("namespace")))).toMatchObject([{ name: "multi_agent_v1__spawn_agent" }]);
  });
  test("unencrypted reasoning text is read as thinking", () => {
    expect(collect(read(fixture("reasoning-text"))).content).toMatchObject([{ type: "thinking", text: "Let me see." }, { text: "Yes." }]);
  });
  test("a refusal is read", () => {
    expect(collect(read(fixture("refusal")))).toMatchObject({ content: [], refusal: "I cannot.", finish: { reason: "stop" } });
  });
  test("an interrupted call is truncated, whether the server says so or just stops", () => {
    expect(read(fixture("incomplete-call")).slice(-3)).toMatchObject([
      { type: "tool-end", truncated: true, arguments: { path: "/a" } },
      usage,
      { reason: "length", native: "max_output_tokens" },
    ]);
    expect(read(fixture("cut")).slice(-2)).toMatchObject([
      { type: "tool-end", truncated: true },
      { reason: "error", error: { code: "upstream" } },
    ]);
  });
  test("a call with broken JSON is malformed, with its raw text", () => {
    expect(read(fixture("broken-call")).slice(-2)).toMatchObject([
      { type: "malformed", id: "call_1", code: "bad-arguments", raw: expect.stringContaining("oops}") },
      { reason: "error", error: { code: "malformed-call" } },
    ]);
  });
  test("errors in the middle of a stream end the answer", () => {
    expect(finishOf(read(fixture("failed")))).toMatchObject({ reason: "error", error: { code: "rate-limit" } });
    expect(finishOf(read(fixture("error")))).toMatchObject({
      reason: "error",
      error: { code: "upstream", message: "The server had an error." },
    });
    expect(finishOf(read(fixture("error-nested")))).toMatchObject({ reason: "error", error: { code: "context-length" } });
  });
  test("nonsense is skipped", () => {
    const noise =
      'data: nonsense\n\ndata: 5\n\ndata: {"type":"response.output_item.done","item":7,"output_index":0}\n\ndata: {"type":"response.function_call_arguments.delta"}\n\n';
    expect(collect(read(noise + fixture("tool-turn"))).finish).toMatchObject({ reason: "tool-calls" });
  });
  test.each<[unknown, string]>([
    ["<html>Log in", "<html>Log in"],
    [{ message: "Hello" }, '{"message":"Hello"}'],
  ])("a body that is not an answer is quoted in the error: %j", (body, quoted) => {
    const error = { code: "upstream", message: `the server sent an invalid answer: ${quoted}` };
    expect(wire.decodeResponse(body).finish).toEqual({ reason: "error", error });
  });
  const names = readdirSync(fixtures).map((file) => file.replace(".sse", ""));
  test.each(names)("%s gives the same answer, cut anywhere", (name) => {
    const text = fixture(name);
    const whole = collect(read(text));
    const step = Math.ceil(text.length / 2000); // short streams are cut at every character
    for (let at = 0; at <= text.length; at += step) expect(collect(read(text, [at]))).toEqual(whole);
    const decoder = wire.createStreamDecoder();
    expect([...text].flatMap((char) => decoder.feed(char)).concat(decoder.flush())).toEqual(read(text));
  });
  test.each(names)("%s, broken off anywhere, has one finish and no incomplete call", (name) => {
    const text = fixture(name);
    const complete = new Set(callsOf(read(text)).map((event) => JSON.stringify(event)));
    for (let at = 0; at < text.length; at += 7) {
      const events = read(text.slice(0, at));
      expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
      expect(finishOf(events)?.type).toBe("finish");
      for (const call of callsOf(events))
        expect(("truncated" in call && call.truncated) || call.type === "malformed" || complete.has(JSON.stringify(call))).toBe(true);
    }
  });
});

describe("whole answers of servers", () => {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Hi", annotations: [] }],
  };
  test("give the same as their streams", () => {
    const [last] = fixture("tool-turn").split("\n\n").slice(-2);
    const body = JSON.parse(last?.split("data: ")[1] ?? "").response;
    expect(wire.decodeResponse(body)).toEqual(collect(read(fixture("tool-turn"))));
    expect(wire.decodeResponse(JSON.stringify(body))).toEqual(wire.decodeResponse(body));
  });
  test.each<[object, object]>([
    [{ status: "completed" }, { reason: "stop", native: "completed" }],
    [
      { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      { reason: "length", native: "max_output_tokens" },
    ],
    [
      { status: "incomplete", incomplete_details: { reason: "content_filter" } },
      { reason: "content-filter", native: "content_filter" },
    ],
    [
      { status: "failed", error: { code: "server_error", message: "x" } },
      { reason: "error", native: "failed", error: { code: "upstream", message: "x", native: "server_error" } },
    ],
    [
      { status: "failed", error: "x" },
      { reason: "error", native: "failed", error: { code: "upstream", message: "x" } },
    ],
    [{ status: "cancelled" }, { reason: "error", native: "cancelled", error: { code: "aborted", message: "the answer was cancelled" } }],
  ])("%j", (fields, finish) => {
    expect(wire.decodeResponse({ id: "resp_1", model: "m", output: [message], ...fields }).finish).toEqual(finish);
  });
  test.each(["failed", "cancelled", "incomplete"])("text and usage of an answer that is %s are kept, and passed on", (status) => {
    const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
    const response = wire.decodeResponse({ id: "resp_1", model: "m", output: [message], status, usage });
    expect(response).toMatchObject({ content: [{ type: "text", text: "Hi" }], usage: { inputTokens: 5, outputTokens: 7 } });
    const { content } = message;
    expect(wire.encodeResponse(response, request)).toMatchObject({ output: [{ id: "msg_1", status: "incomplete", content }], usage });
  });
  test("nonsense is an error, not an exception", () => {
    for (const body of [null, "x", 5, [], {}]) expect(wire.decodeResponse(body).content).toEqual([]);
    expect(wire.decodeResponse("x").finish).toMatchObject({ reason: "error" });
  });
});

// ---- Answers to clients

const request: Request = asking({
  stream: true,
  include: ["reasoning.encrypted_content"],
  reasoning: { summary: "auto" },
  tools: [
    { type: "function", ...f, strict: false },
    { type: "custom", name: "apply_patch", format: { type: "text" } },
    { type: "namespace", name: "agents", description: "", tools: [{ type: "function", ...f, strict: false }] },
  ],
});
const options = { now: () => new Date(1790000000000), mintId: (n: number) => `x${n}` };
function written(events: Event[], to: Request = request) {
  const warnings: Warning[] = [];
  const encoder = wire.createStreamEncoder(to, { ...options, warn: (warning) => warnings.push(warning) });
  const text = events.map((event) => encoder.encode(event)).join("") + encoder.end();
  const frames = text
    .split("\n\n")
    .filter(Boolean)
    .map(
      (frame) =>
        JSON.parse(frame.split("data: ")[1] ?? "") as JsonObject & { response: JsonObject & { output: JsonObject[] }; item: JsonObject },
    );
  return { text, frames, types: frames.map(({ type }) => type), last: frames.at(-1), warnings };
}
const calling = (
  id: string,
  name: string,
  json: string,
  index = 0,
  fields: Partial<Extract<Event, { type: "tool-end" }>> = {},
): Event[] => [
  { type: "tool-start", id, index, name },
  ...(json.match(/[\s\S]{1,4}/g) ?? []).map((piece): Event => ({ type: "tool-delta", id, json: piece })),
  {
    type: "tool-end",
    id,
    index,
    name,
    arguments: fields.truncated ? {} : (JSON.parse(json) as JsonObject),
    ...(fields.truncated ? {} : { json }),
    ...fields,
  },
];
const thinking = (text: string, state?: Opaque[]): Event[] => [
  { type: "thinking-start" },
  { type: "thinking-delta", text },
  { type: "thinking-end", ...(state ? { state } : {}) },
];
test("reasoning that its server did not encrypt is sealed by us, since the AI SDK drops it otherwise", () => {
  const state = [own("id", "rs_a1", true), own("summary", [{ type: "summary_text", text: "Hm." }], true)];
  const [item] = written([...thinking("Hm.", state), { type: "finish", reason: "stop" }]).last?.response.output ?? [];
  expect(item).toMatchObject({ type: "reasoning", encrypted_content: expect.any(String) });
  const { messages } = wire.decodeRequest({ path: "/v1/responses", query: {}, headers: {}, body: { model: "m", input: [item!] } });
  expect(messages).toEqual([{ role: "assistant", content: [{ type: "thinking", text: "Hm.", state }] }]);
});
test("reasoning without any text keeps its id in a stream", () => {
  const item = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "RU5D" };
  const { encrypted_content: _, ...begun } = item;
  const events = [
    { type: "response.output_item.added", output_index: 0, item: begun },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { status: "completed", output: [item] } },
  ];
  const decoder = wire.createStreamDecoder();
  const { frames, last } = written([
    ...decoder.feed(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")),
    ...decoder.flush(),
  ]);
  expect(frames.find(({ type }) => type === "response.output_item.added")?.item).toEqual(begun);
  expect(last?.response.output).toEqual([item]);
});
describe("parts of summaries and messages stay separate in the same wire", () => {
  const summary = ["first", "second"].map((text) => ({ type: "summary_text", text }));
  const content = ["Hi", "Ho"].map((text) => ({ type: "output_text", text, annotations: [] }));
  const output = [
    { type: "reasoning", id: "rs_1", summary, encrypted_content: "RU5D" },
    { type: "message", id: "msg_1", role: "assistant", status: "completed", phase: "commentary", content: content.slice(0, 1) },
    { type: "message", id: "msg_2", role: "assistant", status: "completed", phase: "final_answer", content },
  ];
  const whole = { id: "resp_1", object: "response", status: "completed", model: "m", output };
  test("whole", () => {
    const read = wire.decodeResponse(whole);
    expect(wire.encodeResponse(read, request, options)).toMatchObject({ output });
    expect(wire.encodeResponse(collect(eventsOf(read)), request, options)).toMatchObject({ output });
  });
  test("streamed, each with its events", () => {
    const decoder = wire.createStreamDecoder();
    const said = `data: ${JSON.stringify({ type: "response.completed", response: whole })}\n\n`;
    const { frames, last } = written([...decoder.feed(said), ...decoder.flush()]);
    expect(last?.response.output).toEqual(output);
    const places = (type: string, key: string) => frames.filter((frame) => frame.type === type).map((frame) => frame[key]);
    expect(places("response.reasoning_summary_part.added", "summary_index")).toEqual([0, 1]);
    expect(places("response.reasoning_summary_text.delta", "delta")).toEqual(["first", "second"]);
    expect(places("response.reasoning_summary_part.done", "summary_index")).toEqual([0, 1]);
    expect(places("response.output_text.done", "content_index")).toEqual([0, 0, 1]);
  });
  test("other wires get the parts as paragraphs", () => {
    expect(wire.decodeResponse(whole).content[0]).toMatchObject({ type: "thinking", text: "first\n\nsecond" });
  });
});

describe("a message's phase and id come back through every API that has a place for them", () => {
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", phase: "commentary" };
  const content = [{ type: "output_text", text: "Look.", annotations: [] }];
  const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "{}", status: "completed" };
  const response = wire.decodeResponse({ id: "resp_1", status: "completed", model: "m", output: [{ ...message, content }, call] });
  const asked: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], tools: [{ name: "f" }] };
  const back: Record<string, (answer: never) => object> = {
    "openai-chat": ({ choices }: { choices: { message: object }[] }) => ({ messages: [choices[0]?.message] }),
    anthropic: ({ content }: { content: object[] }) => ({ max_tokens: 9, messages: [{ role: "assistant", content }] }),
    gemini: ({ candidates }: { candidates: { content: object }[] }) => ({ contents: [candidates[0]?.content] }),
  };
  test.each(Object.keys(back) as WireId[])("%s", (id) => {
    const client = getWire(id);
    const answer = JSON.parse(JSON.stringify(client.encodeResponse(response, asked))) as never;
    const path = "/v1beta/models/m:generateContent";
    const again = client.decodeRequest({ path, query: {}, headers: {}, body: { model: "m", ...back[id]!(answer) } });
    const { input } = wire.encodeRequest(again).body as { input: object[] };
    expect(input[0]).toEqual({ ...message, content });
    expect(input[1]).toMatchObject({ type: "function_call", call_id: "c1" });
  });
});
describe("streams written for clients", () => {
  const turn: Event[] = [
    { type: "start", id: "resp_7", model: "m" },
    ...thinking("hm"),
    { type: "text", text: "I " },
    { type: "text", text: "will." },
    ...calling("call_1", "f", '{"a": 1.0}'),
    ...calling("call_2", "agents__f", "{}", 1),
    { type: "usage", inputTokens: 10, outputTokens: 5, cachedTokens: 4, cacheWriteTokens: 1, thinkingTokens: 2 },
    { type: "finish", reason: "tool-calls" },
  ];
  test("each piece has its own logprobs", () => {
    const piece = (text: string, ...data: Json[]): Event =>
      data.length > 0 ? { type: "text", text, state: [own("logprobs", data, true)] } : { type: "text", text };
    const { frames } = written([piece("a"), piece("b", { token: "b" }), piece("c", { token: "c" }), piece("d")]);
    const deltas = frames.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ delta, logprobs }) => [delta, logprobs])).toEqual([
      ["a", []],
      ["b", [{ token: "b" }]],
      ["c", [{ token: "c" }]],
      ["d", []],
    ]);
  });
  test("every item is added, streamed and done, and the last event has them all", () => {
    const { text, types, frames, last } = written(turn);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.output_item.added",
      ...Array(3).fill("response.function_call_arguments.delta"),
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(frames.map(({ sequence_number }) => sequence_number)).toEqual(frames.map((_, i) => i));
    expect(last?.response).toMatchObject({
      id: "resp_7",
      status: "completed",
      created_at: 1790000000,
      model: "m",
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        { type: "message", status: "completed", role: "assistant", content: [{ type: "output_text", text: "I will.", annotations: [] }] },
        { type: "function_call", status: "completed", call_id: "call_1", name: "f", arguments: '{"a": 1.0}' },
        { type: "function_call", status: "completed", call_id: "call_2", name: "f", namespace: "agents", arguments: "{}" },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 15,
      },
    });
  });
  test("the client can send back the output, and it reads as what was said", () => {
    const output = written(turn).last?.response.output ?? [];
    expect(items(output).messages).toEqual([
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm" },
          said("I will."),
          { type: "tool-call", id: "call_1", name: "f", arguments: { a: 1 }, json: '{"a": 1.0}' },
          { type: "tool-call", id: "call_2", name: "agents__f", arguments: {}, json: "{}", state: [own("#namespace", "agents", true)] },
        ],
      },
    ]);
  });
  test("another wire's state travels in fields that the client does not read, and comes back in place", () => {
    const signature: Opaque[] = [{ wire: "anthropic", kind: "signature", data: "s" }];
    const thought: Opaque[] = [{ wire: "gemini", kind: "thoughtSignature", data: "t" }];
    const events = [
      ...thinking("hm", signature),
      ...calling("call_1", "f", "{}", 0, { state: thought }),
      ...calling("call_2", "f", "{}", 1),
      { type: "finish", reason: "tool-calls" } as const,
    ];
    const { text, last, warnings } = written(events);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(warnings).toEqual([]);
    const bare = (last?.response.output ?? []).map(({ id: _, ...item }) => item); // some clients drop the ids
    expect(items(bare).messages).toEqual([
      {
        role: "assistant",
        content: [
          { type: "thinking", text: "hm", state: signature },
          { type: "tool-call", id: "call_1", name: "f", arguments: {}, json: "{}", state: thought },
          { type: "tool-call", id: "call_2", name: "f", arguments: {}, json: "{}" },
        ],
      },
    ]);
    expect(written(events, asked).warnings.map(({ message }) => message.split(" ")[0])).toEqual(["signature", "thoughtSignature"]);
  });
  test("a custom call is sent as plain text, piece by piece, without splitting a character", () => {
    const { text, frames, last } = written([
      ...calling("call_1", "apply_patch", '{"input":"*** \\"a\\"\\n\\ud83d\\ude00 😀"}'),
      { type: "finish", reason: "tool-calls" },
    ]);
    expect(validateStream(WIRE, text)).toEqual([]);
    const pieces = frames.filter(({ type }) => type === "response.custom_tool_call_input.delta").map(({ delta }) => String(delta));
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) expect(piece).not.toMatch(/\p{Surrogate}/u);
    expect(last?.response.output).toMatchObject([
      { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", status: "completed", input: '*** "a"\n😀 😀' },
    ]);
  });
  test("a custom call whose JSON has an escape that does not exist is reported as unreadable", () => {
    const { text, last } = written([
      { type: "tool-start", id: "call_1", index: 0, name: "apply_patch" },
      { type: "tool-delta", id: "call_1", json: '{"input":"a' },
      { type: "tool-delta", id: "call_1", json: "\\d+" },
      { type: "tool-delta", id: "call_1", json: '"}' },
      { type: "malformed", id: "call_1", raw: "", code: "bad-arguments", reason: "r" },
      { type: "finish", reason: "error" },
    ]);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(last?.type).toBe("response.failed");
  });
  test("a custom call whose text is under another key is still understood", () => {
    const { last } = written([...calling("call_1", "apply_patch", '{"patch":"x"}'), { type: "finish", reason: "tool-calls" }]);
    expect(last?.response.output).toMatchObject([{ input: '{"patch":"x"}' }]);
  });
  describe("no client runs a truncated call", () => {
    const cut = (name: string, json: string) =>
      written([
        { type: "text", text: "a" },
        ...calling("call_1", name, json, 0, { truncated: true }),
        { type: "finish", reason: "length" },
      ]);
    test("open JSON: the item is done and incomplete, and its JSON stays open", () => {
      const { text, last } = cut("f", '{"a": "x');
      expect(validateStream(WIRE, text)).toEqual([]);
      expect(last).toMatchObject({
        type: "response.incomplete",
        response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      });
      expect(last?.response.output[1]).toMatchObject({ type: "function_call", status: "incomplete", arguments: '{"a": "x' });
    });
    test.each([
      ["f", ""],
      ["f", " "],
      ["f", '{"a": 1}'],
      ["apply_patch", '{"input":"*** Begin'],
    ])("%s(%s), which a client would run: the item is never done", (name, json) => {
      const { text, types, last, warnings } = cut(name, json);
      expect(validateStream(WIRE, text)).toEqual([]);
      expect(types.filter((type) => type === "response.output_item.done")).toHaveLength(1);
      expect(last?.response.output).toMatchObject([{ type: "message" }]);
      expect(warnings).toEqual([]);
      expect(callsOf(read(text))).toMatchObject([{ truncated: true }]);
    });
    test("a whole answer leaves the call out", () => {
      const warnings: Warning[] = [];
      const content = [said("a"), { type: "tool-call" as const, id: "1", name: "f", arguments: {}, truncated: true as const }];
      const body = wire.encodeResponse({ content, finish: { reason: "length" } }, request, { warn: (warning) => warnings.push(warning) });
      expect(body).toMatchObject({ status: "incomplete", output: [{ type: "message" }] });
      expect(warnings).toMatchObject([{ code: "dropped" }]);
    });
  });
  test("a call that turns out to be unreadable ends the answer", () => {
    const { text, last } = written([
      { type: "text", text: "a" },
      { type: "tool-start", id: "1", index: 0, name: "f" },
      { type: "tool-delta", id: "1", json: '{"a":' },
      { type: "malformed", id: "1", raw: '{"a": oops', code: "bad-arguments", reason: "oops is no value" },
      ...calling("2", "f", "{}", 1),
      { type: "finish", reason: "tool-calls" },
    ]);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(last).toMatchObject({ type: "response.failed", response: { error: { code: "malformed_call" }, output: [{ type: "message" }] } });
    expect(
      written([
        { type: "malformed", raw: "x", code: "no-name", reason: "r" },
        { type: "finish", reason: "stop" },
      ]).warnings,
    ).toMatchObject([{ code: "dropped" }]);
  });
  test.each<[ErrorCode, string, string]>([
    ["context-length", "context_length_exceeded", "maximum context length is 100 tokens"],
    ["rate-limit", "rate_limit_exceeded", "slow Please try again in 1.5s."],
    ["overloaded", "overloaded", "slow"],
    ["bad-request", "invalid_prompt", "slow"],
    ["internal", "internal_error", "slow"],
  ])("%s in the middle of a stream has OpenAI's form", (code, wireCode, message) => {
    const error = {
      code,
      message: "slow",
      ...(code === "rate-limit" ? { retryAfterMs: 1500 } : {}),
      ...(code === "context-length" ? { tokens: { used: 200, limit: 100 } } : {}),
    };
    for (const before of [[], [{ type: "text", text: "a" }, ...thinking("b"), { type: "text", text: "c" }]] as Event[][]) {
      const { text, last } = written([...before, { type: "finish", reason: "error", error }]);
      expect(validateStream(WIRE, text)).toEqual([]);
      expect(last).toMatchObject({
        type: "response.failed",
        response: { status: "failed", error: { code: wireCode, message: expect.stringContaining(message) } },
      });
      // The SDKs throw on an `error` object in any event, but not on one inside `response`.
      const thrown = text.match(/event: error\ndata: (.*)\n\nevent: response\.failed\n/)?.[1] ?? "{}";
      expect(JSON.parse(thrown)).toMatchObject({ type: "error", code: wireCode, error: last?.response.error });
      // Items still being written are not in the output.
      expect(last?.response.output).toHaveLength(before.length > 0 ? 2 : 0);
      expect(finishOf(read(text))).toMatchObject({
        reason: "error",
        ...(code === "bad-request" ? {} : { error: { code: code === "internal" ? code : code } }),
      });
    }
  });
  test("an answer without a finish ends with an error", () => {
    const encoder = wire.createStreamEncoder(request, options);
    encoder.encode({ type: "text", text: "a" });
    expect(encoder.end()).toContain("response.failed");
    expect(encoder.end()).toBe("");
    expect(encoder.encode({ type: "text", text: "b" })).toBe("");
  });
  test("a heartbeat is a comment, and may come anywhere", () => {
    const encoder = wire.createStreamEncoder(request, options);
    expect(encoder.heartbeat()).toMatch(/^:.*\n\n$/);
    const text = turn.map((event) => encoder.encode(event) + encoder.heartbeat()).join("") + encoder.end();
    expect(read(text)).toEqual(read(written(turn).text));
  });
  test("a refusal is a part of the message", () => {
    const { text, last } = written([
      { type: "text", text: "a" },
      { type: "refusal", text: "no" },
      { type: "refusal", text: "pe" },
      { type: "finish", reason: "stop" },
    ]);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(last?.response.output).toMatchObject([{ content: [{ text: "a" }, { type: "refusal", refusal: "nope" }] }]);
  });
  test("an empty answer is complete", () => {
    const { text, types } = written([{ type: "finish", reason: "stop" }]);
    expect(validateStream(WIRE, text)).toEqual([]);
    expect(types).toEqual(["response.created", "response.in_progress", "response.completed"]);
  });
  test("a content filter makes the answer incomplete", () => {
    expect(
      written([
        { type: "text", text: "a" },
        { type: "finish", reason: "content-filter" },
      ]).last,
    ).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "content_filter" }, output: [{ status: "incomplete" }] },
    });
  });
  test("the answer repeats the settings", () => {
    const to = asking({
      instructions: "S",
      temperature: 0.5,
      metadata: { a: "b" },
      max_output_tokens: 9,
      tools: [{ type: "function", ...f, strict: false }],
      tool_choice: "required",
    });
    expect(written([{ type: "finish", reason: "stop" }], to).frames[0]?.response).toMatchObject({
      instructions: "S",
      temperature: 0.5,
      metadata: { a: "b" },
      max_output_tokens: 9,
      tools: [{ name: "f" }],
      tool_choice: "required",
      status: "in_progress",
      output: [],
    });
  });
  test("a whole answer equals the response at the end of its stream", () => {
    const body = wire.encodeResponse(collect(turn), request, options);
    expect(JSON.parse(JSON.stringify(body))).toEqual(written(turn).last?.response);
  });
});

describe("the same wire on both sides", () => {
  const through = (name: string) => written(read(fixture(name)));
  test.each(["tool-turn", "custom-call", "reasoning-text", "refusal", "namespace", "web-search"])(
    "%s: ids, state and fields that only this wire knows pass through",
    (name) => {
      const to = through(name);
      expect(to.warnings).toEqual([]);
      expect(merged(read(to.text))).toEqual(merged(read(fixture(name))));
    },
  );
  test("reasoning text is not turned into a summary, and is sent once", () => {
    const { frames, last } = through("reasoning-text");
    expect(frames.map(({ type }) => type).filter((type) => String(type).includes("reasoning_summary"))).toEqual([]);
    expect(frames.filter(({ type }) => type === "response.reasoning_text.delta").length).toBeGreaterThan(0);
    const [item] = last?.response.output ?? [];
    expect(item).toMatchObject({ type: "reasoning", summary: [], content: [{ type: "reasoning_text" }] });
    const whole = JSON.parse(JSON.stringify(wire.encodeResponse(wire.decodeResponse(last?.response), request)));
    expect(whole.output[0]).toEqual(item);
  });
  test("a reasoning item that is done after the message (OpenRouter) is sent once", () => {
    const item = (type: string, more: object) => ({ type, id: `${type}_1`, ...more });
    const thought = item("reasoning", { summary: [], content: [{ type: "reasoning_text", text: "Hm." }] });
    const message = item("message", { role: "assistant", content: [{ type: "output_text", text: "4", annotations: [] }] });
    const events = [
      { type: "response.output_item.added", output_index: 0, item: { ...thought, content: [] } },
      { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "Hm." },
      { type: "response.output_item.added", output_index: 1, item: { ...message, content: [] } },
      { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "4" },
      { type: "response.output_item.done", output_index: 1, item: message },
      { type: "response.output_item.done", output_index: 0, item: thought },
      { type: "response.completed", response: { status: "completed", output: [thought, message] } },
    ];
    const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    for (const text of [stream, written(read(stream)).text])
      expect(collect(read(text)).content).toMatchObject([
        { type: "thinking", text: "Hm." },
        { type: "text", text: "4" },
      ]);
  });
  test("logprobs are also in a whole answer", () => {
    const logprobs = [{ token: "Hi", logprob: -0.5, bytes: [72, 105], top_logprobs: [] }];
    const text = { type: "output_text", text: "Hi", annotations: [], logprobs };
    const body = { status: "completed", output: [{ type: "message", id: "msg_1", role: "assistant", content: [text] }] };
    const again = JSON.parse(JSON.stringify(wire.encodeResponse(wire.decodeResponse(body), asked)));
    expect(again.output[0].content).toEqual([text]);
  });
  test("the server's own items, their progress events, and citations pass through", () => {
    const { frames, last } = through("web-search");
    expect(frames.map(({ type }) => type)).toContain("response.web_search_call.searching");
    expect(last?.response.output).toMatchObject([
      { type: "web_search_call", id: "ws_1", status: "completed" },
      { type: "message", id: "msg_1", content: [{ text: "See it.", annotations: [{ url: "https://example.com" }] }] },
    ]);
    expect(frames.find(({ type }) => type === "response.output_text.annotation.added")).toMatchObject({
      item_id: "msg_1",
      output_index: 1,
      content_index: 0,
    });
  });
  test("a citation reaches the client though its part came with something else than a list", () => {
    const added = { type: "response.output_text.annotation.added", annotation: { url: "https://example.com" } };
    const state = [{ wire: "openai-responses" as const, kind: "annotations", data: -1 }];
    const encoder = wire.createStreamEncoder(asked);
    const events: Event[] = [
      { type: "text", text: "See it.", state },
      { type: "extension", wire: "openai-responses", data: added },
    ];
    expect(events.map((event) => encoder.encode(event)).join("")).toContain('"annotation":{"url":"https://example.com"}');
  });
  test("items that are done in another order keep their indexes, streamed or not", () => {
    const search = (id?: string) => ({ type: "web_search_call", ...(id ? { id } : {}), status: "completed" });
    const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: "{}", status: "completed" };
    const output = [search("ws_1"), search("ws_2"), call, search("ws_3"), search(), search()];
    const step = (kind: string, output_index: number) => ({
      type: `response.output_item.${kind}`,
      output_index,
      item: output[output_index],
    });
    const steps = [0, 1, 2, 3].map((index) => step("added", index));
    const ends = [3, 1, 0, 2].map((index) => step("done", index));
    const others = [4, 5].flatMap((index) => [step("added", index), step("done", index)]);
    const stream = [...steps, ...ends, ...others, { type: "response.completed", response: { status: "completed", output } }];
    const events = read(stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    const { frames, last } = written(events);
    expect(last?.response.output).toEqual(output);
    for (const { type, output_index, item } of frames)
      if (type === "response.output_item.done") expect(item).toEqual(output[output_index as number]);
    expect(wire.encodeResponse(collect(events), request, options)).toMatchObject({ output });
  });
  test.each(["1e400", "9007199254740992", "-1", "0.5", '"x"', "null"])(
    "items of the server's own at the index %s are all kept",
    (index) => {
      const done = (id: string) =>
        `data: {"type":"response.output_item.done","output_index":${index},"item":{"type":"x","id":"${id}"}}\n\n`;
      const events = read(`${done("a")}${done("b")}data: {"type":"response.completed","response":{}}\n\n`);
      expect(wire.encodeResponse(collect(events), request, options)).toMatchObject({ output: [{ id: "a" }, { id: "b" }] });
    },
  );
  test("whole answers pass through", () => {
    const [last] = fixture("web-search").split("\n\n").slice(-2);
    const { output } = JSON.parse(last?.split("data: ")[1] ?? "").response;
    const response = wire.decodeResponse({ id: "resp_1", model: "m", status: "completed", output });
    const body = wire.encodeResponse(response, request, options) as { output: JsonObject[] };
    expect(body.output).toEqual(
      output.map((item: JsonObject) =>
        item.type === "message" ? { ...item, content: [{ type: "output_text", text: "See it.", annotations: [expect.anything()] }] } : item,
      ),
    );
  });
  test("unknown fields of the response pass through", () => {
    const body = { id: "resp_1", model: "m", status: "completed", output: [], service_tier: "flex", odd: { x: 1 } };
    const response = wire.decodeResponse(body);
    expect(response.extensions).toEqual([{ wire: WIRE, data: { service_tier: "flex", odd: { x: 1 } } }]);
    expect(wire.encodeResponse(response, request, options)).toMatchObject(body);
    expect(wire.decodeResponse({ ...body, odd: null }).extensions).toEqual([{ wire: WIRE, data: { service_tier: "flex" }, quiet: true }]);
  });
  test("extensions of other wires cause a warning", () => {
    expect(
      written([
        { type: "extension", wire: "gemini", data: {} },
        { type: "finish", reason: "stop" },
      ]).warnings,
    ).toMatchObject([{ code: "dropped" }]);
  });
});

test("any events survive being encoded, cut anywhere, and decoded", () => {
  const text = fc.string({ minLength: 1, unit: "grapheme" });
  const args = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 3 });
  const part = fc.oneof(
    text.map((text): Event[] => [{ type: "text", text }]),
    text.map((text) => thinking(text)),
    fc.tuple(fc.constantFrom("f", "agents__f"), args).map(([name, args]) => calling("", name, JSON.stringify(args))),
    text.map((input) => calling("", "apply_patch", JSON.stringify({ input }))),
    text.map((text): Event[] => [{ type: "refusal", text }]),
  );
  const answers = fc
    .record({ parts: fc.array(part, { maxLength: 6 }), cut: fc.option(fc.constantFrom('{"a": "x', "", '{"a":1}')), usage: fc.boolean() })
    .map(({ parts, cut, usage }): Event[] => {
      let n = 0;
      const numbered = parts.map((events) => {
        const isCall = events[0]?.type === "tool-start";
        const index = n;
        if (isCall) n++;
        return isCall
          ? events.map(
              (event): Event =>
                "id" in event ? ({ ...event, id: `call_${index}`, ...("index" in event ? { index } : {}) } as Event) : event,
            )
          : events;
      });
      const truncated =
        cut === null
          ? []
          : calling(`call_${n}`, "f", cut, n, { truncated: true, arguments: cut === "" ? {} : { a: cut === '{"a":1}' ? 1 : "x" } });
      const reason = cut !== null ? "length" : n > 0 ? "tool-calls" : "stop";
      return [
        { type: "start", id: "resp_1", model: "m" },
        ...numbered.flat(),
        ...truncated,
        ...(usage ? [{ type: "usage" as const, inputTokens: 3, outputTokens: 2, cachedTokens: 1 }] : []),
        { type: "finish", reason, native: reason === "length" ? "max_output_tokens" : "completed" },
      ];
    });
  fc.assert(
    fc.property(answers, fc.array(fc.nat(), { maxLength: 5 }), (events, places) => {
      const { text, warnings } = written(events);
      expect(validateStream(WIRE, text)).toEqual([]);
      expect(warnings).toEqual([]);
      const bytes = new TextEncoder().encode(text);
      const edges = [0, ...places.map((place) => place % bytes.length).sort((a, b) => a - b), bytes.length];
      const [utf8, decoder] = [new TextDecoder(), wire.createStreamDecoder()];
      const decoded = edges.slice(1).flatMap((end, i) => decoder.feed(utf8.decode(bytes.slice(edges[i], end), { stream: true })));
      expect(merged([...decoded, ...decoder.flush()])).toEqual(merged(events));
    }),
  );
});

// ---- Errors, models

describe("errors", () => {
  test("have OpenAI's form", () => {
    expect(wire.encodeError({ code: "rate-limit", message: "slow down", retryAfterMs: 1500 })).toEqual({
      status: 429,
      headers: { "content-type": "application/json", "retry-after": "2" },
      body: { error: { message: "slow down", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" } },
    });
    const codes: ErrorCode[] = [
      "auth",
      "permission",
      "not-found",
      "too-large",
      "context-length",
      "rate-limit",
      "overloaded",
      "upstream",
      "timeout",
      "malformed-call",
    ];
    for (const code of codes) {
      const { status, headers, body } = wire.encodeError({ code, message: "m" });
      expect(wire.decodeError(status, headers, JSON.stringify(body)).code).toBe(code);
    }
  });
  test("a prompt that is too long is reported inside the stream, since codex shortens it only then", () => {
    const { status, headers, body } = wire.encodeError({ code: "context-length", message: "m" }, request);
    expect([status, headers]).toEqual([200, { "content-type": "text/event-stream" }]);
    expect(validateStream(WIRE, String(body))).toEqual([]);
    expect(body).toContain('"code":"context_length_exceeded"');
    expect(wire.encodeError({ code: "context-length", message: "m" }, { ...request, stream: false }).status).toBe(400);
  });
});

test("lists of models are read and written", () => {
  const models = [
    { id: "a", created: 5, contextLength: 100 },
    { id: "b", created: 0 },
  ];
  expect(wire.modelsPath).toBe("/v1/models");
  expect(wire.decodeModels(wire.encodeModels(models))).toEqual(models);
  expect(wire.decodeModels("x")).toEqual([]);
});
