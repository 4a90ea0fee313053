/**
 * Rewrites a parsed template around faults of the package. It loses the output of an iteration at `{% continue %}`, so everything after one
 * is moved into the branches that do not continue. It cannot unpack a tuple, so tuples become lists. In an object with a key `items` it
 * takes the method of that name for the value, so methods become filters. It takes empty lists and objects for true after `not`, and
 * objects for not iterable. It prints values as JavaScript does, and null not at all, its `string` filter and `~` cannot convert an object
 * or null, it prints empty lists and objects over two lines if they are indented, and `lstrip` and the like ignore which characters to
 * strip: functions of ours replace these. And it never stops: a template may come with any model file, so what it repeats is counted.
 */
import { Numeral, prettyJson, pythonText, type Tree } from "../dialects/print.ts";

interface Node {
  type: string;
  value?: unknown;
  body?: Node[];
  alternate?: Node[];
  operand?: Node;
  operator?: { value: string };
  argument?: Node;
  left?: Node;
  right?: Node;
  filter?: Node;
  callee?: Node;
  args?: Node[];
  key?: Node;
  object?: Node;
  property?: Node;
  computed?: boolean;
  test?: { value?: unknown };
}

/** A value as the package represents it. */
interface Wrapped {
  type: string;
  value: string | number | boolean | undefined | Wrapped[] | Map<string, Wrapped>;
}

const unwrapped = ({ type, value }: Wrapped): Tree => {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (type === "FloatValue" && Number.isInteger(value)) return new Numeral(`${value}.0`);
  return value instanceof Map ? new Map(Array.from(value, ([key, item]) => [key, unwrapped(item)])) : (value ?? null);
};

/** Like Python's `str`. The value comes in a list, since the package unwraps a plain argument but not the items of a list. */
const stringOf = ([one]: [Wrapped]): string => (one.type === "UndefinedValue" ? "" : pythonText(unwrapped(one)));

const indented = ([one]: [Wrapped], width: number): string => prettyJson(unwrapped(one), " ".repeat(width));

/** Like the method of Python's strings. */
function strip(method: string, text: string, chars: string): string {
  let [start, end] = [0, text.length];
  if (method !== "rstrip") while (start < end && chars.includes(text[start]!)) start++;
  if (method !== "lstrip") while (start < end && chars.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

/** The methods of objects. */
const METHODS = ["items", "keys", "values", "get"];
const STRIPS = ["strip", "lstrip", "rstrip"];

/** Repetitions in one rendering, all forms together: some seconds. A loop within the loop over messages needs a million for 1000 messages. */
const MAX_STEPS = 2_000_000;

const STRING = "string_of_anything";
const INDENTED = "indented_json";
const STRIP = "strip_characters";
const STEP = "count_step";
const RANGE = "counted_range";

/** Variables for one rendering of a mended template: the functions that replace what the package lacks. */
export function helpers(): Readonly<Record<string, unknown>> {
  let left = MAX_STEPS;
  const take = (steps: number): void => {
    left -= steps;
    if (!(left >= 0)) throw new Error(`it takes more than ${MAX_STEPS} steps`); // also if `left` is not a number
  };
  const range = (start: number, stop?: number, step = 1): number[] => {
    const [from, to] = stop === undefined ? [0, start] : [start, stop];
    const length = Math.max(0, Math.ceil((to - from) / step));
    take(length);
    return Array.from({ length }, (_, i) => from + i * step);
  };
  return { [STRING]: stringOf, [INDENTED]: indented, [STRIP]: strip, [STEP]: () => take(1), [RANGE]: range };
}

const identifier = (value: string): Node => ({ type: "Identifier", value });
const calling = (name: string, ...args: Node[]): Node => ({ type: "CallExpression", callee: identifier(name), args });
const listed = (one: Node | undefined): Node => ({ type: "ArrayLiteral", value: [one] });
const asText = (one: Node | undefined): Node => calling(STRING, listed(one));

export function mend(node: Node): void {
  for (const [key, value] of Object.entries(node)) {
    const inside = value instanceof Map ? [...value] : value;
    for (const item of Array.isArray(inside) ? inside.flat() : [inside]) {
      if (typeof item !== "object" || item === null) continue;
      if (item.type === "TupleLiteral" && key !== "loopvar" && key !== "assignee") item.type = "ArrayLiteral";
      mend(item);
    }
    if (BLOCKS.includes(key)) Object.assign(node, { [key]: value.map(printed) });
  }
  Object.assign(node, replacement(node));
  if (node.type === "For" && node.body?.some(continues)) node.body = withoutContinue(node.body, []);
  if (node.type === "For" || node.type === "Macro") node.body?.unshift(calling(STEP));
}

/** The lists of statements in a statement. */
const BLOCKS = ["body", "alternate", "defaultBlock"];
const STATEMENTS = ["If", "For", "Break", "Continue", "Set", "Macro", "Comment", "FilterStatement", "CallStatement"];

const printed = (one: Node): Node => (STATEMENTS.includes(one.type) || one.type === "StringLiteral" ? one : asText(one));

/** What an expression becomes that the package evaluates in another way than Jinja. */
function replacement({ type, operator, left, right, argument, operand, test, filter, callee, args = [] }: Node): object | undefined {
  const [arg] = args;
  switch (type) {
    case "UnaryExpression":
      if (operator?.value !== "not") return undefined;
      return { type: "Ternary", condition: argument, trueExpr: identifier("false"), falseExpr: identifier("true") };
    case "BinaryExpression":
      if (operator?.value !== "~") return undefined;
      return { left: asText(left), right: asText(right) };
    case "TestExpression":
      return test?.value === "iterable" ? { test: identifier("sequence") } : undefined;
    case "FilterExpression": {
      if (filter?.value === "string") return asText(operand);
      const [option, ...others] = filter?.args ?? [];
      const isIndented = filter?.callee?.value === "tojson" && option?.key?.value === "indent" && others.length === 0;
      return isIndented ? calling(INDENTED, listed(operand), option.value as Node) : undefined;
    }
    case "CallExpression": {
      if (callee?.value === "range") return { callee: identifier(RANGE) };
      const { object, property, computed } = callee ?? {};
      const method = computed === false ? String(property?.value) : "";
      if (METHODS.includes(method))
        return { type: "FilterExpression", operand: object, filter: arg ? { type, callee: property, args } : property };
      return STRIPS.includes(method) && object && arg ? calling(STRIP, { type: "StringLiteral", value: method }, object, arg) : undefined;
    }
  }
  return undefined;
}

const continues = ({ type, body = [], alternate = [] }: Node): boolean =>
  type === "Continue" || (type === "If" && [...body, ...alternate].some(continues));

/** `then`: what follows the statements. */
const withoutContinue = (statements: readonly Node[], then: Node[]): Node[] =>
  statements.reduceRight((rest, statement) => {
    if (statement.type === "Continue") return [];
    if (!continues(statement)) return [statement].concat(rest);
    const { body = [], alternate = [] } = statement;
    return [{ ...statement, body: withoutContinue(body, rest), alternate: withoutContinue(alternate, rest) }];
  }, then);
