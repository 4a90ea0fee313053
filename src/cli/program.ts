/**
 * The command line. A user's mistake is one line on stderr and exit code 2; a bug is one line and exit code 1; `--verbose` adds the stack
 * of either.
 */
import { Command, CommanderError } from "commander";
import { VERSION } from "../chat/version.ts";
import { EngineError } from "../engines/error.ts";
import { addChat } from "./chat.ts";
import { Complaint } from "./complaint.ts";
import { addDemo } from "./demo.ts";
import { addDetect } from "./detect.ts";
import { addDialects } from "./dialects.ts";
import { addGrammar } from "./grammar.ts";
import { addRecordings } from "./recordings.ts";
import { addRender } from "./render.ts";
import { addScan } from "./scan.ts";
import { addServe } from "./serve.ts";
import { addStart } from "./start.ts";
import { paletteOf, visible, visibleLines } from "./terminal.ts";
import { addTranslate } from "./translate.ts";
import { watchOutput } from "./unheard.ts";

export async function run(): Promise<void> {
  const program = build();
  watchOutput();
  try {
    if (process.argv.length < 3) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    report(error, program);
  }
}

function build(): Command {
  const program = new Command("dragoman")
    .description("Translates between language models and the programs that call them.")
    .version(VERSION, "--version", "print the version")
    .option("--verbose", "show the stack of an error; with serve: show each tool call as it is assembled")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput({ outputError() {} })
    .configureHelp({ showGlobalOptions: true });
  for (const [heading, commands] of COMMANDS) {
    program.commandsGroup(heading);
    for (const add of commands) add(program);
  }
  const help = program.helpCommand(false).commandsGroup("Help:").command("help [command]").description("print the help of a command");
  help.action((name?: string) => {
    const found = name === undefined ? program : program.commands.find((command) => command.name() === name);
    if (!found) throw new Complaint(`unknown command '${name}'; see dragoman --help`);
    found.outputHelp();
  });
  return program;
}

const COMMANDS: readonly (readonly [heading: string, commands: readonly ((program: Command) => void)[]])[] = [
  ["Models and clients:", [addStart, addChat, addServe]],
  ["Recordings (of serve --record):", [addRecordings]],
  ["Formats:", [addTranslate, addScan, addRender, addGrammar, addDetect, addDialects, addDemo]],
];

/** Help and version: printed already, and no error. */
const PRINTED: ReadonlySet<string> = new Set(["commander.helpDisplayed", "commander.help", "commander.version"]);

function report(error: unknown, program: Command): void {
  if (error instanceof CommanderError && PRINTED.has(error.code)) return;
  const { red } = paletteOf(process.stderr);
  process.stderr.write(`${red("dragoman:")} ${visible(lineOf(error, program))}\n`);
  if (program.opts<{ verbose?: true }>().verbose && error instanceof Error) process.stderr.write(`${visibleLines(error.stack ?? "")}\n`);
  process.exitCode = isWorded(error) || error instanceof CommanderError ? 2 : 1;
}

/** Whether the message is written for users. An engine's "internal" error is a bug. */
const isWorded = (error: unknown): error is Error =>
  error instanceof Complaint || (error instanceof EngineError && error.info.code !== "internal");

function lineOf(error: unknown, program: Command): string {
  if (error instanceof CommanderError) {
    const command = process.argv.slice(2).find((word) => program.commands.some((command) => command.name() === word));
    const help = ["dragoman", ...(command ? [command] : []), "--help"].join(" ");
    return `${error.message.replace(/^error: |\.$/g, "").replaceAll("\n", " ")}; see ${help}`;
  }
  if (isWorded(error)) return error.message;
  return `this is a bug: ${error instanceof Error ? error.message : String(error)}; --verbose shows where`;
}
