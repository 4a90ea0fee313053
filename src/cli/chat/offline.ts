/** The built-in tools of `dragoman chat`: they need no network, and no file outside one folder. */
import { type ChatTool, defineTool, fileTools } from "../../chat/index.ts";
import { type Output, obeys } from "../terminal.ts";
import { calculate } from "./calculate.ts";
import { colourOf, paintTerminal, UNPAINT } from "./colours.ts";

export function offlineTools(folder: string, terminal: Terminal): ChatTool[] {
  return [
    defineTool({
      name: "get_time",
      description: "Tell the current date and time.",
      parameters: {
        type: "object",
        properties: { timezone: { type: "string", description: "IANA time zone, such as Europe/Oslo; by default the local one" } },
      },
      readOnly: true,
      run: ({ timezone }) => timeIn(timezone),
    }),
    defineTool({
      name: "calculate",
      description: "Evaluate an arithmetic expression.",
      parameters: {
        type: "object",
        properties: { expression: { type: "string", description: "For example 2 * (3 + 4)" } },
        required: ["expression"],
      },
      readOnly: true,
      run: ({ expression }) => ({ result: calculate(expression) }),
    }),
    ...fileTools(folder),
    defineTool({
      name: "change_background_color",
      description: "Change the background color of the terminal.",
      parameters: {
        type: "object",
        properties: { color: { type: "string", description: "Name of a color, or #rrggbb" } },
        required: ["color"],
      },
      run: ({ color }) => terminal.paint(color),
    }),
  ];
}

function timeIn(timeZone: string | undefined): { date: string; time: string; weekday: string; timezone: string } {
  const now = new Date();
  // The Swedish date format is ISO 8601.
  const formatter = (locale: string, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, ...(timeZone === undefined ? {} : { timeZone }) });
  return {
    date: formatter("sv-SE", { dateStyle: "short" }).format(now),
    time: formatter("sv-SE", { timeStyle: "medium" }).format(now),
    weekday: formatter("en-GB", { weekday: "long" }).format(now),
    timezone: formatter("en-GB", {}).resolvedOptions().timeZone,
  };
}

/** The terminal whose colours a tool may change, and which gets its own back at the end. */
export class Terminal {
  readonly #output: Output;
  #painted = false;

  constructor(output: Output) {
    this.#output = output;
  }

  paint(name: string): { color: string } {
    const colour = colourOf(name);
    if (!colour) throw new Error(`${name} is not a known color; give #rrggbb`);
    if (!obeys(this.#output)) throw new Error("the output is not a terminal with colours: there is nothing to paint");
    this.#painted = true;
    this.#output.write(paintTerminal(colour));
    return { color: colour.hex };
  }

  restore(): void {
    if (this.#painted) this.#output.write(UNPAINT);
    this.#painted = false;
  }
}
