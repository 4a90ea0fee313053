// A model's own template: its input, its output, and how that differs from a dialect.
import { describe, expect, test } from "vitest";
import type { JsonObject, Message, Request, Tool } from "../../src/core/nouns.ts";
import { keepNumbers } from "../../src/core/numbers.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { json } from "../../src/dialects/json.ts";
import { compareTemplate, renderWithTemplate, type TemplateOptions } from "../../src/template/index.ts";

const user: Message = { role: "user", content: [{ type: "text", text: "Weather in Oslo?" }] };
const asked = (messages: Message[], tools?: Tool[]): Request => ({ model: "m", messages, ...(tools && { tools }) });
const called: Message = {
  role: "assistant",
  content: [
    { type: "thinking", text: "Hm." },
    { type: "tool-call", id: "c0", name: "f", arguments: { city: "Oslo", n: 2 } },
  ],
};
const answered: Message = { role: "tool", id: "c0", name: "", output: { degrees: 4 } };

const DUMP = "{{ messages | tojson }}";
const dumped = async (messages: Message[], template = DUMP): Promise<unknown> =>
  JSON.parse(await renderWithTemplate(template, asked(messages)));
const dumpedTool = async (tool: Tool, template: string): Promise<unknown> =>
  JSON.parse(await renderWithTemplate(template, asked([user], [tool])));

