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
      "A conversation with a model, in the terminal. It has tools that work offline (time, calculator, files in one folder, terminal colours), " +
        "tools of yours, and those of MCP servers.",
    );
  addModelOptions(chat, "the embedded model, or else what runs on this machine")
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
