// The small parts that all wires share: names, media, raw JSON, bridged tools, state, the capsule, events.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event, JsonObject, Message, Opaque, Part, Request } from "../../src/core/nouns.ts";
import { NO_CONTEXT } from "../../src/wires/accumulate.ts";
import { adapt } from "../../src/wires/adapt.ts";
import { bridgeTool, customInput, toolKind } from "../../src/wires/bridge.ts";
import { openCapsule, recalled, sealCapsule } from "../../src/wires/capsule.ts";
import { EventWriter } from "../../src/wires/events.ts";
import { mediaFromUrl, urlOfMedia } from "../../src/wires/media.ts";
import { Names, ownName } from "../../src/wires/names.ts";
import { putExtra, putState, withState } from "../../src/wires/opaque.ts";
import { argumentsValue, printBody } from "../../src/wires/raw.ts";
import { Source } from "../../src/wires/request-in.ts";
import { Warnings } from "../../src/wires/warnings.ts";

describe("names", () => {
  const rule = { forbidden: /[^A-Za-z0-9_-]/g, max: 64 };

  test("allowed names stay", () => {
    const names = new Names(["get_weather", "b-2"], rule);
    expect(["get_weather", "b-2"].map((name) => names.out(name))).toEqual(["get_weather", "b-2"]);
    expect(names.context).toEqual({});
  });
  test("any names can be mapped back, never collide, and do not depend on the order", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1, maxLength: 90, unit: fc.constantFrom("a", "_", ".", "é") })), (list) => {
        const names = new Names(list, rule);
        const sent = list.map((name) => names.out(name));
        expect(new Set(sent).size).toBe(list.length);
        for (const name of sent) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(sent.map((name) => ownName({ names: names.context }, name))).toEqual(list);
      }),
    );
    expect(new Names(["x.y", "a b"], rule).out("a b")).toBe(new Names(["a b"], rule).out("a b"));
  });
  test("a rule for the first character is kept", () => {
    const names = new Names(["1st"], { forbidden: /[^\w.:-]/g, max: 128, first: /^[A-Za-z_]/ });
    expect(names.out("1st")).toMatch(/^_1st_/);
  });
});

describe("media", () => {
  test("data URLs are split and joined", () => {
    const png = { type: "media", mediaType: "image/png", data: "AA" } as const;
    expect(mediaFromUrl("data:image/png;base64,AA", "image/*")).toEqual(png);
    expect(urlOfMedia(png)).toBe("data:image/png;base64,AA");
    expect(mediaFromUrl("https://x/y,z.png", "image/*")).toEqual({ type: "media", mediaType: "image/*", url: "https://x/y,z.png" });
    expect(mediaFromUrl("data:text/plain,hi", "text/*").url).toBe("data:text/plain,hi");
  });
});

describe("a request that a server cannot accept as it is", () => {
  const able = { wire: "openai-chat", media: () => true, sampling: {} } as const;
  const adapted = (messages: Message[], more: object = {}) => adapt({ model: "m", messages }, { ...able, ...more });

  test("media of results, and media the model made, move after all results of the round", () => {
    const media = [{ type: "media", mediaType: "image/png", data: "AA" } as const];
    const result = (id: string): Message => ({ role: "tool", id, name: "f", output: id });
    const user: Message = { role: "user", content: [] };
    const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: {} });
    const calls: Message = { role: "assistant", content: [...media, call("1"), call("2")] };
    const last: Message = { role: "assistant", content: [call("3")] };
    const { request, warnings } = adapted(
      [calls, { ...result("1"), media } as Message, result("2"), user, last, { ...result("3"), media } as Message],
      { media: (_: unknown, role: string) => role === "user" },
    );
    expect(request.messages).toEqual([
      { ...calls, content: calls.content.slice(1) },
      result("1"),
      result("2"),
      {
        role: "user",
        content: [
          { type: "text", text: "[media that the assistant made]" },
          ...media,
          { type: "text", text: expect.stringContaining("f, call 1") },
          ...media,
        ],
      },
      user,
      last,
      result("3"),
      { role: "user", content: [{ type: "text", text: expect.stringContaining("call 3") }, ...media] },
    ]);
    expect(warnings.list).toHaveLength(2);
  });
  test("a key that looks like a path is an ordinary key", () => {
    const { extra } = new Source("ollama", { "a.b": 1, "c[0]": 2 }).request({ model: "", messages: [] });
    const body = {};
    putExtra("ollama", body, { model: "", messages: [], extra: extra! }, new Warnings("ollama"));
    expect(body).toEqual({ "a.b": 1, "c[0]": 2 });
  });
});

