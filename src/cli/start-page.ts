/** The page that `dragoman start` prints: what is running, one call through it, and what to try. In a pipe, the same as one JSON object. */
import type { WireId } from "../core/nouns.ts";
import { EMBEDDED, type Llama } from "../engines/llama/index.ts";
import { sizeOf } from "./local-model.ts";
import { beside, Flow, type Output, type Palette, paletteOf, ruled, widthOfScreen } from "./terminal.ts";
import { curlOf, QUESTION, TOOL, TRYOUTS, usualShell } from "./tryout.ts";

/** The example call: what the model wrote, and what the client got. */
export interface Call {
  readonly model: string;
  readonly client: string;
  readonly ms: number;
}

export interface Started {
  readonly url: string;
  readonly engine: Pick<Llama, "facts">;
  readonly call: Call;
  /** From the start of the process until requests are accepted. */
  readonly readyMs: number;
  /** Model servers found on this machine. */
  readonly found: readonly { url: string; wire: WireId }[];
}

const MAX_WIDTH = 132;
/** From these widths on, two or three columns fit side by side. */
const TWO = 64;
const THREE = 104;

const SPEAKER = " A tiny model that can write tool calls, but knows nothing.";
const REAL = "hf:unsloth/Qwen3-4B-Instruct-2507-GGUF";

export function summaryOf({ url, engine: { facts }, call, found, readyMs }: Started) {
  const { id, dialect, bytes, path, context } = facts;
  return {
    url,
    readyMs: Math.round(readyMs),
    wires: TRYOUTS.map(({ wire }) => wire),
    model: { id, dialect, bytes, path, context },
    found,
    call: { asked: QUESTION, ...call, ms: Math.round(call.ms) },
    try: Object.fromEntries(TRYOUTS.map((tryout) => [tryout.wire, curlOf(tryout, url, id)])),
  };
}

export function startPage(started: Started, output: Output, shell = usualShell()): string {
  const page = new Page(output);
  const { url, engine, call, found, readyMs } = started;
  const { bold, cyan, dim } = page.palette;
  const { id, bytes, path } = engine.facts;
  const wires = TRYOUTS.map(({ title }) => title).join(", ");
  page.line();
  page.line(`${bold("Dragoman")} is running at ${bold(cyan(url))}, ready in ${(readyMs / 1000).toFixed(1)} s`);
  page.line();
  page.row("model", `${id}, ${sizeOf(bytes)}, in this process.${path === EMBEDDED ? SPEAKER : ""}`);
  page.row("wires", `${wires}, all at this address`);
  page.row("page", "open the address in a browser to play with scanners, prompts and translations");
  for (const { url, wire } of found) page.row("found", `${url} speaks ${wire}: npx dragoman serve --upstream ${url}`);
  page.heading("One call, just now, over the Gemini wire", `${Math.max(1, Math.round(call.ms))} ms`);
  page.call(call);
  page.heading("Try it yourself");
  for (const tryout of TRYOUTS) page.command(tryout.title, curlOf(tryout, url, id, shell));
  page.line(
    dim(page.wrapped('To stream the answer, set "stream": true in the file; for Gemini, use streamGenerateContent?alt=sse in the URL.', 2)),
  );
  page.heading("Next steps");
  page.command("chat with it in the terminal", `npx dragoman chat --upstream ${url}`);
  page.command("run a real model in this process (downloads 2.5 GB)", `npx dragoman serve --model ${REAL}`);
  page.command("use the model of another server", "npx dragoman serve --upstream http://127.0.0.1:8000/v1");
  page.heading("With a real model, point a client at the gateway");
  page.command("gemini-cli", shell.command({ GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: url }, "gemini"));
  page.command("Claude Code", shell.command({ ANTHROPIC_AUTH_TOKEN: "x", ANTHROPIC_BASE_URL: url }, "claude"));
  const codex = [`name=d`, `base_url=${url}/v1`, "wire_api=responses"].map((setting) => `-c model_providers.d.${setting}`);
  page.command("Codex", ["codex -c model_provider=d", ...codex].join(shell.next));
  page.line();
  page.line(dim("  Ctrl-C stops the gateway."));
  page.line();
  return page.text;
}

class Page {
  readonly palette: Palette;
  readonly #width: number;
  text = "";

  constructor(output: Output) {
    this.palette = paletteOf(output);
    this.#width = Math.min(MAX_WIDTH, widthOfScreen(output));
  }

  line(text = ""): void {
    this.text += `${text}\n`;
  }

  heading(text: string, aside = ""): void {
    this.line();
    this.line(this.palette.bold(text) + (aside === "" ? "" : this.palette.dim(`  ${aside}`)));
    this.line();
  }

  /** A name, and beside it a text that is wrapped. */
  row(name: string, text: string): void {
    this.line(`  ${this.palette.dim(name.padEnd(7))}${this.#flow(text, 9)}`);
  }

  wrapped(text: string, indent: number): string {
    return " ".repeat(indent) + this.#flow(text, indent);
  }

  #flow(text: string, indent: number): string {
    return new Flow({ palette: this.palette, indent, width: this.#width }).add(text);
  }

  /** Commands are meant to be copied, so they are never wrapped. */
  command(what: string, command: string): void {
    this.line(`  ${this.palette.dim(what)}`);
    for (const line of command.split("\n")) this.line(`    ${this.palette.cyan(line)}`);
  }

  /** The question, the model's text, and what the client got, side by side if there is room. */
  call({ model, client }: Call): void {
    const asked: Column = {
      title: "the client asks",
      lines: (width) => [...this.#lines(QUESTION, width), "", ...this.#lines(`with the tool ${TOOL}`, width)],
    };
    const answers: Column[] = [
      { title: "the model writes", lines: (width) => this.#lines(model, width) },
      { title: "the client gets", lines: (width) => this.#lines(client.trimEnd(), width) },
    ];
    if (this.#width >= THREE) this.#beside([asked, ...answers], [0.22, 0.34, 0.44]);
    else if (this.#width >= TWO) {
      this.line(`  ${this.palette.dim(asked.title)}  ${QUESTION}\n`);
      this.#beside(answers, [0.42, 0.58]);
    } else
      for (const { title, lines } of [asked, ...answers])
        this.line([this.palette.dim(title), ...lines(this.#width - 2)].map((line) => `  ${line}\n`).join(""));
  }

  #beside(columns: readonly Column[], shares: readonly number[]): void {
    const { dim } = this.palette;
    const room = this.#width - 2 - 3 * (columns.length - 1);
    const widths = shares.map((share) => Math.floor(share * room));
    const titles = columns.map(({ title }) => [dim(title)]);
    const cells = columns.map(({ lines }, i) => lines(widths[i]!));
    const rows = [...beside(titles, widths, this.palette), dim(ruled(widths)), ...beside(cells, widths, this.palette)];
    for (const row of rows) this.line(`  ${row}`);
  }

  /** Colours control tokens, and the call in the client's JSON. */
  #lines(text: string, width: number): string[] {
    const flow = new Flow({ palette: this.palette, indent: 0, width });
    const parts = text.split(/(<\|?[a-z_"]+\|?>|"functionCall":\{"name":"[^"]*","args":\{[^{}]*\}\})/);
    return parts
      .map((part, i) => flow.add(part, i % 2 ? this.palette.cyan : undefined))
      .join("")
      .split("\n");
  }
}

interface Column {
  readonly title: string;
  readonly lines: (width: number) => string[];
}
