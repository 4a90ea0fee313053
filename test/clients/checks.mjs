// What must be true after a run. Each check returns the first difference in words, or nothing.
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";

const shown = (text) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Where two texts differ. */
function parting(a, b) {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

export function filesAreThere(files) {
  for (const { file, content, manner } of files) {
    const where = `${basename(file)}${manner ? ` (${manner})` : ""}`;
    if (!existsSync(file)) return `${where} was not written`;
    const written = readFileSync(file, "utf8");
    if (written === content) continue;
    const at = parting(written, content);
    return `${where} differs at ${at}: ${shown(written.slice(at))} instead of ${shown(content.slice(at))}`;
  }
}

/** Every request of a loop has the model's earlier thinking; `seal`: or what its server sealed it with. */
export function thoughtsComeBack(asked, seal) {
  const thoughts = [];
  for (const { text, answer } of asked) {
    const missing = seal && text.includes(seal) ? undefined : thoughts.find((thought) => !text.includes(thought));
    if (missing) return `the request behind it does not hold ${shown(missing)}`;
    if (answer.thinking && !answer.manner?.thinkingLast) thoughts.push(answer.thinking);
  }
}

/**
 * What changes in a client's own requests, and is passed on to an upstream of the same wire: Anthropic's cache marks move with the
 * conversation (and turn a string into a block), and Codex shuffles the keys of its metadata.
 */
function withoutMarks(text) {
  const unmarked = (key, value) => {
    if (key === "cache_control" || key === "client_metadata") return undefined;
    return key === "content" && typeof value === "string" ? [{ type: "text", text: value }] : value;
  };
  return /"(cache_control|client_metadata)"/.test(text) ? JSON.stringify(JSON.parse(text, unmarked)) : text;
}

/** Each request begins like the one before it, byte for byte up to the new messages, and ends like it. */
export function prefixesAreStable(asked) {
  const texts = asked.map(({ text }) => withoutMarks(text));
  for (let n = 1; n < texts.length; n++) {
    const [before, after] = [texts[n - 1], texts[n]];
    const at = parting(before, after);
    const tail = before.slice(at);
    if (!tail.startsWith("]")) return `request ${n + 1} differs at ${at}: ${shown(after.slice(at))} instead of ${shown(tail)}`;
    if (!after.endsWith(tail)) return `request ${n + 1} ends in another way than the one before`;
  }
}

export function endedWell({ code, timedOut, stdout, stderr }, said, codes = [0]) {
  const end = (stderr.trim() || stdout.trim()).slice(-300);
  if (timedOut) return `it did not end: ${end}`;
  if (!codes.includes(code)) return `exit code ${code}: ${end}`;
  if (!stdout.includes(said)) return `it did not say ${shown(said)}: ${shown(stdout.slice(-100))}`;
}

/** `expected`: the error codes that belong to the scenario. */
export function gatewayIsWell(log, expected = []) {
  const fault = log.find(({ error, fault, kind }) => fault || (error && kind !== "upgrade" && !expected.includes(error)));
  return fault && `the gateway: ${fault.msg}`;
}

/** The client's key is for the gateway only. */
export const keyStays = (asked, key) =>
  asked.some(({ headers, text }) => JSON.stringify(headers).includes(key) || text.includes(key))
    ? "the upstream was told the client's key"
    : undefined;
