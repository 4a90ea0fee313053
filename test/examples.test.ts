// Each example runs as its first lines say, on a scripted model.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { kill } from "./children.ts";
import { type Doing, startModel } from "./cli/chat/upstream.ts";
import { everything } from "./everything.ts";
import { tempFolder } from "./servers.ts";

const folder = tempFolder();

function start(name: string, args: readonly string[]) {
  const child = spawn(process.execPath, [`examples/${name}`, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => kill(child));
  return child;
}

async function outputOf(name: string, args: readonly string[], input = ""): Promise<string> {
  const child = start(name, args);
  child.stdin.end(input);
  let output = "";
  for await (const text of child.stdout.setEncoding("utf8")) output += text;
  return output;
}

test("colours: the page turns red", async () => {
  const { url } = await startModel((last, n): Doing[] =>
    n === 0 ? [{ call: "change_background_color", with: { color: "red" } }] : [`It is ${JSON.parse(last.content).color}.`],
  );
  const child = start("colours.mjs", [url, "0"]);
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const address = String(line).trim();
  expect(await (await fetch(address)).text()).toContain("make it red");
  const answer = await (await fetch(`${address}/say`, { method: "POST", body: "make it red" })).text();
  const events = answer
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool-result", name: "change_background_color", output: { color: "red" } }),
  );
  expect(
    events
      .filter(({ type }) => type === "text")
      .map(({ text }) => text)
      .join(""),
  ).toBe("It is red.");
});

test("colours: a second request waits, and the server survives", async () => {
  const { url } = await startModel((last): Doing[] => [`You said ${last.content}.`]);
  const child = start("colours.mjs", [url, "0"]);
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  const say = async (body: string) => (await fetch(`${String(line).trim()}/say`, { method: "POST", body })).text();
  for (const answer of await Promise.all([say("one"), say("two")])) expect(answer).toContain('"reason":"stop"');
});

test("files: a note is written once, and not twice", async () => {
  const write: Doing = { call: "write_file", with: { path: "today.txt", content: "Buy milk" } };
  const { url } = await startModel((last): Doing[] => (last.role === "tool" ? ["Very well."] : [write]));
  const output = await outputOf("files.mjs", [folder, url], "write it\nwrite it again\n");
  expect(output.split("[write_file today.txt]")).toHaveLength(3);
  expect(output).toContain("[write_file: The user did not allow this call: the file already exists");
  expect(readFileSync(join(folder, "today.txt"), "utf8")).toBe("Buy milk");
});

test("mcp: a real server's tool is called", async () => {
  const { url } = await startModel((_, n): Doing[] => (n === 0 ? [{ call: "get-sum", with: { a: 2, b: 40 } }] : ["It is 42."]));
  const server = `${process.execPath} ${everything}`;
  const output = await outputOf("mcp.mjs", [server, "What is 2 + 40?", url]);
  expect(output).toMatch(/echo.*\nget-sum \{"a":2,"b":40\}\n-> "The sum of 2 and 40 is 42\."\nIt is 42\.\n/);
});

test("mcp: without a server it prints its usage", async () => {
  const child = spawn(process.execPath, ["examples/mcp.mjs"], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  for await (const text of child.stderr.setEncoding("utf8")) said += text;
  expect(said).toMatch(/^usage: node examples\/mcp\.mjs .*\n$/);
});

test("handover: the second model gets what the first did", async () => {
  const first = await startModel((_, n): Doing[] => (n === 0 ? [{ call: "get_weather", with: { city: "Oslo" } }] : ["12 degrees, clear."]));
  const second = await startModel(() => ["No."]);
  expect(await outputOf("handover.mjs", [first.url, second.url])).toBe(
    "first:  12 degrees, clear.\nsecond: No.\nsent:   user, assistant, tool, assistant, user\n",
  );
  const [, , result] = second.bodies()[0]?.messages ?? [];
  expect(JSON.parse(result?.content ?? "")).toEqual({ city: "Oslo", degrees: 12, sky: "clear" });
});

test("every example is tested, transformers.mjs in a file of its own", () => {
  const scripts = readdirSync("examples").filter((name) => name.endsWith(".mjs"));
  expect(scripts.sort()).toEqual(["colours.mjs", "engine.mjs", "files.mjs", "handover.mjs", "mcp.mjs", "transformers.mjs"]);
});
