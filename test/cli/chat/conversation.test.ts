// The conversation in a terminal, as a person has it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { chat } from "../../../src/cli/chat/talk.ts";
import { everything } from "../../everything.ts";
import { tempFolder } from "../../servers.ts";
import { folder } from "../run.ts";
import { hasTmux, Streams, Tmux } from "./terminal.ts";
import { type Doing, startModel } from "./upstream.ts";

const state = tempFolder();
process.env.XDG_STATE_HOME = state;
process.env.NO_COLOR = "1";
const files = folder();
const library = new URL("../../../dist/chat/index.js", import.meta.url).href;

/** A model that does what it is asked to. */
const model = () =>
  startModel((last, n): Doing[] => {
    if (last.role === "tool") return [`The tool gave **${last.content.slice(0, 40)}**.`];
    if (last.content.includes("paint"))
      return [{ think: "A colour is wanted." }, { call: "change_background_color", with: { color: "dark blue" } }];
    if (last.content.includes("17")) return [{ call: "calculate", with: { expression: "17 * (3 + 4)" } }];
    if (last.content.includes("launch")) return [{ call: "launch", with: {} }];
    if (last.content.includes("story")) return ["Once upon a time ", { wait: true }];
    return [`Answer ${n} to \x1b[31m${last.content}`];
  });

