/** A gateway that runs in a terminal: its port, and how it ends. */
import { type Gateway, probeWire } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { PORT } from "./serve-flags.ts";

/** So many ports are tried, when nobody said which. */
const PORTS = 20;
/** For exchanges under way, when the gateway is told to stop. */
const GRACE_MS = 10_000;

/** A port that the user gave is the port; otherwise the next one that is free. */
export async function listen(gateway: Gateway, given: number | undefined, warn: (line: string) => void): Promise<string> {
  for (let port = given ?? PORT; ; port++) {
    try {
      return (await gateway.listen(port)).url;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
      if (code !== "EADDRINUSE" || given !== undefined || port >= PORT + PORTS) {
        throw new Complaint(`cannot listen on port ${port}: ${code === "EADDRINUSE" ? "it is taken" : code}`, { cause: error });
      }
      const there = await probeWire(`http://127.0.0.1:${port}`);
      warn(`port ${port} is taken${there?.certain ? ` by a server that speaks ${there.wire}` : ""}; trying ${port + 1}`);
    }
  }
}

/** `last`: what is to be done when the gateway is closed. */
export function stopOnSignals(gateway: Gateway, tell: () => void, last?: () => Promise<void>): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    tell();
    gateway
      .close({ graceMs: GRACE_MS })
      .then(last)
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
}
