/** `dragoman serve`: the gateway. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { KNOWN } from "../gateway/known.ts";
import { listWires } from "../wires/registry.ts";
import { readCount } from "./input.ts";
import { CONFIG, PORT, type ServeFlags } from "./serve-flags.ts";

export function addServe(program: Command): void {
  program
    .command("serve")
    .summary("start the gateway: every client, one port, any upstream")
    .description(
      "Starts a server that speaks the APIs of OpenAI, Anthropic, Gemini and Ollama to clients, in front of a server that speaks any of them.",
    )
    .option(
      "--upstream <url or name>",
      `where the model is: a URL, or one of ${Object.keys(KNOWN).join(", ")}; without it, what runs on this machine`,
    )
    .addOption(
      new Option("--upstream-wire <wire>", "what the upstream speaks, or completions; without it, that is found out").choices([
        ...listWires().map(({ id }) => id),
        "completions",
      ]),
    )
    .option("--upstream-key <env:NAME>", "the variable that has the upstream's key")
    .option("--model <name>", "the upstream's model that answers, whatever clients ask for")
    .option("--host <address>", "where to listen; beyond this machine only with a key (default: 127.0.0.1)")
    .option("--port <n>", `the port (default: ${PORT}, or the next one that is free)`, readPort)
    .option("--key <env:NAME...>", "the variable that has the key which clients must send")
    .option("--insecure", "listen beyond this machine without a key")
    .option("--config <file>", `the configuration (default: ${CONFIG}, if it is there)`)
    .option("--record <folder>", "keep each exchange as a file, without keys: for dragoman show and dragoman replay")
    .option("--check", "look at the configuration and the upstreams, and say what is found")
    .addHelpText(
      "after",
      `
Examples:
  dragoman serve --upstream http://127.0.0.1:8000/v1
  dragoman serve --upstream ollama --model qwen3:8b --port 9000
  dragoman serve --config dragoman.toml --check`,
    )
    .action(async (flags: ServeFlags) => (await import("./serve-run.ts")).serve(flags));
}

function readPort(text: string): number {
  const port = readCount(text);
  if (port > 65_535) throw new InvalidArgumentError("It must be a port: 0 to 65535.");
  return port;
}
