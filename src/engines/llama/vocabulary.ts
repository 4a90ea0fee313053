/**
 * Turns prompts into tokens, and tokens into text. A control piece becomes its token; data is tokenized with special tokens off:
 *
 *     control "<|turn>"              105
 *     data    "user\nSay <turn|>."   2364 107 37889 655 ...   and none of them is <turn|>
 */
import type { LlamaModel, Token } from "node-llama-cpp";
import type { Prompt } from "../../dialects/dialect.ts";
import { forgeries } from "../../dialects/prompt.ts";
import { append } from "../append.ts";

/**
 * How many tokens in a row may end within a character. One character takes at most four, but the token that ends it may begin the next one,
 * and broken characters may precede it.
 */
const MAX_SPLIT = 32;
/** How many earlier tokens the detokenizer needs to decide about a leading blank. */
const BEFORE = 3;

export class Vocabulary {
  readonly #model: LlamaModel;
  readonly #controls = new Map<string, Token | undefined>();
  #all: readonly Token[] | undefined;

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  /** The token for this control token; `undefined`: the vocabulary has none. */
  control(text: string): Token | undefined {
    if (!this.#controls.has(text)) {
      const [token, ...more] = this.#model.tokenize(text, true);
      const single = token !== undefined && more.length === 0 && this.#isMark(token) && this.#model.detokenize([token], true) === text;
      this.#controls.set(text, single ? token : undefined);
    }
    return this.#controls.get(text);
  }

  /** All control tokens; collected on first use. */
  get controls(): readonly Token[] {
    this.#all ??= [...this.#model.iterateAllTokens()].filter((token) => this.#model.getTokenAttributes(token).control);
    return this.#all;
  }

  encode(prompt: Prompt): Token[] {
    const { bos, shouldPrependBosToken } = this.#model.tokens;
    const out: Token[] = shouldPrependBosToken && bos !== null ? [bos] : [];
    const forged = forgeries(prompt);
    let data = ""; // control pieces that the vocabulary lacks are text, and are joined with the data around them
    for (const piece of prompt) {
      const control = piece.control ? this.control(piece.text) : undefined;
      if (control === undefined) data += piece.text;
      else {
        append(out, this.#data(data, forged));
        data = "";
        out.push(control);
      }
    }
    append(out, this.#data(data, forged));
    return out;
  }

  /**
   * Some vocabularies have marks such as `<tool_call>` as tokens that llama.cpp finds in any text. If data contains such a forged mark, it
   * is cut after the mark's first character, so that neither half is the token.
   */
  #data(text: string, forged: RegExp): Token[] {
    const tokens = this.#model.tokenize(text, false);
    const isForged = (token: Token): boolean => this.#isMark(token) && wholly(forged, this.#model.detokenize([token], true));
    if (!tokens.some(isForged)) return tokens;
    const out: Token[] = [];
    let from = 0;
    for (let match = forged.exec(text); match; match = forged.exec(text)) {
      forged.lastIndex = match.index + 1; // the next forgery may overlap this one
      append(out, this.#model.tokenize(text.slice(from, match.index + 1), false));
      from = match.index + 1;
    }
    append(out, this.#model.tokenize(text.slice(from), false));
    return out;
  }

  #isMark(token: Token): boolean {
    const { control, userDefined } = this.#model.getTokenAttributes(token);
    return control || userDefined;
  }

  createDecoder(): Decoder {
    return new Decoder(this.#model);
  }
}

function wholly(pattern: RegExp, text: string): boolean {
  const [match] = text.matchAll(pattern);
  return match?.[0] === text;
}

/** Tokens and their text: one character may need several tokens. */
export interface Said {
  readonly tokens: readonly Token[];
  readonly text: string;
}

/** Decodes tokens to text, one at a time. */
export class Decoder {
  readonly #model: LlamaModel;
  #last: Token[] = [];
  #pending: Token[] = [];

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  /** `undefined`: the token ends within a character. */
  feed(token: Token): Said | undefined {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, true, this.#last);
    return text.endsWith("\ufffd") && this.#pending.length < MAX_SPLIT ? undefined : this.#take(text);
  }

  flush(): Said | undefined {
    return this.#pending.length > 0 ? this.#take(this.#model.detokenize(this.#pending, true, this.#last)) : undefined;
  }

  #take(text: string): Said {
    const tokens = this.#pending;
    this.#last = [...this.#last, ...tokens].slice(-BEFORE);
    this.#pending = [];
    return { tokens, text };
  }
}
