// The question whether the runtime for models in this process should be installed, in a terminal.
import { expect, onTestFinished, test, vi } from "vitest";
import { NoRuntime, openModel } from "../../src/cli/local-model.ts";
import { MissingRuntime } from "../../src/engines/llama/index.ts";
import { Streams } from "./chat/terminal.ts";

vi.mock("../../src/engines/llama/index.ts", async (original) => ({
  ...(await original<object>()),
  createLlama: () => Promise.reject(new MissingRuntime(undefined)),
}));

async function asked() {
  const streams = new Streams();
  vi.spyOn(process, "stdin", "get").mockReturnValue(streams.stdin as typeof process.stdin);
  onTestFinished(() => void vi.restoreAllMocks());
  const opened = openModel("embedded", {}, streams.stdout);
  await streams.shows("now? [y/N]");
  return { streams, opened };
}

test.each([
  ["no", ["no", "Enter"]],
  ["nothing", ["Enter"]],
  ["Ctrl-D", ["C-d"]],
])("%s installs nothing", async (_, keys) => {
  const { streams, opened } = await asked();
  const declined = expect(opened).rejects.toThrow(NoRuntime);
  await streams.type(...keys);
  await declined;
});

test("Ctrl-C ends the program", async () => {
  const exit = vi.spyOn(process, "exit");
  const ended = new Promise((resolve) => exit.mockImplementation((code) => resolve(code) as never));
  const { streams } = await asked();
  await streams.type("C-c");
  expect(await ended).toBe(130);
});