describe("argument bytes", () => {
  test("survive in a printed body; any other body has only the value", () => {
    const json = '{"n":12345678901234567890,"x": 1.0}';
    const call = { arguments: JSON.parse(json), json };
    const body = { a: argumentsValue(call), mark: "\u00010\u0001", list: [argumentsValue(call)] };
    expect(printBody(body)).toBe(`{"a":${json},"mark":"\\u00010\\u0001","list":[${json}]}`);
    expect(JSON.parse(JSON.stringify(body)).a).toEqual(JSON.parse(json));
  });
  test("an object that would print the same stays an object", () => {
    const args = { a: 1 };
    expect(argumentsValue({ arguments: args, json: '{"a":1}' })).toBe(args);
    expect(argumentsValue({ arguments: args })).toBe(args);
    expect(printBody({ args })).toBe('{"args":{"a":1}}');
  });
});

test("a custom tool becomes a function with one string", () => {
  const tool = { name: "patch", kind: "custom", description: "D", grammar: { syntax: "lark", definition: "start: x" } } as const;
  expect(bridgeTool(tool)).toMatchObject({
    name: "patch",
    description: expect.stringMatching(/^D\n\n.*lark.*\nstart: x$/s),
    parameters: { required: ["input"] },
  });
  expect(bridgeTool(tool)).not.toHaveProperty("kind");
  expect(["patch", "f", "g"].map((name) => toolKind([tool, { name: "f" }], name))).toEqual(["custom", "function", "function"]);
  expect(customInput({ arguments: { input: "x" } })).toBe("x");
});

describe("fields that a wire does not model", () => {
  const wire = "gemini";

  test("come back in their place", () => {
    const body = {
      model: "m",
      odd: 1,
      deep: { known: 1, odd: { x: [1] } },
      tools: [{ search: {} }, { name: "f", odd: true, cache_control: {} }, { maps: {} }] as JsonObject[],
    };
    const rest = new Source(wire, body);
    rest.root.ask("model");
    rest.root.inner("deep").ask("known");
    const [tool] = rest.root
      .each("tools", (item, i) => {
        item.ask("name");
        if (i !== 1) rest.take(item.at, item.value, i === 2);
        return withState({ name: "f" }, item.state());
      })
      .slice(1);
    if (!tool) throw new Error("there is a tool");
    expect(tool.state).toContainEqual({ wire, kind: "cache_control", data: {}, quiet: true });
    const request: Request = { model: "m", messages: [], extra: rest.request({ model: "m", messages: [] }).extra! };

    const warnings = new Warnings("ollama");
    const again = { model: "m", deep: { known: 1 }, tools: [putState(wire, { name: "f" }, tool.state)] };
    putExtra(wire, again, request, warnings);
    expect(again).toEqual(body);
    expect(warnings.list).toEqual([]);

    const elsewhere = { model: "m", tools: [putState("ollama", { name: "f" }, tool.state)] };
    putExtra("ollama", elsewhere, request, warnings);
    warnings.foreign(request.extra);
    expect(elsewhere).toEqual({ model: "m", tools: [{ name: "f" }] });
    expect(warnings.list.map(({ code, message }) => `${code}: ${message.split(" ")[0]}`)).toEqual(
      ["dropped: odd", "dropped: odd", "dropped: deep.odd", "dropped: tools[0]"].slice(1),
    );
  });
  test("never replace our own fields, and __proto__ is an ordinary key", () => {
    const data = JSON.parse('{"__proto__": 1}');
    const target = putState(wire, { a: 1 }, [
      { wire, kind: "a", data: 2 },
      { wire, kind: "__proto__", data },
    ]);
    expect(target.a).toBe(1);
    expect(Object.hasOwn(target, "__proto__")).toBe(true);
  });
  test("a missing list is made again, and an element without a place is reported", () => {
    const warnings = new Warnings(wire);
    const body = {};
    const extra: Opaque[] = [
      { wire, kind: "tools[0]", data: { search: {} } },
      { wire, kind: "tools[5]", data: {} },
      { wire, kind: "messages[3].content[1]", data: {} },
    ];
    putExtra(wire, body, { model: "", messages: [], extra }, warnings);
    expect(body).toMatchObject({ tools: [{ search: {} }] });
    expect(warnings.list.map(({ code }) => code)).toEqual(["moved", "moved"]);
  });
});

