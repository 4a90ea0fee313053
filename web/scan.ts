/** Scans a model's output while it is typed, and shows the scanner's events. */
import { detectDialect, type Event, getDialect, listDialects, promptText, type Tool } from "../src/index.ts";
import { declaredTools } from "../src/wires/declared.ts";
import { card, choice, editor, el, labelled, live } from "./dom.ts";
import { CALL, TOOLS_JSON } from "./examples.ts";
import { rowOf, rows } from "./parts.ts";

const DETECT = "detect";

function example(id: string): string {
  const dialect = getDialect(id);
  return promptText([...dialect.renderThinking("I need the weather."), ...dialect.renderToolCalls([CALL])]);
}

function toolsIn(text: string): Tool[] {
  try {
    return text.trim() === "" ? [] : declaredTools(JSON.parse(text));
  } catch (error) {
    throw new Error(`declared tools: ${(error as Error).message}`, { cause: error });
  }
}

export function scanView(): HTMLElement[] {
  const dialect = choice([DETECT, ...listDialects().map(({ id }) => id)], "gemma4");
  const size = el("input", { type: "number", min: "1", value: "4" });
  const joined = el("input", { type: "checkbox", checked: true });
  const tools = editor("the tools, as JSON", TOOLS_JSON);
  const output = editor("what the model wrote", example("gemma4"));
  const result = el("div");
  let edited = false;
  output.addEventListener("input", () => {
    edited = true;
  });
  dialect.addEventListener("input", () => {
    if (!edited && dialect.value !== DETECT) output.value = example(dialect.value);
  });
  live([dialect, size, joined, tools, output], result, () => {
    const text = output.value;
    const found = dialect.value === DETECT ? detectDialect({ sample: text }) : undefined;
    if (dialect.value === DETECT && !found) throw new Error("no dialect is recognized in this text: choose one");
    const scanner = getDialect(found?.id ?? dialect.value).createScanner({ tools: toolsIn(tools.value) });
    const events: Event[] = [];
    const step = Math.max(1, Math.floor(Number(size.value)) || 1);
    for (let at = 0; at < text.length; at += step) events.push(...scanner.feed(text.slice(at, at + step)));
    events.push(...scanner.flush());
    return [
      found && el("p", { className: "quiet", textContent: `${found.id}, ${found.confidence}: ${found.why}` }),
      rows((joined.checked ? merged(events) : events).map(rowOf)),
    ];
  });
  return [
    el(
      "div",
      { className: "fields" },
      labelled("dialect", dialect),
      labelled("characters per chunk", size),
      labelled("merge deltas", joined),
    ),
    el(
      "div",
      { className: "columns" },
      el("div", { className: "stack" }, card("Model output", output), card("Declared tools", tools)),
      card("Events", result),
    ),
  ];
}

/** Joins neighbouring deltas of the same kind. */
function merged(events: readonly Event[]): Event[] {
  const list: Event[] = [];
  for (const event of events) {
    const last = list.at(-1);
    const joined = last && join(last, event);
    if (joined) list[list.length - 1] = joined;
    else list.push(event);
  }
  return list;
}

function join(last: Event, next: Event): Event | undefined {
  if (last.type === "text" && next.type === "text") return { ...last, text: last.text + next.text };
  if (last.type === "thinking-delta" && next.type === "thinking-delta") return { ...last, text: last.text + next.text };
  if (last.type === "tool-delta" && next.type === "tool-delta") return { ...last, json: last.json + next.json };
  return undefined;
}
