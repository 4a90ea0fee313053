// Tools with a true call and false ones, for our own matcher and for llama.cpp.
import { readFileSync } from "node:fs";
import { isObject } from "../../src/core/json.ts";
import type { Json, JsonObject, Tool } from "../../src/core/nouns.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { plainText } from "../../src/dialects/prompt.ts";

export interface Case {
  id: string;
  tools: Tool[];
  name: string;
  args: JsonObject;
}

interface Entry {
  id: string;
  tools: Tool[];
  calls: { name: string; arguments: JsonObject }[];
  mismatch?: unknown;
}

/** Varied tools of the Berkeley leaderboard: those with the most kinds of schemas, then a regular sample of the others. */
export function bfclCases(file: string, count: number): Case[] {
  const seen = new Set<string>();
  const entries = readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry)
    .filter(({ mismatch }) => mismatch === undefined);
  const cases = entries.flatMap(({ id, tools, calls }) =>
    calls.flatMap(({ name, arguments: args }): Case[] => {
      const fresh = !seen.has(name) && Object.keys(args).length > 0;
      seen.add(name);
      return fresh ? [{ id: `${id} ${name}`, tools, name, args }] : [];
    }),
  );
  const rich = cases.filter(({ args }) => Object.values(args).some((value) => typeof value === "object"));
  const rest = cases.filter((one) => !rich.includes(one));
  const every = (list: Case[], n: number) => list.filter((_, i) => i % Math.ceil(list.length / n) === 0).slice(0, n);
  return [...every(rich, count / 2), ...every(rest, count)].slice(0, count);
}

/** Our own tools, for what the leaderboard lacks. */
export const ownCases: Case[] = [
  {
    id: "no parameters",
    tools: [{ name: "now" }, { name: "later", parameters: { type: "object", properties: { by: { type: "integer" } } } }],
    name: "now",
    args: {},
  },
  {
    id: "all kinds of values",
    tools: [
      {
        name: "files.write-all",
        parameters: {
          type: "object",
          properties: {
            path: { type: "string", minLength: 1, maxLength: 40 },
            mode: { enum: ["append", "replace", 7, null] },
            level: { type: "integer", minimum: -2, maximum: 3 },
            ratio: { type: ["number", "null"] },
            kind: { const: "file" },
            "odd key: {x}": { type: "boolean" },
            rows: { type: "array", minItems: 1, maxItems: 3, items: { type: "array", items: { type: "number" } } },
            owner: { $ref: "#/$defs/person" },
            extra: { type: "object", additionalProperties: { type: "integer" } },
            free: {},
            either: { anyOf: [{ type: "boolean" }, { type: "array", items: { type: "boolean" } }] },
            labels: { type: "array", items: { type: "string" }, enum: ["red", "green"] },
          },
          required: ["path", "owner", "rows", "kind", "level"],
          $defs: {
            person: {
              type: "object",
              properties: { name: { type: "string" }, boss: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] } },
              required: ["name"],
            },
          },
        },
      },
    ],
    name: "files.write-all",
    args: {
      path: 'a "b" \\ </c>\n<d>',
      mode: 7,
      level: -2,
      ratio: 1e-7,
      kind: "file",
      "odd key: {x}": true,
      rows: [[1, 2.5], []],
      owner: { name: "Zoë 🐙", boss: { name: "B", boss: null } },
      extra: { a: 1, b: 2 },
      free: { deep: [null, true, "x", { y: 1 }] },
      either: [true, false],
      labels: ["green", "red"],
    },
  },
];

/** The keys in schema order, which is the order of a grammar. */
function inOrder(value: Json, schema: Json | undefined): Json {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => inOrder(item, schema.items));
  if (!isObject(value)) return value;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const order = Object.keys(properties);
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  const keys = Object.keys(value).toSorted((a, b) => rank(a) - rank(b));
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key] ?? null, properties[key])]));
}

export interface Mutation {
  what: string;
  name: string;
  args: JsonObject;
}

const argsOf = (one: Case): JsonObject => inOrder(one.args, toolOf(one).parameters) as JsonObject;
const toolOf = ({ tools, name }: Case): Tool => tools.find((tool) => tool.name === name) ?? { name };

/** In these dialects values have no types: any text is a string where a string is allowed. */
export const isUntyped = ({ id }: Dialect): boolean =>
  ["glm", "hy3", "laguna", "ling3", "minicpm5", "minimax-m2", "muse-glimmer", "qwen3-coder", "seed-oss"].includes(id);

/** Three wrong names, up to three wrong types, up to three missing keys. `verbatim`: strings have no quotes, so any text is one. */
export function mutations(one: Case, verbatim = false): Mutation[] {
  const tool = toolOf(one);
  const { name } = one;
  const args = argsOf(one);
  const properties = isObject(tool.parameters?.properties) ? tool.parameters.properties : {};
  const required = Array.isArray(tool.parameters?.required) ? tool.parameters.required.map(String) : [];
  const wrong = (value: Json): Json => (typeof value === "string" ? { wrong: 1 } : Array.isArray(value) ? "no list" : "wrong");
  const typed = Object.entries(properties).flatMap(([key, schema]): [string, Json][] => {
    const value = args[key];
    const free = !isObject(schema) || schema.type === undefined || (verbatim && schema.type === "string");
    return value === undefined || free ? [] : [[key, wrong(value)]];
  });
  return [
    ...[`${name}x`, `x${name}`, name.slice(0, -1)]
      .filter((other) => !one.tools.some((tool) => tool.name === other))
      .map((other) => ({ what: "name", name: other, args })),
    ...typed.slice(0, 3).map(([key, value]) => ({ what: `type of ${key}`, name, args: { ...args, [key]: value } })),
    ...required
      .filter((key) => Object.hasOwn(args, key))
      .slice(0, 3)
      .map((key) => ({ what: `no ${key}`, name, args: Object.fromEntries(Object.entries(args).filter(([other]) => other !== key)) })),
  ];
}

export const trueText = (dialect: Dialect, one: Case, times = 1): string =>
  plainText(dialect.renderToolCalls(Array.from({ length: times }, () => ({ name: one.name, arguments: argsOf(one) }))));
export const falseText = (dialect: Dialect, { name, args }: Mutation): string =>
  plainText(dialect.renderToolCalls([{ name, arguments: args }]));
