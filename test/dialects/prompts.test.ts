// Prompts written by hand from the specs: `<case>.json` holds an OpenAI request and options, `<case>[.<variant>].txt` the prompt.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Message, Part, Request } from "../../src/core/nouns.ts";
import type { RenderOptions } from "../../src/dialects/dialect.ts";
import { functiongemma } from "../../src/dialects/functiongemma.ts";
import { gemma4 } from "../../src/dialects/gemma4.ts";
import { harmony } from "../../src/dialects/harmony.ts";
import { json } from "../../src/dialects/json.ts";
import { llama3 } from "../../src/dialects/llama3.ts";
import { mistral } from "../../src/dialects/mistral.ts";
import { phi4Mini } from "../../src/dialects/phi4-mini.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { xlam } from "../../src/dialects/xlam.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";

for (const dialect of listDialects()) {
  const folder = fileURLToPath(new URL(`../fixtures/prompts/${dialect.id}/`, import.meta.url));
  const texts = readdirSync(folder).filter((file) => file.endsWith(".txt"));
  const load = (text: string) => {
    const [, name = "", variant] = /^([^.]+)(?:\.(.+))?\.txt$/.exec(text) ?? [];
    const { request, options } = JSON.parse(readFileSync(`${folder}${name}.json`, "utf8")) as { request: unknown; options?: RenderOptions };
    return {
      request: openaiChat.decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body: request }),
      options: { now: new Date(2026, 0, 15, 12), ...options, ...(variant !== undefined && { variant }) },
    };
  };

  describe(dialect.id, () => {
    test.each(texts)("%s", (text) => {
      const { request, options } = load(text);
      expect(promptText(dialect.render(request, options))).toBe(readFileSync(folder + text, "utf8"));
    });

    test("rendering does not change the request", () => {
      for (const text of texts) {
        const { request, options } = load(text);
        const before = structuredClone(request);
        dialect.render(request, options);
        expect(request).toEqual(before);
      }
    });

    test("an answer renders the same in the pieces in which it came, as LangChain's Gemini client keeps it", () => {
      const prompt = (...said: Part[]) => {
        const call = { type: "tool-call" as const, id: "c1", name: "f", arguments: {} };
        const messages: Message[] = [
          { role: "user", content: [{ type: "text", text: "Hi" }] },
          { role: "assistant", content: [...said, call] },
          { role: "tool", id: "c1", name: "f", output: "1" },
        ];
        return promptText(dialect.render({ model: "", messages, tools: [{ name: "f" }], thinking: { enabled: true } }));
      };
      const part = (type: "text" | "thinking", text: string): Part => ({ type, text });
      const pieces = [part("thinking", "I "), part("thinking", "look."), part("text", "Now "), part("text", "Oslo.")];
      expect(prompt(...pieces)).toBe(prompt(part("thinking", "I look."), part("text", "Now Oslo.")));
    });

    test("an unknown variant is an error that lists the known ones", () => {
      const request = { model: "", messages: [] };
      expect(() => dialect.render(request, { variant: "x" })).toThrow(`unknown variant "x"; known: ${dialect.variants.join(", ")}`);
    });

    test("empty input renders as nothing", () => {
      expect([dialect.renderTools([]), dialect.renderToolCalls([]), dialect.renderToolResults([]), dialect.renderThinking("")]).toEqual([
        [],
        [],
        [],
        [],
      ]);
      expect(dialect.instructions([])).toBe("");
    });

    test("instructions show the tools, the calls and the results", () => {
      const text = dialect.instructions([{ name: "get_weather", description: "Current weather", parameters: { type: "object" } }]);
      expect(text).toBe(`You can call these tools, one JSON object per line:
{"name": "get_weather", "description": "Current weather", "parameters": {"type": "object"}}

To call tools, write the calls exactly in this form, then stop:
${promptText(dialect.renderToolCalls([{ name: "tool_name", arguments: { text: "hello", count: 2 } }]))}

The results come back in this form:
${promptText(dialect.renderToolResults([{ name: "tool_name", output: "done" }]))}

Call a tool only when it is needed; otherwise answer in plain text.`);
    });
  });
}

