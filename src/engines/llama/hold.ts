/**
 * Holds the model to a grammar: from the first token on, or from where one of the grammar's triggers appears in the text. A trigger is
 * recognized only when it is complete, so the grammar is then fed the tokens that spell it.
 */
import type { LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel } from "node-llama-cpp";
import type { Grammar } from "../../dialects/dialect.ts";
import { literal } from "../../dialects/grammar/gbnf.ts";
import { stateBehind } from "./runtime.ts";
import type { Said } from "./vocabulary.ts";

/** How many characters are kept to find triggers in; triggers are short. */
const TAIL = 256;

/** Size of the cache: a conversation uses the same grammar again and again. */
const MAX_COMPILED = 32;

export class Grammars {
  readonly #model: LlamaModel;
  readonly #compiled = new Map<string, LlamaGrammar>();

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  async hold(grammar: Grammar): Promise<Hold> {
    const hold = new Hold(this.#model, this, grammar);
    if (grammar.triggers.length === 0) await hold.arm("", []);
    return hold;
  }

  async compile(gbnf: string): Promise<LlamaGrammar> {
    const known = this.#compiled.get(gbnf);
    if (known) return known;
    const made = await this.#model.llama.createGrammar({ grammar: gbnf });
    const [oldest] = this.#compiled.keys();
    if (this.#compiled.size >= MAX_COMPILED && oldest !== undefined) this.#compiled.delete(oldest);
    this.#compiled.set(gbnf, made);
    return made;
  }
}

export class Hold {
  readonly #model: LlamaModel;
  readonly #grammars: Grammars;
  readonly #grammar: Grammar;
  readonly #triggers: readonly RegExp[];
  #tail: Said[] = [];
  #forgotten = false;
  #state: LlamaGrammarEvaluationState | undefined;

  constructor(model: LlamaModel, grammars: Grammars, grammar: Grammar) {
    this.#model = model;
    this.#grammars = grammars;
    this.#grammar = grammar;
    this.#triggers = grammar.triggers.map(({ type, value }) => new RegExp(type === "word" ? escaped(value) : value));
  }

  /** The grammar's state for the next token; `undefined`: no grammar applies. */
  get state(): LlamaGrammarEvaluationState | undefined {
    return this.#state;
  }

  /** Takes what the model said; `mayCall`: whether a call may begin in it. */
  async see(said: Said, mayCall: boolean): Promise<void> {
    if (this.#state) return;
    this.#tail.push(said);
    // A trigger that the grammar does not continue from was a quotation, as in thinking: it must not hide a later one.
    for (let found = mayCall ? this.#find() : undefined; found; found = this.#find()) {
      await this.arm(found.before, found.from);
      if (this.#state) return;
      this.#tail = found.from.slice(1);
      this.#forgotten = true;
    }
    this.#forget();
  }

  /** The first trigger in the tail: the text before it in the same token, and everything from that token on. */
  #find(): { before: string; from: readonly Said[] } | undefined {
    const text = this.#tail.map((said) => said.text).join("");
    const places = this.#triggers.flatMap((trigger) => {
      if (this.#forgotten && trigger.source.startsWith("^")) return [];
      const match = trigger.exec(text);
      return match ? [match.index + (match[1] === undefined ? 0 : match[0].indexOf(match[1]))] : [];
    });
    if (places.length === 0) return undefined;
    let before = Math.min(...places);
    const at = this.#tail.findIndex((said) => {
      if (before < said.text.length) return true;
      before -= said.text.length;
      return false;
    });
    return { before: this.#tail[at]?.text.slice(0, before) ?? "", from: this.#tail.slice(at) };
  }

  async arm(before: string, from: readonly Said[]): Promise<void> {
    const { gbnf } = this.#grammar;
    const led = before === "" ? gbnf : gbnf.replace(/^root ::= (.*)$/m, (_, body: string) => `root ::= ${literal(before)} (${body})`);
    const grammar = await this.#grammars.compile(led);
    // If the last token has more text than the trigger, and the grammar does not allow it, the model continues without a grammar.
    this.#state = await stateBehind(
      this.#model,
      grammar,
      from.flatMap(({ tokens }) => tokens),
    );
  }

  #forget(): void {
    let length = this.#tail.reduce((sum, said) => sum + said.text.length, 0);
    while (length > TAIL) {
      length -= this.#tail.shift()?.text.length ?? 0;
      this.#forgotten = true;
    }
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
