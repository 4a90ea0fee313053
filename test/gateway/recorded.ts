// A gateway with `--record`. When the test is over, its recordings are searched for secrets and replayed: the client gets the same bytes.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import { compareRecording } from "../../src/gateway/recordings/compare.ts";
import { createRecorder } from "../../src/gateway/recordings/recorder.ts";
import { type Recording, readRecording } from "../../src/gateway/recordings/recording.ts";
import { pathOf, speechOf } from "../../src/gateway/recordings/speech.ts";
import { json, type Started, startGateway } from "./start.ts";

/** What must be in no recording: the gateway's key, the upstream's key, a browser's cookies, and anything that looks like a key. */
export const CANARIES = {
  gate: "gate-canary-4711",
  upstream: "up-canary-0815",
  cookie: "cookie-canary-1234",
  shaped: "sk-canaryabcdefghijklmnop",
} as const;

/** Headers that admit a client. */
export const signed = { ...json, authorization: `Bearer ${CANARIES.gate}`, cookie: `a=${CANARIES.cookie}`, "x-note": CANARIES.shaped };

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const settle of open.splice(0)) await settle();
}, 120_000); // there may be a thousand

export interface RecordedGateway extends Started {
  /** Closes the gateway and returns its recordings. */
  recordings(): Promise<Recording[]>;
}

export async function startRecorded(options: GatewayOptions): Promise<RecordedGateway> {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-recorded-"));
  const problems: Error[] = [];
  const recorder = createRecorder({
    folder,
    secrets: [CANARIES.gate, CANARIES.upstream],
    maxBytes: 256 << 20,
    onProblem: (error) => problems.push(error),
  });
  const taps = [...(options.taps ?? []), recorder.tap];
  const gateway = await startGateway({ keys: [CANARIES.gate], ...options, taps });
  const recordings = async (): Promise<Recording[]> => {
    await gateway.close();
    await recorder.flush();
    expect(problems).toEqual([]);
    return readdirSync(folder).map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      for (const canary of Object.values(CANARIES)) expect(text).not.toContain(canary);
      return readRecording(text);
    });
  };
  open.push(async () => {
    const kept = await recordings();
    const asked = gateway.exchanges.filter(({ kind }) => kind === "generate");
    expect(kept.filter(({ exchange }) => exchange.kind === "generate")).toHaveLength(asked.length);
    for (const recording of kept) {
      if (recording.client.request.method === "") neverHeard(recording);
      else if (recording.exchange.kind === "generate") await playedAgain(recording);
    }
    rmSync(folder, { recursive: true });
  });
  return { ...gateway, recordings };
}

/** The same for clients without a key. */
export const startUnlocked = (options: GatewayOptions): Promise<RecordedGateway> => startRecorded({ keys: [], ...options });

/** A request that was not admitted, or whose body could not be read completely, cannot be replayed. */
function neverHeard({ exchange, upstream, events }: Recording): void {
  expect({ outcome: exchange.outcome, upstream, events }).toEqual({
    outcome: expect.stringMatching(/error|aborted/),
    upstream: [],
    events: [],
  });
}

async function playedAgain(recording: Recording): Promise<void> {
  for (const edge of recording.upstream) expect(speechOf(pathOf(edge))).toBeDefined(); // only the requests made for this answer
  const { same, recorded, now } = await compareRecording(recording);
  if (!same) expect(now).toEqual(recorded);
  expect(same).toBe(true);
}
