/**
 * `dragoman show`, `dragoman replay` and `dragoman compare`: recordings of `dragoman serve --record`, to read, to serve as an upstream, and
 * to test the gateway with.
 */
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Command } from "commander";
import type { Response } from "../core/nouns.ts";
import { accountOf } from "../gateway/recordings/account.ts";
import type { Comparison, Heard } from "../gateway/recordings/compare.ts";
import { type Prefix, Prefixes } from "../gateway/recordings/prefix.ts";
import { isRecording, type Recording, readRecording } from "../gateway/recordings/recording.ts";
import { Complaint } from "./complaint.ts";
import { readPort, readText } from "./input.ts";
import { partLines } from "./show.ts";
import { beside, Flow, type Output, type Palette, paletteOf, TWO_COLUMNS, visible, widthOfScreen } from "./terminal.ts";

export function addRecordings(program: Command): void {
  program
    .command("show")
    .summary("print a recorded exchange, and what is wrong with it")
    .description(
      "Prints an exchange that dragoman serve --record recorded: what the model wrote beside what the client got. For a folder, lists its exchanges and shows where a prompt stopped being the prefix that the upstream has in its cache.",
    )
    .argument("<file or folder>", "a recording, or a folder of recordings")
    .addHelpText(
      "after",
      "\nExamples:\n  dragoman show recordings\n  dragoman show recordings/2026-01-31T12-00-00-000Z_anthropic_req_1a2b.json",
    )
    .action(async (path: string) => {
      if (await isFolder(path)) return list(await filesAt(path), process.stdout);
      show(await recordingIn(path), process.stdout);
    });
  program
    .command("replay")
    .summary("serve a recorded exchange as an upstream")
    .description("Starts a server that answers as the upstream did in a recording, at the same pace.")
    .argument("<file>", "the recording")
    .option("--fast", "answer without pauses")
    .option("--port <n>", "the port (default: any free one)", readPort)
    .addHelpText(
      "after",
      "\nExample:\n  dragoman replay recording.json --port 9001 --fast\n  dragoman serve --upstream http://127.0.0.1:9001",
    )
    .action(async (file: string, { fast, port = 0 }: { fast?: boolean; port?: number }) => replay(await recordingIn(file), fast, port));
  program
    .command("compare")
    .summary("play recorded exchanges again, and compare what the client gets")
    .description(
      "Plays recordings through this version of the gateway, and tells whether the client would get the same bytes. Times, heartbeats, ids of exchanges and addresses of upstreams are not compared.",
    )
    .argument("<files or folders...>", "recordings, or folders of recordings")
    .addHelpText("after", "\nExample:\n  dragoman compare recordings")
    .action(async (paths: string[]) => compare((await Promise.all(paths.map(filesAt))).flat(), process.stdout));
}

async function recordingIn(file: string): Promise<Recording> {
  const text = await readText(file);
  try {
    return readRecording(text);
  } catch (error) {
    throw new Complaint(`cannot read ${visible(file)}: ${(error as Error).message}`, { cause: error });
  }
}

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

/** The file itself, or the recordings in a folder, the oldest first. */
async function filesAt(path: string): Promise<string[]> {
  if (!(await isFolder(path))) return [path];
  const names = (await readdir(path)).filter(isRecording).toSorted();
  if (names.length === 0) throw new Complaint(`there are no recordings in ${visible(path)}; dragoman serve --record makes them`);
  return names.map((name) => join(path, name));
}

async function replay(recording: Recording, fast: boolean | undefined, port: number): Promise<void> {
  const { createReplay } = await import("../gateway/recordings/replay.ts");
  const server = createReplay(recording, { fast });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Complaint(`cannot listen: ${error.message}`, { cause: error })));
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  process.stdout.write(`replaying at http://127.0.0.1:${typeof address === "object" ? address?.port : port}\n`);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
}

// ---- Comparing

/** Prints one line per file. The exit code is 1 if any differs. */
async function compare(files: readonly string[], output: Output): Promise<void> {
  const { compareRecording } = await import("../gateway/recordings/compare.ts");
  const { green, red, dim } = paletteOf(output);
  for (const file of files) {
    const recording = await recordingIn(file);
    const verdict = await compareRecording(recording).catch((error: Error) => error.message);
    const name = visible(file);
    if (typeof verdict === "string") output.write(`${dim("skipped")}  ${name}: ${verdict}\n`);
    else if (verdict.same) output.write(`${green("same")}     ${name}\n`);
    else {
      output.write(`${red("differs")}  ${name}\n${differenceOf(verdict)}`);
      process.exitCode = 1;
    }
  }
}

const SHOWN = 60;