describe("our capsule", () => {
  test("carries thinking and state", () => {
    const state: Opaque[] = [{ wire: "gemini", kind: "thoughtSignature", data: "s" }];
    const sealed = sealCapsule({ thoughts: [{ thinking: "hm … \u{1f600}", behind: 0 }], state })!;
    expect(sealed).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(openCapsule(sealed)).toEqual({ thoughts: [{ thinking: "hm … \u{1f600}" }], state });
  });
  test("is not made if empty or too large", () => {
    expect(sealCapsule({ thoughts: [{ thinking: "", state: [] }], state: [] })).toBeUndefined();
    expect(sealCapsule({ thoughts: [{ thinking: "x".repeat(300_000) }] })).toBeUndefined();
  });
  test("is ignored if it is broken or not ours", () => {
    const sealed = sealCapsule({ thoughts: [{ thinking: "hm" }] })!;
    for (const other of [
      "",
      "abc",
      "skip_thought_signature_validator",
      sealed.slice(0, -9),
      `${sealed}!`,
      btoa("dragoman/2:{}"),
      btoa("dragoman/1:[]"),
    ]) {
      expect(openCapsule(other)?.thoughts).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => openCapsule(text) === undefined && openCapsule(btoa("dragoman/1:") + text) !== null));
    expect(openCapsule(btoa('dragoman/1:{"state":[{"wire":1}, null]}'))).toEqual({});
  });

  test("thoughts come back in their place, instead of the client's copy", () => {
    const call = (id: string) => ({ type: "tool-call", id, name: "f", arguments: {} }) as const;
    const text = (said: string) => ({ type: "text", text: said }) as const;
    const thinking = (said: string) => ({ type: "thinking", text: said }) as const;
    const thoughts = [{ thinking: "1" }, { thinking: "2", behind: 3 }, { thinking: "3", behind: 4 }, { thinking: "4", behind: 99 }];
    const back = (...parts: Part[]) => recalled(parts, (id) => (id === "a" ? thoughts : undefined));
    expect(back(thinking("1234"), text("oh no"), call("a"), thinking("5"), call("b"))).toEqual([
      ...[thinking("1"), text("oh "), thinking("2"), text("n"), thinking("3"), text("o"), thinking("4"), call("a")],
      ...[thinking("5"), call("b")],
    ]);
    expect(back(call("b"), call("a"))).toEqual([call("b"), ...["1", "2", "3", "4"].map(thinking), call("a")]);
  });
});

describe("the events of an answer", () => {
  const written = (write: (writer: EventWriter) => void): Event[] => {
    const writer = new EventWriter(NO_CONTEXT);
    write(writer);
    return writer.take();
  };
  const finished = (write: (writer: EventWriter) => void) => written(write).at(-1);
  const call = (args: string) => ({ index: 0, id: "1", name: "f", arguments: args });

  test("thinking opens and closes in pairs; start, usage and finish come once", () => {
    expect(
      written((to) => {
        to.start("1", "m");
        to.start("2");
        to.usage({ inputTokens: 5 });
        to.thinking("a");
        to.thinking("");
        to.thinking("b");
        to.text("");
        to.text("x");
        to.endThinking();
        to.thinking("c");
        to.usage({ outputTokens: 7 });
        to.finish({ reason: "stop", native: "STOP" });
        to.text("too late");
        to.finish({ reason: "length" });
      }),
    ).toEqual([
      { type: "start", id: "1", model: "m" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "a" },
      { type: "thinking-delta", text: "b" },
      { type: "thinking-end" },
      { type: "text", text: "x" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "c" },
      { type: "thinking-end" },
      { type: "usage", inputTokens: 5, outputTokens: 7 },
      { type: "finish", reason: "stop", native: "STOP" },
    ]);
  });
  test.each([
    ["a call", "{}", { reason: "stop" }, { reason: "tool-calls" }],
    ["a call and length", "{}", { reason: "length" }, { reason: "length" }],
    ["a truncated call", "{", { reason: "length" }, { reason: "length" }],
    ["an unreadable call", "{", { reason: "tool-calls" }, { reason: "error", error: { code: "malformed-call" } }],
    ["an end without a reason", "{}", { ended: true }, { reason: "tool-calls" }],
    ["no end", "{}", {}, { reason: "error", error: { code: "upstream" } }],
    ["an error", "{}", { error: { code: "overloaded", message: "" } }, { reason: "error", error: { code: "overloaded" } }],
  ] as const)("%s", (_, args, end, finish) => {
    expect(
      finished((to) => {
        to.call(call(args));
        to.finish(end);
      }),
    ).toMatchObject(finish);
  });
  test("tool-calls without a call becomes stop", () => {
    expect(finished((to) => to.finish({ reason: "tool-calls" }))).toMatchObject({ reason: "stop" });
  });
});