describe("common assumptions of templates are met", () => {
  test("arguments are an object, content is text, and results have names", async () => {
    expect(await dumped([user, called, answered])).toEqual([
      { role: "user", content: "Weather in Oslo?" },
      {
        role: "assistant",
        content: "",
        reasoning_content: "Hm.",
        tool_calls: [{ id: "c0", type: "function", function: { name: "f", arguments: { city: "Oslo", n: 2 } } }],
      },
      { role: "tool", tool_call_id: "c0", name: "f", content: '{"degrees": 4}' },
    ]);
  });
  test("arguments are text for a template that refuses objects", async () => {
    const template =
      "{% for m in messages %}{% for c in m.tool_calls or [] %}{% if c.function.arguments is not string %}{{ raise_exception('no') }}{% endif %}{{ c.function.arguments }}{% endfor %}{% endfor %}";
    expect(await renderWithTemplate(template, asked([user, called]))).toBe('{"city": "Oslo", "n": 2}');
  });
  test("a developer message becomes a system message, unless the template knows developers", async () => {
    const developer: Message = { role: "developer", content: [{ type: "text", text: "Be brief." }] };
    expect(await dumped([developer])).toEqual([{ role: "system", content: "Be brief." }]);
    expect(await dumped([developer], `{# developer #}${DUMP}`)).toEqual([{ role: "developer", content: "Be brief." }]);
  });
  test("media are parts of the content, if the template knows them", async () => {
    const looked: Message = { role: "user", content: [{ type: "media", mediaType: "image/png", data: "AA==" }, ...user.content] };
    const parts = [{ type: "image" }, { type: "text", text: "Weather in Oslo?" }];
    expect(await dumped([looked], `{# image #}${DUMP}`)).toEqual([{ role: "user", content: parts }]);
    expect(await dumped([looked])).toEqual([{ role: "user", content: "Weather in Oslo?" }]);
  });
  test("a result in text parts becomes one text", async () => {
    const output = ["snow", "and ice"].map((text) => ({ type: "text", text }));
    const [message] = (await dumped([{ role: "tool", id: "a", name: "f", output }])) as { content: string }[];
    expect(message?.content).toBe("snow\nand ice");
  });
  test("a list of types becomes one type for a template that walks through properties", async () => {
    const tool: Tool = { name: "f", parameters: { type: "object", properties: { a: { type: ["string", "null"], enum: ["x"] } } } };
    const parameters = { type: "object", properties: { a: { type: "string", nullable: true, enum: ["x"] } } };
    expect(await dumpedTool(tool, "{# properties #}{{ tools[0] | tojson }}")).toEqual({
      type: "function",
      function: { name: "f", parameters },
    });
    expect(await dumpedTool(tool, "{{ tools[0] | tojson }}")).toEqual({ type: "function", function: tool });
  });
  test("a tool gets empty parameters or a description only if the template fails without", async () => {
    const tool = "{# properties #}{{ tools[0] | tojson }}";
    expect(await dumpedTool({ name: "f" }, tool)).toEqual({ type: "function", function: { name: "f" } });
    const failing = `{% for p in tools[0].function.parameters.properties | items %}{% endfor %}${tool}`;
    expect(await dumpedTool({ name: "f" }, failing)).toEqual({
      type: "function",
      function: { name: "f", description: "", parameters: { type: "object", properties: {} } },
    });
  });
  test.each(["reasoning_content", "reasoning", "thinking"])("thinking has the name that the template reads: %s", async (name) => {
    expect(await renderWithTemplate(`{{ messages[1].${name} }}`, asked([user, called]))).toBe("Hm.");
    expect(await renderWithTemplate(`{{ messages[1]['${name}'] }}`, asked([user, called]))).toBe("Hm.");
  });
  test("other settings have the names that templates read", async () => {
    const schema = { type: "object" };
    const wished: Request = { ...asked([user]), toolChoice: "required", output: { schema }, thinking: { effort: "low", budget: 512 } };
    const told = async (template: string, request: Request = wished) => await renderWithTemplate(template, request);
    expect(await told("{{ tool_choice }} {{ thinking_effort }} {{ thinking_budget }}")).toBe("required low 512");
    expect(await told("{{ response_format | tojson }}")).toBe('{"type": "object"}');
    expect(await told("{{ response_format.json_schema.schema | tojson }}")).toBe('{"type": "object"}');
    expect(await told("{# json_schema #}{{ response_format.schema | tojson }}")).toBe('{"type": "object"}');
    const silent: Request = { ...asked([user]), output: {}, thinking: { enabled: false } };
    expect(await told("{{ reasoning }} {{ thinking_budget }} {{ tool_choice is defined }}", silent)).toBe("False 0 False");
    expect(await told("{# json_schema #}{{ response_format.type }}", silent)).toBe("json_object");
  });
  test("thinking is a part of the content, if the template looks for it there", async () => {
    const template = "{% for b in messages[1].content %}{% if b.type == 'thinking' %}[{{ b.thinking }}]{% endif %}{{ b.text }}{% endfor %}";
    expect(await renderWithTemplate(template, asked([user, called]))).toBe("[Hm.]");
  });
  test.each<[JsonObject, string]>([
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "integer"],
    [{ enum: ["x"] }, "string"],
    [{ $ref: "#/$defs/list" }, "array"],
    [{ description: "anything" }, "string"],
  ])("a property without a type gets one if the template fails without: %j", async (property, type) => {
    const parameters = { type: "object", properties: { a: property }, $defs: { list: { type: "array" } } };
    const a = "tools[0].function.parameters.properties.a";
    expect(await dumpedTool({ name: "f", parameters }, `{{ ${a}.type | upper | lower | tojson }}`)).toBe(type);
    expect(await dumpedTool({ name: "f", parameters }, `{{ ${a} | tojson }}`)).toEqual(property);
  });
  test("the numbers of a tool's schema are spelled as the client wrote them, and as Python prints them", async () => {
    const n = { type: "number", minimum: 0, maximum: 1234567890123456800, multipleOf: 1e-7 };
    keepNumbers(n, new Map(Object.entries({ minimum: "0.0", maximum: "1234567890123456789" })));
    const tool: Tool = { name: "f", parameters: { type: "object", properties: { n } } };
    for (const template of ["{{ tools | tojson }}", "{% set x = 'properties' %}{{ tools | tojson }}"])
      expect(await renderWithTemplate(template, asked([user], [tool]))).toContain(
        '{"type": "number", "minimum": 0.0, "maximum": 1234567890123456789, "multipleOf": 1e-07}',
      );
  });
  test("a tool without parameters is not given any", async () => {
    const template = "{{ tools[0].function.parameters | tojson }}{# properties #}";
    expect(await dumpedTool({ name: "f", parameters: {} }, template)).toEqual({});
    expect(await dumpedTool({ name: "f", parameters: { type: "object" } }, template)).toEqual({ type: "object" });
    for (const parameters of [{}, { type: "object" }]) {
      const failing = `{% for p in tools[0].function.parameters.properties | items %}{% endfor %}${template}`;
      expect(await dumpedTool({ name: "f", parameters }, failing)).toEqual({ ...parameters, properties: {} });
    }
  });
  test("a list gets an element type if the template fails without", async () => {
    const parameters = { type: "object", properties: { a: { type: "array" } } };
    const template = "{% set a = tools[0].function.parameters.properties.a %}{{ a['items']['type'] | upper | tojson }}";
    expect(await dumpedTool({ name: "f", parameters }, template)).toBe("STRING");
  });
  test("tools are text in the system message, if the template looks for them there", async () => {
    const template =
      "{% for message in messages %}[{{ message.role }}]{% if 'tools' in message %}{{ '' + message['tools'] }}{% endif %}{% endfor %}";
    const system: Message = { role: "system", content: [{ type: "text", text: "Be brief." }] };
    const declared = '[system][{"name": "f", "description": "d"}][user]';
    for (const messages of [[user], [system, user]])
      expect(await renderWithTemplate(template, asked(messages, [{ name: "f", description: "d" }]))).toBe(declared);
    expect(await renderWithTemplate(template, asked([user]))).toBe("[user]");
  });
  test("missing tools are an empty list for a template that iterates without checking", async () => {
    expect(await renderWithTemplate("{% if tools is none %}{{ raise_exception('no') }}{% endif %}ok", asked([user]))).toBe("ok");
  });
});

