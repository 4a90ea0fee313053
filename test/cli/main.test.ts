// What all commands share: help, version, and mistakes in one line.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listDialects } from "../../src/dialects/registry.ts";
import { dragoman, envWith, folder, main } from "./run.ts";

const files = folder();
const known = listDialects()
  .map((dialect) => dialect.id)
  .join(", ");

const COMMANDS = "start chat serve show replay compare translate scan render grammar detect dialects demo".split(" ");

describe("help", () => {
  test.each(COMMANDS)("%s --help has an example, and fits into 80 columns", (command) => {
    const { code, stdout, stderr } = dragoman([command, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Examples?:\n  dragoman ${command}\\b`));
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });
  test("`help` with a command prints that command's help", () => {
    expect(dragoman(["help", "scan"])).toEqual(dragoman(["scan", "--help"]));
  });
  test("`help` with an unknown command is a mistake", () => {
    expect(dragoman(["help", "scam"])).toEqual({ code: 2, stdout: "", stderr: "dragoman: unknown command 'scam'; see dragoman --help\n" });
  });
  test("without a command the help is printed", () => {
    const { code, stdout } = dragoman([]);
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}[a-z]+(?= )/gm)?.map((name) => name.trim())).toEqual([...COMMANDS, "help"]); // the commands to begin with come first
    expect(dragoman(["--help"]).stdout).toBe(stdout);
  });
  test("the version is the package's", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    expect(dragoman(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });
});

test("no home folder is needed: a container's user may be only a number", () => {
  const homeless = `data:text/javascript,import os from "node:os";import { syncBuiltinESMExports } from "node:module";
    os.homedir = () => { throw new Error("uv_os_homedir returned ENOENT") }; syncBuiltinESMExports();`;
  const run = spawnSync(process.execPath, ["--import", homeless, main, "chat", "--help"], {
    encoding: "utf8",
    env: envWith({ XDG_STATE_HOME: "" }),
  });
  expect(run).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("dragoman chat -p") });
});

test("a Node that is too old is told so, whatever it cannot parse", () => {
  const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.8"}})';
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", old, main, "serve"], { encoding: "utf8", env: envWith() });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: "",
    stderr: "dragoman: this is Node 18.20.8, but 20.19 or newer is needed\n",
  });
});

describe("a mistake is one line, and exit code 2", () => {
  const broken = files.file("broken.json", '{"messages":\n\x1b[31m');
  const list = files.file("list.json", "[1]");
  const bare = files.file("bare.json", "{}");

  test.each<[string[], string]>([
    [["scan"], `give the dialect that the model speaks (as in --dialect gemma4); known: ${known}`],
    [["scan", "-d", "klingon"], `unknown dialect "klingon"; known: ${known}`],
    [["scan", "-d", "gema4"], 'unknown dialect "gema4" (Did you mean gemma4?); "dragoman dialects" lists all'],
    [["scan", "-d", "Kimi_K2"], 'unknown dialect "Kimi_K2" (Did you mean kimi-k2?); "dragoman dialects" lists all'],
    [["render", "-d", "qwen3:8b"], 'unknown dialect "qwen3:8b" (Did you mean hermes/qwen3-0.6b?); "dragoman dialects" lists all'],
    [["grammar", "-d", "gpt-oss"], 'unknown dialect "gpt-oss" (Did you mean harmony/gpt-oss-120b?); "dragoman dialects" lists all'],
    [["render", "-d", "\x1b[31m"], `unknown dialect "\\x1b[31m"; known: ${known}`],
    [["scan", "-d", "gemma4", "nowhere.txt"], "cannot read nowhere.txt: there is no such file"],
    [["scan", "-d", "gemma4", "src"], "cannot read src: it is a folder, not a file"],
    [["scan", "-d", "gemma4", "--tools", "nowhere.json"], "cannot read nowhere.json: there is no such file"],
    [["scan", "-d", "gemma4", "--tools", bare], `${bare} must be a list of tools, or a request with "tools"`],
    [["scan", "-d", "gemma4", "--tools", list], `${list}: tools[0] must be an object; it is 1`],
    [["scan", "-d", "gemma4", "--prompt", list], `${list} must be a prompt: the output of "render --pieces --json"`],
    [["scan", "-d", "gemma4", "--seed", "1"], '--seed works only with "--split random"'],
    [["render", "-d", "gemma4", "--json"], '--json and --no-json work only with "--pieces"'],
    [
      ["scan", "-d", "gemma4", "--split", "x"],
      "option '--split <n>' argument 'x' is invalid. It must be a whole number; see dragoman scan --help",
    ],
    [
      ["scan", "-d", "gemma4", "--split", "0"],
      "option '--split <n>' argument '0' is invalid. It must be at least 1; see dragoman scan --help",
    ],
    [
      ["replay", "recording.json", "--port", "65536"],
      "option '--port <n>' argument '65536' is invalid. It must be a port: 0 to 65535; see dragoman replay --help",
    ],
    [["scan", "--splt", "3"], "unknown option '--splt' (Did you mean --split?); see dragoman scan --help"],
    [["scan", "a", "b"], "too many arguments for 'scan'. Expected 1 argument but got 2; see dragoman scan --help"],
    [["show", "start", "--splt"], "unknown option '--splt'; see dragoman show --help"],
    [["scna"], "unknown command 'scna' (Did you mean scan?); see dragoman --help"],
    [
      ["render", "-d", "gemma4", "--neutralize", "--pieces"],
      "option '--neutralize' cannot be used with option '--pieces'; see dragoman render --help",
    ],
    [["render", "-d", "gemma4/x"], 'unknown variant "x" of gemma4; known: google-gemma-4-31b-2026-07-09, google-gemma-4-e2b-2026-07-09'],
    [["render", "-d", "gemma4", bare], `${bare}: messages must be a list of messages that is not empty; it is missing`],
    [["translate", "--to", "gemini"], "required option '--from <wire>' not specified; see dragoman translate --help"],
    [["translate", "--from", "x", "--to", "gemini"], 'unknown wire "x"; known: openai-chat, openai-responses, anthropic, gemini, ollama'],
    [["translate", "--from", "gemini", "--to", "ollama"], "the request is not JSON: Unexpected end of JSON input"],
    [["translate", "--from", "ollama", "--to", "gemini", list], `${list}: the body must be a JSON object`],
    [["translate", "--from", "ollama", "--to", "gemini", "--request", bare], "--request works only with --stream"],
    [
      ["translate", "--from", "ollama", "--to", "gemini", "--stream", "--json"],
      "option '--json' cannot be used with option '--stream'; see dragoman translate --help",
    ],
    [["render", "-d", "gemma4"], "the request: the body is not JSON: Unexpected end of JSON input"],
  ])("%j", (args, message) => {
    expect(dragoman(args)).toEqual({ code: 2, stdout: "", stderr: `dragoman: ${message}\n` });
  });

  test("also if the mistake contains line breaks and escape sequences", () => {
    const { code, stderr } = dragoman(["render", "-d", "gemma4", broken]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^dragoman: .*broken\.json: the body is not JSON: \P{Cc}*\n$/u);
  });
  test("--verbose adds the stack trace", () => {
    for (const args of [
      ["--verbose", "scan"],
      ["scan", "--verbose"],
    ]) {
      const { code, stderr } = dragoman(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^dragoman: .*\nComplaint: .*\n +at /);
    }
  });
});

test("an internal error is one line, and exit code 1", () => {
  const env = { NODE_OPTIONS: "--import=data:text/javascript,delete%20globalThis.TextDecoder" };
  const run = dragoman(["scan", "-d", "gemma4"], "Hi", env);
  expect(run).toEqual({ code: 1, stdout: "", stderr: "dragoman: this is a bug: TextDecoder is not defined; --verbose shows where\n" });
  expect(dragoman(["scan", "-d", "gemma4", "--verbose"], "Hi", env).stderr).toMatch(/\n +at .*input\.js/);
});
