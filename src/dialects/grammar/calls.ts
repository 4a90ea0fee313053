/**
 * A dialect's grammar, from a description of how its calls look. The grammar begins with its own trigger, so that the same rules serve
 * when a trigger arms it (`auto`) and when it applies from the first token on (`required`, a named tool).
 */
import { checkTools } from "../../core/check.ts";
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject, Tool, ToolChoice } from "../../core/nouns.ts";
import type { Dialect, Grammar, GrammarOptions } from "../dialect.ts";
import { compactJson } from "../print.ts";
import { checkVariant } from "../variant.ts";
import { blanks, literal, optional, Rules, row, until } from "./gbnf.ts";
import { schemaRules } from "./schema.ts";
import { jsonValues, type Values } from "./values.ts";

/** The place of the arguments in a call. */
export const ARGUMENTS = Symbol("arguments");

/** A part of a call: text, one of several texts, the most usual one first, or a pattern in GBNF. */
export type Piece = string | readonly string[] | { readonly pattern: string } | typeof ARGUMENTS;

/** What may differ between the revisions of a template. */
export interface CallForm {
  readonly values: Values;
  readonly call: (name: string) => readonly Piece[];
  /** The same for a structural tag, which must begin with text. */
  readonly tag?: (name: string) => readonly Piece[];
  /** Comes before a call. A model may omit it, so the call's first piece, which is text, also arms the grammar. */
  readonly opener?: string;
  /** Between parallel calls. */
  readonly between?: Exclude<Piece, typeof ARGUMENTS>;
  /** What wraps all calls; of several beginnings, a structural tag takes the first. `optional`: the model may omit it. */
  readonly section?:
    | {
        readonly begin: string | readonly [string, ...string[]];
        readonly end: string | readonly string[];
        readonly optional?: true;
      }
    | undefined;
  /** Blanks in the text of a call may vary, as in JSON. */
  readonly loose?: true;
  /** What arms the grammar: words that a call begins with. */
  readonly words: readonly string[];
  readonly thinking?: { readonly open: string; readonly close: string };
  /** What arms the grammar in llama.cpp, if calls begin with a word that contains the tool's name. */
  readonly word?: (name: string) => string;
}

export interface CallFormat extends CallForm {
  /** Other forms in circulation, by variant. */
  readonly variants?: Readonly<Record<string, Partial<CallForm>>>;
  /** Comes before every part of an output; before the first part it is optional. */
  readonly start?: string;
  /** Triggers for llama.cpp where words do not suffice: regular expressions. The grammar starts at the first group, or else at the match. */
  readonly patterns?: readonly string[];
  /** What an answer without calls must not contain besides `words`: other marks that models write before calls, */
  readonly openers?: readonly string[];
  /** and the beginning of a call of this tool that no mark announces. */
  readonly bareOpener?: (name: string) => string;
  /** What the model may write before its calls in place of text. */
  readonly lead?: string;
  /** What the model may write after its calls. */
  readonly stop?: string;
  /** What surrounds the JSON of an answer without calls, if anything does. After `start`, it begins with the first piece that is not "". */
  readonly answer?: readonly Piece[];
}

export const THINK = { open: "<think>", close: "</think>" };

/** The beginning of a call that is one JSON object, up to its arguments. */
export const jsonCall = (name: string, key: "arguments" | "parameters" = "arguments"): string =>
  `{"name": ${compactJson(name)}, "${key}": `;

/** Makes the `grammar` of a dialect. */
export function grammarOf(format: CallFormat, dialect: Speaker): NonNullable<Dialect["grammar"]> {
  return (tools, toolChoice, options) => {
    const variant = options?.variant ?? dialect.variant;
    if (variant !== undefined) checkVariant(dialect, variant);
    checkTools(tools);
    const writer = writerOf(format, { ...options, variant }, dialect.preserved);
    const { chosen, forced } = choose(tools, toolChoice);
    const calls = chosen.length > 0 ? writer.calls(chosen) : undefined;
    const answer = options?.output && !forced ? writer.answer(options.output) : undefined;
    if (forced || answer) return writer.whole(calls && writer.led(calls), answer);
    if (calls) return writer.armed(calls);
    return toolChoice === "auto" ? writer.free() : writer.silent(tools);
  };
}

type Speaker = Pick<Dialect, "id" | "variants" | "preserved" | "variant">;

/** The tools that may be called, and whether one must be. */
function choose(tools: readonly Tool[], choice: ToolChoice): { chosen: readonly Tool[]; forced: boolean } {
  if (choice === "auto" || choice === "none") return { chosen: choice === "auto" ? tools : [], forced: false };
  if (choice !== "required" && !(isObject(choice) && ("name" in choice || "allowed" in choice)))
    throw new TypeError('the tool choice must be "auto", "none", "required", { name } or { allowed }');
  const names = choice === "required" ? undefined : "name" in choice ? [choice.name] : choice.allowed;
  const forced = choice === "required" || "name" in choice || choice.required === true;
  const chosen = names ? tools.filter(({ name }) => names.includes(name)) : tools;
  if (forced && chosen.length === 0)
    throw new Error(`a call is required, but no tool is declared${names ? ` as ${names.join(", ")}` : ""}`);
  return { chosen, forced };
}

