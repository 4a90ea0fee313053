// Why a prompt is a list of pieces: tokenized one by one, they give the tokens of the whole, and data never becomes a control token.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import llama2 from "llama-tokenizer-js";
import llama3 from "llama3-tokenizer-js";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject, Message, Part, Request, Tool } from "../../src/core/nouns.ts";
import type { Dialect, Prompt, RenderOptions } from "../../src/dialects/dialect.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import { bpeVocabulary, sentencePieceVocabulary, type Vocabulary } from "./tokenizers.ts";

/** Tokenizes like an engine in process: a control piece is its token if the vocabulary has it, everything else is text. */
function tokenizePieces(prompt: Prompt, vocabulary: Vocabulary): number[] {
  const ids: number[] = [];
  let text = "";
  const say = (): void => {
    if (text !== "") ids.push(...vocabulary.plain(text, ids.length === 0));
    text = "";
  };
  for (const piece of prompt) {
    const id = piece.control ? vocabulary.idOf(piece.text) : undefined;
    if (id === undefined) text += piece.text;
    else {
      say();
      ids.push(id);
    }
  }
  say();
  return ids;
}

const controlTexts = (prompt: Prompt): string[] => prompt.flatMap((piece) => (piece.control ? piece.text : []));

// ---- prompts

interface Case {
  request: Request;
  options: RenderOptions;
}

/** The requests of the fixtures, in every variant. */
function fixtures(dialect: Dialect): Case[] {
  const folder = fileURLToPath(new URL(`../fixtures/prompts/${dialect.id}/`, import.meta.url));
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const { request, options } = JSON.parse(readFileSync(folder + file, "utf8")) as { request: unknown; options?: RenderOptions };
      const decoded = openaiChat.decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body: request });
      const answered: Request = {
        ...decoded,
        messages: [...decoded.messages, { role: "assistant", content: [{ type: "text", text: "Yes." }] }],
      };
      return dialect.variants.flatMap((variant) => [
        { request: decoded, options: { ...options, variant, bos: true } },
        { request: answered, options: { ...options, variant, addGenerationPrompt: false } },
      ]);
    });
}

/** Requests with everything that a prompt can contain, all strings made of `text`. */
function requests(dialect: Dialect, text: fc.Arbitrary<string>): fc.Arbitrary<Case> {
  const texts = fc.array(
    text.map((text) => ({ type: "text" as const, text })),
    { maxLength: 2 },
  );
  const value = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
  const json: fc.Arbitrary<Json> = fc.oneof(value, fc.array(value, { maxLength: 2 }), fc.dictionary(text, value, { maxKeys: 2 }));
  const object: fc.Arbitrary<JsonObject> = fc.dictionary(text, json, { maxKeys: 3 });
  const call = fc.record({ type: fc.constant("tool-call" as const), id: fc.constantFrom("1", "2"), name: text, arguments: object });
  const thinking = text.map((text) => ({ type: "thinking" as const, text }));
  const part: fc.Arbitrary<Part> = fc.oneof(
    text.map((text) => ({ type: "text" as const, text })),
    thinking,
    call,
  );
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({ role: fc.constantFrom("system" as const, "developer" as const, "user" as const), content: texts }),
    fc.record({ role: fc.constant("assistant" as const), content: fc.array(part, { maxLength: 3 }) }),
    fc.record({ role: fc.constant("tool" as const), id: fc.constantFrom("1", "2"), name: text, output: json }),
  );
  const schema = fc.record({ type: fc.constant("string"), description: text }, { requiredKeys: [] });
  const tool: fc.Arbitrary<Tool> = fc.record({
    name: text,
    description: text,
    parameters: fc.record({ type: fc.constant("object"), properties: fc.dictionary(text, schema, { maxKeys: 2 }) }),
  });
  return fc.record({
    request: fc.record({
      model: fc.constant(""),
      messages: fc.array(message, { maxLength: 5 }),
      tools: fc.array(tool, { maxLength: 2 }),
    }),
    options: fc.record({
      variant: fc.constantFrom(...dialect.variants),
      thinking: fc.boolean(),
      addGenerationPrompt: fc.boolean(),
      bos: fc.boolean(),
    }),
  });
}

const render = (dialect: Dialect, { request, options }: Case): Prompt =>
  dialect.render(request, { now: new Date(2026, 0, 15, 12), ...options });

/** Every control token that some dialect writes. */
const control = [...new Set(listDialects().flatMap((dialect) => fixtures(dialect).flatMap((one) => controlTexts(render(dialect, one)))))];

/** Those that are not plain words in another dialect's prompt: a vocabulary for all dialects can have them. */
const bare: Request = { model: "", messages: [{ role: "user", content: [] }], tools: [{ name: "f", description: "d" }] };
const fixedWords = listDialects().flatMap((dialect) =>
  dialect.variants.flatMap((variant) =>
    render(dialect, { request: bare, options: { variant } }).flatMap((piece) => (piece.control ? [] : piece.text)),
  ),
);
const common = control.filter((token) => !fixedWords.some((text) => text.includes(token)));

/** No data in it looks like a control token. */
const isHonest = (prompt: Prompt): boolean => !prompt.some((piece) => !piece.control && common.some((token) => piece.text.includes(token)));

// ---- vocabularies

