/**
 * Rewrites a parsed template around four faults of the package. It loses the output of an iteration at `{% continue %}`, so everything
 * after one is moved into the branches that do not continue. It cannot unpack a tuple, so tuples become lists. And its `string` filter
 * cannot convert an object, so a function of ours replaces it. And it never stops: a template may come with any model file, so what it
 * repeats is counted.
 */
import { pythonText, type Tree } from "../dialects/print.ts";

interface Node {
  type: string;
  value?: unknown;
  body?: Node[];
  alternate?: Node[];
  operand?: Node;
  filter?: Node;
  callee?: Node;
  args?: Node[];
}

const STRING = "string_of_anything";

/** A value as the package represents it. */
interface Wrapped {
  type: string;
  value: string | number | boolean | undefined | Wrapped[] | Map<string, Wrapped>;
}

const unwrapped = ({ value }: Wrapped): Tree => {
  if (Array.isArray(value)) return value.map(unwrapped);
  return value instanceof Map ? new Map(Array.from(value, ([key, item]) => [key, unwrapped(item)])) : (value ?? null);
};

/** Like Python's `str`. The value comes in a list, since the package unwraps a plain argument but not the items of a list. */
const stringOf = ([one]: [Wrapped]): string => (one.type === "UndefinedValue" ? "" : pythonText(unwrapped(one)));

/** Repetitions in one rendering, all forms together: some seconds. A loop within the loop over messages needs a million for 1000 messages. */
const MAX_STEPS = 2_000_000;
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
  return { [STRING]: stringOf, [STEP]: () => take(1), [RANGE]: range };
}

export function mend(node: Node): void {
  for (const [key, value] of Object.entries(node)) {
    for (const item of Array.isArray(value) ? value.flat() : [value]) {
      if (typeof item !== "object" || item === null) continue;
      if (item.type === "TupleLiteral" && key !== "loopvar" && key !== "assignee") item.type = "ArrayLiteral";
      mend(item);
    }
  }
  if (node.type === "FilterExpression" && node.filter?.value === "string")
    Object.assign(node, {
      type: "CallExpression",
      callee: { ...node.filter, value: STRING },
      args: [{ type: "ArrayLiteral", value: [node.operand] }],
    });
  if (node.type === "CallExpression" && node.callee?.value === "range") node.callee.value = RANGE;
  if (node.type === "For" && node.body?.some(continues)) node.body = withoutContinue(node.body, []);
  if (node.type === "For" || node.type === "Macro")
    node.body?.unshift({ type: "CallExpression", callee: { type: "Identifier", value: STEP }, args: [] });
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
