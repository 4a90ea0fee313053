/**
 * A dialect's grammar, from a description of how its calls look. The grammar begins with what triggers it, so that the same rules serve
 * where it is armed by a trigger (`auto`) and where it holds from the first token on (`required`, a named tool).
 */
import type { Json, JsonObject, Tool, ToolChoice } from "../../core/nouns.ts";
import type { Dialect, Grammar, GrammarOptions } from "../dialect.ts";
import { compactJson } from "../print.ts";
import { blanks, literal, optional, Rules, until } from "./gbnf.ts";
import { schemaRules } from "./schema.ts";
import { jsonValues, type Values } from "./values.ts";

/** Where the arguments stand in a call. */
export const ARGUMENTS = Symbol("arguments");

/** A part of a call: text, one of several texts, the most usual one first, or a pattern in GBNF. */
export type Piece = string | readonly string[] | { readonly pattern: string } | typeof ARGUMENTS;

/** What the revisions of a template write in their own ways. */
export interface CallForm {
  readonly values: Values;
  readonly call: (name: string) => readonly Piece[];
  /** The same as a structural tag has it, which begins with text. */
  readonly tag?: (name: string) => readonly Piece[];
  /** Before a call. A model may leave it out: then the first piece of the call, which is text, arms the grammar too. */
  readonly opener?: string;
  /** Between parallel calls. */
  readonly between?: Exclude<Piece, typeof ARGUMENTS>;
  /** What stands around all calls, the first of several texts in a structural tag; `optional`: or does not. */
  readonly section?: {
    readonly begin: string | readonly [string, ...string[]];
    readonly end: string | readonly string[];
    readonly optional?: true;
  };
  /** Blanks in the text of a call may be others, as in JSON. */
  readonly loose?: true;
  /** What arms the grammar: words that a call begins with. */
  readonly words: readonly string[];
}

export interface CallFormat extends CallForm {
  /** Other forms in circulation, by the variant that has them. */
  readonly variants?: Readonly<Record<string, Partial<CallForm>>>;
  /** Before all but the first thing of an output, where a model may have it too. */
  readonly start?: string;
  /** Where words do not do for llama.cpp: regular expressions; the grammar starts at the first group, or else at the match. */
  readonly patterns?: readonly string[];
  /** What no answer without calls has in it beside the words: marks of calls that models write too, */
  readonly openers?: readonly string[];
  /** and the beginning of a call of this tool that no mark announces. */
  readonly bareOpener?: (name: string) => string;
  readonly thinking?: { readonly open: string; readonly close: string };
  /** What the model may write before its calls, where it says nothing. */
  readonly lead?: string;
  /** What it may write behind them. */
  readonly stop?: string;
  /** How an answer without calls looks around its JSON, if that is not all of it. */
  readonly answer?: readonly Piece[];
}

export const THINK = { open: "<think>", close: "</think>" };

/** The beginning of a call that is one JSON object, up to its arguments. */
export const jsonCall = (name: string, key: "arguments" | "parameters" = "arguments"): string =>
  `{"name": ${compactJson(name)}, "${key}": `;

/** Makes the `grammar` of a dialect. */
export function grammarOf(format: CallFormat, { preserved, variant }: Speaker): NonNullable<Dialect["grammar"]> {
  return (tools, toolChoice, options) => {
    const writer = new Writer(format, { ...(variant !== undefined && { variant }), ...options }, preserved);
    const { chosen, forced } = choose(tools, toolChoice);
    const calls = chosen.length > 0 ? writer.calls(chosen) : undefined;
    const answer = options?.output && !forced ? writer.answer(options.output) : undefined;
    if (forced || answer) return writer.whole([calls && writer.led(calls), answer].filter((body) => body !== undefined));
    if (calls) return writer.armed(calls);
    return toolChoice === "auto" ? writer.free() : writer.silent(tools);
  };
}

type Speaker = Pick<Dialect, "preserved" | "variant">;

/** The tools that may be called, and whether one must be. */
function choose(tools: readonly Tool[], choice: ToolChoice): { chosen: readonly Tool[]; forced: boolean } {
  if (choice === "auto" || choice === "none") return { chosen: choice === "auto" ? tools : [], forced: false };
  const names = choice === "required" ? undefined : "name" in choice ? [choice.name] : choice.allowed;
  const forced = choice === "required" || "name" in choice || choice.required === true;
  const chosen = names ? tools.filter(({ name }) => names.includes(name)) : tools;
  if (forced && chosen.length === 0)
    throw new Error(`a call is required, but no tool is declared${names ? ` as ${names.join(", ")}` : ""}`);
  return { chosen, forced };
}

