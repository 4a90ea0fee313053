// `dragoman chat` without a terminal: one prompt, a pipe, JSON, user-defined tools, MCP servers, and the errors when something is missing.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ChatEvent } from "../../../src/chat/index.ts";
import { type Run, runOf } from "../../children.ts";
import { everything } from "../../everything.ts";
import { answering, nobody, startServer, tempFolder } from "../../servers.ts";
import { envWith, folder, main } from "../run.ts";
import { type Doing, startModel } from "./upstream.ts";

const files = folder();
const state = tempFolder();

/**
 * The test's own server must keep answering, so the child runs asynchronously. `null`: its stdin stays open, and it waits half a second for
 * input.
 */
function chat(args: readonly string[], input: string | null = ""): Promise<Run> {
  const child = spawn(process.execPath, [main, "chat", ...args], { env: envWith({ XDG_STATE_HOME: state }) });
  if (input !== null) child.stdin.end(input);
  return runOf(child);
}

const eventsOf = ({ stdout }: Run): ChatEvent[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ChatEvent);

/** Calls that tool once, then repeats its result. */
const using = (name: string, args: unknown) =>
  startModel((last, n): Doing[] => (n > 0 ? [`It gave ${last.content}`] : [{ call: name, with: args }]));

describe("-p", () => {
  test("prints only the answer, whether or not its stdin is closed", async () => {
    const { url } = await startModel(() => [{ think: "Hm." }, "Hello ", "there."]);
    expect(await chat(["--upstream", url, "-p", "hi"], "")).toEqual({ code: 0, stdout: "Hello there.\n", stderr: "" });
    // On Windows it cannot tell that nobody writes into an open stdin, and says that it waited.
    const stderr = process.platform === "win32" ? "dragoman: no piped input; going on without it\n" : "";
    expect(await chat(["--upstream", url, "-p", "hi"], null)).toEqual({ code: 0, stdout: "Hello there.\n", stderr });
  });

  test("text piped to its stdin follows the prompt", async () => {
    const { url, bodies } = await startModel(() => ["Six."]);
    expect(await chat(["--upstream", url, "--no-tools", "-p", "Sum:"], "1 2 3")).toMatchObject({ code: 0, stdout: "Six.\n" });
    expect(JSON.stringify(bodies()[0]?.messages)).toContain("Sum:\\n\\n1 2 3");
  });

  test("runs the tools that work offline", async () => {
    const { url, bodies } = await using("calculate", { expression: "17 * (3 + 4)" });
    expect(await chat(["--upstream", url, "--model", "large", "--system", "Be brief.", "-p", "17 * (3 + 4)?"])).toMatchObject({
      code: 0,
      stdout: 'It gave {"result":119}\n',
    });
    const [first] = bodies();
    expect(first?.model).toBe("large");
    expect(first?.messages).toMatchObject([{ role: "system", content: "Be brief." }, { role: "user" }]);
    expect(first?.tools?.map((tool) => tool.function.name)).toEqual(
      "get_time calculate list_files read_file write_file change_background_color".split(" "),
    );
  });

  test("files are written into the given folder", async () => {
    const { url } = await using("write_file", { path: "a/hello.txt", content: "Hello" });
    const path = mkdtempSync(join(state, "folder-"));
    expect(await chat(["--upstream", url, "--folder", path, "-p", "write it"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(path, "a/hello.txt"), "utf8")).toBe("Hello");
  });

  test("a folder that is missing or a file is a mistake", async () => {
    for (const path of [join(state, "nope"), files.file("a-file", "x")])
      expect(await chat(["--folder", path, "-p", "hi"])).toEqual({
        code: 2,
        stdout: "",
        stderr: `dragoman: --folder: there is no folder ${path}\n`,
      });
  });

  test.each(["", "  \n"])("an empty prompt, %j, reaches no model", async (prompt) => {
    const { url, bodies } = await startModel(() => ["Hello?"]);
    const stderr = "dragoman: the prompt is empty, and there is no piped input: there is nothing to answer\n";
    expect(await chat(["--upstream", url, "-p", prompt], "")).toEqual({ code: 2, stdout: "", stderr });
    expect(bodies()).toEqual([]);
    expect(await chat(["--upstream", url, "-p", prompt], "Hi")).toMatchObject({ code: 0, stdout: "Hello?\n" });
  });

  test("settings that the server does not know are reported, once", async () => {
    const { url } = await using("get_time", {});
    const { code, stderr } = await chat(["--upstream", url, "--think", "-p", "what time is it?"]);
    expect([code, stderr]).toEqual([0, "dragoman: thinking.enabled has no place in openai-chat and was left out\n"]);
  });

  test("--json prints every event as a line", async () => {
    const { url } = await using("get_time", {});
    const events = eventsOf(await chat(["--upstream", url, "--json", "-p", "what time is it?"]));
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["tool-start", "tool-end", "tool-run", "tool-result", "text", "finish"]),
    );
    expect(events.find(({ type }) => type === "tool-result")).toMatchObject({ output: { timezone: expect.any(String) } });
    expect(events.at(-1)).toMatchObject({
      type: "turn-end",
      turn: { reason: "stop", steps: 2, usage: { inputTokens: 2400, outputTokens: 68 } },
    });
  });

  test("control characters are made visible; JSON keeps their value", async () => {
    const { url } = await startModel(() => ["red \x1b[31mred\x07\n\tend"]);
    expect((await chat(["--upstream", url, "-p", "x"])).stdout).toBe("red \\x1b[31mred\\x07\n\tend\n");
    const run = await chat(["--upstream", url, "--json", "-p", "x"]);
    expect(run.stdout).not.toContain("\x1b");
    expect(
      eventsOf(run)
        .flatMap((event) => (event.type === "text" ? event.text : []))
        .join(""),
    ).toBe("red \x1b[31mred\x07\n\tend");
  });

  test("--no-tools declares no tools", async () => {
    const { url, bodies } = await startModel(() => ["Hi"]);
    await chat(["--upstream", url, "--no-tools", "-p", "hi"]);
    expect(bodies()[0]).not.toHaveProperty("tools");
  });

  test("an upstream error is one line and exit code 2", async () => {
    const { url } = await startModel(() => []);
    const gone = await chat(["--upstream", `${nobody}/v1`, "--upstream-wire", "openai-chat", "--model", "m", "-p", "hi"]);
    expect(gone).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^dragoman: .*\n$/) });
    const unknown = await chat(["--upstream", url, "--model", "huge", "-p", "hi"]);
    expect(unknown).toMatchObject({ code: 2, stderr: "dragoman: there is no model huge; available: small, large\n" });
    const busy = await startServer(answering('{"error":{"message":"slow down"}}', { status: 429, "retry-after": "7" }));
    const later = await chat(["--upstream", busy.url, "--upstream-wire", "openai-chat", "--model", "m", "-p", "hi"]);
    expect(later).toMatchObject({ code: 2, stderr: "dragoman: slow down (try again in 7 s)\n" });
  });
});