describe("a template that refuses a conversation gets it in another form", () => {
  const text = (role: "user" | "system", text: string): Message => ({ role, content: [{ type: "text", text }] });
  const fails = (condition: string) => `{% if ${condition} %}{{ raise_exception('no') }}{% endif %}`;
  const each = (body: string) => `{% for m in messages %}${body}{% endfor %}`;
  const roles = each("{{ m.role }}:{{ m.content }};");
  const rendered = (template: string, messages: Message[], tools?: Tool[]) => renderWithTemplate(template, asked(messages, tools));

  test("ids of nine letters and digits, the same for a call and its result", async () => {
    const ids = each("{{ m.tool_call_id }}{% for c in m.tool_calls or [] %}{{ c.id }}{% endfor %};");
    const [, call = "", result = ""] = (
      await rendered(fails("messages[1].tool_calls[0].id | length != 9") + ids, [user, called, answered])
    ).split(";");
    expect(call).toMatch(/^[a-z0-9]{9}$/);
    expect(result).toBe(call);
    expect(await rendered(ids, [user, called, answered])).toBe(";c0;c0;");
  });
  test("one user message at a time, and one system message first", async () => {
    const talk = [text("system", "a"), text("user", "b"), text("system", "c"), text("user", "d")];
    expect(await rendered(fails("messages | length > 2") + roles, talk)).toBe("system:a\n\nc;user:b\n\nd;");
    expect(await rendered(roles, talk)).toBe("system:a;user:b;system:c;user:d;");
  });
  test("one answer at a time, if it has no calls", async () => {
    const said = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
    const strict = fails("(m.role == 'user') != (loop.index0 % 2 == 0)");
    expect(await rendered(each(`${strict}{{ m.role }}:{{ m.content }};`), [user, said("a"), said("b"), said("c"), user])).toBe(
      "user:Weather in Oslo?;assistant:a\n\nb\n\nc;user:Weather in Oslo?;",
    );
    const calling: Message[] = [text("system", "a"), text("system", "b"), user, said("a"), called, answered, said("b")];
    expect(await rendered(fails("messages[1].role == 'system'") + roles, calling)).toContain(
      "system:a\n\nb;user:Weather in Oslo?;assistant:a;assistant:;tool:",
    );
  });
  test("no system message: its text is put before the user's", async () => {
    expect(await rendered(fails("messages[0].role == 'system'") + roles, [text("system", "a"), text("user", "b")])).toBe("user:a\n\nb;");
  });
  test("content as parts", async () => {
    expect(await rendered(`${fails("messages[0].content is string")}{{ messages[0].content[0].text }}`, [user])).toBe("Weather in Oslo?");
  });
  test("empty descriptions where there are none", async () => {
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }];
    const properties = "{% for name, p in tools[0].function.parameters.properties | items %}{{ name + p.description }}{% endfor %}";
    expect(await rendered(`{{ "d:" + tools[0].function.description }} ${properties}`, [user], tools)).toBe("d: a");
  });
  test("null in a schema as Python prints it", async () => {
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string", default: null } } } }];
    expect(await rendered("{{ tools[0].function.parameters.properties.a.default | string }}", [user], tools)).toBe("None");
  });
  test.each([
    ["high", "xhigh"],
    ["max", "xhigh"],
    ["minimal", "low"],
    ["medium", "medium"],
  ] as const)("the thinking effort in a word that it knows: %s", async (effort, known) => {
    const template = `${fails("reasoning_effort not in ('xhigh', 'medium', 'low')")}{{ reasoning_effort }}`;
    const request = { ...asked([user]), thinking: { effort } };
    expect(await renderWithTemplate(template, request)).toBe(known);
    expect(await renderWithTemplate("{{ reasoning_effort }}", request)).toBe(effort);
  });
  test("an empty list instead of no calls", async () => {
    const answer: Message = { role: "assistant", content: [{ type: "text", text: "Rain." }] };
    const walked = each("{% if m.role == 'assistant' %}{% for c in m.tool_calls %}{{ c.id }}{% endfor %}{% endif %}{{ m.content }};");
    expect(await rendered(walked, [user, answer])).toBe("Weather in Oslo?;Rain.;");
  });
  test("the text beside a call as thinking, if both are refused", async () => {
    const said: Message = {
      role: "assistant",
      content: [...called.content.slice(0, 1), { type: "text", text: "So." }, ...called.content.slice(1)],
    };
    const template = `${fails("messages[1].thinking and messages[1].content")}{{ messages[1].thinking }}`;
    expect(await rendered(template, [user, said as Message])).toBe("Hm.\n\nSo.");
  });
  test("one call at a time, each followed by its result, and with ids", async () => {
    const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: {} });
    const batch: Message[] = [user, { role: "assistant", content: [{ type: "text", text: "So." }, call("a"), call("b")] }];
    const results: Message[] = ["b", "a"].map((id) => ({ role: "tool", id, name: "f", output: `of ${id}` }));
    const template = fails("messages[1].tool_calls | length > 1") + roles;
    expect(await rendered(template, [...batch, ...results])).toBe("user:Weather in Oslo?;assistant:So.;tool:of a;assistant:;tool:of b;");
    await expect(rendered(fails("messages[1].tool_calls[0].id | length != 9") + template, [...batch, ...results])).resolves.toContain(
      "tool:of b",
    );
  });
  test("one call at a time: a late result of an earlier message is not lost", async () => {
    const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: {} });
    const said = (...ids: string[]): Message => ({ role: "assistant", content: ids.map(call) });
    const results: Message[] = ["b", "a", "c"].map((id) => ({ role: "tool", id, name: "f", output: `of ${id}` }));
    const prompt = await rendered(fails("messages[2].tool_calls | length > 1") + roles, [user, said("a"), said("b", "c"), ...results]);
    expect(prompt).toBe("user:Weather in Oslo?;assistant:;assistant:;tool:of b;tool:of a;assistant:;tool:of c;");
  });
  test("if no form helps, the first complaint is reported", async () => {
    await expect(rendered("{{ raise_exception('never') }}", [user, called, answered])).rejects.toThrow("the template failed: never");
  });
});