/** Calls as a body, and as a structural tag for each way to begin. */
interface Calls {
  readonly body: string;
  /** What arms the grammar. */
  readonly words: readonly string[];
  readonly tags: readonly JsonObject[];
}

/** The arguments of each tool. */
type Written = readonly (readonly [name: string, args: string])[];

class Writer {
  readonly #format: CallFormat;
  readonly #options: GrammarOptions;
  readonly #preserved: readonly string[];
  readonly #rules = new Rules();
  readonly #relaxed: Grammar["relaxed"] = [];

  constructor(format: CallFormat, options: GrammarOptions, preserved: readonly string[]) {
    this.#format = format;
    this.#options = options;
    this.#preserved = preserved;
  }

  /** The forms that calls may have: that of the variant, or any. */
  #forms(variant = this.#options.variant): CallForm[] {
    const { variants = {} } = this.#format;
    const others = variant === undefined ? [...new Set(Object.values(variants))] : [variants[variant] ?? {}];
    const forms = others.map((form) => ({ ...this.#format, ...form }));
    return variant === undefined ? [this.#format, ...forms] : forms;
  }

  calls(tools: readonly Tool[]): Calls {
    const known = new Map<Values, Written>();
    const all = this.#forms().map((form) => {
      const written = known.get(form.values) ?? this.#written(tools, form.values);
      known.set(form.values, written);
      return this.#inForm(form, written);
    });
    return {
      body: all.map(({ body }) => body).join(" | "),
      words: [...new Set(all.flatMap(({ words }) => words))],
      tags: all.flatMap(({ tags }) => tags),
    };
  }

  #written(tools: readonly Tool[], values: Values): Written {
    const write = schemaRules(this.#rules, values(this.#rules));
    return tools.map((tool) => {
      const { name, parameters = tool.kind === "custom" ? CUSTOM : NONE } = tool;
      return [name, write(onlyObjects(parameters), name, (path, keyword) => this.#report(name, path, keyword), true)];
    });
  }

  #inForm(form: CallForm, tools: Written): Calls {
    const { between = "", section } = form;
    const written = tools.map(([name, args]) => this.#call(form, name, args));
    const call = this.#rules.choice(
      "call",
      written.map(({ body }) => body),
    );
    const tags = written.flatMap(({ tags }) => tags);
    const words = [...form.words, ...written.flatMap(({ words }) => words)];
    const joint = between === "" ? "" : `${this.#pieces(form, [between], "")} `;
    const body = this.#options.parallelCalls === false ? call : `${call} (${joint}${call})*`;
    const tail = this.#format.stop ? ` ${optional(literal(this.#format.stop))}` : "";
    if (!section) return { body: body + tail, words, tags };
    const { begin, end, optional: isOptional } = section;
    const whole = this.#pieces(form, [begin, ARGUMENTS, end], body) + tail;
    const block = this.#tag(form, [typeof begin === "string" ? begin : begin[0], ARGUMENTS, end], body);
    return isOptional ? { body: `${whole} | ${body}`, words, tags: [block, ...tags] } : { body: whole, words, tags: [block] };
  }

  #call(form: CallForm, name: string, args: string): Calls {
    const { opener } = form;
    const pieces = form.call(name);
    const body = (pieces: readonly Piece[]) => this.#rules.rule(`call-${name}`, this.#pieces(form, pieces, args));
    const tag = (pieces: readonly Piece[]) => this.#tag(form, pieces, args);
    if (opener === undefined) return { body: body(pieces), words: [], tags: [tag(form.tag?.(name) ?? pieces)] };
    const words = typeof pieces[0] === "string" ? [pieces[0]] : [];
    return { body: body([[opener, ""], ...pieces]), words, tags: [tag([opener, ...pieces]), tag(pieces)] };
  }

  /** A structural tag has fixed text at both ends. */
  #tag(form: CallForm, pieces: readonly Piece[], args: string): JsonObject {
    const isText = (piece: Piece) => typeof piece === "string";
    const first = pieces.findIndex((piece) => !isText(piece));
    const last = pieces.findLastIndex((piece) => !isText(piece)) + 1;
    return {
      type: "tag",
      begin: pieces.slice(0, first).join(""),
      content: this.#contents(this.#pieces(form, pieces.slice(first, last), args)),
      end: pieces.slice(last).join(""),
    };
  }