describe("a call that carries its JSON text", () => {
  const call = { name: "f", arguments: { n: 12345678901234567000, x: 1 }, json: '{"n": 12345678901234567890, "x":1.0}' };

  test("keeps its numbers in the Gemma syntax", () => {
    expect(promptText(gemma4.renderToolCall(call))).toBe("<|tool_call>call:f{n:12345678901234567890,x:1.0}<tool_call|>");
  });
  test("is sent unchanged in a JSON dialect", () => {
    expect(promptText(json.renderToolCall(call))).toBe(`{"name": "f", "parameters": ${call.json}}`);
  });
  test("is printed from its arguments if that text is not a JSON object", () => {
    for (const broken of ['{"n": 1', "[1]", ""]) {
      expect(promptText(json.renderToolCall({ ...call, arguments: { n: 1 }, json: broken }))).toBe('{"name": "f", "parameters": {"n": 1}}');
      expect(promptText(gemma4.renderToolCall({ ...call, arguments: { n: 1 }, json: broken }))).toBe("<|tool_call>call:f{n:1}<tool_call|>");
    }
  });
});

describe("the Gemma syntax", () => {
  test("quotes a key whose end could not be found", () => {
    const call = { name: "f", arguments: { "a:b": 1, "": 2, "c d": 3 } };
    expect(promptText(gemma4.renderToolCall(call))).toBe('<|tool_call>call:f{<|"|><|"|>:2,<|"|>a:b<|"|>:1,c d:3}<tool_call|>');
  });
  test("keeps __proto__ as a key", () => {
    const call = { name: "f", arguments: JSON.parse('{"__proto__": {"x": 1}}') };
    expect(promptText(gemma4.renderToolCall(call))).toBe("<|tool_call>call:f{__proto__:{x:1}}<tool_call|>");
  });
  test("FunctionGemma prints the entries of a list as separate results", () => {
    const results = [{ name: "f", output: [{ a: 1 }, "two"] }];
    expect(promptText(functiongemma.renderToolResults(results))).toBe(
      "<start_function_response>response:f{a:1}<end_function_response>" +
        "<start_function_response>response:f{value:<escape>two<escape>}<end_function_response>",
    );
  });
  test("thinking that a scanner read gets no second newline", () => {
    expect(promptText(gemma4.renderThinking("hm\n"))).toBe("<|channel>thought\nhm\n<channel|>");
  });
});

test("calls and results may be whole parts of a history, or only the fields that are rendered", () => {
  const models: string[] = gemma4.models;
  expect(models).toContain("gemma-4");
  const call = gemma4.renderToolCall({ type: "tool-call", id: "call_0", name: "f", arguments: {} });
  expect(call).toEqual(gemma4.renderToolCall({ name: "f", arguments: {} }));
  const results = gemma4.renderToolResults([{ role: "tool", id: "call_0", name: "f", output: 1 }]);
  expect(results).toEqual(gemma4.renderToolResults([{ name: "f", output: 1 }]));
});

test("reka-edge: all but printable ASCII is escaped, as Python's `json.dumps` does it", () => {
  const call = promptText(getDialect("reka-edge").renderToolCall({ name: "f", arguments: { a: "~\x7fé\n" } }));
  expect(call).toContain('"~\\u007f\\u00e9\\n"');
});

test("an image is at its placeholder", () => {
  const image = { type: "media" as const, mediaType: "image/png", data: "AAAA" };
  const pieces = gemma4.render({ model: "", messages: [{ role: "user", content: [image, { type: "text", text: "What is it?" }] }] });
  expect(pieces.slice(1, 4)).toEqual([{ text: "user\n" }, { text: "<|image|>", control: true, media: image }, { text: "What is it?" }]);
});

test.each([
  ["qwen3-coder/qwen3.5-4b", "RES<|vision_start|><|image_pad|><|vision_end|>\n</tool_response>"],
  ["kimi-k2", "RES<|media_start|>image<|media_content|><|media_pad|><|media_end|>\n<|im_end|>"],
  ["kimi-k3", "RES<|kimi_image_placeholder|><|close|>"],
  ["minimax-m3", "RES]<]image[>[</response>"],
  ["pythonic", "RES<image><|im_end|>"],
  ["json/gemma", "RES\n</tool_response><start_of_image><end_of_turn>"],
  ["gemma4", 'RES<|"|>}<tool_response|><|image|>'],
])("so is the image of a result: %s", (setting, text) => {
  const media = [{ type: "media" as const, mediaType: "image/png", data: "AAAA" }];
  const messages: Request["messages"] = [
    { role: "user", content: [{ type: "text", text: "Look" }] },
    { role: "assistant", content: [{ type: "tool-call", id: "call_0", name: "f", arguments: {} }] },
    { role: "tool", id: "call_0", name: "f", output: "RES", media },
  ];
  const pieces = getDialect(setting).render({ model: "", messages }, { addGenerationPrompt: false });
  expect(promptText(pieces)).toContain(text);
  expect(pieces.filter((piece) => piece.media)).toHaveLength(1);
});

