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
      "Starts a server that speaks the APIs of OpenAI, Anthropic, Gemini and Ollama to clients. Behind it is an upstream server that speaks any one of them, or a model that runs in this process.",
    );
  addModelOptions(serve, "the servers found on this machine, or else the embedded model")
    .option("--parallel <n>", "how many conversations with a model in this process run at once", readCount)
    .option("--host <address>", "the address to listen on; other machines get access only with --key or --insecure (default: 127.0.0.1)")
    .option("--port <n>", `the port (default: ${PORT}, or the next free one)`, readPort)
    .option("--key <env:NAME...>", "the environment variable with the key that clients must send")
    .option("--insecure", "let other machines in without a key")
    .option("--config <file>", `the configuration file (default: ${CONFIG}, if it exists)`)
    .option("--record <folder>", "record each exchange in a file, without keys, for dragoman show, replay and compare")
    .option("--check", "check the configuration and the upstreams, print the findings, and exit")
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