test("numbers stay as the model wrote them, wherever a template prints them", async () => {
  const json = '{"a": 1.0, "b": 12345678901234567890, "c": [2e3, -0.50], "d": 7, "e": 731906842000000}';
  const said: Message = { role: "assistant", content: [{ type: "tool-call", id: "c0", name: "f", arguments: JSON.parse(json), json }] };
  const args = "messages[1].tool_calls[0].function.arguments";
  const print = (template: string) => renderWithTemplate(template, asked([user, said]));
  expect(await print(`{{ ${args} | tojson }}`)).toBe(json);
  expect(await print(`{{ ${args}.a }} {{ ${args}.b | string }} {{ ${args}.c[1] }}`)).toBe("1.0 12345678901234567890 -0.50");
});

test("a client's numbers are printed as Python does", async () => {
  const arguments_ = { a: 1e-7, b: [0.00005, { c: 1e21 }], d: 0.5, e: -3 };
  const said: Message = { role: "assistant", content: [{ type: "tool-call", id: "c0", name: "f", arguments: arguments_ }] };
  const prompt = await renderWithTemplate("{{ messages[1].tool_calls[0].function.arguments | tojson }}", asked([user, said]));
  expect(prompt).toBe('{"a": 1e-07, "b": [5e-05, {"c": 1e+21}], "d": 0.5, "e": -3}');
});

