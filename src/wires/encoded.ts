/** The last steps of encoding a request, the same for every wire. */
import type { Out } from "./abilities.ts";
import { callIds } from "./calls.ts";
import { putExtra } from "./opaque.ts";
import { defined, isEmpty } from "./read.ts";
import type { SchemaOut } from "./schema-out.ts";
import type { Warnings } from "./warnings.ts";
import type { Draft, Headers, WireContext, WireOutput } from "./wire.ts";

export type Encoded = WireOutput & { path: string; body: Draft; context: WireContext };

export function encoded({ able, request, warnings, names, nulls, wrapped }: Out, path: string, body: Draft, headers?: Headers): Encoded {
  putExtra(able.wire, body, request, warnings);
  const context = defined<WireContext>({
    names: names.context,
    warnings: warnings.list,
    ids: callIds(request.messages),
    nulls: isEmpty(nulls) ? undefined : nulls,
    wrapped,
  });
  return { path, headers: { "content-type": "application/json", ...headers }, body, context };
}

/** The request for a token count: the same body, reduced to the keys that the API accepts there. */
export function counted({ body, ...rest }: Encoded, path: string, keys: ReadonlySet<string>): Encoded {
  return { ...rest, path, body: Object.fromEntries(Object.entries(body).filter(([key]) => keys.has(key))) };
}

/** The converted schema; warns of every keyword that it lost. */
export function told({ schema, lost }: SchemaOut, what: string, warnings: Warnings): SchemaOut["schema"] {
  for (const { path, keyword } of lost) warnings.add("schema", `${keyword} at ${path || "the top"} of ${what} was left out`);
  return schema;
}