/** Where the two answers first differ. */
function differenceOf({ recorded, now }: Comparison): string {
  if (recorded.status !== now.status) return `  status ${recorded.status} then, ${now.status} now\n`;
  let at = 0;
  while (at < recorded.body.length && recorded.body[at] === now.body[at]) at++;
  const from = ({ body }: Heard): string => JSON.stringify(body.slice(Math.max(0, at - SHOWN / 3), at + SHOWN));
  const then = `then, at ${at}:`;
  return `  ${then} ${visible(from(recorded))}\n  ${"now:".padEnd(then.length)} ${visible(from(now))}\n`;
}

// ---- Showing

/** Prompts that share less than this are different conversations. */
const RELATED = 0.5;

/** Lists the exchanges of a folder, and whether each prompt continues an earlier one. */
async function list(files: readonly string[], output: Output): Promise<void> {
  const palette = paletteOf(output);
  const prefixes = new Prefixes();
  for (const file of files) {
    const recording = await recordingIn(file);
    const [title = ""] = heading(recording, palette);
    const { anomalies } = accountOf(recording);
    const notes = [
      ...(recording.exchange.kind === "generate" ? prefixLines(prefixes.add(recording), palette) : []),
      ...anomalies.map((line) => palette.red(`! ${visible(line)}`)),
    ];
    output.write(`${[title, palette.dim(basename(file)), ...notes].join("\n  ")}\n`);
  }
}

function prefixLines({ back, shared, breaks }: Prefix, { green, yellow, dim }: Palette): string[] {
  if (shared < RELATED) return [dim("a new prompt")];
  const which = back === 1 ? "the one before" : `the one ${back} before`;
  if (!breaks) return [green(`continues ${which}`)];
  const { at, character, is, was } = breaks;
  return [
    yellow(`${Math.floor(shared * 100)}% the same as ${which}, then differs in ${visible(at)} at character ${character}`),
    `${dim("is ")} ${visible(is)}`,
    `${dim("was")} ${visible(was)}`,
  ];
}

const MAX_WIDTH = 160;

export function show(recording: Recording, output: Output): void {
  const palette = paletteOf(output);
  const width = Math.min(MAX_WIDTH, widthOfScreen(output));
  const account = accountOf(recording);
  const { text, upstream, events, client, anomalies } = account;
  const said: Response | undefined = text === undefined ? upstream : { content: [{ type: "text", text }] };
  const columns: readonly Column[] = [
    { title: "the model wrote", response: said, note: "nothing that can be read" },
    { title: "the client got", response: client, note: statusOf(recording) },
  ];
  const lines = [
    ...heading(recording, palette),
    "",
    ...printed(columns, palette, width),
    "",
    palette.bold("how Dragoman read it"),
    ...partsOf(events, palette, width),
    "",
    ...(anomalies.length === 0
      ? [palette.green("nothing odd")]
      : [palette.bold(palette.red("odd")), ...anomalies.map((line) => `  ${palette.red("!")} ${visible(line)}`)]),
  ];
  output.write(`${lines.join("\n")}\n`);
}

function heading({ at, exchange, upstream }: Recording, { bold, dim }: Palette): string[] {
  const { id, wire, model = "", upstream: name = "", upstreamModel = "", outcome, status, ms, warnings } = exchange;
  const asked = `${wire} ${model} → ${name}${upstreamModel === model ? "" : ` ${upstreamModel}`}`;
  return [
    `${bold(visible(asked))}  ${status}, ${outcome}, ${ms} ms`,
    dim(visible(`${at}  ${id}${upstream.length > 1 ? `, ${upstream.length} requests to the upstream` : ""}`)),
    ...warnings.map(({ code, message }) => dim(visible(`${code}: ${message}`))),
  ];
}

const statusOf = ({ client }: Recording): string => (client.response ? `status ${client.response.status}` : "nothing");

/** `note`: shown if there is no response. */
interface Column {
  readonly title: string;
  readonly response: Response | undefined;
  readonly note: string;
}

const partsOf = ({ content, finish }: Response, palette: Palette, width: number): string[] => {
  const end = finish ? [palette.dim(`  ${finish.reason}${finish.error ? `: ${visible(finish.error.message)}` : ""}`)] : [];
  return [...partLines(content, { palette, width }).split("\n").slice(0, -1), ...end];
};

function printed(columns: readonly Column[], palette: Palette, width: number): string[] {
  const isWide = width >= TWO_COLUMNS;
  const each = isWide ? Math.floor((width - 3) / 2) : width;
  const blocks = columns.map(({ title, response, note }) => [
    palette.bold(title),
    ...(response ? partsOf(response, palette, each) : [`  ${new Flow({ palette, width: each, indent: 2 }).add(note, palette.dim)}`]),
  ]);
  if (!isWide) return blocks.flatMap((block, i) => (i > 0 ? ["", ...block] : block));
  return beside(blocks, [each, each], palette);
}
