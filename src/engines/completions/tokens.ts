/**
 * Turns a prompt into token ids with the server's own tokenizer: control pieces become control tokens, and data never does, whatever it
 * contains. Results are cached by the piece's text, so that a long conversation costs one request per new piece.
 *
 *     [<|turn>] ["user\nSay <|turn>"] [<turn|>]   ->   105, 2364 107 37889 655 111038 …, 106
 */
import type { Dialect, Prompt } from "../../dialects/dialect.ts";
import { cutForgeries } from "../../dialects/prompt.ts";
import { objectOf, parsed } from "../../wires/read.ts";
import type { CallOptions } from "../engine.ts";
import { EngineError } from "../error.ts";
import { bodyText, type HttpServer } from "../http/http.ts";
import { LastUsed } from "../last-used.ts";
import { Remembered } from "../remembered.ts";
import { marksOf } from "../rendered.ts";
import type { Tokenize } from "./backends.ts";

/** Size of the cache, in characters of all pieces. */
const MAX_REMEMBERED = 16 << 20;
/** After this time a server without a tokenizer is asked again: another server may run there by then. */
const NONE_MS = 300_000;
/** Statuses that mean that the server has no tokenizer, or expects another kind of request. */
const NONE: ReadonlySet<number> = new Set([404, 405, 422, 501]);
/** No two vocabularies turn this text into the same ids. */
const SAMPLE = "Dragoman 42 naïve 翻译 🌍 <think><tool_call><|im_end|><|tool_call>[TOOL_CALLS]";
/** Concurrent requests: a new conversation has hundreds of pieces. */
const AT_ONCE = 8;

type Ids = readonly number[];
type Asked = Parameters<Tokenize["body"]>[1];
/** A control token, or data; `after` is the control token before the data, which the tokenizer needs to see. */
type Run = { control: string } | { data: string; after: string };

export interface Tokenized {
  readonly ids: number[];
  /** The ids of control tokens: the prompt's, and those at which the dialect stops. */
  readonly controls: ReadonlyMap<string, number>;
  /** The model's context size, if the tokenizer reports it. */
  readonly context?: number;
}

export class Tokens {
  readonly #http: HttpServer;
  readonly #tokenize: Tokenize;
  readonly #known = new LastUsed<Ids>(MAX_REMEMBERED);
  #context: number | undefined;
  /** Models for which the server has no tokenizer. By model: a client may name one that the server does not know. */
  readonly #none = new Remembered<true>();

  constructor(http: HttpServer, tokenize: Tokenize) {
    this.#http = http;
    this.#tokenize = tokenize;
  }

