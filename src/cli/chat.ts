/** `dragoman chat`: a conversation with a model and its tools, in the terminal or for scripts. */
import { type Command, Option } from "commander";
import { KNOWN } from "../engines/known.ts";
import { listWires } from "../wires/registry.ts";
import type { ChatFlags } from "./chat/setup.ts";
import { stateFolder } from "./chat/state.ts";
import { readCount } from "./input.ts";

const collect = (value: string, list: string[] = []): string[] => [...list, value];

export function addChat(program: Command): void {
  program
    .command("chat")
    .summary("talk to a model that uses tools")
    .description(
      "A conversation with a model, in the terminal. It has tools that work offline (time, calculator, files in one folder, terminal colours), " +
        "tools of yours, and those of MCP servers.",
    )
    .option(
      "--upstream <url or name>",
      `where the model is: a URL, or one of ${Object.keys(KNOWN).join(", ")}; without it, the embedded model, or what runs on this machine`,
    )
    .addOption(
      new Option("--upstream-wire <wire>", "what the upstream speaks, or completions; without it, that is found out").choices([
        ...listWires().map(({ id }) => id),
        "completions",
      ]),
    )
    .option("--upstream-key <env:NAME>", "the variable that has the upstream's key")
    .option(
      "--model <name or file>",
      "the model that answers: a name that the upstream knows; or one to run here: a GGUF, its URL, hf:owner/repo[:quant], embedded",
    )
    .option("--gpu [kind]", "run the model on the GPU, or not at all: metal, cuda, vulkan, or any (default: if there is one)")
    .option("--context <tokens>", "how long a conversation with it may be", readCount)
    .option("--dialect <id>", "what it speaks; without it, what its file says")
    .option("-p, --prompt <text>", "answer this and end; what is piped in stands behind it")
    .option("--json", "with -p or a pipe: every event as a line of JSON")
    .option("--system <text>", "what the model is told before all")
    .option(
      "--tool <file.mjs>",
      "a module that exports tools: objects with name, description, parameters and run; may be repeated",
      collect,
    )
    .option("--mcp <command, URL or file.json>", 'an MCP server whose tools to use, or a file of "mcpServers"; may be repeated', collect)
    .option("--folder <path>", `the only folder whose files the model may read and write (default: ${stateFolder("files")})`)
    .option("--no-tools", "only talk")
    .option("--think", "let the model think first, where it can")
    .option("--no-think", "do not let it")
    .option("--yes", "do not ask before a tool of --tool or --mcp runs; scripts are never asked")
    .option("--load <file>", "go on with a conversation that /save has saved")
    .addHelpText(
      "after",
      `
Examples:
  dragoman chat
  dragoman chat --upstream ollama --model qwen3:8b
  dragoman chat --model hf:unsloth/Qwen3-4B-Instruct-2507-GGUF
  dragoman chat --mcp "npx -y @modelcontextprotocol/server-everything"
  dragoman chat -p "What is 17 * 23?" --json`,
    )
    .action(async (flags: ChatFlags) => (await import("./chat/talk.ts")).chat(flags));
}
