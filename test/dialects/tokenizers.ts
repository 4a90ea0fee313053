// Two real tokenizers: Hugging Face's own encoder with the vocabulary and merges of Llama 2 (SentencePiece) and of Llama 3 (byte-level
// BPE). Control tokens get ids after the vocabulary, as Gemma 4, FunctionGemma and others put theirs into unused slots.
import { Tokenizer } from "@huggingface/tokenizers";
import llama2 from "llama-tokenizer-js";
import llama3 from "llama3-tokenizer-js";

export interface Vocabulary {
  readonly name: string;
  /** With special tokens on: control tokens in the text become their ids. */
  whole(text: string): number[];
  /** With special tokens off: everything is text. `first`: nothing precedes it. */
  plain(text: string, first: boolean): number[];
  /** The id of a control token, if the vocabulary has it. */
  idOf(token: string): number | undefined;
}

/** The contents of `tokenizer.json`, without the control tokens. */
interface Format {
  readonly normalizer: object | null;
  readonly pre_tokenizer: object | null;
  readonly model: object;
}

/** Merges of a stretch of text depend on nothing else, and take the longest: they are cached for all tokenizers of a model. */
class Stretches extends Map<string, string[]> {
  put(text: string, tokens: string[]): void {
    this.set(text, tokens);
  }
}
const stretches = new Map<object, Stretches>();

function tokenizer(format: Format, special: ReadonlyMap<string, number>): Tokenizer {
  const added_tokens = Array.from(special, ([content, id]) => ({ id, content, special: true, normalized: false }));
  const made = new Tokenizer({ ...format, added_tokens, post_processor: null, decoder: null }, {});
  const cache = stretches.get(format.model) ?? new Stretches();
  stretches.set(format.model, cache);
  Object.assign(made.model, { cache, max_length_to_cache: Infinity });
  return made;
}

/** With special tokens off, one for each format. */
const plainTokenizers = new Map<Format, Tokenizer>();
function plainTokenizer(format: Format): Tokenizer {
  const made = plainTokenizers.get(format) ?? tokenizer(format, new Map());
  plainTokenizers.set(format, made);
  return made;
}

/** `later`: how text is tokenized that is not first, if that differs. */
function vocabulary(name: string, format: Format, special: ReadonlyMap<string, number>, later = format): Vocabulary {
  const on = tokenizer(format, special);
  const off = plainTokenizer(format);
  const offLater = plainTokenizer(later);
  const ids = (of: Tokenizer, text: string): number[] => of.encode(text, { add_special_tokens: false }).ids;
  return {
    name,
    whole: (text) => ids(on, text),
    plain: (text, first) => ids(first ? off : offLater, text),
    idOf: (token) => special.get(token),
  };
}

const idsOf = (tokens: readonly string[], from = 0): [string, number][] => tokens.map((token, i) => [token, from + i]);
const bpe = (tokens: readonly string[], merges: ReadonlyMap<string, number>, options: object): object => {
  return { type: "BPE", vocab: Object.fromEntries(idsOf(tokens)), merges: [...merges.keys()], ...options };
};

// ---- SentencePiece

const BLANK = { type: "Replace", pattern: { String: " " }, content: "▁" };
const sentencePiece = bpe(llama2.vocabById, llama2.merges, { unk_token: "<unk>", fuse_unk: true, byte_fallback: true });
const llama2Special = new Map(idsOf(["<unk>", "<s>", "</s>"]));

/**
 * SentencePiece can put a blank before the text ("add dummy prefix"), and implementations differ in where:
 *
 * - `none`: Gemma, all versions (`add_dummy_prefix` is off; `tokenizer.json` has a `Replace` and no `Prepend`; GGUF: `add_space_prefix` false).
 *   Any piece can be tokenized by itself.
 * - `each`: Llama 2 in llama.cpp and in the old `tokenizer.json`: before every stretch between two control tokens. A piece gets its blank when
 *   it is tokenized by itself, so this needs no care either.
 * - `first`: Llama 2 in newer `tokenizer.json` files (`prepend_scheme: "first"`): only at the start. To tokenize piece by piece, it must be
 *   switched off from the second piece on.
 */
export type DummyPrefix = "none" | "each" | "first";

const none: Format = { normalizer: BLANK, pre_tokenizer: null, model: sentencePiece };
const FORMATS: Readonly<Record<DummyPrefix, Format>> = {
  none,
  each: { ...none, normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, BLANK] } },
  first: { ...none, normalizer: null, pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "first", split: false } },
};

export function sentencePieceVocabulary(control: readonly string[], prefix: DummyPrefix): Vocabulary {
  const special = new Map([...llama2Special, ...idsOf(control, llama2.vocabById.length)]);
  return vocabulary(`SentencePiece, dummy prefix: ${prefix}`, FORMATS[prefix], special, prefix === "first" ? none : FORMATS[prefix]);
}

// ---- byte-level BPE

const WORDS =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const llama3Size = llama3.getSpecialTokenId("<|begin_of_text|>");
const byteLevel: Format = {
  normalizer: null,
  pre_tokenizer: {
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: WORDS }, behavior: "Isolated", invert: false },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  },
  model: bpe(llama3.vocabById.slice(0, llama3Size), llama3.merges, { ignore_merges: true }),
};
const llama3Special = new Map(idsOf(llama3.vocabById.slice(llama3Size), llama3Size));

/** Llama 3's own control tokens keep their ids. */
export const bpeVocabulary = (control: readonly string[]): Vocabulary =>
  vocabulary("byte-level BPE", byteLevel, new Map([...idsOf(control, llama3.vocabById.length), ...llama3Special]));
