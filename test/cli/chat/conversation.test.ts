// A conversation in a terminal, as a person has it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { chat } from "../../../src/cli/chat/talk.ts";
import { everything } from "../../everything.ts";
import { tempFolder } from "../../servers.ts";
import { folder } from "../run.ts";
import { hasTmux, Streams, Tmux } from "./terminal.ts";
import { type Doing, startModel } from "./upstream.ts";

const state = tempFolder();
process.env.XDG_STATE_HOME = state;
process.env.NO_COLOR = "1";
process.env.TERM = "xterm";
const files = folder();
const library = new URL("../../../dist/chat/index.js", import.meta.url).href;

/** A model that does what it is asked to. */
const model = () =>
  startModel((last, n): Doing[] => {
    if (last.role === "tool") return [`The tool gave **${last.content.slice(0, 40)}**.`];
    if (last.content.includes("paint"))
      return [{ think: "A colour is wanted." }, { call: "change_background_color", with: { color: "dark blue" } }];
    if (last.content.includes("17")) return [{ call: "calculate", with: { expression: "17 * (3 + 4)" } }];
    if (last.content.includes("launch both")) return ["left", "right"].map((side) => ({ call: "launch", with: { side } }));
    if (last.content.includes("launch")) return [{ call: "launch", with: {} }];
    if (last.content.includes("story")) return ["Once upon a time ", { wait: true }];
    return [`Answer ${n} to \x1b[31m${last.content}`];
  });

/** A conversation with it, up to the first prompt. */
async function begin(flags: { think?: boolean; tool?: string[] } = {}) {
  const { url, bodies } = await model();
  const streams = new Streams();
  const over = chat({ upstream: url, tools: true, ...flags }, streams);
  await streams.shows("Dragoman");
  await streams.shows("› ");
  return { streams, bodies, over };
}