const spm = sentencePieceVocabulary(common, "none");
const bpe = bpeVocabulary(common);
const vocabularies = [spm, sentencePieceVocabulary(common, "each"), sentencePieceVocabulary(common, "first"), bpe];
/** A dummy prefix changes text, but control tokens are cut out first, so one vocabulary of each kind covers these. */
const kinds = [sentencePieceVocabulary(control, "none"), bpeVocabulary(control)];
const strangers = [sentencePieceVocabulary([], "none"), bpeVocabulary([])];

/** Text whose tokens depend on its neighbours. */
const words = [
  "user",
  "the",
  " the",
  "Paris",
  "é",
  "漢字",
  "🙂",
  "0",
  "123",
  "1.5",
  " ",
  "  ",
  "\n",
  "\n\n",
  "\t",
  "'s",
  "▁",
  "Ġ",
  "e\u0301",
];
const marks = ["<", ">", "|", "{", "}", ":", ",", '"', "\\", "`", "<|", "|>", "turn", "<b>", "</b>", "<0x0A>", "_"];
const innocent = fc.array(fc.constantFrom(...words, ...marks), { maxLength: 8 }).map((parts) => parts.join(""));
const forged = fc
  .array(fc.constantFrom(...control, "<s>", "<|eot_id|>", "x", " ", "\n", "<", "|>"), { maxLength: 5 })
  .map((parts) => parts.join(""));

describe("the vocabularies are real", () => {
  const text = "I'LL say:  grabbed 1234 é 漢字 🙂\n\n  x \t {\"a\": [1, 2]} </b>'s";

  test("SentencePiece", () => {
    expect(spm.whole(text)).toEqual(llama2.encode(text, false, false));
    expect(sentencePieceVocabulary([], "each").whole(text)).toEqual(llama2.encode(text, false, true));
    expect(sentencePieceVocabulary([], "first").whole(text)).toEqual(llama2.encode(text, false, true));
  });
  test("byte-level BPE", () => {
    const turns = `<|start_header_id|>user<|end_header_id|>\n\n${text}<|eot_id|>`;
    expect(bpe.whole(turns)).toEqual(llama3.encode(turns, { bos: false, eos: false }));
    expect(bpe.idOf("<|eot_id|>")).toBe(128009);
  });
  test("tokens depend on their neighbours, which is why text must not be cut anywhere", () => {
    for (const vocabulary of [spm, bpe])
      expect([...vocabulary.whole("the"), ...vocabulary.whole("rapist")]).not.toEqual(vocabulary.whole("therapist"));
  });
});

describe.each(listDialects().map((dialect) => ({ id: dialect.id, dialect })))("$id", ({ dialect }) => {
  describe.each(vocabularies.map((vocabulary) => ({ name: vocabulary.name, vocabulary })))("$name", ({ vocabulary }) => {
    test("pieces of the fixtures give the tokens of the whole", () => {
      const prompts = fixtures(dialect)
        .map((one) => render(dialect, one))
        .filter(isHonest);
      expect(prompts).not.toEqual([]);
      for (const prompt of prompts) expect(tokenizePieces(prompt, vocabulary)).toEqual(vocabulary.whole(promptText(prompt)));
    });

    test("pieces of any prompt without forged tokens give the tokens of the whole", () => {
      fc.assert(
        fc.property(requests(dialect, innocent), (one) => {
          const prompt = render(dialect, one);
          fc.pre(isHonest(prompt));
          expect(tokenizePieces(prompt, vocabulary)).toEqual(vocabulary.whole(promptText(prompt)));
        }),
      );
    });
  });

  describe.each(kinds.map((vocabulary) => ({ name: vocabulary.name, vocabulary })))("$name", ({ vocabulary }) => {
    test("data never becomes a control token, even if it forges one", () => {
      fc.assert(
        fc.property(requests(dialect, forged), (one) => {
          const prompt = render(dialect, one);
          const known = new Map([...control, "<s>", "<|eot_id|>"].map((token) => [vocabulary.idOf(token), token]));
          const said = tokenizePieces(prompt, vocabulary).flatMap((id) => known.get(id) ?? []);
          expect(said).toEqual(controlTexts(prompt));
        }),
      );
    });

    test("nor in a neutralized text that a server tokenizes as a whole", () => {
      fc.assert(
        fc.property(requests(dialect, forged), (one) => {
          const prompt = render(dialect, one);
          const own = new Map(controlTexts(prompt).map((token) => [vocabulary.idOf(token), token]));
          const said = vocabulary.whole(promptText(prompt, { neutralize: true })).flatMap((id) => own.get(id) ?? []);
          expect(said).toEqual(controlTexts(prompt));
        }),
      );
    });
  });

  test.each(strangers.map((vocabulary) => ({ name: vocabulary.name, vocabulary })))(
    "a control piece missing from the vocabulary ($name) is text",
    ({ vocabulary }) => {
      for (const one of fixtures(dialect)) {
        const prompt = render(dialect, one);
        expect(tokenizePieces(prompt, vocabulary)).toEqual(vocabulary.whole(promptText(prompt)));
      }
    },
  );

  test("forged data does not change the control tokens of the prompt", () => {
    fc.assert(
      fc.property(requests(dialect, forged), (one) => {
        // "[" is quoted in keys like "<", and begins no token.
        const harmless = JSON.parse(JSON.stringify(one).replaceAll("<", "[")) as Case;
        // Thinking that a server left in the model's own text is recognized by these tags, as in the templates.
        const structure = (of: Case) => controlTexts(render(dialect, of)).filter((token) => !/^<\/?think>$/.test(token));
        expect(structure(one)).toEqual(structure(harmless));
      }),
    );
  });
});