test.each([
  ["{{ tool_definition ~ 'x' }}", "x"],
  ['{{ "%s" | format(messages[0].role) }}', "user"],
  ["{% set eos = '<|eos{}|>'.format(':x') %}{{ eos + '<think{}>'.format('') }}", "<|eos:x|><think>"],
  ["{{ [3, messages | length, 2] | min }}", "1"],
  [
    "{% macro f(json_spec) %}{{ json_spec.type }}{% endmacro %}{% set json_spec = {'items': {'type': 'string'}} %}{{ f(json_spec|items) }}",
    "string",
  ],
])("what templates use and @huggingface/jinja cannot run: %s", async (template, expected) => {
  expect(await renderWithTemplate(template, asked([user]))).toBe(expected);
});

test.each<[string, Partial<Request>, TemplateOptions, string]>([
  ["{{ add_generation_prompt }}", {}, {}, "True"],
  ["{{ add_generation_prompt }}", {}, { addGenerationPrompt: false }, "False"],
  ["{{ bos_token }}|{{ eos_token }}", {}, { bosToken: "<s>", eosToken: "</s>" }, "<s>|</s>"],
  ["{{ enable_thinking is defined }}", {}, {}, "False"],
  ["{{ enable_thinking }} {{ thinking }}", { thinking: { enabled: true } }, {}, "True True"],
  ["{{ enable_thinking }}", { thinking: { enabled: true } }, { thinking: false }, "False"],
  ["{{ reasoning_effort }} {{ clear_thinking }}", { thinking: { effort: "high", keep: true } }, {}, "high False"],
  ["{{ strftime_now('%d %b %Y, %A %H:%M %q') }}", {}, { now: new Date(2026, 0, 5, 12, 3) }, "05 Jan 2026, Monday 12:03 %q"],
  ["{{ tools is none }}", {}, {}, "True"],
  ["{{ voice }}", {}, { variables: { voice: "calm" } }, "calm"],
])("%s with %j and %j", async (template, fields, options, text) => {
  expect(await renderWithTemplate(template, { ...asked([user]), ...fields }, options)).toBe(text);
});

