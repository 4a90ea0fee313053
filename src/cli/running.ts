/** A gateway started from the command line: finds its port, and ends it. */
import { isatty } from "node:tty";
import { type Gateway, probeWire } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { PORT } from "./serve-flags.ts";
import { endUnheardBy } from "./unheard.ts";

/** How many ports are tried if none is given. */
const TRIES = 20;
/** Windows reserves ports in ranges of this size, and others after each start. */
const RANGE = 100;
/** How long running exchanges may take to end when the gateway is stopped. */
const GRACE_MS = 10_000;

/** Listens on the given port, or else on the next free one. */
export async function listen(gateway: Gateway, given: number | undefined, warn: (line: string) => void): Promise<string> {
  let port = given ?? PORT;
  for (let tries = 1; ; tries++) {
    try {
      return (await gateway.listen(port)).url;
    } catch (error) {
      const { problem, step } = await obstacle(error as NodeJS.ErrnoException, port);
      if (given !== undefined || tries >= TRIES) throw new Complaint(`${problem}; choose another with --port`, { cause: error });
      warn(`${problem}; trying ${port + step}`);
      port += step;
    }
  }
}

/** Why the port cannot be used, and how far away the next one to try is; throws if another port would not help. */
async function obstacle(error: NodeJS.ErrnoException, port: number): Promise<{ problem: string; step: number }> {
  if (error.code === "EADDRINUSE") {
    const there = await probeWire(`http://127.0.0.1:${port}`);
    const who = there?.isGateway ? " by another Dragoman gateway" : there?.certain ? ` by a server that speaks ${there.wire}` : "";
    return { problem: `port ${port} is in use${who}`, step: 1 };
  }
  if (error.code === "EACCES" && port >= 1024) return { problem: `port ${port} is reserved by the system`, step: RANGE };
  const why = WHY[error.code ?? ""];
  throw why === undefined ? error : new Complaint(`cannot listen on port ${port}: ${why}`, { cause: error });
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "permission denied; use a port from 1024 on",
  EADDRNOTAVAIL: "this machine has no such address",
  EAFNOSUPPORT: "this machine does not support this kind of address (IPv6)",
  EINVAL: "the address is incomplete; one that begins with fe80 needs a network interface (fe80::1%eth0)",
  ENOTFOUND: "the host to listen on has no address; use one such as 127.0.0.1 or 0.0.0.0",
  EAI_AGAIN: "the name of the host to listen on cannot be resolved now",
};

export interface Ending {
  tell(line: string): void;
  /** Called after the gateway is closed. */
  last?(): Promise<void>;
  /** SIGHUP has another meaning (reload). A closed terminal is then noticed at the next line that is printed. */
  readonly hasHangup?: boolean;
}

/** Ends the gateway at a signal, or when its terminal or pipe is closed. Running answers get time to finish. */
export function endWithGrace(gateway: Gateway, { tell, last, hasHangup = false }: Ending): void {
  let isEnding = false;
  const end = (code = 0): void => {
    if (isEnding) return;
    isEnding = true;
    tell(`stopping; running answers have ${GRACE_MS / 1000} s to finish, Ctrl-C again stops at once`);
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
  // Started with nohup or as a service, it must outlive the terminal.
  if (!hasHangup && (isatty(0) || isatty(1))) process.on("SIGHUP", () => end());
}
