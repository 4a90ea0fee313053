/**
 * What holds the model to a grammar: from the first token on, or from where one of the grammar's triggers appears in its text. A trigger is
 * seen when it is complete, so the tokens that spell it are given to the grammar afterwards.
 */
import type { LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel } from "node-llama-cpp";
import type { Grammar } from "../../dialects/dialect.ts";
import { literal } from "../../dialects/grammar/gbnf.ts";
import { stateBehind } from "./runtime.ts";
import type { Said } from "./vocabulary.ts";

/** Triggers are short; what was said longer ago is forgotten. */
const TAIL = 256;

/** Grammars that were compiled: a conversation uses the same again and again. */
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

  /** What the next token is sampled with; undefined: it is free. */
  get state(): LlamaGrammarEvaluationState | undefined {
    return this.#state;
  }

  /** What the model said, and whether a call may begin in it. */
  async see(said: Said, mayCall: boolean): Promise<void> {
    if (this.#state) return;
    this.#tail.push(said);
    const found = this.#find();
    if (found && mayCall) await this.arm(found.before, found.from);
    this.#forget();
  }

  /** The first trigger in what was said last: the text before it in the same token, and all from that token on. */
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
    // Where the last token says more than the trigger, and what no grammar allows, the model goes on without one.
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
