/** Reads files and stdin as text. A file that cannot be read is a `Complaint` with its name. */
import { createReadStream } from "node:fs";
import { InvalidArgumentError } from "commander";
import { settingOf } from "../dialects/variant.ts";
import { BadRequest, type Dialect, detectDialect, getDialect, getWire, listDialects, type Request, type Tool } from "../index.ts";
import { declaredTools } from "../wires/declared.ts";
import { Complaint } from "./complaint.ts";
import { visible } from "./terminal.ts";

const STDIN = "-";

/** The text of a file or of stdin, piece by piece: one decoder, so that no character is cut. A byte order mark is no part of the text. */
export async function* textOf(file = STDIN): AsyncGenerator<string, void, undefined> {
  if (file === STDIN && process.stdin.isTTY)
    process.stderr.write("dragoman: reading from the terminal; Ctrl-D on an empty line ends the input\n");
  let decoder = new TextDecoder();
  let isFirst = true;
  const bytes: AsyncIterable<Buffer> = file === STDIN ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of bytes) {
      if (isFirst) decoder = new TextDecoder(encodingOf(chunk));
      isFirst = false;
      yield decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw error instanceof Error && "code" in error ? unreadable(file, error) : error; // an error without a system code is a bug
  }
  yield decoder.decode();
}

/** `>` in Windows PowerShell writes UTF-16, recognized by its byte order mark. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

const REASONS: Readonly<Record<string, string>> = {
  EISDIR: "it is a folder, not a file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it is not a folder",
  ENOTDIR: "a part of its path is not a folder",
};

const why = (error: unknown, absent: string): string => {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  return code === "ENOENT" ? absent : (REASONS[code] ?? String(error));
};

export const unreadable = (file: string, error: unknown): Complaint =>
  new Complaint(`cannot read ${file === STDIN ? "stdin" : visible(file)}: ${why(error, "there is no such file")}`, {
    cause: error,
  });

export const unwritable = (path: string, error: unknown): Complaint =>
  new Complaint(`cannot write ${visible(path)}: ${why(error, "there is no such folder")}`, { cause: error });

/** The whole text. */
export async function readText(file?: string): Promise<string> {
  let text = "";
  for await (const piece of textOf(file)) text += piece;
  return text;
}

export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Complaint(`${visible(file)} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Reads an OpenAI chat request. */
export async function readRequest(file?: string): Promise<Request> {
  return decodeRequest(await readText(file), file ?? "the request");
}

export async function readTools(file: string): Promise<Tool[]> {
  const json = parseJson(await readText(file), file);
  try {
    return declaredTools(json);
  } catch (error) {
    throw new Complaint(`${visible(file)}${error instanceof BadRequest ? ":" : ""} ${(error as Error).message}`, { cause: error });
  }
}

function decodeRequest(body: unknown, file: string): Request {
  try {
    return getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
  } catch (error) {
    if (error instanceof BadRequest) throw new Complaint(`${visible(file)}: ${error.message}`, { cause: error });
    throw error;
  }
}

const IDS = listDialects().map(({ id }) => id);
const DIALECTS = IDS.join(", ");
export const DIALECT = `the dialect that the model speaks: ${DIALECTS}; optionally with a variant, that is a revision of the model's chat template (json/chatml)`;

/** Parses `--dialect`. */
export function readDialect(id: string): Dialect {
  try {
    return getDialect(id);
  } catch (error) {
    const meant = IDS.includes(id.split("/")[0] ?? "") ? undefined : likelyDialect(id);
    const message = `unknown dialect "${id}" (Did you mean ${meant}?); "dragoman dialects" lists all`;
    throw new Complaint(meant === undefined ? (error as Error).message : message, { cause: error });
  }
}

/** What a mistyped dialect, or a model's name in its place, is likely to mean. */
function likelyDialect(id: string): string | undefined {
  const near = IDS.map((known) => ({ known, typos: distance(id.toLowerCase(), known) })).sort((a, b) => a.typos - b.typos)[0];
  if (near && near.typos <= MAX_TYPOS && near.typos < id.length / 2) return near.known;
  const found = detectDialect({ model: id });
  return found && settingOf(found);
}

const MAX_TYPOS = 2;

/** How many characters must be added, removed or replaced to make one word of the other. */
function distance(word: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, n) => n);
  for (const char of word) {
    const next = [row[0]! + 1];
    for (let n = 0; n < other.length; n++) next.push(Math.min(next[n]! + 1, row[n + 1]! + 1, row[n]! + (char === other[n] ? 0 : 1)));
    row = next;
  }
  return row[other.length]!;
}

/** Parses `--dialect` where it is passed on as a setting. */
export const readDialectSetting = (setting: string): string => (setting === "auto" ? setting : settingOf(readDialect(setting)));

export function required(dialect: Dialect | undefined): Dialect {
  if (!dialect) throw new Complaint(`give the dialect that the model speaks (as in --dialect gemma4); known: ${DIALECTS}`);
  return dialect;
}

/** Parses a whole number. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) throw new InvalidArgumentError("It must be a whole number.");
  return count;
}

export function readPort(text: string): number {
  const port = readCount(text);
  if (port > 65_535) throw new InvalidArgumentError("It must be a port: 0 to 65535.");
  return port;
}