describe("a template that drops a part of the conversation gets it in another form", () => {
  const system = (text: string, role: "system" | "developer" = "system"): Message => ({ role, content: [{ type: "text", text }] });
  const call = (id: string, city: string) => ({ type: "tool-call" as const, id, name: "f", arguments: { city } });
  test.each([
    ["the first", "{{ messages[0].content }}"],
    ["the last", "{% for m in messages %}{% if m.role == 'system' %}{% set s.text = m.content %}{% endif %}{% endfor %}{{ s.text }}"],
  ])("all system texts in one message, if only %s is written", async (_, template) => {
    const prompt = await renderWithTemplate(
      `{% set s = namespace(text='') %}${template}`,
      asked([system("A."), system("B.", "developer"), user]),
    );
    expect(prompt).toBe("A.\n\nB.");
  });
  test("one call per message, if only the first is written", async () => {
    const template = "{% for m in messages %}{{ m.tool_calls[0].function.arguments.city if m.tool_calls else m.content }} {% endfor %}";
    const both: Message = { role: "assistant", content: [call("1", "Oslo"), call("2", "Rome")] };
    const result = (id: string): Message => ({ role: "tool", id, name: "f", output: id });
    expect(await renderWithTemplate(template, asked([both, result("1"), result("2")]))).toBe("Oslo 1 Rome 2 ");
  });
  test("arguments as text, if an object does not print", async () => {
    const template = "{% for m in messages %}{{ '>' + m.tool_calls[0].function.arguments }}{% endfor %}";
    expect(await renderWithTemplate(template, asked([{ role: "assistant", content: [call("1", "Oslo")] }]))).toBe('>{"city": "Oslo"}');
  });
  test("if no form helps, the prompt is as it is", async () => {
    expect(await renderWithTemplate("Hi", asked([system("A."), called, answered]))).toBe("Hi");
  });
});

describe("templates with fields of their own", () => {
  const tools = [{ name: "f" }];
  const told = (template: string, ...messages: Message[]) => renderWithTemplate(template, asked(messages, tools));
  test("calls with metadata, observation results, tools in the first message (GLM-4)", async () => {
    const template =
      "{% for item in messages %}{% for t in item['tools'] or [] %}({{ t.function.name }}){% endfor %}{% if item['content'] %}<{{ item['role'] }}>{{ item['metadata'] }}\n{{ item['content'] }}{% endif %}{% endfor %}";
    const words: Message = { role: "assistant", content: [{ type: "text", text: "Well." }, ...called.content] };
    expect(await told(template, user, words, answered)).toBe(
      '(f)<user>\nWeather in Oslo?<assistant>\nWell.<assistant>f\n{"city": "Oslo", "n": 2}<observation>\n{"degrees": 4}',
    );
  });
  test("tools under another name (SmolLM3), as Python prints them", async () => {
    expect(await told("{% for tool in xml_tools %}{{ tool | string }}{% endfor %}", user)).toBe(
      "{'type': 'function', 'function': {'name': 'f'}}",
    );
  });
  test("tools in TypeScript (Kimi K2.5), which its tokenizer writes", async () => {
    expect(await told("{% if tools_ts_str %}{{ tools_ts_str }}{% else %}{{ tools | tojson }}{% endif %}", user)).toBe(
      "# Tools\n\n## functions\nnamespace functions {\ntype f = (_: {}) => any;\n}\n",
    );
  });
});

