import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { getDialect, scanText } from "../../src/index.ts";
import { carried, endsOf, textOf } from "../dialects/scanning.ts";
import { merged } from "../events.ts";
import { dragoman, envWith, eventsOf, folder, main } from "./run.ts";

const output = '<|channel>thought\nHm.\n<channel|>Let me look 🙂.<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,zip:02134}<tool_call|>';
const expected = scanText(getDialect("gemma4"), output);
const files = folder();
const scan = (...args: string[]) => dragoman(["scan", "--dialect", "gemma4", ...args], output);
const scanOf = (input: string, ...args: string[]) => eventsOf(dragoman(["scan", "-d", "gemma4", ...args], input));

describe("input", () => {
  test("from a pipe", () => expect(merged(eventsOf(scan()))).toEqual(expected));
  test("from a file", () => expect(merged(scanOf("", files.file("output.txt", output)))).toEqual(expected));
  test("a dash means the pipe", () => expect(merged(scanOf(output, "-"))).toEqual(expected));
  test("empty input gives no events", () => expect(scanOf("")).toEqual([]));
  test("bytes that are not UTF-8 are replaced", () => {
    const bytes = new Uint8Array([0x61, 0xff, 0x62]);
    expect(textOf(eventsOf(dragoman(["scan", "-d", "gemma4"], bytes)))).toBe("a\ufffdb");
  });
  test.each([
    ["UTF-8", (text: string) => Buffer.from(text)],
    ["UTF-16", (text: string) => Buffer.from(text, "utf16le")],
    ["UTF-16, big-endian", (text: string) => Buffer.from(text, "utf16le").swap16()],
  ])("a byte order mark is no text before a call: %s", (_, encoded) => {
    const bytes = encoded('\ufeff{"name": "f", "arguments": {"city": "Malmö"}}\n');
    const [end, ...more] = endsOf(eventsOf(dragoman(["scan", "-d", "json"], bytes)));
    expect({ end: end?.arguments, more }).toEqual({ end: { city: "Malmö" }, more: [] });
  });
});