describe("over streams", () => {
  test("answers, commands, a change of the model, and /quit", async () => {
    const { streams, bodies, over } = await begin();
    await streams.says("What is 17 * (3 + 4)?", '{"expression":"17 * (3 + 4)"}', '{"result":119}', "2 steps · 2,400 in · 68 out");
    await streams.says("/model large", "large at ");
    await streams.says("hello", "Answer 2 to \\x1b[31mhello");
    expect(bodies().map(({ model }) => model)).toEqual(["small", "small", "large"]);
    expect(bodies()[2]?.messages).toHaveLength(5);
    await streams.says("/undo", "1 turn left");
    await streams.says("/nonsense", "there is no command /nonsense");
    await streams.type("/exit", "Enter");
    await over;
    expect(streams.output).not.toContain("\x1b[31mhello");
  });

  test("a chat that cannot begin does not read the terminal, which would keep the process alive", async () => {
    const streams = new Streams();
    await expect(chat({ folder: join(state, "nowhere"), tools: true }, streams)).rejects.toThrow("there is no folder");
    expect(streams.stdin.readableFlowing).toBe(null);
  });

  test("a dumb terminal gets no escape sequence", async () => {
    vi.stubEnv("TERM", "dumb");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { streams, over } = await begin();
    await streams.says("paint it", "not a terminal with colours", "2 steps");
    await streams.type("/exit", "Enter");
    await over;
    expect(streams.output).not.toContain("\x1b");
  });

  test("settings that the server does not know are reported after the first answer", async () => {
    const { streams, over } = await begin({ think: true });
    await streams.says("hello", "thinking.enabled has no place in openai-chat");
    await streams.says("hello again", "Answer 1");
    await streams.type("/exit", "Enter");
    await over;
    expect(streams.output.split("has no place")).toHaveLength(2);
  });

  test("Ctrl-C stops the answer, then clears the line, then leaves", async () => {
    const { streams, over } = await begin();
    await streams.says("a story", "Once");
    await streams.type("C-c");
    await streams.shows("stopped");
    await streams.shows("› ");
    await streams.type("half a word", "C-c", "whole words", "Enter");
    await streams.shows("whole words");
    await streams.shows(/\d out/);
    await streams.shows("› ");
    await streams.type("C-c");
    await streams.shows("again to leave");
    await streams.type("C-c");
    await over;
  });

  test.skipIf(process.platform === "win32")(
    "after Ctrl-Z (not on Windows) the conversation goes on, and what was typed is kept",
    async () => {
      const kill = vi.spyOn(process, "kill");
      const stopped = new Promise<void>((resolve) => {
        kill.mockImplementation(() => {
          resolve();
          return true;
        });
      });
      onTestFinished(() => void vi.restoreAllMocks());
      const { streams, bodies, over } = await begin();
      await streams.type("half a ", "C-z");
      await stopped;
      expect(kill).toHaveBeenCalledWith(process.pid, "SIGTSTP");
      process.emit("SIGCONT");
      await streams.says("message", /\d out/);
      expect(bodies()[0]?.messages.at(-1)?.content).toBe("half a message");
      await streams.type("C-d");
      await over;
    },
  );

  test("Ctrl-C stops a command that waits, and not the program", async () => {
    const until = { listing: true };
    const { url, bodies } = await startModel(
      () => ["Answer."],
      ["small", "large"],
      () => until.listing,
    );
    const streams = new Streams();
    const over = chat({ upstream: url, tools: true }, streams);
    await streams.shows("› ");
    until.listing = false;
    await streams.type("/model large", "Enter", "C-c");
    await streams.shows("stopped");
    await streams.says("hello", "Answer.");
    expect(bodies().map(({ model }) => model)).toEqual(["small"]);
    await streams.type("C-d");
    await over;
  });

  test("a conversation can be saved, loaded, and shown as it was sent", async () => {
    const { streams, bodies, over } = await begin();
    await streams.says("remember me", /\d out/);
    const file = join(state, "saved.json");
    await streams.says(`/save ${file}`, "saved to");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1, messages: [{ role: "user" }, { role: "assistant" }] });
    await streams.type(`/save ${file}`, "Enter"); // the conversation goes on, and so does its file
    await streams.shows("saved to");
    const other = join(state, "package.json");
    writeFileSync(other, "{}");
    await streams.says(`/save ${other}`, "package.json exists and is not a saved conversation");
    expect(readFileSync(other, "utf8")).toBe("{}");
    await streams.says(`/save ${join(state, "no", "folder.json")}`, "folder.json: there is no such folder");
    await streams.says("/load -", "-: there is no such file");
    await streams.says("/prompt 9", "there is no turn 9: the conversation has 1 turn");
    await streams.says("/prompt", "/v1/chat/completions", '"remember me"');
    await streams.says("/new", "a new conversation");
    await streams.says(`/load ${file}`, "1 turn loaded");
    await streams.says("and?", /\d out/);
    expect(bodies()[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    await streams.says("/retry", "Answer 2");
    expect(bodies()[2]?.messages).toEqual(bodies()[1]?.messages);
    await streams.says("/tools", "(expression)");
    await streams.says("/help", "/retry");
    await streams.type("C-d");
    await over;
  });

  test("a tool of the user's own needs approval", async () => {
    const tool = files.file(
      "launch.mjs",
      `import { defineTool } from ${JSON.stringify(library)}; export default defineTool({ name: "launch", run: () => "lift-off" });`,
    );
    const { streams, bodies, over } = await begin({ tool: [tool] });
    await streams.says("launch it", "yes, no or always, and Enter");
    await streams.says("n", /\d out/);
    expect(bodies()[1]?.messages.at(-1)?.content).toContain("did not allow");
    await streams.says("launch it", "yes, no or always, and Enter");
    await streams.says("A", "lift-off", /\d out/);
    await streams.says("launch again", "lift-off", /\d out/);
    await streams.type("C-d");
    await over;
    expect(streams.output.split("or always")).toHaveLength(3);
  });

  test("each of several calls is shown when approval is asked", async () => {
    const tool = files.file(
      "launch-both.mjs",
      `export default { name: "launch", parameters: { properties: { side: {} } }, run: ({ side }) => side + " is up" };`,
    );
    const { streams, over } = await begin({ tool: [tool] });
    await streams.says("launch both", "side: left", "and Enter");
    await streams.says("no", "side: right", "and Enter");
    await streams.says("yes", "did not allow", "right is up", /\d out/);
    await streams.type("C-d");
    await over;
  });

  test("/show counts calls, whichever was done first", async () => {
    const tool = files.file(
      "launch-late.mjs",
      `let done; const right = new Promise((resolve) => { done = resolve });
       const lines = (side) => Array(9).fill(side + " is up").join("\\n");
       export default { name: "launch", readOnly: true, parameters: { properties: { side: {} } },
         run: ({ side }) => side === "left" ? right.then(() => lines(side)) : (setImmediate(done), lines(side)) };`,
    );
    const { streams, over } = await begin({ tool: [tool] });
    await streams.says("launch both", "right is up", "/show 2", "left is up", "/show 1", /\d out/);
    await streams.says("/show 2", /\n(right is up\n){9}/);
    await streams.says("/show 1", /\n(left is up\n){9}/);
    await streams.says("/show 3", "the last turn has 2 tool results");
    await streams.type("C-d");
    await over;
  });

  test("text typed ahead is not taken as approval, and is not lost", async () => {
    const tool = files.file("launch-too.mjs", `export default { name: "launch", run: () => "lift-off" };`);
    const { streams, bodies, over } = await begin({ tool: [tool] });
    await streams.type("launch it", "Enter", "by the w");
    await streams.shows("and Enter");
    await streams.type("ay, always 😀x", "\x7f", "\x7f", "Enter");
    await streams.shows("and Enter"); // it asks again
    await streams.says("yes", "lift-off", /\d out/, "Answer");
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("by the way, always");
    await streams.type("launch it", "Enter", "by the w");
    await streams.shows("and Enter");
    await streams.says("y", "and Enter");
    await streams.type("C-c");
    await streams.shows("stopped");
    await streams.shows("Answer");
    expect(bodies().at(-1)?.messages.at(-2)).toMatchObject({ role: "tool", content: expect.stringContaining("stopped") });
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("by the wy");
    await streams.type("C-d");
    await over;
  });

  test("a paste that begins during an answer and ends at the prompt is one message", async () => {
    const { streams, bodies, over } = await begin();
    await streams.says("a story", "Once");
    await streams.type("\x1b[200~first\rsec", "C-c");
    await streams.shows("… ");
    await streams.type("ond\rthird\x1b[201~", "Enter");
    await streams.shows(/\d out/);
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("first\nsecond\nthird");
    await streams.says("a story", "Once");
    await streams.type("ahead", "Enter", "C-c");
    await streams.shows("Answer");
    expect(bodies().at(-1)?.messages.at(-1)?.content).toBe("ahead");
    await streams.type("C-d");
    await over;
  });

  test("/retry repeats the last message of this conversation, whatever was said in another", async () => {
    const { streams, bodies, over } = await begin();
    const said = () =>
      bodies()
        .at(-1)
        ?.messages.filter(({ role }) => role === "user")
        .map(({ content }) => content);
    const file = join(state, "old.json");
    for (const text of ["/retry", "first", `/save ${file}`, "second", "/undo"]) {
      await streams.says(text, /\d out|saved to|turn left|no message to send/, "› ");
    }
    await streams.says("/retry", /\d out/);
    expect(said()).toEqual(["first"]);
    await streams.says("third", /\d out/);
    await streams.says(`/load ${file}`, "1 turn loaded");
    await streams.says("/retry", /\d out/);
    expect(said()).toEqual(["first"]);
    await streams.type("C-d");
    await over;
  });

  test("a long line is pasted in one go, not redrawn for each character", async () => {
    const { streams, bodies, over } = await begin();
    const before = streams.output.length;
    const text = "word ".repeat(800);
    await streams.says(`\x1b[200~${text}\r\n\x07end\x1b[201~`, "Answer");
    expect(bodies()[0]?.messages.at(-1)?.content).toBe(`${text}\nend`);
    expect(streams.output.length - before).toBeLessThan(6 * text.length);
    await streams.type("C-d");
    await over;
  });

  test("pasted lines are one message, and text typed ahead is not lost", async () => {
    const { streams, bodies, over } = await begin();
    await streams.says("\x1b[200~first line\rsecond\tline\x1b[201~", /\d out/);
    expect(bodies()[0]?.messages.at(-1)?.content).toBe("first line\nsecond\tline");
    await streams.type("one\\", "Enter", "two", "Enter");
    await streams.shows(/\d out/);
    expect(bodies()[1]?.messages.at(-1)?.content).toBe("one\ntwo");
    await streams.says("a story", "Once");
    await streams.type("typed ahead", "C-c");
    await streams.shows("typed ahead");
    await streams.says(" and sent", /\d out/);
    expect(bodies()[3]?.messages.at(-1)?.content).toBe("typed ahead and sent");
    await streams.says("a story", "Once");
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
    await terminal.shows(/stop the answer; at the prompt, clear the line[\s\S]*›/); // a key before the prompt reaches the command
    await terminal.type("C-d");
    await terminal.exited;
  });

  test("works with a real MCP server", async () => {
    const { url } = await startModel((_, n): Doing[] => (n === 0 ? [{ call: "echo", with: { message: "hi" } }] : ["Done."]));
    const terminal = start(["--upstream", url, "--mcp", `${process.execPath} ${everything}`]);
    await terminal.shows("›");
    await terminal.type("echo hi", "Enter");
    expect(await terminal.shows("2 steps")).toContain('● echo {"message":"hi"}\n  └ Echo: hi\n\nDone.\n');
  });
});
