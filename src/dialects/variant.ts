/** A dialect in one revision of its models' template. Settings write it in one word: `hermes/qwen2.5-7b-instruct`. */
import type { Dialect, VariantOptions } from "./dialect.ts";

export function checkVariant({ id, variants }: Pick<Dialect, "id" | "variants">, variant: string): void {
  if (!variants.includes(variant)) throw new Error(`unknown variant "${variant}" of ${id}; known: ${variants.join(", ")}`);
}

/** The dialect with this revision as its default. Throws if it has no such revision. */
export function inVariant(dialect: Dialect, variant: string): Dialect {
  const { stops, variantStops, grammar } = dialect;
  checkVariant(dialect, variant);
  const set = <O extends VariantOptions>(options?: O) => ({ ...options, variant: options?.variant ?? variant });
  return {
    ...dialect,
    variant,
    stops: [...stops, ...(variantStops?.[variant] ?? [])],
    render: (request, options) => dialect.render(request, set(options)),
    renderTools: (tools, options) => dialect.renderTools(tools, set(options)),
    renderToolCall: (call, options) => dialect.renderToolCall(call, set(options)),
    renderToolCalls: (calls, options) => dialect.renderToolCalls(calls, set(options)),
    renderToolResults: (results, options) => dialect.renderToolResults(results, set(options)),
    instructions: (tools, options) => dialect.instructions(tools, set(options)),
    ...(grammar && { grammar: (tools, toolChoice, options) => grammar(tools, toolChoice, set(options)) }),
  };
}

/** The setting for which `getDialect` returns this dialect. */
export const settingOf = ({ id, variant }: Pick<Dialect, "id" | "variant">): string => (variant === undefined ? id : `${id}/${variant}`);
