/** A gateway that runs in a terminal: its port, and how it ends. */
import { type Gateway, probeWire } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { PORT } from "./serve-flags.ts";

/** So many ports are tried, when nobody said which. */
const PORTS = 20;
/** For exchanges under way, when the gateway is told to stop. */
const GRACE_MS = 10_000;

const WHY: Readonly<Record<string, string>> = {
  EACCES: "you may not listen there; ports from 1024 on are everybody's",
  EADDRNOTAVAIL: "this machine has no such address",
};

/** A port that the user gave is the port; otherwise the next one that is free. */
export async function listen(gateway: Gateway, given: number | undefined, warn: (line: string) => void): Promise<string> {
  for (let port = given ?? PORT; ; port++) {
    try {
      return (await gateway.listen(port)).url;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const why = WHY[code ?? ""];
      if (why !== undefined) throw new Complaint(`cannot listen on port ${port}: ${why}`, { cause: error });
      if (code !== "EADDRINUSE") throw error;
      const there = await probeWire(`http://127.0.0.1:${port}`);
      const taken = `port ${port} is taken${there?.certain ? ` by a server that speaks ${there.wire}` : ""}`;
      if (given !== undefined || port >= PORT + PORTS) throw new Complaint(`${taken}; --port gives another`, { cause: error });
      warn(`${taken}; trying ${port + 1}`);
    }
  }
}

/** `last`: what is to be done when the gateway is closed. */
export function stopOnSignals(gateway: Gateway, tell: (line: string) => void, last?: () => Promise<void>): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    tell(`stopping; answers under way have ${GRACE_MS / 1000} s to end, and once more stops at once`);
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
