/** `dragoman grammar`: prints a grammar that constrains a model to calls of the given tools. */
import { type Command, Option } from "commander";
import { type Dialect, type Grammar, listDialects, type Tool, type ToolChoice } from "../index.ts";
import { Complaint } from "./complaint.ts";
import { DIALECT, readDialect, readTools, required } from "./input.ts";
import { jsonLine, send, visible } from "./terminal.ts";

interface GrammarFlags {
  dialect?: Dialect;
  tools?: string;
  choice: string;
  parallelCalls: boolean;
  tag?: boolean;
  json?: boolean;
}

export function addGrammar(program: Command): void {
  program
    .command("grammar")
    .summary("print a grammar that constrains a model to its tools")
    .description(
      "Prints a grammar (GBNF, for llama.cpp) that constrains a model to calls of the declared tools. Notes on its use go to stderr.",
    )
    .option("-d, --dialect <id>", DIALECT, readDialect)
    .option("--tools <file>", "the declared tools (JSON, as in an OpenAI request); - for stdin")
    .option("--choice <choice>", "auto, required, none, or the name of the tool that must be called", "auto")
    .option("--no-parallel-calls", "allow one call at most")
    .addOption(new Option("--tag", "print a structural tag instead (JSON, for vLLM and SGLang)").conflicts("json"))
    .option("--json", "print everything as JSON: gbnf, structuralTag, triggers, preserved, relaxed")
    .addHelpText(
      "after",
      `
Examples:
  dragoman grammar -d hermes --tools tools.json --choice required > calls.gbnf
  dragoman grammar -d gemma4 --tools tools.json --choice get_weather --tag
  dragoman grammar -d qwen3-coder --tools tools.json --json | jq .triggers`,
    )
    .action(grammar);
}

async function grammar(flags: GrammarFlags): Promise<void> {
  const dialect = required(flags.dialect);
  const { id, grammar } = dialect;
  if (!grammar) throw new Complaint(`${id} has no grammar; these dialects have one: ${speakers().join(", ")}`);
  if (flags.tools === undefined) throw new Complaint("give the declared tools (as in --tools tools.json)");
  const { parallelCalls } = flags;
  const tools = await readTools(flags.tools);
  const made = grammar(tools, choiceOf(flags, tools), { parallelCalls });
  if (flags.json) return send(process.stdout, `${jsonLine(made)}\n`);
  if (made.gbnf === "") throw new Complaint(whyNone(id, tools));
  await send(process.stderr, notes(made, flags));
  await send(process.stdout, flags.tag ? `${jsonLine(made.structuralTag)}\n` : made.gbnf);
}

const speakers = (): string[] => listDialects().flatMap(({ id, grammar }) => (grammar ? id : []));

function whyNone(id: string, tools: readonly Tool[]): string {
  if (tools.length === 0) return "there are no tools, so there is nothing to constrain the model to";
  return `in ${id} nothing marks where a call begins, so there is no grammar for "auto"; try --choice required`;
}

function choiceOf({ choice }: GrammarFlags, tools: readonly Tool[]): ToolChoice {
  const names = tools.map(({ name }) => name);
  if (names.includes(choice)) return { name: choice };
  if (choice === "required" && names.length === 0) throw new Complaint("a call is required, but there are no tools");
  if (choice === "auto" || choice === "required" || choice === "none") return choice;
  throw new Complaint(
    `there is no tool "${visible(choice)}"; --choice takes ${["auto", "required", "none", ...names.map(visible)].join(", ")}`,
  );
}

/** What is needed to use the grammar. A structural tag contains its triggers. */
function notes({ triggers, preserved, relaxed }: Grammar, { tag }: GrammarFlags): string {
  const lines = [
    ...(tag ? [] : triggers.map(({ type, value }) => `trigger (${type}): ${value}`)),
    ...(preserved.length > 0 ? [`preserved: ${preserved.join(" ")}`] : []),
    ...relaxed.map(({ tool, path, keyword }) => `relaxed: ${keyword}${tool && ` at ${path || "/"} of ${tool}`}`),
  ];
  return lines.map((line) => `dragoman: ${visible(line)}\n`).join("");
}
