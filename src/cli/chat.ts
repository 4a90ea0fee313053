/** `dragoman chat`: a conversation with a model and its tools, in the terminal or for scripts. */
import type { Command } from "commander";
import type { ChatFlags } from "./chat/setup.ts";
import { stateFolder } from "./chat/state.ts";
import { addModelOptions } from "./model-options.ts";

const collect = (value: string, list: string[] = []): string[] => [...list, value];

export function addChat(program: Command): void {
  const chat = program
    .command("chat")
    .summary("talk to a model that uses tools")
    .description(
      "Starts a conversation with a model in the terminal. The model can use built-in tools that work offline (time, calculator, files in one folder, terminal colours), " +
        "your own tools, and those of MCP servers.",
    );
  addModelOptions(chat, "the embedded model, or else the servers found on this machine")
    .option("-p, --prompt <text>", "answer this prompt and exit; piped input is appended to it")
    .option("--json", "with -p or piped input: print every event as a line of JSON")
    .option("--system <text>", "the system prompt")
    .option(
      "--tool <file.mjs>",
      "a module that exports tools: objects with name, description, parameters and run; may be repeated",
      collect,
    )
    .option(
      "--mcp <command, URL or file.json>",
      'an MCP server whose tools the model may use, or a file with "mcpServers"; may be repeated',
      collect,
    )
    .option("--folder <path>", `the only folder whose files the model may read and write (default: ${stateFolder("files")})`)
    .option("--no-tools", "give the model no tools")
    .option("--think", "ask the model to think first, if it can")
    .option("--no-think", "ask the model not to think")
    .option("--yes", "do not ask before a tool of --tool or --mcp runs; without a terminal, nothing is asked")
    .option("--load <file>", "continue a conversation saved with /save")
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