describe("over streams", () => {
  test("answers, commands, a model that changes, and the way out", async () => {
    const { url, bodies } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("Dragoman");
    await streams.shows("› ");
    await streams.type("What is 17 * (3 + 4)?", "Enter");
    await streams.shows('{"expression":"17 * (3 + 4)"}');
    await streams.shows('{"result":119}');
    await streams.shows("2 steps · 2,400 in · 68 out");
    await streams.type("/model large", "Enter");
    await streams.shows("large at ");
    await streams.type("hello", "Enter");
    await streams.shows("Answer 2 to \\x1b[31mhello");
    expect(bodies().map(({ model }) => model)).toEqual(["small", "small", "large"]);
    expect(bodies()[2]?.messages).toHaveLength(5);
    await streams.type("/undo", "Enter");
    await streams.shows("1 turn left");
    await streams.type("/nonsense", "Enter");
    await streams.shows("there is no command /nonsense");
    await streams.type("/exit", "Enter");
    await over;
    expect(streams.output).not.toContain("\x1b[31mhello");
  });

  test("what the server cannot be told is said behind the first answer", async () => {
    const { url } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true, think: true }, streams);
    await streams.shows("› ");
    await streams.type("hello", "Enter");
    await streams.shows("thinking.enabled has no place in openai-chat");
    await streams.type("hello again", "Enter");
    await streams.shows("Answer 1");
    await streams.type("/exit", "Enter");
    await over;
    expect(streams.output.split("has no place")).toHaveLength(2);
  });

  test("Ctrl-C stops the answer, then clears the line, then leaves", async () => {
    const { url } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    await streams.type("a story", "Enter");
    await streams.shows("Once");
    await streams.type("C-c");
    await streams.shows("stopped");
    await streams.shows("› ");
    await streams.type("half a word", "C-c", "whole words", "Enter");
    await streams.shows("whole words");
    await streams.shows(/\d out/);
    await streams.shows("› ");
    await streams.type("C-c");
    await streams.shows("once more leaves");
    await streams.type("C-c");
    await over;
  });

  test("a conversation is saved, loaded, shown as it was sent", async () => {
    const { url, bodies } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    await streams.type("remember me", "Enter");
    await streams.shows(/\d out/);
    const file = join(state, "saved.json");
    await streams.type(`/save ${file}`, "Enter");
    await streams.shows("saved to");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1, messages: [{ role: "user" }, { role: "assistant" }] });
    await streams.type(`/save ${file}`, "Enter"); // a conversation goes on, and its file with it
    await streams.shows("saved to");
    const other = join(state, "package.json");
    writeFileSync(other, "{}");
    await streams.type(`/save ${other}`, "Enter");
    await streams.shows("package.json is there and is no saved conversation");
    expect(readFileSync(other, "utf8")).toBe("{}");
    await streams.type(`/save ${join(state, "no", "folder.json")}`, "Enter");
    await streams.shows("folder.json: there is no such folder");
    await streams.type("/prompt 9", "Enter");
    await streams.shows("there is no turn 9: the conversation has 1 turn");
    await streams.type("/prompt", "Enter");
    await streams.shows("/v1/chat/completions");
    await streams.shows('"remember me"');
    await streams.type("/new", "Enter");
    await streams.shows("a new conversation");
    await streams.type(`/load ${file}`, "Enter");
    await streams.shows("1 turn loaded");
    await streams.type("and?", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    await streams.type("/retry", "Enter");
    await streams.shows("Answer 2");
    expect(bodies()[2]?.messages).toEqual(bodies()[1]?.messages);
    await streams.type("/tools", "Enter");
    await streams.shows("(expression)");
    await streams.type("/help", "Enter");
    await streams.shows("/retry");
    await streams.type("C-d");
    await over;
  });

  test("a tool of somebody else's is asked for", async () => {
    const { url, bodies } = await model();
    const tool = files.file(
      "launch.mjs",
      `import { defineTool } from ${JSON.stringify(library)}; export default defineTool({ name: "launch", run: () => "lift-off" });`,
    );
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true, tool: [tool] }, streams);
    await streams.shows("› ");
    await streams.type("launch it", "Enter");
    await streams.shows("yes, no or always, and Enter");
    await streams.type("n", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[1]?.messages.at(-1)?.content).toContain("did not allow");
    await streams.type("launch it", "Enter");
    await streams.shows("yes, no or always, and Enter");
    await streams.type("A", "Enter");
    await streams.shows("lift-off");
    await streams.shows(/\d out/);
    await streams.type("launch again", "Enter");
    await streams.shows("lift-off");
    await streams.shows(/\d out/);
    await streams.type("C-d");
    await over;
    expect(streams.output.split("or always")).toHaveLength(3);
  });

  test("what is typed ahead when a tool is asked for is no answer, and is not lost", async () => {
    const { url, bodies } = await model();
    const tool = files.file("launch-too.mjs", `export default { name: "launch", run: () => "lift-off" };`);
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true, tool: [tool] }, streams);
    await streams.shows("› ");
    await streams.type("launch it", "Enter", "by the w");
    await streams.shows("and Enter");
    await streams.type("ay, always 😀x", "\x7f", "\x7f", "Enter");
    await streams.shows("and Enter"); // it is asked again
    await streams.type("yes", "Enter");
    await streams.shows("lift-off");
    await streams.shows(/\d out/);
    await streams.shows("Answer");
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("by the way, always");
    await streams.type("launch it", "Enter", "by the w");
    await streams.shows("and Enter");
    await streams.type("y", "Enter");
    await streams.shows("and Enter");
    await streams.type("C-c");
    await streams.shows("stopped");
    await streams.shows("Answer");
    expect(bodies().at(-1)?.messages.at(-2)).toMatchObject({ role: "tool", content: expect.stringContaining("stopped") });
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("by the wy");
    await streams.type("C-d");
    await over;
  });

  test("/retry sends what stands last in the conversation, whatever was said in another", async () => {
    const { url, bodies } = await model();
    const streams = new Streams();
    const said = () =>
      bodies()
        .at(-1)
        ?.messages.filter(({ role }) => role === "user")
        .map(({ content }) => content);
    const file = join(state, "old.json");
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    for (const text of ["/retry", "first", `/save ${file}`, "second", "/undo"]) {
      await streams.type(text, "Enter");
      await streams.shows(/\d out|saved to|turn left|nothing to send/);
      await streams.shows("› ");
    }
    await streams.type("/retry", "Enter");
    await streams.shows(/\d out/);
    expect(said()).toEqual(["first"]);
    await streams.type("third", "Enter");
    await streams.shows(/\d out/);
    await streams.type(`/load ${file}`, "Enter");
    await streams.shows("1 turn loaded");
    await streams.type("/retry", "Enter");
    await streams.shows(/\d out/);
    expect(said()).toEqual(["first"]);
    await streams.type("C-d");
    await over;
  });

  test("a long line is pasted in one stroke, not drawn again for each of its characters", async () => {
    const { url, bodies } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    const before = streams.output.length;
    const text = "word ".repeat(800);
    await streams.type(`\x1b[200~${text}\r\n\x07end\x1b[201~`, "Enter");
    await streams.shows("Answer");
    expect(bodies()[0]?.messages.at(-1)?.content).toBe(`${text}\nend`);
    expect(streams.output.length - before).toBeLessThan(6 * text.length);
    await streams.type("C-d");
    await over;
  });

  test("what is pasted is one message, what is typed ahead is not lost", async () => {
    const { url, bodies } = await model();
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    await streams.type("\x1b[200~first line\rsecond\tline\x1b[201~", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[0]?.messages.at(-1)?.content).toBe("first line\nsecond\tline");
    await streams.type("one\\", "Enter", "two", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[1]?.messages.at(-1)?.content).toBe("one\ntwo");
    await streams.type("a story", "Enter");
    await streams.shows("Once");
    await streams.type("typed ahead", "C-c");
    await streams.shows("typed ahead");
    await streams.type(" and sent", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[3]?.messages.at(-1)?.content).toBe("typed ahead and sent");
    await streams.type("a story", "Enter");
    await streams.shows("Once");
    await streams.type("queued", "Enter", "\x1b[200~pasted\rli\tnes\x1b[201~", "C-c");
    await streams.shows(/\d out/);
    await streams.shows("… ");
    await streams.type("Enter");
    await streams.shows(/\d out/);
    expect(
      bodies()
        .slice(5)
        .map(({ messages }) => messages.at(-1)?.content),
    ).toEqual(["queued", "pasted\nli\tnes"]);
    await streams.type("C-d");
    await over;
  });
});

