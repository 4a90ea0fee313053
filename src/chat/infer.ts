/**
 * The type of a tool's arguments, inferred from its schema, so that `run` is typed without annotations.
 *
 *     { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] }
 *
 * is `{ city: string; days?: number }`. The rest of JSON Schema (`$ref`, `allOf`, patterns) is checked when the tool is called.
 */

/** standardschema.dev, version 1, implemented by Zod, Valibot, ArkType and others. `jsonSchema` is newer, and some lack it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: { readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown> } | undefined;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type Arguments<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromSchema<S>;

type FromSchema<S> = S extends { readonly nullable: true } ? Said<S> | null : Said<S>;

type Said<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer One)[] } | { readonly oneOf: readonly (infer One)[] }
      ? Beside<S> & FromSchema<One>
      : S extends { readonly type: readonly (infer Type)[] }
        ? OfType<S, Type>
        : S extends { readonly type: infer Type }
          ? OfType<S, Type>
          : unknown;

type OfType<S, Type> = Type extends "string"
  ? string
  : Type extends "number" | "integer"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? Items<S>
          : Type extends "object"
            ? Properties<S>
            : unknown;

/** The properties beside `anyOf` or `oneOf`, whose alternatives often say only what is required. */
type Beside<S> = S extends { readonly properties: unknown } ? Properties<S> : unknown;

type Items<S> = S extends { readonly items: infer Item } ? FromSchema<Item>[] : unknown[];

type Properties<S> = S extends { readonly properties: infer P }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? Flat<{ -readonly [K in keyof P & Required]: FromSchema<P[K]> } & { -readonly [K in Exclude<keyof P, Required>]?: FromSchema<P[K]> }>
    : { -readonly [K in keyof P]?: FromSchema<P[K]> }
  : Record<string, unknown>;

type Flat<T> = { [K in keyof T]: T[K] };