describe("a live pipe", () => {
  const live = () => {
    const child = spawn(process.execPath, [main, "scan", "-d", "gemma4"], { env: envWith() });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const until = async (what: string) => {
      while (!printed.includes(what)) await once(child.stdout, "data");
    };
    return { child, until, printed: () => printed };
  };

  test("an event is printed before the input ends", async () => {
    const { child, until } = live();
    child.stdin.write("Hello");
    await until('{"type":"text","text":"Hello"}\n');
    child.stdin.write("<|tool_call>call:f{");
    await until('"name":"f"');
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  test("a character cut between two writes is whole", async () => {
    const { child, until, printed } = live();
    const bytes = Buffer.from("🙂");
    child.stdin.write(Buffer.concat([Buffer.from("Hi"), bytes.subarray(0, 2)]));
    await until("Hi");
    child.stdin.end(bytes.subarray(2));
    await once(child, "close");
    expect(printed()).toContain("🙂");
  });

  test.skipIf(process.platform === "win32")("a reader that leaves is no error (Windows has no head)", () => {
    const long = files.file("long.txt", "one two three\n".repeat(100_000));
    const command = `"${process.execPath}" ${main} scan -d json "${long}" | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8", env: envWith() });
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n").at(-1)).toBe("0");
  });
});

describe("cutting", () => {
  test.each(["1", "2", "3", "1000"])("--split %s gives the same events", (n) => {
    expect(merged(eventsOf(scan("--split", n)))).toEqual(expected);
  });
  test("--split 1 gives a delta for each character", () => {
    const deltas = eventsOf(scan("--split", "1")).filter((event) => event.type === "thinking-delta");
    expect(deltas.map(({ text }) => text)).toEqual(["H", "m", ".", "\n"]);
  });
  test("--split random gives the same events, and says how to repeat the cuts", () => {
    const first = scan("--split", "random");
    expect(merged(eventsOf(first))).toEqual(expected);
    const seed = /--seed (\d+)\n$/.exec(first.stderr)?.[1] ?? "";
    expect(scan("--split", "random", "--seed", seed).stdout).toBe(first.stdout);
    expect(scan("--split", "random", "--seed", `${Number(seed) + 1}`).stdout).not.toBe(first.stdout);
  });
});

describe("options of the scanner", () => {
  const zip = { name: "get_weather", parameters: { type: "object", properties: { zip: { type: "string" } } } };

  test.each([
    ["a list of functions", [zip]],
    ["OpenAI's list", [{ type: "function", function: zip }]],
    ["a request", { messages: [], tools: [{ type: "function", function: zip }] }],
  ])("--tools accepts %s", (_, tools) => {
    const [end] = endsOf(eventsOf(scan("--tools", files.file("tools.json", tools))));
    expect(end?.arguments).toEqual({ city: "Oslo", zip: "02134" });
  });

  const first = (...args: string[]) => scanOf("Hm.<channel|>Yes.", ...args)[0]?.type;
  test("--start-in-thinking begins in thinking", () => {
    expect(first()).toBe("text");
    expect(first("--start-in-thinking")).toBe("thinking-start");
  });
  test("--prompt accepts a prompt's text or its pieces", () => {
    expect(first("--prompt", files.file("prompt.txt", "<|channel>thought\n"))).toBe("thinking-start");
    expect(first("--prompt", files.file("prompt.json", [{ text: "<|channel>", control: true }, { text: "thought\n" }]))).toBe(
      "thinking-start",
    );
    expect(first("--prompt", files.file("closed.txt", "<|channel>thought\n<channel|>"))).toBe("text");
  });
  test("--calls-in-thinking chooses what happens to calls inside thinking", () => {
    const input = "<|channel>thought\n<|tool_call>call:f{}<tool_call|><channel|>";
    const calls = (policy: string) => endsOf(scanOf(input, "--calls-in-thinking", policy)).length;
    expect(["promote", "promote-if-unclosed", "ignore"].map(calls)).toEqual([1, 0, 0]);
  });
  test("--max-call-chars and --max-depth limit calls", () => {
    const code = (...args: string[]) =>
      scanOf("<|tool_call>call:f{a:{b:{c:1}}}", ...args).flatMap((e) => (e.type === "malformed" ? e.code : []));
    expect(code()).toEqual([]);
    expect(code("--max-call-chars", "20")).toEqual(["too-long"]);
    expect(code("--max-depth", "2")).toEqual(["too-deep"]);
  });
  test("--id-prefix changes minted ids", () => {
    expect(endsOf(eventsOf(scan("--id-prefix", "tool-"))).map(({ id }) => id)).toEqual(["tool-0"]);
  });
});

describe("readable output", () => {
  const read = (input: string, env: Record<string, string> = {}, ...args: string[]) =>
    dragoman(["scan", "-d", "gemma4", "--no-json", ...args], input, env).stdout;

  test("has the event names in a column", () => {
    expect(read(`${output}<|tool_call>call:g{s:<|"|>one\ntwo`)).toBe(
      `\
thinking-start  <|channel>thought\\n
thinking-delta  Hm.↵
thinking-end    <channel|>
text            Let me look 🙂.
tool-start      ▶ get_weather  call_0
tool-delta      {"city":"Oslo","zip":2134}
tool-end        ✔ get_weather
                  city  Oslo
                  zip   2134
control         <tool_call|>
tool-start      ▶ g  call_1
tool-delta      {"s":"one\\ntwo
tool-end        ✂ g  cut off inside the call: never run it
                  s  one↵
                     two
1 call, 1 cut off
`,
    );
  });
  test("shows numbers as the model wrote them, and aligns wide characters", () => {
    const shown = read('<|tool_call>call:f{城市:<|"|>Oslo<|"|>,id:12345678901234567890,in:[{deep:9007199254740993}]}<tool_call|>');
    expect(shown).toContain("\n                  城市  Oslo\n                  id    12345678901234567890\n");
    expect(shown).toContain('\n                  in    [{"deep":9007199254740993}]\n');
  });
  test("says why a call is malformed", () => {
    expect(read("<|tool_call>oops<tool_call|>")).toBe(
      `malformed       ✘ no-name: "call:" was expected\n                <|tool_call>oops<tool_call|>\n0 calls, 1 malformed\n`,
    );
  });
  test("shortens long arguments", () => {
    const shown = read(`<|tool_call>call:f{s:<|"|>${"line\n".repeat(100)}<|"|>}`);
    expect(shown).toContain("… 88 more lines\n");
  });
  test("is the same however the text is cut, as long as the lines are short", () => {
    expect(read(output, {}, "--split", "1")).toBe(read(output));
  });
  test("--deltas shows every delta", () => {
    expect(read("ab", {}, "--split", "1", "--deltas")).toBe("text            a\ntext            b\n0 calls\n");
  });
});

describe("colours", () => {
  const shown = (env: Record<string, string>, ...args: string[]) => dragoman(["scan", "-d", "gemma4", ...args], output, env).stdout;

  test("there are none in a pipe", () => expect(shown({}, "--no-json")).not.toContain("\x1b"));
  test("FORCE_COLOR turns them on", () => expect(shown({ FORCE_COLOR: "1" }, "--no-json")).toContain("\x1b[36mtext\x1b[39m"));
  test("FORCE_COLOR=0 does not", () => expect(shown({ FORCE_COLOR: "0" }, "--no-json")).not.toContain("\x1b"));
  test("NO_COLOR takes precedence", () => expect(shown({ FORCE_COLOR: "1", NO_COLOR: "1" }, "--no-json")).not.toContain("\x1b"));
  test("JSON has none", () => expect(shown({ FORCE_COLOR: "1" })).not.toContain("\x1b"));
});

describe("control characters from a model", () => {
  const evil = "\x1b]0;title\x07 \x1b[31mred \x9b2J \u202e\u2066 \r\b\x7f \u{e0041}";
  const input = `<|channel>thought\n${evil}<channel|>${evil}<|tool_call>call:n${evil}{k${evil}:<|"|>${evil}<|"|>}<tool_call|><|tool_call>${evil}<tool_call|>`;
  const raw = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;

  test("are visible in readable output", () => {
    const { stdout } = dragoman(["scan", "-d", "gemma4", "--no-json"], input);
    expect(stdout).not.toMatch(raw);
    for (const shown of ["\\x1b]0;title\\x07", "\\x9b2J", "\\u{202e}", "\\r", "\\x7f"]) expect(stdout).toContain(shown);
  });
  test("are escaped in JSON lines, which carry the same events", () => {
    const run = dragoman(["scan", "-d", "gemma4"], input);
    expect(run.stdout).not.toMatch(raw);
    expect(carried(eventsOf(run))).toBe(input);
  });
});
