/**
 * A dialect's grammar, from a description of how its calls look. The grammar begins with what triggers it, so that the same rules serve
 * where it is armed by a trigger (`auto`) and where it holds from the first token on (`required`, a named tool).
 */
import type { Json, JsonObject, Tool, ToolChoice } from "../../core/nouns.ts";
import type { Grammar, GrammarOptions } from "../dialect.ts";
import { compactJson } from "../print.ts";
import { blanks, literal, optional, Rules, until } from "./gbnf.ts";
import { SchemaRules } from "./schema.ts";
import { jsonValues, type Values } from "./values.ts";

/** Where the arguments stand in a call. */
export const ARGUMENTS = Symbol("arguments");

/** A part of a call: text, one of several texts, the most usual one first, or a pattern that regular expressions and GBNF spell alike. */
export type Piece = string | readonly string[] | { readonly pattern: string } | typeof ARGUMENTS;

export interface CallFormat {
  readonly values: Values;
  readonly call: (name: string) => readonly Piece[];
  /** Between parallel calls. */
  readonly between?: string;
  /** What stands around all calls; `optional`: or does not. */
  readonly section?: { readonly begin: string; readonly end: string; readonly optional?: true };
  /** Blanks in the text of a call may be others, as in JSON. */
  readonly loose?: true;
  /** What arms the grammar: words that a call begins with. */
  readonly words: readonly string[];
  /** Where words do not do for llama.cpp: regular expressions; the grammar starts at the first group, or else at the match. */
  readonly patterns?: readonly string[];
  /** What no answer without calls has in it, where it is not the words. */
  readonly openers?: readonly string[];
  /** Tokens of the format that a server must not strip. */
  readonly preserved: readonly string[];
  readonly thinking?: { readonly open: string; readonly close: string };
  /** What the model may write behind its calls. */
  readonly stop?: string;
  /** What stands in front of an answer without calls. */
  readonly answer?: string;
}

export const THINK = { open: "<think>", close: "</think>" };

/** The beginning of a call that is one JSON object, up to its arguments. */
export const jsonCall = (name: string, key: "arguments" | "parameters" = "arguments"): string =>
  `{"name": ${compactJson(name)}, "${key}": `;

/** Makes the `grammar` of a dialect. */
export function grammarOf(format: CallFormat): (tools: readonly Tool[], toolChoice: ToolChoice, options?: GrammarOptions) => Grammar {
  return (tools, toolChoice, options = {}) => {
    const writer = new Writer(format, options);
    const { chosen, forced } = choose(tools, toolChoice);
    const calls = chosen.length > 0 ? writer.calls(chosen) : undefined;
    const answer = options.output && writer.answer(options.output);
    if (calls && forced) return writer.whole([calls]);
    if (answer) return writer.whole(calls ? [calls, answer] : [answer]);
    if (calls) return writer.armed(calls);
    return toolChoice === "auto" ? writer.free() : writer.silent();
  };
}

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

/** A part of the output as a rule, and as a structural tag. */
interface Part {
  readonly body: string;
  readonly tag: JsonObject;
}
/** Calls have a structural tag for each way to begin. */
interface Calls extends Part {
  readonly tags: JsonObject[];
}

class Writer {
  readonly #format: CallFormat;
  readonly #options: GrammarOptions;
  readonly #rules = new Rules();
  readonly #relaxed: Grammar["relaxed"] = [];

  constructor(format: CallFormat, options: GrammarOptions) {
    this.#format = format;
    this.#options = options;
  }

