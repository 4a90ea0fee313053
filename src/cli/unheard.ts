/**
 * Ends a command when its output is closed: the reader may stop, as `head` does, or the terminal may go. A command may set its own way to
 * end.
 */
let end: (code: number) => void = process.exit;

/** For a command that must finish something first. */
export function endUnheardBy(how: (code: number) => void): void {
  end = how;
}

export function watchOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") process.stderr.write(`dragoman: cannot write: ${message}\n`);
    end(code === "EPIPE" ? 0 : 1);
  });
  process.stderr.on("error", () => {}); // there is nowhere to report it
}