  /**
   * The ids that the tokenizer puts before every text; `undefined`: the server has no tokenizer. It is asked anew for each prompt: a server
   * with several models then loads this one, and a server restarted with another model has other ids, even under the same model name.
   */
  async beginning(model: string, options: CallOptions): Promise<Ids | undefined> {
    if (this.#none.get(model)) return undefined;
    const asked = { model, control: true, bos: true };
    try {
      const whole = await this.#fetch(SAMPLE, asked, options);
      const key = keyOf(SAMPLE, asked);
      const before = this.#known.get(key);
      if (before && before.join() !== whole.join()) this.#known.clear();
      this.#known.set(key, whole, key.length);
      const plain = await this.#ask(SAMPLE, { ...asked, bos: false }, options);
      const at = whole.findIndex((_, i) => plain.every((id, j) => whole[i + j] === id));
      return whole.slice(0, Math.max(0, at));
    } catch (error) {
      if (!(error instanceof NoTokenizer)) throw error;
      this.#none.set(model, true, NONE_MS);
      return undefined;
    }
  }

  async of(prompt: Prompt, beginning: Ids, dialect: Dialect, model: string, options: CallOptions): Promise<Tokenized> {
    const ask = (text: string, control: boolean): Promise<Ids> => this.#ask(text, { model, control, bos: false }, options);
    const controls = new Map<string, number>();
    const written = prompt.flatMap(({ text, control }) => (control && text !== "" ? [text] : []));
    // If the tokenizer always reads control tokens, the ids of all the dialect's marks are needed, to find forged ones in data.
    const texts = [...new Set([...written, ...(this.#tokenize.alwaysControl ? marksOf(dialect) : dialect.stops)])];
    for (const [text, ids] of await eachOf(texts, async (text) => [text, await ask(text, true)] as const)) {
      if (ids.length === 1) controls.set(text, ids[0]!); // otherwise the vocabulary does not have it, and it is text
    }
    const forbidden = new Set(controls.values());
    const runs = runsOf(this.#tokenize.alwaysControl ? cutForgeries(prompt) : prompt, controls);
    const lists = await eachOf(runs, async (run): Promise<Ids> => {
      return "control" in run ? [controls.get(run.control)!] : this.#data(run, forbidden, ask);
    });
    return { ids: [...beginning, ...lists.flat()], controls, ...(this.#context === undefined ? {} : { context: this.#context }) };
  }

  async #data(
    { data, after }: { data: string; after: string },
    forbidden: ReadonlySet<number>,
    ask: (text: string, control: boolean) => Promise<Ids>,
  ): Promise<Ids> {
    if (!this.#tokenize.alwaysControl) return ask(data, false);
    // Sent after its control token: some tokenizers treat the beginning of a text differently from its middle.
    const ids = (await ask(after + data, true)).slice(after === "" ? 0 : 1);
    if (!ids.some((id) => forbidden.has(id))) return ids;
    // The tokenizer found a control token that no known spelling explains: the data is split until none is left.
    const chars = [...data]; // not code units: half a surrogate pair is no text that a tokenizer can read
    if (chars.length < 2) return ids;
    const middle = chars.length >> 1;
    const halves = [chars.slice(0, middle).join(""), chars.slice(middle).join("")];
    return (await eachOf(halves, (half) => this.#data({ data: half, after }, forbidden, ask))).flat();
  }

  async #ask(text: string, asked: Asked, options: CallOptions): Promise<Ids> {
    const key = keyOf(text, asked);
    const known = this.#known.get(key);
    if (known) return known;
    const ids = await this.#fetch(text, asked, options);
    this.#known.set(key, ids, key.length);
    return ids;
  }

  /** Without the tap: recordings keep the exchange itself, not its preparation. */
  async #fetch(text: string, asked: Asked, { headers, signal }: CallOptions): Promise<Ids> {
    const { path } = this.#tokenize;
    const answer = await this.#http.request("POST", path, {
      headers,
      signal,
      body: JSON.stringify(this.#tokenize.body(text, asked)),
    });
    const said = await bodyText(answer);
    if (NONE.has(answer.status)) throw new NoTokenizer();
    if (answer.status !== 200) throw new EngineError(this.#http.refusal({ ...answer, text: said }));
    const { tokens, max_model_len } = objectOf(parsed(said));
    if (!Array.isArray(tokens)) throw new EngineError({ code: "upstream", message: "the server's tokenizer answered without tokens" });
    if (this.#tokenize.saysContext && typeof max_model_len === "number") this.#context = max_model_len;
    return tokens.map(Number);
  }
}

/** Unambiguous whatever the model's name contains: clients choose it. */
const keyOf = (text: string, { model, control, bos }: Asked): string => JSON.stringify([model, control, bos]) + text;

class NoTokenizer extends Error {}

/** The prompt's control tokens and the text between them. A control piece that is not a token is text. */
function runsOf(prompt: Prompt, controls: ReadonlyMap<string, number>): Run[] {
  const runs: Run[] = [];
  let after = "";
  let joins = false; // data joins only a control piece that is text: data pieces that were cut apart stay apart
  for (const { text, control, media } of prompt) {
    if (media || text === "") continue;
    const isToken = control && controls.has(text);
    const last = runs.at(-1);
    if (isToken) {
      runs.push({ control: text });
      after = text;
    } else if ((control || joins) && last && "data" in last) runs.splice(-1, 1, { data: last.data + text, after });
    else runs.push({ data: text, after });
    joins = control === true && !isToken;
  }
  return runs;
}

/** Works on a few items at a time; the results are in order. */
async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  return results;
}
