/** Prints events for reading: names in one column, contents in another. Neighbouring deltas are joined into one text as they arrive. */
import { isObject } from "../core/json.ts";
import { numberText } from "../core/numbers.ts";
import type { Event, Part, ToolCall } from "../index.ts";
import { parseBody, printBody } from "../wires/raw.ts";
import { type Column, counted, Flow, type Palette, plain, type Style, visible, widthOf } from "./terminal.ts";

export interface ShowOptions {
  readonly palette: Palette;
  readonly width: number;
  /** Print every delta on a line of its own. */
  readonly deltas?: boolean;
  /** The model's text is shown beside the events: do not repeat it, nor the arguments of calls. */
  readonly brief?: boolean;
}

const NAME_WIDTH = 16;
const GAP = "  ";
/** Below this width, contents go under the name of their event. */
const NARROW = 60;
const MAX_LINES = 12;
const MAX_KEY = 16;

export class EventPrinter {
  readonly #options: ShowOptions;
  readonly #column: Column;
  readonly #narrow: boolean;
  /** The text that the next delta of the same kind continues. */
  #open: { key: string; flow: Flow } | undefined;

  constructor(options: ShowOptions) {
    const { palette, width } = options;
    this.#options = options;
    this.#narrow = width < NARROW;
    this.#column = { palette, width, indent: this.#narrow ? 2 : NAME_WIDTH };
  }

  /** Returns the text to print for this event. */
  print(event: Event): string {
    const key = "id" in event ? `${event.type} ${event.id}` : event.type;
    const delta = deltaOf(event);
    if (delta !== undefined && this.#open?.key === key) return this.#open.flow.add(delta, this.#style(event));
    let out = this.end() + this.#name(event.type);
    if (delta === undefined) return `${out}${this.#body(event)}\n`;
    const flow = new Flow(this.#column);
    if (this.#narrow) out += `\n${" ".repeat(this.#column.indent)}`;
    out += flow.add(delta, this.#style(event));
    this.#open = { key, flow };
    return this.#options.deltas ? out + this.end() : out;
  }

  /** Ends the open line. */
  end(): string {
    const open = this.#open;
    this.#open = undefined;
    return open ? "\n" : "";
  }

  #name(type: Event["type"]): string {
    const name = this.#options.palette.bold(this.#colour(type)(type));
    return name + (this.#narrow ? GAP : " ".repeat(NAME_WIDTH - type.length));
  }

  #colour(type: Event["type"]): Style {
    const { cyan, magenta, green, red, dim } = this.#options.palette;
    if (type === "text") return cyan;
    if (type === "malformed") return red;
    if (type === "control") return dim;
    return type.startsWith("thinking") ? magenta : type.startsWith("tool") ? green : plain;
  }

  #style({ type }: Event): Style {
    return type === "thinking-delta" || type === "tool-delta" ? this.#options.palette.dim : plain;
  }

  #body(event: Event): string {
    const { bold, dim, green, red, yellow } = this.#options.palette;
    const { brief } = this.#options;
    const flow = new Flow(this.#column, this.#narrow ? event.type.length + GAP.length : NAME_WIDTH);
    switch (event.type) {
      case "thinking-start":
      case "thinking-end":
      case "control":
        return brief ? "" : flow.add(visible(event.raw ?? ""), dim);
      case "tool-start":
        return flow.add(`▶ ${visible(event.name)}`, (text) => bold(green(text))) + flow.add(`  ${visible(event.id)}`, dim);
      case "tool-end": {
        const { name, truncated } = event;
        const said = flow.add(`${truncated ? "✂" : "✔"} ${visible(name)}`, (text) => bold((truncated ? yellow : green)(text)));
        const note = truncated ? flow.add("  cut off inside the call: never run it", yellow) : "";
        return said + note + (brief ? "" : argumentLines(event, this.#column));
      }
      case "malformed":
        return flow.add(`✘ ${event.code}: ${event.reason}`, red) + (brief ? "" : flow.newLine() + flow.add(event.raw, dim));
      default: {
        const { type: _, ...rest } = event;
        return flow.add(JSON.stringify(rest));
      }
    }
  }
}

/** The text of a delta; `undefined` for all other events. */
function deltaOf(event: Event): string | undefined {
  if (event.type === "tool-delta") return event.json;
  return event.type === "text" || event.type === "thinking-delta" || event.type === "refusal" ? event.text : undefined;
}

/** The arguments of a call, each after a line break. Long ones are shortened, but every digit of a long number is shown. */
function argumentLines(call: Pick<ToolCall, "arguments" | "json">, { palette, indent, width }: Column): string {
  const read = call.json === undefined ? undefined : parseBody(call.json);
  const args = isObject(read) ? read : call.arguments;
  const textOf = (key: string, value: unknown) => (typeof value === "string" ? value : (numberText(args, key, value) ?? printBody(value)));
  const entries = Object.entries(args).map(([key, value]) => [visible(key), textOf(key, value)] as const);
  const keyWidth = Math.min(MAX_KEY, Math.max(0, ...entries.map(([key]) => widthOf(key))));
  const lines = entries.map(([key, text]) => {
    const column: Column = { palette, width, indent: indent + 2 + keyWidth + 2 };
    const gap = widthOf(key) > keyWidth ? `\n${" ".repeat(column.indent)}` : " ".repeat(keyWidth + 2 - widthOf(key));
    return `\n${" ".repeat(indent + 2)}${palette.cyan(key)}${gap}${shortened(new Flow(column).add(text), column)}`;
  });
  return lines.join("");
}

function shortened(text: string, { palette, indent }: Column): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_LINES) return text;
  const more = palette.dim(`… ${counted(lines.length - MAX_LINES, "more line")}`);
  return [...lines.slice(0, MAX_LINES), " ".repeat(indent) + more].join("\n");
}

/** The parts of a response. */
export function partLines(parts: readonly Part[], { palette, width }: Pick<ShowOptions, "palette" | "width">): string {
  const column: Column = { palette, width, indent: 2 };
  const { bold, cyan, green, magenta, red, yellow, dim } = palette;
  const texts = parts.map((part) => {
    const flow = new Flow({ ...column, indent: 4 });
    switch (part.type) {
      case "tool-call":
        return `${bold(green("tool-call"))}  ${bold(visible(part.name))}  ${dim(visible(part.id))}${part.truncated ? yellow("  truncated") : ""}${argumentLines(part, column)}`;
      case "malformed":
        return `${bold(red("malformed"))}\n    ${flow.add(part.raw)}`;
      case "media":
        return `${bold("media")}  ${visible(part.mediaType)}`;
      default: {
        const colour = part.type === "text" ? cyan : magenta;
        return `${bold(colour(part.type))}\n    ${flow.add(part.text.trim())}`;
      }
    }
  });
  return texts.map((text) => `  ${text}\n`).join("");
}
