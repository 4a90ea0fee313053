/** The gateway's web page: its files, which anyone may load, and the recordings that it shows, which need a key. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Remembered } from "../engines/remembered.ts";
import { type Account, accountOf } from "./recordings/account.ts";
import { isRecording, type Recording, readRecording } from "./recordings/recording.ts";
import { Refusal } from "./refusal.ts";

// ---- The page's files

/** Where the build puts them; the relative path is the same from the source and from the build. */
const FOLDER = new URL("../../dist/web/", import.meta.url);

const TYPES = { "index.html": "text/html", "main.js": "text/javascript", "style.css": "text/css" } as const;
export type PageFile = keyof typeof TYPES;

/** Only the page's own files are loaded and run, so text written by a model or a client can do no harm. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const pageHeaders = (file: PageFile): Record<string, string> => ({
  "content-type": `${TYPES[file]}; charset=utf-8`,
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
});

export const pageText = (file: PageFile): Promise<string> =>
  readFile(new URL(file, FOLDER), "utf8").catch((error: unknown) => {
    throw new Refusal(404, "the web page is not part of this build: npm run build makes it", { cause: error });
  });

// ---- The recordings

/** An entry of the list. */
export interface Listed extends Pick<Recording, "at" | "exchange"> {
  readonly name: string;
  readonly anomalies: readonly string[];
}

export interface Shown {
  readonly recording: Recording;
  readonly account: Account;
}

const MAX_LISTED = 50;

export class Exchanges {
  readonly #folder: string;
  /** Entries by file name, kept because a recording never changes. */
  readonly #known = new Remembered<Listed>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The latest recordings, newest first. */
  async list(): Promise<Listed[]> {
    const names = await readdir(this.#folder).catch(() => []); // the folder is created with the first recording
    const listed: Listed[] = [];
    for (const name of names.filter(isRecording).toSorted().slice(-MAX_LISTED)) {
      const line = await this.#line(name).catch(() => undefined); // a damaged file must not hide the others
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
    if (!text) throw new Refusal(404, "there is no such recording, or it has been deleted");
    try {
      const recording = readRecording(text);
      return { recording, account: accountOf(recording) };
    } catch (error) {
      throw new Refusal(404, `${name} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }
}
