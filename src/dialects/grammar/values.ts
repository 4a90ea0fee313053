/** How values look in a dialect: JSON text, Gemma's values, Python's literals, the text of XML parameters. Every member gives GBNF. */
import type { JsonType } from "../../core/schema.ts";
import { ascii, dictsort, keysort, pythonJson, pythonLiteral } from "../print.ts";
import { blanks, literal, noneOf, optional, otherWord, type Rules, row, until } from "./gbnf.ts";

export type Scalar = string | number | boolean | null;

/** What surrounds and separates the members of an object or a list. */
export interface Brackets {
  readonly open: string;
  readonly comma: string;
  readonly close: string;
}

/** The type of a value, for syntaxes that write each type differently; `others`: all types but strings. */
export type Kind = JsonType | "others";

export interface ObjectSyntax extends Brackets {
  /** A key and its value, which is an atom. */
  readonly pair: (name: string, value: string, kind?: Kind) => string;
  /** The same for any key that is not declared. */
  readonly otherPair: (declared: readonly string[], value: string, kind?: Kind) => string;
  /** What an object without pairs contains. */
  readonly nothing?: string;
  /** The grammar cannot make the two tags of an undeclared key have the same name. */
  readonly unpaired?: true;
  /** The order of the keys, if not that of the schema. */
  readonly sort?: typeof dictsort;
}

export interface ValueSyntax {
  readonly scalar: (value: Scalar) => string;
  /** Any string, an atom. `length` is a quantifier such as `{0,9}`; `undefined`: this syntax cannot enforce a length. */
  readonly string: (length?: string) => string | undefined;
  readonly object: ObjectSyntax;
  readonly list: Brackets & { readonly item?: (value: string) => string };
  /** Strings are raw text, so the text of any other value may be a string, too, except for values of these types. */
  readonly verbatim?: readonly JsonType[];
  /** How values are written where the schema allows no string, if differently. */
  readonly noStrings?: ValueSyntax;
  /** Only values of this kind are written in this syntax. */
  readonly kind?: Kind;
  /** How values inside an object or a list are written, if differently. */
  readonly inner?: ValueSyntax;
  /** How such values that are not strings are written, if differently: one syntax for all, or one for each type. */
  readonly innerOthers?: readonly ValueSyntax[];
}

/** Makes a syntax that adds to these rules. */
export type Values = (rules: Rules) => ValueSyntax;

const HEX = "[0-9a-fA-F]";
/** Behind `\u`: one character, which may be a pair of surrogates. Where characters are counted, half of one would be counted as one. */
const CODE_POINT = `([0-9a-cefA-CEF] ${HEX}{3} | [dD] ([0-7] ${HEX}{2} | [89abAB] ${HEX}{2} "\\\\u" [dD] [c-fC-F] ${HEX}{2}))`;
const NO_PLAIN = ['"', "\\", "\0-\x1f"];

/** `{"a": 1, "b": [true, null]}` */
export const jsonValues: Values = (rules) => jsonSyntax(rules, blanks(rules));
/** The same inside other indented JSON, where lines are indented further. */
export const indentedValues: Values = (rules) => jsonSyntax(rules, blanks(rules, 48));
/** The same where all but ASCII may be escaped. */
export const asciiValues: Values = (rules) =>
  jsonSyntax(rules, blanks(rules), (json) => rules.choice("word", [json, ascii(json)].map(literal)));

function jsonSyntax(rules: Rules, ws: string, word = literal): ValueSyntax {
  const string = (length = "*"): string => {
    const code = length === "*" ? `${HEX}{4}` : CODE_POINT;
    const char = rules.rule("char", `${noneOf(NO_PLAIN)} | "\\\\" (["\\\\/bfnrt] | "u" ${code})`);
    return rules.rule("string", `"\\"" ${char}${length} "\\""`);
  };
  return {
    scalar: (value) => word(pythonJson(value)),
    string,
    object: {
      open: `"{" ${ws}`,
      comma: `"," ${ws}`,
      close: `${ws} "}"`,
      pair: (name, value) => `${word(`${pythonJson(name)}:`)} ${ws} ${value}`,
      otherPair: (declared, value) =>
        `${declared.length > 0 ? `"\\"" ${otherWord(declared, NO_PLAIN)} "\\""` : string()} ":" ${ws} ${value}`,
    },
    list: { open: `"[" ${ws}`, comma: `"," ${ws}`, close: `${ws} "]"` },
  };
}

