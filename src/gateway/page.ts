/** The page that browsers get: its files, which are the same for everybody, and the recordings that it shows, which are not. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Remembered } from "../engines/remembered.ts";
import { type Account, accountOf } from "./recordings/account.ts";
import { isRecording, type Recording, readRecording } from "./recordings/recording.ts";
import { Refusal } from "./refusal.ts";

// ---- Its files

/** Where the build puts them, seen from the source and from the build alike. */
const FOLDER = new URL("../../dist/web/", import.meta.url);

const TYPES = { "index.html": "text/html", "main.js": "text/javascript", "style.css": "text/css" } as const;
export type PageFile = keyof typeof TYPES;

/** Nothing runs or is loaded but the page's own files: what a model or a client wrote can do nothing here. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const pageHeaders = (file: PageFile): Record<string, string> => ({
  "content-type": `${TYPES[file]}; charset=utf-8`,
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
});

export const pageText = (file: PageFile): Promise<string> =>
  readFile(new URL(file, FOLDER), "utf8").catch((error: unknown) => {
    throw new Refusal(404, "the page is no part of this build", { cause: error });
  });

// ---- What it shows

/** A line of the list. */
export interface Listed extends Pick<Recording, "at" | "exchange"> {
  readonly name: string;
  readonly anomalies: readonly string[];
}

export interface Shown {
  readonly recording: Recording;
  readonly account: Account;
}

/** Nobody reads more. */
const MAX_LISTED = 50;

export class Exchanges {
  readonly #folder: string;
  /** A recording does not change. */
  readonly #known = new Remembered<Listed>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The last ones, the newest first. */
  async list(): Promise<Listed[]> {
    const names = await readdir(this.#folder).catch(() => []); // there is no folder before the first exchange
    const listed: Listed[] = [];
    for (const name of names.filter(isRecording).toSorted().slice(-MAX_LISTED)) {
      const line = await this.#line(name).catch(() => undefined); // one that somebody has spoilt does not hide the others
      if (line) listed.unshift(line);
    }
    return listed;
  }

  async #line(name: string): Promise<Listed> {
    const known = this.#known.get(name);
    if (known) return known;
    const { recording, account } = await this.show(name);
    const line = { name, at: recording.at, exchange: recording.exchange, anomalies: account.anomalies };
    this.#known.set(name, line);
    return line;
  }

  async show(name: string): Promise<Shown> {
    const text = isRecording(name) && (await readFile(join(this.#folder, name), "utf8").catch(() => undefined));
    if (!text) throw new Refusal(404, "there is no such recording, or it is there no more");
    try {
      const recording = readRecording(text);
      return { recording, account: accountOf(recording) };
    } catch (error) {
      throw new Refusal(404, `${name} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }
}
