/** Shows that the model or a tool is working, on a line of its own that is cleared when there is output. */
import { clearLine, type Output, obeys, type Palette } from "../terminal.ts";

const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const FRAME_MS = 100;
/** The seconds are shown only from here on. */
const SECONDS_AFTER = 2;

export class Spinner {
  readonly #output: Output;
  readonly #palette: Palette;
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output, palette: Palette) {
    this.#output = output;
    this.#palette = palette;
  }

  start(): void {
    if (this.#timer || !obeys(this.#output)) return;
    const began = performance.now();
    let frame = 0;
    this.#timer = setInterval(() => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      const shown = `${FRAMES[frame++ % FRAMES.length]}${seconds >= SECONDS_AFTER ? ` ${seconds} s` : ""}`;
      this.#output.write(`\r${this.#palette.dim(shown)}`);
    }, FRAME_MS);
  }

  stop(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#output.write(clearLine(this.#output));
  }
}