export const sortedJsonValues: Values = (rules) => {
  const values = jsonValues(rules);
  return { ...values, object: { ...values.object, sort: keysort } };
};

/** `{city:<|"|>Paris<|"|>,days:2}` */
export const gemmaValues =
  (quote: string, none: string, isBare: (key: string) => boolean): Values =>
  (rules) => {
    const mark = literal(quote);
    return {
      scalar: (value) => literal(typeof value === "string" ? quote + value + quote : value === null ? none : pythonJson(value)),
      string: (length) => (length === undefined ? rules.rule("string", `${mark} ${until(rules, [quote])} ${mark}`) : undefined),
      object: {
        open: '"{"',
        comma: '","',
        close: '"}"',
        pair: (name, value) => `${literal(`${isBare(name) ? name : quote + name + quote}:`)} ${value}`,
        otherPair: (declared, value) => {
          const ends = [...":,{}<[]", "\0- "];
          // A key of several words could otherwise spell a declared key that contains a blank.
          const more = declared.some((key) => key.includes(" ")) ? "" : `(" " ${noneOf(ends)}+)*`;
          const quoted = `${mark} ${declared.length > 0 ? otherWord(declared, ["<", "\0-\x1f"]) : until(rules, [quote])} ${mark}`;
          return `(${row(otherWord(declared, ends, ['"', "'"]), more)} | ${quoted}) ":" ${value}`;
        },
        sort: dictsort,
      },
      list: { open: '"["', comma: '","', close: '"]"' },
    };
  };

const NO_NAME = ["\0-/", ":-@", "[-^", "`", "{-\x7f"];
const PYTHON_ENDS = ["\\", "\n"];

/** `'Paris'`, `["a"]`, `{"start": None}` */
export const pythonLiterals: Values = (rules) => {
  const ws = blanks(rules);
  const string = (length?: string): string => {
    // An escape that Python does not know is two characters, which matters where they are counted.
    const escaped = length ? `(["'\\\\abfnrtv] | "x" ${HEX}{2} | "u" ${CODE_POINT} | "U000" ${HEX}{5})` : "[^\\n]";
    const inside = (quote: string) => `${rules.rule("char", `${noneOf([quote, ...PYTHON_ENDS])} | "\\\\" ${escaped}`)}${length ?? "*"}`;
    return rules.rule("string", `"'" ${inside("'")} "'" | "\\"" ${inside('"')} "\\""`);
  };
  const scalar = (value: Scalar): string => rules.choice("word", [pythonLiteral(value), pythonJson(value)].map(literal));
  return {
    scalar,
    string,
    object: {
      open: '"{"',
      comma: `"," ${ws}`,
      close: '"}"',
      pair: (name, value) => `${scalar(name)} ":" ${ws} ${value}`,
      otherPair: (declared, value) =>
        `${declared.length > 0 ? `(${otherKey(declared, '"')} | ${otherKey(declared, "'")})` : string()} ":" ${ws} ${value}`,
    },
    list: { open: '"["', comma: `"," ${ws}`, close: '"]"' },
  };
};

const otherKey = (declared: readonly string[], quote: string): string =>
  `${literal(quote)} ${otherWord(declared, [quote, ...PYTHON_ENDS])} ${literal(quote)}`;

/** `city='Paris', days=2, tags=["a"], when={"start": None}` between the parentheses of a call. */
export const pythonValues: Values = (rules) => {
  const inner = pythonLiterals(rules);
  const object: ObjectSyntax = {
    open: "",
    comma: `"," ${blanks(rules)}`,
    close: "",
    pair: (name, value) => `${literal(`${/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : pythonLiteral(name)}=`)} ${value}`,
    otherPair: (declared, value) => `(${otherWord(declared, NO_NAME, ["0-9"])} | ${otherKey(declared, "'")}) "=" ${value}`,
  };
  return { ...inner, object, inner };
};

