/** A gateway that runs in a terminal: its port, and how it ends. */
import { isatty } from "node:tty";
import { type Gateway, probeWire } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { PORT } from "./serve-flags.ts";
import { endUnheardBy } from "./unheard.ts";

/** So many ports are tried, when nobody said which. */
const TRIES = 20;
/** Windows keeps ports for itself in ranges of so many, and others after each start. */
const RANGE = 100;
/** For exchanges under way, when the gateway is told to stop. */
const GRACE_MS = 10_000;

/** A port that the user gave is the port; otherwise the next one that is free. */
export async function listen(gateway: Gateway, given: number | undefined, warn: (line: string) => void): Promise<string> {
  let port = given ?? PORT;
  for (let tries = 1; ; tries++) {
    try {
      return (await gateway.listen(port)).url;
    } catch (error) {
      const { problem, step } = await obstacle(error as NodeJS.ErrnoException, port);
      if (given !== undefined || tries >= TRIES) throw new Complaint(`${problem}; --port gives another`, { cause: error });
      warn(`${problem}; trying ${port + step}`);
      port += step;
    }
  }
}

/** What is in the way at a port, and how far off the next one is that may be free; throws where it is not the port's fault. */
async function obstacle(error: NodeJS.ErrnoException, port: number): Promise<{ problem: string; step: number }> {
  if (error.code === "EADDRINUSE") {
    const there = await probeWire(`http://127.0.0.1:${port}`);
    const who = there?.isGateway ? " by another gateway of Dragoman" : there?.certain ? ` by a server that speaks ${there.wire}` : "";
    return { problem: `port ${port} is taken${who}`, step: 1 };
  }
  if (error.code === "EACCES" && port >= 1024) return { problem: `port ${port} is kept by the system`, step: RANGE };
  const why = WHY[error.code ?? ""];
  throw why === undefined ? error : new Complaint(`cannot listen on port ${port}: ${why}`, { cause: error });
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "you may not listen there; ports from 1024 on are everybody's",
  EADDRNOTAVAIL: "this machine has no such address",
  EAFNOSUPPORT: "this machine has no addresses of this kind (IPv6)",
  EINVAL: "this address is not enough; one that begins with fe80 has a device behind it (fe80::1%eth0)",
  ENOTFOUND: "the host to listen on has no address; 127.0.0.1 and 0.0.0.0 need no name",
  EAI_AGAIN: "the name of the host to listen on cannot be looked up",
};

export interface Ending {
  tell(line: string): void;
  /** What is to be done when the gateway is closed. */
  last?(): Promise<void>;
  /** A hangup has a meaning of its own: that of a closed terminal shows when something is printed next. */
  readonly hasHangup?: boolean;
}

/** A gateway ends with the answers that are under way: at a signal, and when nobody reads what it prints or its terminal was closed. */
export function endWithGrace(gateway: Gateway, { tell, last, hasHangup = false }: Ending): void {
  let isEnding = false;
  const end = (code = 0): void => {
    if (isEnding) return;
    isEnding = true;
    tell(`stopping; answers under way have ${GRACE_MS / 1000} s to end, and once more stops at once`);
    gateway
      .close({ graceMs: GRACE_MS })
      .then(last)
      .then(
        () => process.exit(code),
        () => process.exit(1),
      );
  };
  const stop = (): void => (isEnding ? process.exit(130) : end());
  process.on("SIGINT", stop).on("SIGTERM", stop);
  endUnheardBy(end);
  // Whoever started it with nohup, or as a service, wants it to outlive the terminal.
  if (!hasHangup && (isatty(0) || isatty(1))) process.on("SIGHUP", () => end());
}