test("a late system text changes nothing before it (deepseek-v4)", () => {
  const say = (role: "system" | "user", text: string) => ({ role, content: [{ type: "text" as const, text }] });
  const answer = { role: "assistant" as const, content: [{ type: "text" as const, text: "a" }] };
  const messages = [say("system", "s1"), say("system", "s2"), say("user", "u"), answer, say("system", "s3"), say("user", "v")];
  expect(promptText(getDialect("deepseek-v4").render({ model: "", messages }))).toBe(
    "s1\n\ns2<｜User｜>u<｜Assistant｜></think>a<｜end▁of▁sentence｜><｜User｜>s3\n\nv<｜Assistant｜></think>",
  );
  expect(promptText(getDialect("deepseek-v4").render({ model: "", messages: messages.slice(0, 1) }))).toBe("s1<｜Assistant｜></think>");
});

describe("an empty list as a result is not an empty result", () => {
  const dialects = listDialects().filter(({ id }) => id !== "cohere"); // there every result is a list, and this one is empty
  test.each(dialects.map((dialect) => [dialect.id, dialect] as const))("%s", (_, { renderToolResults }) => {
    expect(promptText(renderToolResults([{ id: "call_0", name: "f", output: [] }]))).toContain("[]");
  });
});

test("an unreadable call is repeated as its text, never as a call", () => {
  const malformed = { type: "malformed" as const, raw: "<|tool_call>call:f{", code: "bad-arguments" as const, reason: "", id: "1" };
  const pieces = gemma4.render({ model: "", messages: [{ role: "assistant", content: [malformed] }] }, { addGenerationPrompt: false });
  expect(pieces.filter((piece) => piece.control).map((piece) => piece.text)).toEqual(["<|turn>", "<turn|>"]);
  expect(promptText(pieces)).toBe("<|turn>model\n<|tool_call>call:f{<turn|>\n");
});

describe("functiongemma.adapt", () => {
  const tools = [{ name: "f" }];
  const user = { role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] };
  const system = (text: string) => ({ role: "system" as const, content: [{ type: "text" as const, text }] });
  const trigger = "You are a model that can do function calling with the following functions";
  const headOf = (text: string) => `<start_of_turn>developer\n${text}<start_function_declaration>`;
  const adapt = (request: Request): Request => functiongemma.adapt?.(request) ?? request;
  const adapted = (messages: Request["messages"]) => promptText(functiongemma.render(adapt({ model: "", messages, tools })));

  test("puts the trigger sentence after the caller's system text", () => {
    expect(adapted([system(" Be brief. "), user])).toContain(headOf(`Be brief.\n${trigger}`));
  });
  test("adds it only once", () => {
    expect(adapted([system(trigger), user])).toContain(headOf(trigger));
    expect(adapted([user])).toContain(headOf(trigger));
  });
  test("changes nothing without tools", () => {
    const request = { model: "", messages: [system("Be brief."), user] };
    expect(adapt(request)).toBe(request);
  });
});

test.each([
  ["minimal", "low"],
  ["high", "high"],
  ["xhigh", "high"],
  ["max", "high"],
] as const)("harmony.adapt: the effort %s becomes one that the model knows", (effort, known) => {
  const request: Request = { model: "", messages: [], thinking: { effort } };
  expect(promptText(harmony.render(harmony.adapt?.(request) ?? request))).toContain(`Reasoning: ${known}\n`);
  expect(promptText(harmony.render(request))).toContain(`Reasoning: ${effort}\n`);
});

describe("a message with several texts", () => {
  const content = ["one", "two"].map((text) => ({ type: "text" as const, text }));
  const request: Request = { model: "", messages: [{ role: "user", content }] };

  test.each([llama3, phi4Mini, xlam])("is what the template makes of it, and one text once it is adapted", (dialect) => {
    expect(promptText(dialect.render(request))).toContain("[{'type': 'text', 'text': 'one'}, {'type': 'text', 'text': 'two'}]");
    expect(promptText(dialect.render(dialect.adapt?.(request) ?? request))).toContain("one\ntwo<|");
  });
});

