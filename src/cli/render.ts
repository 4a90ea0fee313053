/** `dragoman render`: an OpenAI chat request in, the prompt that the model sees out. */
import { type Command, Option } from "commander";
import { type Dialect, type Prompt, promptText, type RenderOptions } from "../index.ts";
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
    .argument("[file]", "the request (JSON); without it, or with -, what is piped in")
    .option("-d, --dialect <id>", DIALECT, readDialect)
    .option("--thinking", "the model shall think")
    .option("--no-thinking", "it shall not")
    .option("--no-generation-prompt", "end where the last message ends")
    .option("--bos", "begin with the token that most tokenizers add")
    .option("--adapt", "add what a good prompt needs beyond the template's bytes")
    .addOption(new Option("--neutralize", "break control tokens apart that data forges").conflicts("pieces"))
    .option("--pieces", "show control tokens apart from data")
    .option("--json", "pieces as JSON, as in a pipe")
    .option("--no-json", "pieces to read, as in a terminal")
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
  if (!isTTY) return promptText(prompt, { neutralize }); // to the byte
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