test("piped lines are a conversation", async () => {
  const { url, bodies } = await startModel((last) => [`You said ${last.content}.`]);
  expect(await chat(["--upstream", url], "one\n\ntwo\n")).toEqual({ code: 0, stdout: "You said one.\nYou said two.\n", stderr: "" });
  expect(bodies()[1]?.messages.map(({ content }) => content)).toEqual(["one", "You said one.", "two"]);
});

test("a saved conversation continues", async () => {
  const { url, bodies } = await startModel(() => ["Ann."]);
  const data = {
    version: 1,
    system: "Be kind.",
    messages: [
      { role: "user", content: [{ type: "text", text: "I am Ann." }] },
      { role: "assistant", content: [{ type: "text", text: "Hello Ann." }] },
    ],
    turns: [],
  };
  await chat(["--upstream", url, "--load", files.file("chat.json", data), "-p", "Who am I?"]);
  expect(bodies()[0]?.messages.map(({ content }) => content)).toEqual(["Be kind.", "I am Ann.", "Hello Ann.", "Who am I?"]);
  const bad = await chat(["--upstream", url, "--load", files.file("bad.json", { version: 9 }), "-p", "x"]);
  expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining("bad.json: not a saved chat") });
});

test("--help names the folder of the files that the model may use", async () => {
  const { stdout } = await chat(["--help"]);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(`write (default: ${join(state, "dragoman", "files")})`);
});

describe("--tool", () => {
  const library = new URL("../../../dist/chat/index.js", import.meta.url).href;

  test("a module with defineTool", async () => {
    const file = files.file(
      "tool.mjs",
      `import { defineTool } from ${JSON.stringify(library)};
      export default defineTool({ name: "shout", parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }, run: ({ text }) => text.toUpperCase() });
      export const more = [defineTool({ name: "calculate", run: () => "mine" })];`,
    );
    const { url, bodies } = await using("shout", { text: "hello" });
    expect(await chat(["--upstream", url, "--tool", file, "-p", "shout"])).toMatchObject({ code: 0, stdout: "It gave HELLO\n" });
    const names = bodies()[0]?.tools?.map((tool) => tool.function.name) ?? [];
    expect(names.filter((name) => name === "calculate")).toHaveLength(1);
    expect(names).toContain("shout");
  });

  test("a module that imports nothing: plain objects are tools, and their arguments are checked", async () => {
    const file = files.file(
      "plain.mjs",
      `export const shout = { name: "shout", parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }, run: ({ text }) => text.toUpperCase() };
      export default [shout];`,
    );
    const good = await using("shout", { text: "hello" });
    expect(await chat(["--upstream", good.url, "--tool", file, "-p", "x"])).toMatchObject({ code: 0, stdout: "It gave HELLO\n" });
    const bad = await using("shout", { text: 1 });
    expect(await chat(["--upstream", bad.url, "--tool", file, "-p", "x"])).toMatchObject({ stdout: expect.stringContaining("text") });
  });

  test.each([
    ["that is missing", "none.mjs", undefined, "cannot read none.mjs: there is no such file"],
    ["without tools", "empty.mjs", "export const a = 1;", "exports no tool"],
    [
      "with an invalid schema",
      "schema.mjs",
      "export default { name: 'a', parameters: { type: 'thing' }, run() {} };",
      "not a valid JSON Schema",
    ],
    ["with an error", "fault.mjs", "throw new Error('broken module');", "broken module"],
  ])("a module %s is reported", async (_, name, source, why) => {
    const { url } = await startModel(() => ["Hi"]);
    const file = source === undefined ? name : files.file(name, source);
    expect(await chat(["--upstream", url, "--tool", file, "-p", "x"])).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });
});