test("xlam.adapt explains the format after the caller's system text, once", () => {
  const system = { role: "system" as const, content: [{ type: "text" as const, text: "Be brief." }] };
  const request: Request = { model: "", messages: [system], tools: [{ name: "f" }] };
  const adapted = xlam.adapt?.(request) ?? request;
  expect(promptText(xlam.render(adapted))).toContain("Be brief.\nYou have access to a set of tools.");
  expect(xlam.adapt?.(adapted)).toEqual(adapted);
});

describe.each(listDialects().map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
  const prompt = (thinking: Request["thinking"], options?: RenderOptions): string => {
    const request: Request = {
      model: "",
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      ...(thinking && { thinking }),
    };
    return promptText(dialect.render(request, { now: new Date(2026, 0, 15, 12), ...options }));
  };
  test("an effort or a budget turns thinking on, unless it is turned off", () => {
    for (const much of [{ effort: "low" }, { effort: "high" }, { effort: "max" }, { budget: 2000 }] as const) {
      if (dialect.id === "solar-open" && "effort" in much && much.effort === "low") continue; // its template takes low effort as none
      expect(prompt(much)).toBe(prompt({ enabled: true, ...much }));
      if (prompt({ enabled: false }) !== prompt({ enabled: true })) expect(prompt({ enabled: false, ...much })).not.toBe(prompt(much));
    }
  });
});

describe("mistral", () => {
  const call = { type: "tool-call" as const, id: "toolu_01", name: "f", arguments: {} };
  const messages: Request["messages"] = [
    { role: "user", content: [{ type: "text", text: "Hi" }] },
    { role: "assistant", content: [{ type: "thinking", text: "Hm." }, call] },
    { role: "tool", id: "toolu_01", name: "f", output: "done" },
  ];

  test("writes a foreign id as nine characters, the same in call and result", () => {
    const text = promptText(mistral.render({ model: "", messages }, { variant: "mistral-small-3.2-2506" }));
    expect(text).toMatch(/\[CALL_ID\]([a-z0-9]{9})\[ARGS\]\{\}<\/s>\[TOOL_RESULTS\]\1\[TOOL_CONTENT\]done/);
  });
  test("gets its thinking back once the request is adapted", () => {
    const request = { model: "", messages };
    expect(promptText(mistral.render(request))).toContain("[/INST][TOOL_CALLS]f");
    expect(promptText(mistral.render(mistral.adapt?.(request) ?? request))).toContain("[/INST][THINK]Hm.[/THINK][TOOL_CALLS]f");
  });
});

describe("command-r7b", () => {
  const call = { type: "tool-call" as const, id: "c1", name: "f", arguments: {} };
  const prompt = (content: Part[], variant?: string) =>
    promptText(
      getDialect("command-r7b").render(
        { model: "", messages: [{ role: "assistant", content }], tools: [{ name: "f" }] },
        { addGenerationPrompt: false, ...(variant && { variant }) },
      ),
    );

  test("text beside a call becomes its plan, as in Cohere's own library", () => {
    const said: Part[] = [{ type: "text", text: "I look." }, call];
    expect(prompt(said)).toContain("<|CHATBOT_TOKEN|><|START_THINKING|>I look.<|END_THINKING|><|START_ACTION|>[");
    expect(prompt([{ type: "thinking", text: "Hm." }, ...said])).toContain(
      "<|START_THINKING|>Hm.\nI look.<|END_THINKING|><|START_ACTION|>[",
    );
  });
  test("a call without a plan gets an empty one, except for reasoning models", () => {
    expect(prompt([call])).toContain("<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|><|START_ACTION|>[");
    expect(prompt([call], "command-a-reasoning-08-2025")).toContain("<|CHATBOT_TOKEN|><|START_ACTION|>[");
  });
});

test("command-r: types that the template cannot handle become the Python types it intends", () => {
  const properties = {
    list: { type: "array", items: { type: "string" } },
    map: { type: "object", additionalProperties: { type: "integer" } },
    any: { type: "object" },
    either: { type: ["number", "null"] },
    unknown: {},
  };
  const text = promptText(
    getDialect("command-r").renderTools([{ name: "f", parameters: { type: "object", properties, required: ["list"] } }]),
  );
  expect(text).toContain(
    "def f(list: List[str], map: Optional[Dict[str, int]] = None, any: Optional[Dict[str, Any]] = None, " +
      "either: Optional[Union[float,None]] = None, unknown: Optional[Any] = None) -> List[Dict]:",
  );
});
