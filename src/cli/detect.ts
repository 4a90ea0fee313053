/** `dragoman detect`: finds the dialect of a model from its name or file. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { isObject } from "../core/json.ts";
import { cluesIn as cluesInGguf, GgufError, readGguf, textIn } from "../engines/gguf.ts";
import { type Clues, type Detection, detectDialect } from "../index.ts";
import { Complaint } from "./complaint.ts";
import { parseJson, readText, unreadable } from "./input.ts";
import { jsonLine, paletteOf, send, visible } from "./terminal.ts";

interface DetectFlags {
  sample?: string;
  json?: boolean;
}

export function addDetect(program: Command): void {
  program
    .command("detect")
    .summary("find out which dialect a model speaks")
    .description("Finds out which dialect a model speaks, from its name, or from the name and chat template in its file.")
    .argument(
      "[model]",
      "a name as on Hugging Face, in Ollama or LM Studio; or a file: GGUF, tokenizer_config.json, template (.jinja); or a folder with such files",
    )
    .option("--sample <file>", "a file with output of the model (- for stdin), for when neither name nor template is known")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  dragoman detect qwen2.5:7b-instruct-q4_0
  dragoman detect ~/models/Qwen3-Coder-30B-A3B-Q4_K_M.gguf
  dragoman detect --json ./tokenizer_config.json`,
    )
    .action(detect);
}

async function detect(model: string | undefined, { sample, json }: DetectFlags): Promise<void> {
  const clues = model ? await cluesOf(model) : {};
  const found = detectDialect({ ...clues, ...(sample !== undefined && { sample: await readText(sample) }) });
  if (!found) throw new Complaint(model ? withName(model, clues) : withoutName(sample));
  await send(process.stdout, json ? `${jsonLine(found)}\n` : readable(found));
}

const withoutName = (sample: string | undefined): string =>
  sample === undefined
    ? "give the name or the file of a model (as in dragoman detect qwen3:8b)"
    : "cannot tell which dialect this output is in: it has no mark of any";

const withName = (model: string, clues: FileClues): string =>
  isPath(model) && !existsSync(model)
    ? `there is no file ${visible(model)}, and its name is not known either`
    : `cannot tell what ${visible(model)} speaks: ${whyNot(clues)}`;

function whyNot({ template, architecture, lack }: FileClues): string {
  const seen =
    template === undefined ? `${lack ? `${lack}, and ` : ""}the name is not known` : "neither its name nor its template is known";
  const kind = architecture === undefined ? "" : ` (its architecture is ${visible(architecture)})`;
  return `${seen}${kind}, or the model has no tools; "dragoman dialects" lists the known dialects`;
}

// ---- clues

/** These must exist as files. Anything else that does not exist is taken as a model's name, `x.gguf` too. */
const FILES = /\.(?:json|jinja2?)$/i;

/** A name on Hugging Face also has a slash, but not at these places. */
const isPath = (model: string): boolean => /^(?:\.{0,2}|~|[a-z]:)[\\/]|\.gguf$/i.test(model);

interface FileClues extends Clues {
  /** Not a clue, since base models have the same one, but shown to help the user look further. */
  architecture?: string;
  /** Why there is no template. */
  lack?: string;
}

async function cluesOf(model: string): Promise<FileClues> {
  // A name is no path either if it is too long for one, or if its vendor's name is a file here (`Qwen/Qwen3-8B`).
  const there = existsSync(model) ? statSync(model) : undefined;
  if (there?.isFile()) {
    const clues = await cluesIn(model);
    if (/json$/i.test(model) && clues.template === undefined)
      throw new Complaint(`${visible(model)} has no "chat_template"; if there is a chat_template.jinja, give that`);
    return clues;
  }
  if (!there?.isDirectory()) {
    if (FILES.test(model)) throw new Complaint(`cannot read ${visible(model)}: there is no such file`);
    return { model };
  }
  let found: FileClues = { model: resolve(model), lack: "nothing in this folder has a template" };
  const names = filesIn(model);
  for (const name of HOLDERS.flatMap((holder) => names.filter((name) => holder.test(name)))) {
    found = await cluesIn(join(model, name));
    if (found.template !== undefined) break;
  }
  return found;
}

/** Files in a folder that may hold the template, the most reliable first. An `mmproj` is a model's vision part. */
const HOLDERS = [/^chat_template\.jinja$/, /^(?:tokenizer_config|chat_template)\.json$/, /\.jinja2?$/i, /^(?!.*mmproj).*\.gguf$/i];

async function cluesIn(path: string): Promise<FileClues> {
  try {
    const gguf = await readGguf(path);
    if (gguf) {
      const architecture = textIn(gguf.metadata, "general.architecture");
      return { ...cluesInGguf(resolve(path), gguf), ...(architecture !== undefined && { architecture }) };
    }
  } catch (error) {
    if (error instanceof GgufError) throw new Complaint(`cannot read ${visible(path)}: ${error.message}`, { cause: error });
    throw unreadable(path, error);
  }
  if (!FILES.test(path)) return { model: resolve(path), lack: "the file is not a GGUF" };
  const text = await readText(path);
  const template = /json$/i.test(path) ? templateIn(parseJson(text, path)) : text;
  return { model: dirname(resolve(path)), ...(template !== undefined && { template }) };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    throw unreadable(folder, error);
  }
}

/** `chat_template` is a template, or a list of named templates. */
function templateIn(config: unknown): string | undefined {
  const given = isObject(config) ? config.chat_template : undefined;
  if (typeof given === "string") return given;
  if (Array.isArray(given)) {
    const named = given.filter(isNamedTemplate);
    const chosen = named.find(({ name }) => name === "tool_use") ?? named.find(({ name }) => name === "default") ?? named[0];
    return chosen?.template;
  }
  return undefined;
}

const isNamedTemplate = (entry: unknown): entry is { name: string; template: string } =>
  isObject(entry) && typeof entry.name === "string" && typeof entry.template === "string";

// ---- the answer

function readable({ id, variant, confidence, why, sampling }: Detection): string {
  const { bold, dim } = paletteOf(process.stdout);
  const rows: [string, string][] = [
    ["dialect", bold(id)],
    ["variant", variant ?? dim("unknown")],
    ["confidence", confidence],
    ["why", visible(why)],
  ];
  if (sampling) {
    const values = Object.entries(sampling.values).map(([key, value]) => `${key} ${value}`);
    rows.push(["sampling", `${values.join(", ")} ${dim(`(${sampling.source})`)}`]);
  }
  return rows.map(([name, value]) => `${dim(name)}${" ".repeat(12 - name.length)}${value}\n`).join("");
}