describe("--mcp", () => {
  const server = `"${process.execPath}" "${everything}"`;

  test("a real server: its tools are declared, and run", async () => {
    const { url, bodies } = await using("get-sum", { a: 2, b: 40 });
    expect(await chat(["--upstream", url, "--mcp", server, "-p", "2 + 40?"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("The sum of 2 and 40 is 42"),
    });
    expect(bodies()[0]?.tools?.map((tool) => tool.function.name)).toEqual(expect.arrayContaining(["echo", "get-tiny-image", "calculate"]));
  });

  test("images in results reach the model", async () => {
    const { url, bodies } = await using("get-tiny-image", {});
    expect(await chat(["--upstream", url, "--mcp", server, "-p", "an image"])).toMatchObject({ code: 0 });
    expect(JSON.stringify(bodies()[1]?.messages)).toContain("data:image/png;base64,iVBOR");
  });

  test("a server's instructions are in the system text, once, after the user's", async () => {
    const { url, bodies } = await startModel(() => ["Hi"]);
    await chat(["--upstream", url, "--mcp", server, "--mcp", server, "--system", "Be kind.", "-p", "x"]);
    const { content } = bodies()[0]?.messages[0] ?? {};
    expect(content).toMatch(/^Be kind\.\n\n.*# Everything Server/s);
    expect(String(content).split("# Everything Server")).toHaveLength(2);
  });

  test("a file of servers: variables, folders, and a prefix for tool names that are taken", async () => {
    const bad = fileURLToPath(new URL("../../chat/mcp-server.mjs", import.meta.url));
    const file = files.file("my servers.json", {
      mcpServers: {
        first: { command: process.execPath, args: [bad], cwd: state },
        "the second": { type: "stdio", command: process.execPath, args: [bad], cwd: state, env: { WHO: `\${WHO_IS_IT:-somebody}` } },
      },
    });
    const { url, bodies } = await using("the_second_where", {});
    expect(await chat(["--upstream", url, "--mcp", file, "-p", "x"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("somebody"),
    });
    const names = bodies()[0]?.tools?.map((tool) => tool.function.name);
    expect(names).toEqual(expect.arrayContaining(["where", "the_second_where"]));
  });

  test.each([
    ["empty.json", {}, 'it has no "mcpServers"'],
    ["neither.json", { mcpServers: { x: {} } }, "x: it has neither a command nor a url"],
    ["args.json", { mcpServers: { x: { command: "a", args: "b" } } }, "x: args must be a list"],
    [
      "key.json",
      { mcpServers: { x: { url: "http://127.0.0.1:1", headers: { authorization: `Bearer \${NO_SUCH_KEY}` } } } },
      "the environment variable NO_SUCH_KEY is not set",
    ],
  ])("a file with a mistake is reported: %s", async (name, json, why) => {
    const { url } = await startModel(() => ["Hi"]);
    const run = await chat(["--upstream", url, "--mcp", files.file(name, json), "-p", "x"]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  });

  test("an unknown command is reported", async () => {
    const { url } = await startModel(() => ["Hi"]);
    expect(await chat(["--upstream", url, "--mcp", "there-is-no-such-command", "-p", "x"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there-is-no-such-command does not answer"),
    });
  });
});

test("piped text follows the prompt", async () => {
  const { url, bodies } = await startModel(() => ["ok"]);
  const file = join(state, "input.txt");
  writeFileSync(file, "three\nlines\nhere\n");
  const [node, print] = [`"${process.execPath}"`, `process.stdout.write(fs.readFileSync(process.argv[1]))`];
  const command = `${node} -e "${print}" "${file}" | ${node} "${main}" chat --upstream ${url} -p "Summarise:"`;
  const env = envWith({ XDG_STATE_HOME: state });
  const child = spawn(command, { shell: true, env, stdio: ["ignore", "inherit", "inherit"] }); // a shell's pipe: Node's own are sockets
  await new Promise((resolve) => child.once("close", resolve));
  expect(bodies()[0]?.messages.at(-1)?.content).toBe("Summarise:\n\nthree\nlines\nhere");
});

test.skipIf(process.platform === "win32")("a signal ends the chat, although more lines were piped", async () => {
  const { url, bodies } = await startModel((_, n) => (n === 0 ? ["Well ", { wait: true }] : ["Again."]));
  const child = spawn(process.execPath, [main, "chat", "--upstream", url], { env: envWith({ XDG_STATE_HOME: state }) });
  child.stdin.end("one\ntwo\n");
  child.stdout.once("data", () => child.kill("SIGTERM"));
  expect(await runOf(child)).toMatchObject({ code: 130, stdout: "Well \n" });
  expect(bodies()).toHaveLength(1);
});
