/** `dragoman start`: runs the gateway with the embedded model, and prints what to try. */
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
      "Starts the gateway in front of the small model that comes with Dragoman, shows one call through it, and what to try next. In a pipe, it prints one line of JSON instead.",
    )
    .option("--port <n>", `the port (default: ${PORT}, or the next free one)`, readPort)
    .addOption(new Option("--model <file>", "another model: a GGUF file, its URL, hf:owner/repo[:quant]").default("embedded"))
    .option(
      "--dialect <id>",
      "the dialect that the model speaks, with or without a variant (hermes, hermes/qwen2.5-7b-instruct; default: detected from its file)",
      readDialectSetting,
    )
    .addHelpText("after", "\nExample:\n  dragoman start --port 9000")
    .action(async (flags: StartFlags) => (await import("./start-run.ts")).start(flags));
}