  calls(tools: readonly Tool[]): Calls {
    const { between = "", section, stop } = this.#format;
    const schemas = new SchemaRules(this.#rules, this.#format.values(this.#rules));
    const written = tools.map((tool) => this.#call(tool, schemas));
    const call = this.#rules.choice(
      "call",
      written.map(({ body }) => body),
    );
    const tags = written.map(({ tag }) => tag);
    const single = this.#options.parallelCalls === false;
    const body = single ? call : `${call} (${between === "" ? "" : `${this.#text(between)} `}${call})*`;
    const tail = stop ? ` ${optional(literal(stop))}` : "";
    const tag = { type: "tags_with_separator", tags, separator: between, at_least_one: true, ...(single && { stop_after_first: true }) };
    if (!section) return { body: body + tail, tag, tags };
    const whole = `${literal(section.begin)} ${body} ${literal(section.end)}${tail}`;
    const block = { type: "tag", begin: section.begin, content: tag, end: section.end };
    return section.optional
      ? { body: `${whole} | ${body}`, tag: block, tags: [block, ...tags] }
      : { body: whole, tag: block, tags: [block] };
  }

  #call(tool: Tool, schemas: SchemaRules): Part {
    const { name, parameters = tool.kind === "custom" ? CUSTOM : NONE } = tool;
    const before = this.#relaxed.length;
    const report = (path: string, keyword: string) => this.#report(name, path, keyword);
    const args = schemas.write(parameters, name, report, true);
    const pieces = this.#format.call(name);
    const written = pieces.map((piece) => {
      if (piece === ARGUMENTS) return args;
      if (typeof piece === "string") return this.#text(piece);
      return "pattern" in piece ? piece.pattern : `(${piece.map((text) => this.#text(text)).join(" | ")})`;
    });
    const exact = this.#format.values === jsonValues && this.#relaxed.length === before;
    return { body: this.#rules.rule(`call-${name}`, written.join(" ")), tag: tagOf(pieces, this.#contents(parameters, args, exact)) };
  }

  /** JSON is left to the server's own reading of the schema, unless that may stumble over what was relaxed here. */
  #contents(schema: JsonObject, rule: string, exact: boolean): JsonObject {
    if (exact && !/"type":\[?"[^a-z]/.test(JSON.stringify(schema))) return { type: "json_schema", json_schema: schema };
    return { type: "grammar", grammar: this.#rules.text(rule) };
  }

  answer(schema: JsonObject): Part {
    const { answer = "" } = this.#format;
    const before = this.#relaxed.length;
    const rule = new SchemaRules(this.#rules, jsonValues(this.#rules)).write(schema, "answer", (path, keyword) =>
      this.#report("", path, keyword),
    );
    const contents = this.#contents(schema, rule, this.#relaxed.length === before);
    if (answer === "") return { body: rule, tag: contents };
    return { body: `${optional(literal(answer))} ${rule}`, tag: sequence({ type: "const_string", value: answer }, contents) };
  }

  /** Thinking, then one of these, from the first token on. */
  whole(parts: readonly Part[]): Grammar {
    const body = this.#rules.choice(
      "output",
      parts.map((part) => part.body),
    );
    const tag = parts.length === 1 ? parts[0]?.tag : { type: "or", elements: parts.map((part) => part.tag) };
    const thinking = this.#thinking();
    if (!thinking) return this.#grammar(body, tag);
    const { startInThinking } = this.#options;
    const thought = sequence(thinking.tag, tag ?? {});
    return this.#grammar(
      `${startInThinking ? thinking.body : optional(thinking.body)} ${body}`,
      startInThinking ? thought : { type: "or", elements: [thought, tag ?? {}] },
    );
  }

  #thinking(): Part | undefined {
    const { thinking } = this.#format;
    if (!thinking || this.#options.startInThinking === false) return undefined;
    const open = this.#options.startInThinking ? "" : thinking.open;
    const { close } = thinking;
    const body = `${open === "" ? "" : `${literal(open)} `}${until(this.#rules, [close])} ${literal(close)} ${blanks(this.#rules)}`;
    return { body, tag: { type: "tag", begin: open, content: { type: "any_text" }, end: close } };
  }

  /** Text is free until a trigger comes. */
  armed({ body, tags }: Calls): Grammar {
    const { words, patterns } = this.#format;
    if (words.length === 0) return this.free();
    const triggers: Grammar["triggers"] = patterns
      ? patterns.map((value) => ({ type: "pattern", value }))
      : words.map((value) => ({ type: "word", value }));
    const single = this.#options.parallelCalls === false;
    const format = { type: "triggered_tags", triggers: words, tags, ...(single && { stop_after_first: true }) };
    return { ...this.#grammar(body, format), triggers };
  }

  /** No calls. */
  silent(): Grammar {
    const { openers = this.#format.words } = this.#format;
    return this.#grammar(until(this.#rules, openers), { type: "any_text", excludes: openers });
  }

  /** Nothing to hold the model to. */
  free(): Grammar {
    return { gbnf: "", triggers: [], preserved: [...this.#format.preserved], relaxed: this.#relaxed };
  }

  #grammar(body: string, format: Json | undefined): Grammar {
    const gbnf = this.#rules.text(body);
    return { ...this.free(), gbnf, structuralTag: { type: "structural_tag", format: format ?? null } };
  }

  #report(tool: string, path: string, keyword: string): void {
    const same = (one: Grammar["relaxed"][number]) => one.tool === tool && one.path === path && one.keyword === keyword;
    if (!this.#relaxed.some(same)) this.#relaxed.push({ tool, path, keyword });
  }

  /** Text of the format; where it is loose, the blanks at its joints are. */
  #text(text: string): string {
    if (!this.#format.loose) return literal(text);
    const runs = text.split(/(?<=^|[:,>])\s+|\s+(?=$|<)/);
    return runs.flatMap((run, i) => [...(i > 0 ? [blanks(this.#rules)] : []), ...(run === "" ? [] : [literal(run)])]).join(" ");
  }
}

const NONE: JsonObject = { type: "object", properties: {} };
/** A tool whose input is text is called with this. */
const CUSTOM: JsonObject = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

const sequence = (...elements: JsonObject[]): JsonObject => ({ type: "sequence", elements });

/** A structural tag has fixed text at both ends. Choices are made for the model. */
function tagOf(pieces: readonly Piece[], contents: JsonObject): JsonObject {
  const parts = pieces.map((piece): string | JsonObject => {
    if (piece === ARGUMENTS) return contents;
    if (typeof piece === "string") return piece;
    return "pattern" in piece ? { type: "regex", pattern: piece.pattern } : (piece[0] ?? "");
  });
  const first = parts.findIndex((part) => typeof part !== "string");
  const last = parts.findLastIndex((part) => typeof part !== "string");
  const inside = parts.slice(first, last + 1).map((part) => (typeof part === "string" ? { type: "const_string", value: part } : part));
  return {
    type: "tag",
    begin: parts.slice(0, first).join(""),
    content: inside.length === 1 ? (inside[0] ?? contents) : sequence(...inside),
    end: parts.slice(last + 1).join(""),
  };
}

/** The grammar of structured output: one JSON value by this schema, and nothing else. */
export const schemaGrammar = (schema: JsonObject): Grammar =>
  grammarOf({ values: jsonValues, call: () => [], words: [], preserved: [] })([], "auto", { output: schema });
