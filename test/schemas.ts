// Schemas and values at random, for comparisons with Ajv.
import fc from "fast-check";
import type { Json, JsonObject } from "../src/core/nouns.ts";

type Keywords = Record<string, fc.Arbitrary<unknown>>;

const key = fc.constantFrom("a", "b", "c");
const small = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object");
const plain: Keywords = {
  type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
  enum: fc.uniqueArray(fc.constantFrom<Json>("a", 1, null, true), { minLength: 1 }),
  const: fc.constantFrom<Json>("a", 1, [1], { a: 1 }),
  multipleOf: fc.constantFrom(1, 2, 0.5),
  pattern: fc.constantFrom("^a", "b$", "^.{2}$"),
  uniqueItems: fc.boolean(),
  required: fc.uniqueArray(key),
  ...Object.fromEntries(
    "minimum exclusiveMaximum minLength maxLength minItems maxItems minProperties maxProperties"
      .split(" ")
      .map((keyword) => [keyword, small]),
  ),
};
const inside = (inner: fc.Arbitrary<JsonObject>): Keywords => ({
  properties: fc.dictionary(key, inner, { maxKeys: 2 }),
  patternProperties: fc.dictionary(fc.constantFrom("^a", "[bc]"), inner, { maxKeys: 1 }),
  additionalProperties: fc.oneof(fc.boolean(), inner),
  ...Object.fromEntries("items contains propertyNames not if then else".split(" ").map((keyword) => [keyword, inner])),
  ...Object.fromEntries("anyOf oneOf allOf".split(" ").map((keyword) => [keyword, fc.array(inner, { minLength: 1, maxLength: 2 })])),
});
/** Only a few keywords, so that some values fit. */
const someOf = (keywords: Keywords): fc.Arbitrary<JsonObject> =>
  fc
    .array(fc.oneof(...Object.entries(keywords).map(([keyword, rule]) => rule.map((given) => [keyword, given] as const))), {
      maxLength: 4,
    })
    .map((entries) => Object.fromEntries(entries) as JsonObject);

/** `more`: other keywords, with these schemas inside. */
export const someSchema = (more: (inner: fc.Arbitrary<JsonObject>) => Keywords = () => ({})): fc.Arbitrary<JsonObject> => {
  const around = (inner: fc.Arbitrary<JsonObject>) => someOf({ ...plain, ...inside(inner), ...more(inner) });
  return around(around(someOf(plain)));
};

export const someValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<Json>("", "a", "ab", "abc", 0, 1, 2, 1.5, true, false, null),
    fc.array(tie("value") as fc.Arbitrary<Json>, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value") as fc.Arbitrary<Json>, { maxKeys: 3 }),
  ),
})).value as fc.Arbitrary<Json>;