describe("what the jinja package lacks", () => {
  const rendered = (template: string) => renderWithTemplate(template, asked([user, called, answered]));
  const loop = (body: string) => rendered(`{% for n in range(4) %}${body}{% endfor %}`);
  test.each([
    ["at its end", "{{ n }}{% if n == 1 %}!{% continue %}{% endif %}.", "0.1!2.3."],
    ["in an else", "{% if n > 1 %}a{% elif n == 1 %}b{% else %}c{% continue %}d{% endif %}e", "cbeaeae"],
    ["inside of another", "{% if n %}x{% if n == 2 %}y{% continue %}{% endif %}{% endif %}z", "zxzxyxz"],
    ["twice", "{% if n == 0 %}a{% continue %}{% endif %}{% if n == 1 %}b{% continue %}{% endif %}c", "abcc"],
    ["of an inner loop", "[{% for m in range(n) %}{{ m }}{% continue %}-{% endfor %}]", "[][0][01][012]"],
  ])("text before a continue stays: %s", async (_, body, expected) => {
    expect(await loop(body)).toBe(expected);
  });
  test("also with many of them", async () => {
    expect(await loop("{% if n %}{% if n == 2 %}{{ n }}{% continue %}{% endif %}{% endif %}".repeat(60))).toBe("2");
  });
  test("tuples are unpacked", async () => {
    expect(await rendered("{% for a, b in [('x', 1), ('y', 2)] %}{{ a }}{{ b }}{% endfor %}")).toBe("x1y2");
  });
  test("any value becomes a string, as in Python", async () => {
    const all = "[{{ {'a': [1, none, true], 'b': 'it\\'s'} | string }} {{ 3 | string }} {{ 'x' | string }} {{ nothing | string }}]";
    expect(await rendered(all)).toBe(`[{'a': [1, None, True], 'b': "it's"} 3 x ]`);
  });
  test.each([
    ["{{ true }} {{ none }} {{ [none, 'a'] }} {{ {'a': false} }} {{ nothing }}.", "True None [None, 'a'] {'a': False} ."],
    ["{% if true %}{{ true }}{% endif %}{% for n in [] %}{% else %}{{ none }}{% endfor %}", "TrueNone"],
    ["{{ 6 / 2 }} {{ 7 // 2 }} {{ [1.0, 2] }}", "3.0 3 [1.0, 2]"],
    ["{{ none ~ true ~ 1 ~ ['a'] ~ nothing }}", "NoneTrue1['a']"],
  ])("values are printed as in Python: %s", async (template, expected) => {
    expect(await rendered(template)).toBe(expected);
  });
  test("empty lists and objects count as false after not", async () => {
    expect(await rendered("{{ not [] }} {{ not {} }} {{ not [0] }} {{ not '' }} {{ not nothing }}")).toBe("True True False True True");
  });
  test("an object is iterable", async () => {
    expect(await rendered("{{ {} is iterable }} {{ 'a' is not iterable }} {{ 1 is iterable }}")).toBe("True False False");
  });
  test("only the given characters are stripped", async () => {
    expect(await rendered("{{ '\\n  a\\n '.lstrip('\\n') }}|{{ ' ab'.rstrip('b') }}|{{ 'xyzax'.strip('xy') }}|{{ ' a '.strip() }}")).toBe(
      "  a\n | a|za|a",
    );
  });
  test("empty lists and objects are not indented", async () => {
    const value = "{'a': [], 'b': {}, 'c': ['d', 1]}";
    expect(await rendered(`{{ ${value} | tojson(indent=2) }}`)).toBe('{\n  "a": [],\n  "b": {},\n  "c": [\n    "d",\n    1\n  ]\n}');
  });
  test("all of it also in an object", async () => {
    expect(await rendered("{{ {'a': not [], 'b': true ~ ''} | tojson }}")).toBe('{"a": true, "b": "True"}');
  });
});

describe("an object's keys may have the names of methods", () => {
  const args = { items: ["a"], keys: "k", values: 1, get: "g" };
  const properties = Object.fromEntries(Object.keys(args).map((key) => [key, { type: "string" }]));
  const call = { type: "tool-call" as const, id: "c", name: "f", arguments: args };
  const request = asked([user, { role: "assistant", content: [call] }], [{ name: "f", parameters: { type: "object", properties } }]);
  test.each([
    [
      "{% for k, v in messages[1].tool_calls[0].function.arguments.items() %}{{ k }}={{ v }};{% endfor %}",
      "items=['a'];keys=k;values=1;get=g;",
    ],
    [
      "{% for k, v in tools[0].function.parameters.properties.items() %}{{ k }}:{{ v.type }} {% endfor %}",
      "items:string keys:string values:string get:string ",
    ],
    ["{{ tools[0].function.parameters.properties.keys() | join }}", "itemskeysvaluesget"],
    ["{{ messages[1].tool_calls[0].function.arguments.values() | length }}", "4"],
    [
      "{% set a = messages[1].tool_calls[0].function.arguments %}{{ a.get('keys') }} {{ a.get('x') }} {{ a.get('x', 'y') }} {{ a.items[0] }}",
      "k None y a",
    ],
  ])("%s", async (template, expected) => {
    expect(await renderWithTemplate(template, request)).toBe(expected);
  });
});

