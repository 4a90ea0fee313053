/** `dragoman start`: the gateway with the model that comes with it, and what to try. */
import { type Command, Option } from "commander";
import { readDialectSetting, readPort } from "./input.ts";
import { PORT } from "./serve-flags.ts";

export interface StartFlags {
  port?: number;
  model: string;
  dialect?: string;
}

export function addStart(program: Command): void {
  program
    .command("start")
    .summary("see it work: the gateway in front of the embedded model")
    .description(
      "Starts the gateway in front of the model that comes with Dragoman, shows one call through it, and says what to try. In a pipe: one line of JSON.",
    )
    .option("--port <n>", `the port (default: ${PORT}, or the next one that is free)`, readPort)
    .addOption(new Option("--model <file>", "another model: a GGUF, its URL, hf:owner/repo[:quant]").default("embedded"))
    .option(
      "--dialect <id>",
      "what the model speaks, with a variant behind it or not (hermes, hermes/qwen2.5-7b-instruct); without it, what its file says",
      readDialectSetting,
    )
    .addHelpText("after", "\nExample:\n  dragoman start --port 9000")
    .action(async (flags: StartFlags) => (await import("./start-run.ts")).start(flags));
}
