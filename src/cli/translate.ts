/** `dragoman translate`: translates a request, or the recorded stream of an answer, from one wire to another. */
import { type Command, Option } from "commander";
import { BadRequest, type ErrorInfo, type Event, type Request, type Wire, type WireInput } from "../index.ts";
import { pathOfBody } from "../wires/paths.ts";
import { printBody } from "../wires/raw.ts";
import { listWires } from "../wires/registry.ts";
import { readWarnings } from "../wires/warnings.ts";
import { Complaint } from "./complaint.ts";
import { parseJson, readText, textOf } from "./input.ts";
import { paletteOf, send, visible, visibleJson } from "./terminal.ts";

interface TranslateFlags {
  from: Wire;
  to: Wire;
  model?: string;
  stream?: boolean;
  request?: string;
  json?: boolean;
  indent?: boolean;
}

const WIRES = listWires().map(({ id }) => id);

export function addTranslate(program: Command): void {
  program
    .command("translate")
    .summary("translate a request, or a recorded stream, between APIs")
    .description(
      "Reads a request for one API and prints it as a request for another. What cannot be expressed there is reported on stderr.",
    )
    .argument("[file]", "the request (JSON): its body, or an object with path and body; - or nothing for stdin")
    .requiredOption("--from <wire>", `the API that the file is written for: ${WIRES.join(", ")}`, readWire)
    .requiredOption("--to <wire>", "the API to translate to", readWire)
    .option("--model <name>", "use this model; needed for a Gemini body, which does not name one")
    .option("--stream", "the file is the recorded stream of an answer, not a request")
    .option("--request <file>", "with --stream: the request that the answer is for, in the API of --to")
    .addOption(
      new Option("--json", "print path, headers and body in one line, which translate can read again").conflicts(["stream", "indent"]),
    )
    .addOption(new Option("--indent", "print path and indented body, even in a pipe").conflicts("stream"))
    .addHelpText(
      "after",
      `
Examples:
  dragoman translate --from anthropic --to gemini request.json
  dragoman translate --from openai-chat --to anthropic --json < request.json
  dragoman translate --from openai-chat --to gemini --stream answer.sse`,
    )
    .action(translate);
}

function readWire(id: string): Wire {
  const wire = listWires().find((wire) => wire.id === id);
  if (!wire) throw new Complaint(`unknown wire "${id}"; known: ${WIRES.join(", ")}`);
  return wire;
}

async function translate(file: string | undefined, flags: TranslateFlags): Promise<void> {
  if (flags.request !== undefined && !flags.stream) throw new Complaint("--request works only with --stream");
  await (flags.stream ? translateStream(file, flags) : translateRequest(file, flags));
}

const warn = ({ message }: { message: string }): void => void process.stderr.write(`dragoman: ${visible(message)}\n`);

// ---- a request

async function translateRequest(file: string | undefined, { from, to, model, json, indent }: TranslateFlags): Promise<void> {
  const request = await readRequest(file, from, model);
  const { path, headers, body, context } = to.encodeRequest(model === undefined ? request : { ...request, model });
  const warnings = new Map([...readWarnings(request), ...context.warnings].map((warning) => [warning.message, warning]));
  for (const warning of warnings.values()) warn(warning);
  if (json) await send(process.stdout, `${printBody({ path, headers, body })}\n`);
  else if (indent ?? process.stdout.isTTY) await send(process.stdout, readable(path, body));
  else await send(process.stdout, `${printBody(body)}\n`);
}

const readable = (path: string, body: unknown): string =>
  `${paletteOf(process.stdout).dim(`POST ${visible(path)}`)}\n${visibleJson(printBody(body, 2))}\n`;

async function readRequest(file: string | undefined, wire: Wire, model: string | undefined): Promise<Request> {
  const text = await readText(file);
  const name = file ?? "the request";
  try {
    const request = wire.decodeRequest(inputOf(text, parseJson(text, name), wire, model));
    if (request.model !== "") return request;
  } catch (error) {
    if (error instanceof BadRequest) throw new Complaint(`${visible(name)}: ${error.message}`, { cause: error });
    throw error;
  }
  throw new Complaint(`${visible(name)} names no model; give one with --model`);
}

/** A body alone is passed on as text, so that the bytes of arguments survive. */
function inputOf(text: string, json: unknown, wire: Wire, model?: string): WireInput {
  const fields = typeof json === "object" && json !== null ? json : {};
  if (!("path" in fields && typeof fields.path === "string" && "body" in fields)) {
    return { path: pathOfBody(wire.id, fields, model), query: {}, headers: {}, body: text };
  }
  const { pathname, searchParams } = new URL(fields.path, "http://recorded");
  const query = "query" in fields && typeof fields.query === "object" ? { ...fields.query } : {};
  return { path: pathname, query: { ...Object.fromEntries(searchParams), ...query }, headers: {}, body: fields.body };
}

// ---- a stream

async function translateStream(file: string | undefined, { from, to, model, request: asked }: TranslateFlags): Promise<void> {
  const request = asked === undefined ? anyRequest(model) : await readRequest(asked, to, model);
  const decoder = from.createStreamDecoder();
  const encoder = to.createStreamEncoder({ ...request, stream: request.stream || streamOf(to) }, { warn });
  const held: Event[] = []; // until there is content: if the input is not a stream, only an error is printed
  let isEmpty = true;
  let problem: ErrorInfo | undefined;
  const print = async (): Promise<void> => {
    for (const event of held.splice(0)) await send(process.stdout, encoder.encode(event));
  };
  const say = async (events: Event[]): Promise<void> => {
    for (const event of events) {
      if (event.type === "finish") problem = event.error;
      else isEmpty &&= event.type === "start" || event.type === "extension";
      held.push(event);
      if (!isEmpty) await print();
    }
  };
  for await (const text of textOf(file)) await say(decoder.feed(text));
  await say(decoder.flush());
  // An error that a server sent has another code, and is translated as an answer.
  if (problem?.code === "upstream" && isEmpty) {
    throw new Complaint(`${visible(file ?? "stdin")} is not a stream of ${from.id}: ${visible(problem.message)}`);
  }
  await print();
  await send(process.stdout, encoder.end());
}

const streamOf = ({ id }: Wire): "sse" | "ndjson" => (id === "ollama" ? "ndjson" : "sse");

/** A request that asks for everything. */
const anyRequest = (model = ""): Request => ({
  model,
  messages: [],
  extra: [
    { wire: "openai-chat", kind: "stream_options", data: { include_usage: true } },
    { wire: "openai-responses", kind: "include", data: ["reasoning.encrypted_content"] },
  ],
});
