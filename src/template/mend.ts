/**
 * Rewrites a parsed template around three faults of the package. It loses the output of an iteration at `{% continue %}`, so everything
 * after one is moved into the branches that do not continue. It cannot unpack a tuple, so tuples become lists. And its `string` filter
 * cannot convert an object, so a function of ours replaces it.
 */
import { pythonText, type Tree } from "../dialects/print.ts";

interface Node {
  type: string;
  value?: unknown;
  body?: Node[];
  alternate?: Node[];
  operand?: Node;
  filter?: Node;
}

export const STRING = "string_of_anything";

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
export const stringOf = ([one]: [Wrapped]): string => (one.type === "UndefinedValue" ? "" : pythonText(unwrapped(one)));

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
  if (node.type === "For" && node.body?.some(continues)) node.body = withoutContinue(node.body, []);
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