describe("a template that repeats without end fails", () => {
  const USED = "{% set used = range(1999990) %}"; // almost all repetitions that a rendering may have
  test.each([
    ["over a range", "{% for i in range(1000000000) %}{% endfor %}"],
    ["over an endless range", "{{ range(0, 1, 0) }}"],
    ["over a list", `${USED}{% for a in [1, 2, 3, 4] %}{% for b in [1, 2, 3, 4] %}{{ a }}{% endfor %}{% endfor %}`],
    ["in a macro", `${USED}{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(4) }}`],
  ])("%s", async (_, template) => {
    await expect(renderWithTemplate(template, asked([user]))).rejects.toThrow("it takes more than 2000000 steps");
  });
  test("and ranges are otherwise as in Python", async () => {
    const template = "{{ range(3) }} {{ range(2, 4) }} {{ range(5, 0, -2) }} {{ range(0, 5, 2) }} {{ range(4, 2) }}";
    expect(await renderWithTemplate(template, asked([user]))).toBe("[0, 1, 2] [2, 3] [5, 3, 1] [0, 2, 4] []");
  });
});

describe("errors are one line", () => {
  test.each(["{% if %}", "{{ raise_exception('no\n system') }}", "{{ messages() }}"])("%j", async (template) => {
    await expect(renderWithTemplate(template, asked([user, called]))).rejects.toThrow(/^the template failed: .+$/);
  });
});

describe("compareTemplate", () => {
  /** A dialect of roles and the number of tools only; each variant opens differently. */
  const roles: Dialect = {
    ...json,
    variants: ["square", "angle"],
    render: ({ messages, tools = [] }, { variant } = {}) => {
      const open = variant === "angle" ? "<" : "[";
      return [{ text: `${open}${messages.map(({ role }) => role).join(" ")} ${tools.length}` }];
    },
  };
  const body = "{% for m in messages %}{{ m.role }} {% endfor %}{{ (tools or []) | length }}";

  test("an equal template is recognized, with its variant", async () => {
    expect(await compareTemplate(roles, `<${body}`)).toEqual({ equal: true, variant: "angle", equalProbes: 6, probes: 6, differences: [] });
  });
  test("is not equal in another variant", async () => {
    const { equal, differences } = await compareTemplate(roles, `<${body}`, { variant: "square" });
    expect(equal).toBe(false);
    expect(differences[0]).toEqual({ probe: "a question", at: 0, builtIn: "[user 0", template: "<user 0" });
  });
  test("the first difference of each differing probe is shown", async () => {
    const template = `[${body}{% if tools %}!{% endif %}`;
    expect(await compareTemplate(roles, template)).toMatchObject({
      equal: false,
      variant: "square",
      equalProbes: 3,
      differences: [{ probe: "tools", at: 14 }, { probe: "a call and its result" }, { probe: "two calls at once" }],
    });
  });
  test("the first difference is looked for after the first token, if the template writes one", async () => {
    const withBos: Dialect = {
      ...roles,
      render: (request, options) => [{ text: options?.bos ? "<s>" : "" }, ...roles.render(request, options)],
    };
    const { differences } = await compareTemplate(withBos, `<s>[${body}!`);
    expect(differences[0]).toEqual({ probe: "a question", at: 10, builtIn: "<s>[user 0", template: "<s>[user 0!" });
  });
  test("a probe that the template refuses is a difference", async () => {
    const { differences } = await compareTemplate(roles, `[${body}{% if tools %}{{ raise_exception('no tools') }}{% endif %}`);
    expect(differences[0]).toEqual({ probe: "tools", error: "the template failed: no tools" });
  });
});
