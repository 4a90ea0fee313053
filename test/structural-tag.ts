// What a structural tag accepts, as in xgrammar: text without a trigger, then one of the tags that begin with it, and so on.
import type { Json } from "../src/core/nouns.ts";
import { literal, Rules, until } from "../src/dialects/grammar/gbnf.ts";
import { Gbnf } from "./gbnf.ts";

interface Content {
  type: "grammar";
  grammar: string;
}
interface Triggered {
  type: "triggered_tags";
  triggers: string[];
  tags: { begin: string; content: Content; end: string }[];
  stop_after_first?: boolean;
}

/** The names of rules, and what could be taken for one. */
const TOKEN = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[a-zA-Z][\w-]*/g;

export function tagMatcher(tag: Json | undefined): Gbnf {
  const { format } = tag as unknown as { format: Content | Triggered };
  if (format.type === "grammar") return new Gbnf(format.grammar);
  const rules = new Rules();
  const free = until(rules, format.triggers);
  const tags = format.tags.map(({ begin, content, end }, i) => ({
    body: [begin && literal(begin), `tag${i}-root`, end && literal(end)].filter(Boolean).join(" "),
    rules: content.grammar.replace(TOKEN, (token) => (/^[a-zA-Z]/.test(token) ? `tag${i}-${token}` : token)),
  }));
  const any = `(${tags.map(({ body }) => body).join(" | ")})`;
  const root = format.stop_after_first ? `${free} ${any}?` : `${free} (${any} ${free})*`;
  const names = rules.text(free).replace(/^root .*\n/, "");
  return new Gbnf(`root ::= ${root}\n${names}${tags.map((one) => one.rules).join("")}`);
}
