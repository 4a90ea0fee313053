// `dragoman chat` on a model in its own process: a GGUF that says fixed tokens.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { chat } from "../../../src/cli/chat/talk.ts";
import { scriptedModel, writeGguf } from "../../engines/llama/gguf.ts";
import { tempFolder } from "../../servers.ts";
import { dragoman, eventsOf } from "../run.ts";
import { Streams } from "./terminal.ts";

const folder = tempFolder();
process.env.XDG_STATE_HOME = folder;
process.env.NO_COLOR = "1";

const model = join(folder, "clock.gguf");
const call = ["<start_function_call>", "call:get_time{}", "<end_function_call>", "<start_function_response>"];
const words = ["<end_function_response>", "It is", " late.", "<end_of_turn>"];
writeFileSync(model, writeGguf(scriptedModel([...call, ...words])));
const flags = ["--model", model, "--dialect", "functiongemma"];

test("a call in the model's dialect runs, and the model continues after its result", () => {
  const run = dragoman(["chat", ...flags, "--json", "-p", "What time is it?"], "", { XDG_STATE_HOME: folder });
  const events = eventsOf(run);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-end", name: "get_time", arguments: {} }));
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool-result", output: expect.objectContaining({ weekday: expect.any(String) }) }),
  );
  expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe("It is late.");
});

test("/prompt shows the exact prompt, with its control tokens", async () => {
  const streams = new Streams();
  const over = chat({ model, dialect: "functiongemma", tools: true }, streams);
  await streams.shows("clock in this process (functiongemma)");
  await streams.shows("› ");
  await streams.says("What time is it?", "It is late.", "› ");
  await streams.says(
    "/prompt",
    "the prompt, in the dialect functiongemma",
    "<start_of_turn>developer",
    "<start_function_declaration>declaration:get_time{",
    "<start_function_response>response:get_time{",
  );
  await streams.type("C-d");
  await over;
});

test("without another model, none is suggested", async () => {
  const streams = new Streams();
  const over = chat({ model: "embedded", tools: true }, streams);
  await streams.shows("knows nothing");
  await streams.shows("› ");
  expect(streams.output).not.toContain("/model");
  await streams.type("C-d");
  await over;
});

test("a missing file is an error in one line", () => {
  expect(dragoman(["chat", "--model", "none.gguf", "-p", "hi"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "dragoman: there is no file none.gguf\n",
  });
});
