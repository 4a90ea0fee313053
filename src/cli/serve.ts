/** `dragoman serve`: the gateway. */
import type { Command } from "commander";
import { readCount, readPort } from "./input.ts";
import { addModelOptions } from "./model-options.ts";
import { CONFIG, PORT, type ServeFlags } from "./serve-flags.ts";

export function addServe(program: Command): void {
  const serve = program
    .command("serve")
    .summary("start the gateway: every client, one port, any upstream")
    .description(
      "Starts a server that speaks the APIs of OpenAI, Anthropic, Gemini and Ollama to clients, in front of a server that speaks any of them, or of a model that runs in it.",
    );
  addModelOptions(serve, "what runs on this machine, or else the embedded model")
    .option("--parallel <n>", "how many conversations with it run at once", readCount)
    .option("--host <address>", "where to listen; beyond this machine only with a key (default: 127.0.0.1)")
    .option("--port <n>", `the port (default: ${PORT}, or the next one that is free)`, readPort)
    .option("--key <env:NAME...>", "the variable that has the key which clients must send")
    .option("--insecure", "listen beyond this machine without a key")
    .option("--config <file>", `the configuration (default: ${CONFIG}, if it is there)`)
    .option("--record <folder>", "keep each exchange as a file, without keys: for dragoman show, replay and compare")
    .option("--check", "look at the configuration and the upstreams, and say what is found")
    .addHelpText(
      "after",
      `
Examples:
  dragoman serve --upstream http://127.0.0.1:8000/v1
  dragoman serve --upstream ollama --model qwen3:8b --port 9000
  dragoman serve --model hf:unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M
  dragoman serve --model ~/models/functiongemma-270m-it-Q8_0.gguf --gpu
  dragoman serve --config dragoman.toml --check`,
    )
    .action(async (_: ServeFlags, command: Command) => (await import("./serve-run.ts")).serve(command.optsWithGlobals<ServeFlags>()));
}
