// A process that measures one scanner with one workload per message. A scanner that hangs blocks only this process.
import { chunksOf, measure } from "./measure.mjs";
import { loadPeer } from "./peers/peers.mjs";
import { ours } from "./scanners.mjs";
import { WORKLOADS } from "./workloads.mjs";

const loaded = new Map(ours.map((scanner) => [scanner.name, scanner]));

/** Whether the events are right; not timed. */
function isRight({ create, say }, chunks, check) {
  const scanner = create();
  try {
    for (const chunk of chunks) for (const event of scanner.feed(chunk)) say(event, check);
    for (const event of scanner.flush()) say(event, check);
  } catch {
    return false;
  }
  return check.right;
}

async function run({ name, workload: id }) {
  const alive = () => process.send({ alive: true });
  const scanner = loaded.get(name) ?? (await loadPeer(name));
  loaded.set(name, scanner);
  const workload = WORKLOADS.find((one) => one.id === id);
  const { text, check } = workload.make(scanner);
  const chunks = chunksOf(text);
  alive();
  const correct = isRight(scanner, chunks, check);
  alive();
  return { ...measure(scanner.create, chunks, alive), correct };
}

process.on("message", async (job) => {
  process.send(await run(job).catch((error) => ({ failed: error.message })));
});