/** Calls as the body of a rule, and as one structural tag for each way to begin. */
interface Calls {
  readonly body: string;
  /** What arms the grammar: in a structural tag, and for llama.cpp. */
  readonly words: readonly string[];
  readonly arms: readonly string[];
  readonly tags: readonly JsonObject[];
}

/** Each tool with the rule of its arguments. */
type Written = readonly (readonly [name: string, args: string])[];

/** An answer without calls. */
interface Answer {
  readonly first: string;
  readonly begun: string;
}

/** The functions that write the grammar of one request. */
function writerOf(format: CallFormat, { variant, parallelCalls, startInThinking }: GrammarOptions, preserved: readonly string[]) {
  const { variants = {}, words, start, stop, lead } = format;
  const { thinking } = { ...format, ...variants[variant ?? ""] };
  const rules = new Rules();
  const relaxed: Grammar["relaxed"] = [];
  const reported = new Set<string>();

  const report = (tool: string, path: string, keyword: string): void => {
    const key = JSON.stringify([tool, path, keyword]);
    if (!reported.has(key)) relaxed.push({ tool, path, keyword });
    reported.add(key);
  };

  // ---- calls

  /** The forms that calls may have: that of the variant, or any if no variant is set. */
  const forms = (): CallForm[] => {
    const others = variant === undefined ? [{}, ...new Set(Object.values(variants))] : [variants[variant] ?? {}];
    return others.map((form) => ({ ...format, ...form }));
  };

  const calls = (tools: readonly Tool[]): Calls => {
    const known = new Map<Values, Written>();
    const all = forms().map((form) => {
      const written = known.get(form.values) ?? allArguments(tools, form.values);
      known.set(form.values, written);
      return inForm(form, written);
    });
    return {
      body: [...new Set(all.map(({ body }) => body))].join(" | "),
      words: [...new Set(all.flatMap(({ words }) => words))],
      arms: [...new Set(all.flatMap(({ arms }) => arms))],
      tags: [...new Map(all.flatMap(({ tags }) => tags).map((tag) => [JSON.stringify(tag), tag])).values()],
    };
  };

  const allArguments = (tools: readonly Tool[], values: Values): Written => {
    const write = schemaRules(rules, values(rules));
    return tools.map((tool) => {
      const { name, parameters = tool.kind === "custom" ? CUSTOM : NONE } = tool;
      return [name, write(onlyObjects(parameters), name, (path, keyword) => report(name, path, keyword), true)];
    });
  };

  const inForm = (form: CallForm, tools: Written): Calls => {
    const { between, section, word } = form;
    const written = tools.map(([name, args]) => oneCall(form, name, args));
    const call = rules.choice(
      "call",
      written.map(({ body }) => body),
    );
    const tags = written.flatMap(({ tags }) => tags);
    const words = [...form.words, ...written.flatMap(({ words }) => words)];
    const arms = word ? tools.map(([name]) => word(name)) : words;
    const joint = between ? `${inRow(form, [between], "")} ` : "";
    const body = parallelCalls === false ? call : `${call} (${joint}${call})*`;
    const tail = stop ? ` ${optional(literal(stop))}` : "";
    if (!section) return { body: body + tail, words, arms, tags };
    const { begin, end, optional: isOptional } = section;
    const whole = inRow(form, [begin, ARGUMENTS, end], body) + tail;
    const block = structuralTag(form, [typeof begin === "string" ? begin : begin[0], ARGUMENTS, end], body);
    return isOptional ? { body: `${whole} | ${body}`, words, arms, tags: [block, ...tags] } : { body: whole, words, arms, tags: [block] };
  };

  const oneCall = (form: CallForm, name: string, args: string): Omit<Calls, "arms"> => {
    const { opener } = form;
    const pieces = form.call(name);
    const body = (pieces: readonly Piece[]) => rules.rule(`call-${name}`, inRow(form, pieces, args));
    const tag = (pieces: readonly Piece[]) => structuralTag(form, pieces, args);
    if (opener === undefined) return { body: body(pieces), words: [], tags: [tag(form.tag?.(name) ?? pieces)] };
    const words = pieces.slice(0, 1).filter(isText);
    return { body: body([[opener, ""], ...pieces]), words, tags: [tag([opener, ...pieces]), tag(pieces)] };
  };

  /** A structural tag has fixed text at both ends. */
  const structuralTag = (form: CallForm, pieces: readonly Piece[], args: string): JsonObject => {
    const first = pieces.findIndex((piece) => !isText(piece));
    const last = pieces.findLastIndex((piece) => !isText(piece)) + 1;
    return {
      type: "tag",
      begin: pieces.slice(0, first).join(""),
      content: contents(inRow(form, pieces.slice(first, last), args)),
      end: pieces.slice(last).join(""),
    };
  };

  const inRow = ({ loose }: Pick<CallForm, "loose">, pieces: readonly Piece[], args: string): string => {
    const written = (piece: Piece): string => {
      if (piece === ARGUMENTS) return args;
      if (isText(piece)) return loose ? looseText(rules, piece) : literal(piece);
      // A rule, since xgrammar examines what is repeated once for each tool otherwise.
      return "pattern" in piece ? rules.rule("part", piece.pattern) : `(${piece.map(written).join(" | ")})`;
    };
    return pieces.map(written).join(" ");
  };

  // ---- whole outputs

  /** The content of a structural tag. Not the schema itself: xgrammar reads some schemas differently, or refuses them and then fails for all tools. */
  const contents = (body: string): JsonObject => ({ type: "grammar", grammar: rules.text(body) });

  /** A grammar that constrains nothing. */
  const free = (): Grammar => ({ gbnf: "", triggers: [], preserved: [...preserved], relaxed });

  const grammar = (body: string, format: Json = contents(body)): Grammar => ({
    ...free(),
    gbnf: rules.text(body),
    structuralTag: { type: "structural_tag", format },
  });

  return {
    calls,
    free,

    /** The bodies of an answer without calls: at the beginning of an output, and in it. */
    answer: (schema: JsonObject): Answer => {
      if (!isObject(schema)) throw new TypeError("a schema must be an object");
      const write = schemaRules(rules, jsonValues(rules));
      const json = write(schema, "answer", (path, keyword) => report("", path, keyword));
      const [head = ARGUMENTS, ...rest] = format.answer ?? [];
      const begun = start && Array.isArray(head) ? head.filter(Boolean) : head;
      return { first: inRow(format, [head, ...rest], json), begun: inRow(format, [begun, ...rest], json) };
    },

    /** The body of calls with what may come before them. */
    led: ({ body }: Calls): string => (lead === undefined ? body : `${optional(literal(lead))} (${body})`),

    /** Constrains the output from the first token on: thinking, then calls or an answer. */
    whole: (calls?: string, answer?: Answer): Grammar => {
      const output = rules.choice(
        "output",
        [calls, answer?.begun].filter((body) => body !== undefined),
      );
      // Many scanners take a call inside thinking for a call, so a thought contains none: it would be one of any tool.
      const thought =
        thinking && `${until(rules, [thinking.close, ...preserved])} ${literal(thinking.close)} ${start ? literal(start) : blanks(rules)}`;
      if (thought && startInThinking) return grammar(`${thought} ${output}`);
      const before = [start && literal(start), thought && startInThinking !== false && `${literal(thinking.open)} ${thought}`];
      const whole = row(optional(before.filter(Boolean).join(" | ")), output);
      return grammar(answer && answer.first !== answer.begun ? `${whole} | ${answer.first}` : whole);
    },

    /** Text is free until a trigger comes. */
    armed: ({ body, words, arms, tags }: Calls): Grammar => {
      if (words.length === 0) return free();
      const led = start ? `${optional(literal(start))} (${body})` : body;
      const triggers: Grammar["triggers"] =
        format.patterns?.map((value) => ({ type: "pattern", value })) ?? arms.map((value) => ({ type: "word", value }));
      const single = parallelCalls === false && { stop_after_first: true };
      return { ...grammar(led, { type: "triggered_tags", triggers: words, tags, ...single }), triggers };
    },

    /** Any text without calls. */
    silent: (tools: readonly Tool[]): Grammar => {
      const { openers = [], bareOpener } = format;
      if (words.length === 0 && tools.length > 0) report("", "", "toolChoice"); // such calls are known only by their keys, in any order
      const names = tools.map(({ name }) => name).filter((name) => /^[\w.-]+$/.test(name));
      const others = Object.values(variants).flatMap((form) => form.words ?? []);
      const marks = [...words, ...others, ...openers, ...(bareOpener ? names.map(bareOpener) : [])];
      return marks.length > 0 ? grammar(until(rules, marks)) : free();
    },
  };
}

const isText = (piece: Piece): piece is string => typeof piece === "string";

/** Text whose blanks at the joints may vary. */
function looseText(rules: Rules, text: string): string {
  const runs = text.split(/(?<=^|[:,>])\s+|\s+(?=$|<)/);
  return row(...runs.flatMap((run, i) => [i > 0 && blanks(rules), run && literal(run)])) || '""';
}

/** Arguments are an object, whatever else their schema would allow. */
function onlyObjects(parameters: JsonObject): JsonObject {
  const { type, nullable: _nullable, ...rest } = parameters;
  const says = ["$ref", "anyOf", "oneOf", "allOf"].some((key) => rest[key] !== undefined);
  return type === undefined && says ? rest : { ...rest, type: "object" };
}

const NONE: JsonObject = { type: "object", properties: {} };
/** The arguments of a tool whose input is text. */
const CUSTOM: JsonObject = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

/** The grammar of structured output: one JSON value by this schema, and nothing else. */
export function schemaGrammar(schema: JsonObject): Grammar {
  const writer = writerOf({ values: jsonValues, call: () => [], words: [] }, {}, []);
  return writer.whole(undefined, writer.answer(schema));
}
