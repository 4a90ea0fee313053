// Measures a scanner against a loop that keeps each chunk and looks for "<" in it, in the same process, in turns. A run's time is the
// smaller of wall and CPU time, because other processes add to wall time and V8's helper threads to CPU time; the best run counts.

const CHUNK = 4;
const ROUNDS = 7;
const WARM_UPS = 3;
/** Shorter work is repeated within a run, because clocks and garbage collection are coarse. */
const RUN_MS = 40;
const MAX_REPEATS = 200;
/** A scanner that needs longer than this is measured once: it is far over every limit. */
const SLOW_MS = 1500;

export function chunksOf(text) {
  const chunks = [];
  for (let at = 0; at < text.length; at += CHUNK) chunks.push(text.slice(at, at + CHUNK));
  return chunks;
}

/** The least that any consumer must do. */
function loop(chunks) {
  const list = [];
  globalThis.kept = list;
  for (let i = 0; i < chunks.length; i++) {
    const chunk = chunks[i];
    list.push(chunk);
    globalThis.found = chunk.indexOf("<"); // a global, so that V8 cannot optimize the search away
  }
}

/** The same with a scanner: its events are stored in a global, so that V8 cannot optimize them away. */
function scan(scanner, chunks) {
  for (let i = 0; i < chunks.length; i++) globalThis.kept = scanner.feed(chunks[i]);
  globalThis.kept = scanner.flush();
}

/** Milliseconds of one run. No garbage collection is forced before it: if no scanner is alive then, V8 discards their compiled code. */
export function timed(work) {
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  work();
  const wall = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  return Math.min(wall, (user + system) / 1000);
}

/** Milliseconds that the scanner and the loop need for these chunks. `alive` is called between runs. */
export function measure(createScanner, chunks, alive = () => {}) {
  const scanning = (times) => () => {
    for (let i = 0; i < times; i++) scan(createScanner(), chunks);
  };
  const looping = (times) => () => {
    for (let i = 0; i < times; i++) loop(chunks);
  };
  /** One run each, in milliseconds. */
  const round = (times) => {
    const loopMs = timed(looping(times)) / times;
    const ms = timed(scanning(times)) / times;
    alive();
    return { ms, loopMs };
  };

  let best = round(1);
  if (best.ms < SLOW_MS) {
    for (let i = 0; i < WARM_UPS; i++) best = round(1);
    const times = Math.max(1, Math.min(MAX_REPEATS, Math.ceil(RUN_MS / best.ms)));
    round(times);
    for (let i = 0; i < ROUNDS; i++) {
      const { ms, loopMs } = round(times);
      best = { ms: Math.min(best.ms, ms), loopMs: Math.min(best.loopMs, loopMs) };
    }
  }
  return { ...best, chunks: chunks.length };
}
