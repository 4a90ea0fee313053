// A model that opens the next turn itself writes the marks of turns: they are no text, in any dialect.
import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { cutAnyhow, textOf, thinkingOf } from "./scanning.ts";

const messages: Request["messages"] = [
  { role: "system", content: [{ type: "text", text: "Be brief." }] },
  { role: "user", content: [{ type: "text", text: "Hi" }] },
  { role: "assistant", content: [{ type: "text", text: "Hello" }] },
  { role: "user", content: [{ type: "text", text: "Bye" }] },
];

describe("control tokens are never text", () => {
  const cases = listDialects().flatMap((dialect) => dialect.variants.map((variant) => ({ id: dialect.id, dialect, variant })));
  test.each(cases)("$id, $variant", ({ dialect, variant }) => {
    const prompt = dialect.render({ model: "", messages }, { variant, bos: true });
    const tokens = prompt.filter((piece) => piece.control).map((piece) => piece.text);
    for (const token of new Set([...tokens, ...dialect.stops])) {
      if (/think/i.test(token)) continue;
      const events = cutAnyhow(dialect, `a${token}b`);
      expect(textOf(events) + thinkingOf(events)).not.toContain(token);
    }
  });
});
