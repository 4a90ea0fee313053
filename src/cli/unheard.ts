/** Whoever reads what a command prints may stop, as `head` does, or close the terminal. Then the command ends, in a way of its own if it has one. */
let end: (code: number) => void = process.exit;

/** For a command that has something to bring to its end. */
export function endUnheardBy(how: (code: number) => void): void {
  end = how;
}

export function watchOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") process.stderr.write(`dragoman: cannot write: ${message}\n`);
    end(code === "EPIPE" ? 0 : 1);
  });
  process.stderr.on("error", () => {}); // where would it be said
}
