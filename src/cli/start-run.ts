/** What `dragoman start` does; a separate file, so that other commands do not load the server. */
import { readFileSync } from "node:fs";
import type { Event } from "../core/nouns.ts";
import { bytesOf } from "../dialects/scan/scan.ts";
import type { Llama } from "../engines/llama/index.ts";
import { createGateway, createMetrics, discover } from "../gateway/index.ts";
import { NoRuntime, openModel } from "./local-model.ts";
import { endWithGrace, listen } from "./running.ts";
import { createLog } from "./serve-log.ts";
import type { StartFlags } from "./start.ts";
import { type Call, type Started, startPage, summaryOf } from "./start-page.ts";
import { jsonLine, paletteOf, visible } from "./terminal.ts";
import { fileOf } from "./tryout.ts";

export async function start(flags: StartFlags): Promise<void> {
  const output = process.stdout;
  const looking = discover();
  const opened = await openModel(flags.model, flags).catch(async (error: unknown) => {
    if (!(error instanceof NoRuntime) || (await looking).length === 0) throw error;
    process.stderr.write(`${paletteOf(process.stderr).yellow("dragoman:")} ${error.message}\n`);
    return undefined;
  });
  if (!opened) return (await import("./serve-run.ts")).serve(flags.port === undefined ? {} : { port: flags.port });

  const { engine, warnings } = opened;
  const log = createLog(output);
  let [events, isOpen]: [Event[], boolean] = [[], false];
  const gateway = createGateway({
    upstreams: { [engine.facts.id]: engine },
    metrics: createMetrics(),
    taps: [() => (isOpen ? undefined : { event: (event) => void events.push(event) })],
    onExchange: (exchange) => void (isOpen && output.isTTY && log.exchange(exchange)),
  });
  const url = await listen(gateway, flags.port, (line) => void (output.isTTY && log.warn(line)));
  endWithGrace(gateway, { tell: (line) => void (output.isTTY && log.info(line)) });
  const readyMs = performance.now(); // counts from the start of the process
  const client = await ask(url, engine);
  const call: Call = { model: events.map(bytesOf).join(""), client, ms: performance.now() - readyMs };
  [events, isOpen] = [[], true];
  const started: Started = { url, engine, call, readyMs, found: await looking };
  output.write(output.isTTY ? startPage(started, output) : `${jsonLine(summaryOf(started))}\n`);
  if (output.isTTY) for (const { message } of warnings) log.warn(visible(message));
}

/** Sends a real request to the gateway over the Gemini wire, and returns the answer as the client gets it. */
async function ask(url: string, { facts: { id } }: Llama): Promise<string> {
  const path = `/v1beta/models/${id}:streamGenerateContent?alt=sse`;
  const body = readFileSync(fileOf({ wire: "gemini" }));
  const answer = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body });
  return answer.text();
}
