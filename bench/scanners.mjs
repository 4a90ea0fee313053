// The scanners to measure: our dialects from the built package, each with what a workload needs to know about it.
import { listDialects, promptText } from "../dist/index.js";
import { TOOLS } from "./workloads.mjs";

const TAG = /<[^\s<>]{1,40}>|```(?:json)?/g;
/** What opens a call, up to its name: `<function=`, `functools[{`. */
const OPENER = /^<\w+=|^\w+[[{]+/;

/** Everything in rendered text that looks like a mark. */
export const tagsIn = (text) => [...new Set(text.match(TAG) ?? [])];

function marksOf(dialect, opener) {
  const prompts = [
    dialect.renderTools(TOOLS),
    dialect.renderToolCalls([{ id: "1", name: "f", arguments: { a: "x" } }]),
    dialect.renderToolResults([{ id: "1", name: "f", output: "x" }]),
    dialect.renderThinking("x"),
    ...dialect.variants.map((variant) => dialect.render({ model: "", messages: [] }, { variant, bos: true })),
  ];
  const control = prompts.flat().flatMap((piece) => (piece.control ? [piece.text] : []));
  const marks = new Set([...dialect.stops, ...control, ...prompts.flatMap((prompt) => tagsIn(promptText(prompt)))]);
  for (const text of [opener, ...marks]) for (const mark of text.match(OPENER) ?? []) marks.add(mark);
  if (opener !== "" && ![...marks].some((mark) => opener.includes(mark))) marks.add(opener);
  return [...marks];
}

export const ours = listDialects().map((dialect) => {
  const render = (calls) => promptText(dialect.renderToolCalls(calls.map((call, i) => ({ id: `call_${i}`, ...call }))));
  const opener = render([{ name: "get_weather", arguments: {} }]).split("get_weather")[0];
  return {
    name: dialect.id,
    ours: true,
    /** Whether a mark opens a call; without one, every line may be a call. */
    sentinel: !/^[{[]/.test(opener),
    marks: marksOf(dialect, opener),
    render,
    create: () => dialect.createScanner({ tools: TOOLS }),
    /** Passes the content of an event to the check. */
    say(event, check) {
      if (event.type === "text") check.text(event.text);
      else if (event.type === "tool-end") check.call(event.name, event.arguments);
    },
  };
});