describe.skipIf(!hasTmux)(`in tmux${hasTmux ? "" : " (tmux is not installed)"}`, () => {
  const open: Tmux[] = [];
  afterEach(async () => {
    for (const terminal of open.splice(0)) await terminal.close();
  });
  const start = (args: readonly string[]): Tmux => {
    const terminal = new Tmux(args, { XDG_STATE_HOME: state });
    open.push(terminal);
    return terminal;
  };

  test("a person asks, paints, interrupts, looks back and leaves", async () => {
    const { url } = await model();
    const terminal = start(["--upstream", url]);
    await terminal.shows("›");
    await terminal.type("What is 17 * (3 + 4)?", "Enter");
    const screen = await terminal.shows("2 steps");
    expect(screen).toContain('● calculate {"expression":"17 * (3 + 4)"}\n  └ {"result":119}\n\nThe tool gave {"result":119}.\n');
    await terminal.type("paint it", "Enter");
    expect(await terminal.shows(/2 steps[\s\S]*2 steps/)).toContain("┊ A colour is wanted.\n\n● change_background_color");
    expect(await terminal.styledScreen()).toContain("\x1b[2m┊"); // thinking is dimmed
    await terminal.type("a story", "Enter");
    await terminal.shows("Once upon a");
    await terminal.type("C-c");
    await terminal.shows("stopped");
    await terminal.shows(/stopped[\s\S]*›/);
    await terminal.type("Up", "Up");
    await terminal.shows("› paint it");
    await terminal.type("C-c");
    await terminal.type("/he", "Tab", "Enter");
    await terminal.shows(/stop the answer; at the prompt, clear the line[\s\S]*›/); // a key before the prompt is a key for the command
    await terminal.type("C-d");
    await terminal.exited;
  });

  test("a real MCP server", async () => {
    const { url } = await startModel((_, n): Doing[] => (n === 0 ? [{ call: "echo", with: { message: "hi" } }] : ["Done."]));
    const terminal = start(["--upstream", url, "--mcp", `${process.execPath} ${everything}`]);
    await terminal.shows("›");
    await terminal.type("echo hi", "Enter");
    expect(await terminal.shows("2 steps")).toContain('● echo {"message":"hi"}\n  └ Echo: hi\n\nDone.\n');
  });
});