/** How an XML parameter surrounds its value. */
export interface XmlParameter {
  /** `kind`: the kind of the value, if the tag must state it. */
  readonly open: (key: string, kind?: Kind) => string;
  /** Ends the value, so no string can contain it. */
  readonly close: string;
  /** What may surround a string, which then may contain `close`. */
  readonly section?: readonly [begin: string, end: string];
  /** What follows every parameter. */
  readonly behind: string;
  /** What a call without parameters contains. */
  readonly nothing?: string;
  /** What the tags state about a value: whether it is a string, or its type. */
  readonly typed?: "string" | "type";
  /** Python's words (`True`, `False`, `None`) are allowed beside JSON's. */
  readonly python?: true;
  /** How objects and lists are written, if not as JSON. */
  readonly literals?: Values;
  /** Newlines between tags are optional. */
  readonly loose?: true;
  /** The scanner reads a value whose closer is missing, or is not on a line of its own: a model that writes that may end its call. */
  readonly unclosed?: true;
}

/** `<parameter=city>\nParis\n</parameter>`: strings as they are, everything else as JSON. */
export const xmlValues =
  ({ open, close, section, behind, nothing, typed, python, loose, unclosed, literals = jsonValues }: XmlParameter): Values =>
  (rules) => {
    const json = literals(rules);
    const loosely = (text: string): string => row(...text.split(/(\n)/).map((run) => run && newlineOr(run)));
    const tag = loose ? loosely : literal;
    const text = section
      ? rules.choice("string", [within(section, until(rules, [section[1] + close])), until(rules, [close, section[0]])])
      : until(rules, [close]);
    const end = (atom: string): string => (unclosed && atom === text ? optional(loosely(close + behind)) : tag(close + behind));
    const scalar = (value: Scalar): string => {
      if (typeof value === "string")
        return section ? rules.choice("word", [literal(value), within(section, literal(value))]) : literal(value);
      return python ? rules.choice("word", [json.scalar(value), literal(pythonLiteral(value))]) : json.scalar(value);
    };
    const kinds: readonly Kind[] = typed === "type" ? ["number", "boolean", "object", "array", "null"] : ["others"];
    const noStrings: ValueSyntax = { ...json, scalar, inner: json };
    const others = kinds.map((kind) => ({ ...noStrings, kind }));
    const strings: ValueSyntax = {
      ...json,
      // Where the schema allows a string, any text is read as one, except JSON's `null`.
      scalar: (value) => (value === null ? literal("null") : scalar(value)),
      string: (length) => (length === undefined ? text : undefined),
      verbatim: ["null"],
      noStrings,
      ...(typed && { kind: "string" }),
      inner: json,
    };
    const object: ObjectSyntax = {
      ...NO_BRACKETS,
      ...(nothing !== undefined && { nothing }),
      pair: (name, atom, kind) => `${tag(open(name, kind))} ${atom} ${end(atom)}`,
      otherPair: (declared, atom, kind) => {
        const [before = "", after = ""] = open("\0", kind).split("\0");
        return `${tag(before)} ${otherWord(declared, ['"', "<", ">", "\0- "])} ${tag(after)} ${atom} ${end(atom)}`;
      },
    };
    return { ...json, object, inner: strings, ...(typed && { innerOthers: others }) };
  };

const within = ([begin, end]: readonly [string, string], atom: string): string => row(literal(begin), atom, literal(end));

const newlineOr = (run: string): string => (run === "\n" ? '"\\n"?' : literal(run));

/** `<city>Paris</city><tags><item>a</item></tags>`, each tag after a mark: all values are elements, strings as they are. */
export const elementValues =
  (mark: string): Values =>
  (rules) => {
    const element = (name: string, value: string): string => `${literal(`${mark}<${name}>`)} ${value} ${literal(`${mark}</${name}>`)}`;
    const ends = [..."<>/]", "\0-\x1f"];
    return {
      // The template writes nothing for null.
      scalar: (value) => (value === null ? '("null" | "")' : literal(typeof value === "string" ? value : pythonJson(value))),
      string: (length) => (length === undefined ? until(rules, [mark]) : undefined),
      object: {
        ...NO_BRACKETS,
        pair: element,
        otherPair: (declared, value) =>
          `${literal(`${mark}<`)} ${otherWord([...declared, "item"], ends)} ">" ${value} ${literal(`${mark}</`)} ${noneOf(ends)}+ ">"`,
        unpaired: true,
      },
      list: { ...NO_BRACKETS, item: (value) => element("item", value) },
      verbatim: [],
    };
  };

const NO_BRACKETS: Brackets = { open: "", comma: "", close: "" };