  #pieces({ loose }: Pick<CallForm, "loose">, pieces: readonly Piece[], args: string): string {
    const text = (piece: string) => this.#text(piece, loose);
    const written = pieces.map((piece) => {
      if (piece === ARGUMENTS) return args;
      if (typeof piece === "string") return text(piece);
      return "pattern" in piece ? piece.pattern : `(${piece.map(text).join(" | ")})`;
    });
    return written.join(" ");
  }

  /** In a structural tag. Not the schema itself: xgrammar reads some otherwise, or refuses them, and then fails for all tools. */
  #contents(body: string): JsonObject {
    return { type: "grammar", grammar: this.#rules.text(body) };
  }

  /** The body of an answer without calls. */
  answer(schema: JsonObject): string {
    const write = schemaRules(this.#rules, jsonValues(this.#rules));
    return this.#pieces(
      this.#format,
      this.#format.answer ?? [ARGUMENTS],
      write(schema, "answer", (path, keyword) => this.#report("", path, keyword)),
    );
  }

  /** The body of calls with what may stand before them. */
  led({ body }: Calls): string {
    const { lead } = this.#format;
    return lead === undefined ? body : `${optional(literal(lead))} (${body})`;
  }

  /** Thinking, then one of these, from the first token on. */
  whole(bodies: readonly string[]): Grammar {
    const { thinking, start } = this.#format;
    const { startInThinking } = this.#options;
    const output = this.#rules.choice("output", bodies);
    const thought =
      thinking && `${until(this.#rules, [thinking.close])} ${literal(thinking.close)} ${start ? literal(start) : blanks(this.#rules)}`;
    if (thought && startInThinking) return this.#grammar(`${thought} ${output}`);
    const before = [start && literal(start), thought && startInThinking !== false && `${literal(thinking.open)} ${thought}`].filter(
      Boolean,
    );
    return this.#grammar(before.length > 0 ? `${optional(before.join(" | "))} ${output}` : output);
  }

  /** Text is free until a trigger comes. */
  armed({ body, words, tags }: Calls): Grammar {
    const { patterns, start } = this.#format;
    if (words.length === 0) return this.free();
    const led = start ? `${optional(literal(start))} (${body})` : body;
    const triggers: Grammar["triggers"] = patterns
      ? patterns.map((value) => ({ type: "pattern", value }))
      : words.map((value) => ({ type: "word", value }));
    const single = this.#options.parallelCalls === false && { stop_after_first: true };
    return { ...this.#grammar(led, { type: "triggered_tags", triggers: words, tags, ...single }), triggers };
  }

  /** No calls. */
  silent(tools: readonly Tool[]): Grammar {
    const { openers = [], words, bareOpener, variants = {} } = this.#format;
    if (words.length === 0 && tools.length > 0) this.#report("", "", "toolChoice"); // a call is known by its keys, in any order
    const names = tools.map(({ name }) => name).filter((name) => /^[\w.-]+$/.test(name));
    const others = Object.values(variants).flatMap((form) => form.words ?? []);
    return this.#grammar(until(this.#rules, [...words, ...others, ...openers, ...(bareOpener ? names.map(bareOpener) : [])]));
  }

  /** Nothing to hold the model to. */
  free(): Grammar {
    return { gbnf: "", triggers: [], preserved: [...this.#preserved], relaxed: this.#relaxed };
  }

  #grammar(body: string, format: Json = this.#contents(body)): Grammar {
    return { ...this.free(), gbnf: this.#rules.text(body), structuralTag: { type: "structural_tag", format } };
  }

  #report(tool: string, path: string, keyword: string): void {
    const same = (one: Grammar["relaxed"][number]) => one.tool === tool && one.path === path && one.keyword === keyword;
    if (!this.#relaxed.some(same)) this.#relaxed.push({ tool, path, keyword });
  }

  /** Text of the format; where it is loose, the blanks at its joints are. */
  #text(text: string, loose = false): string {
    const runs = loose ? text.split(/(?<=^|[:,>])\s+|\s+(?=$|<)/) : [text];
    const atoms = runs.flatMap((run, i) => [...(i > 0 ? [blanks(this.#rules)] : []), ...(run === "" ? [] : [literal(run)])]);
    return atoms.join(" ") || '""';
  }
}

/** Arguments are an object, whatever else their schema would allow. */
function onlyObjects(parameters: JsonObject): JsonObject {
  const { type, nullable: _nullable, ...rest } = parameters;
  const says = ["$ref", "anyOf", "oneOf", "allOf"].some((key) => rest[key] !== undefined);
  return type === undefined && says ? rest : { ...rest, type: "object" };
}

const NONE: JsonObject = { type: "object", properties: {} };
/** A tool whose input is text is called with this. */
const CUSTOM: JsonObject = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** The grammar of structured output: one JSON value by this schema, and nothing else. */
export const schemaGrammar = (schema: JsonObject): Grammar =>
  grammarOf({ values: jsonValues, call: () => [], words: [] }, { preserved: [] })([], "auto", { output: schema });
