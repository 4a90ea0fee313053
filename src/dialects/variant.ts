/** A dialect in one revision of its models' template. In one word, as settings say it: `hermes/qwen2.5-7b-instruct`. */
import type { Dialect } from "./dialect.ts";

/** The dialect with this revision's prompt and grammar, where nobody says otherwise. Throws if it has no such revision. */
export function inVariant(dialect: Dialect, variant: string): Dialect {
  const { id, variants, grammar } = dialect;
  if (!variants.includes(variant)) throw new Error(`unknown variant "${variant}" of ${id}; known: ${variants.join(", ")}`);
  return {
    ...dialect,
    variant,
    render: (request, options) => dialect.render(request, { ...options, variant: options?.variant ?? variant }),
    ...(grammar && {
      grammar: (tools, toolChoice, options) => grammar(tools, toolChoice, { ...options, variant: options?.variant ?? variant }),
    }),
  };
}

/** What `getDialect` gives this dialect for. */
export const settingOf = ({ id, variant }: Pick<Dialect, "id" | "variant">): string => (variant === undefined ? id : `${id}/${variant}`);
