/** `dragoman render`: prints the prompt that the model sees for an OpenAI chat request. */
import { type Command, Option } from "commander";
import { type Dialect, type Prompt, promptText, type RenderOptions } from "../index.ts";
import { Complaint } from "./complaint.ts";
import { DIALECT, readDialect, readRequest, required } from "./input.ts";
import { Flow, jsonLine, type Palette, paletteOf, send, visible, visibleLines, widthOfScreen } from "./terminal.ts";

interface RenderFlags extends Pick<RenderOptions, "thinking" | "bos"> {
  dialect?: Dialect;
  generationPrompt: boolean;
  adapt?: boolean;
  neutralize?: boolean;
  pieces?: boolean;
  json?: boolean;
}

export function addRender(program: Command): void {
  program
    .command("render")
    .summary("print the prompt for a request")
    .description("Reads an OpenAI chat request and prints the prompt that the model sees.")
    .argument("[file]", "the request (JSON); - or nothing for stdin")
    .option("-d, --dialect <id>", DIALECT, readDialect)
    .option("--thinking", "ask the model to think")
    .option("--no-thinking", "ask the model not to think")
    .option("--no-generation-prompt", "end the prompt where the last message ends")
    .option("--bos", "begin with the BOS token, which most tokenizers add by themselves")
    .option("--adapt", "adapt the request first, as engines do, for what a good prompt needs beyond the template")
    .addOption(new Option("--neutralize", "break up control tokens that are forged in data").conflicts("pieces"))
    .option("--pieces", "show control tokens and data as separate pieces")
    .option("--json", "with --pieces: print JSON, even in a terminal")
    .option("--no-json", "with --pieces: print for reading, even in a pipe")
    .addHelpText(
      "after",
      `
Examples:
  dragoman render --dialect functiongemma request.json
  dragoman render --dialect json/chatml request.json
  dragoman render --dialect gemma4 --thinking --pieces request.json
  dragoman render --dialect gemma4 --neutralize < request.json > prompt.txt`,
    )
    .action(render);
}

async function render(file: string | undefined, flags: RenderFlags): Promise<void> {
  const dialect = required(flags.dialect);
  if (flags.json !== undefined && !flags.pieces) throw new Complaint('--json and --no-json work only with "--pieces"');
  const request = await readRequest(file);
  for (const { message } of request.warnings ?? []) process.stderr.write(`dragoman: ${visible(message)}\n`);
  const adapted = flags.adapt && dialect.adapt ? dialect.adapt(request) : request;
  await send(process.stdout, shown(dialect.render(adapted, renderOptions(flags)), flags));
}

function renderOptions({ thinking, bos, generationPrompt }: RenderFlags): RenderOptions {
  return {
    addGenerationPrompt: generationPrompt,
    ...(thinking !== undefined && { thinking }),
    ...(bos !== undefined && { bos }),
  };
}

function shown(prompt: Prompt, { pieces, json, neutralize = false }: RenderFlags): string {
  const { isTTY } = process.stdout;
  if (pieces) return (json ?? !isTTY) ? jsonPieces(prompt) : readablePieces(prompt, paletteOf(process.stdout));
  if (!isTTY) return promptText(prompt, { neutralize }); // byte for byte
  return neutralize ? `${visibleLines(promptText(prompt, { neutralize }))}\n` : coloured(prompt, paletteOf(process.stdout));
}

const coloured = (prompt: Prompt, { cyan }: Palette): string =>
  `${prompt.map(({ text, control }) => (control ? cyan(visible(text)) : visibleLines(text))).join("")}\n`;

/** A list with one piece on each line. */
const jsonPieces = (prompt: Prompt): string => `[${prompt.map((piece) => `\n${jsonLine(piece)}`).join(",")}\n]\n`;

function readablePieces(prompt: Prompt, palette: Palette): string {
  const { bold, cyan, dim } = palette;
  const width = widthOfScreen(process.stdout);
  const named = prompt.map(({ text, control, media }) => {
    const flow = new Flow({ palette, width, indent: 9 });
    const name = media ? "media" : control ? "control" : "data";
    const about = media ? dim(`  ${visible(media.mediaType)}`) : "";
    return `${(control ? cyan : dim)(name)}${" ".repeat(9 - name.length)}${flow.add(text, control && ((token) => bold(cyan(token))))}${about}\n`;
  });
  return named.join("");
}
