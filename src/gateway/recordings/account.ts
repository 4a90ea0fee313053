/** Summarizes a recording: what the model wrote, what the engine made of it, what the client got, and where these disagree. */
import { collect } from "../../core/fold.ts";
import type { Part, Response, WireId } from "../../core/nouns.ts";
import { listDialects } from "../../dialects/registry.ts";
import { BACKENDS, type Backend, readMessage } from "../../engines/completions/backends.ts";
import { Messages } from "../../engines/completions/reading.ts";
import { getWire } from "../../wires/registry.ts";
import { type Edge, type Recording, textOfEdge } from "./recording.ts";
import { pathOf, speechOf } from "./speech.ts";

export interface Account {
  /** The upstream's answer: parts if it speaks a wire, `text` if it only completes text. Both absent: nothing readable. */
  readonly upstream?: Response | undefined;
  readonly text?: string | undefined;
  /** What the engine made of it. */
  readonly events: Response;
  /** What the client got. */
  readonly client?: Response | undefined;
  /** Sentences for people. */
  readonly anomalies: readonly string[];
}

export function accountOf(recording: Recording): Account {
  const last = recording.upstream.at(-1);
  const events = collect(recording.events.map(([, event]) => event));
  const client = recording.exchange.kind === "generate" ? responseOf(recording.client, recording.exchange.wire) : undefined;
  const spoken = last && speechOf(pathOf(last))?.spoken;
  const upstream = last && spoken && "wire" in spoken ? responseOf(last, spoken.wire) : undefined;
  const text = last ? spoken && "server" in spoken && completionOf(last, BACKENDS[spoken.server]) : writtenIn(recording);
  return { upstream, text: text || undefined, events, client, anomalies: anomaliesOf(recording, { upstream, events, client }) };
}

/** An answer as the wire's own decoder reads it. */
function responseOf(edge: Edge, id: WireId): Response | undefined {
  const { response } = edge;
  if (!response || response.status >= 300) return undefined;
  const wire = getWire(id);
  const type = response.headers["content-type"] ?? "";
  const isStream = /event-stream|ndjson/.test(type) || (id === "gemini" && /streamGenerateContent/.test(edge.request.url));
  if (!isStream) return wire.decodeResponse(textOfEdge(edge));
  const decoder = wire.createStreamDecoder();
  return collect([...decoder.feed(textOfEdge(edge)), ...decoder.flush()]);
}

/** The text that a model in this process wrote, rebuilt from the events, which lose nothing of it. */
function writtenIn({ events, exchange }: Recording): string | undefined {
  if (exchange.dialect === undefined) return undefined;
  const pieces = events.map(([, event]) => ("text" in event ? event.text : "raw" in event ? (event.raw ?? "") : ""));
  return pieces.join("");
}

/** The text that a server completed. */
function completionOf(edge: Edge, backend: Backend): string | undefined {
  if (!edge.response || edge.response.status >= 300) return undefined;
  const messages = new Messages(edge.response.headers["content-type"] ?? "");
  const texts = [...messages.feed(textOfEdge(edge)), ...messages.flush()].map((message) => {
    try {
      return readMessage(backend, JSON.parse(message)).text ?? "";
    } catch {
      return ""; // [DONE], or garbage, which shows in the events
    }
  });
  return texts.join("");
}

// ---- Anomalies

type Sides = Pick<Account, "upstream" | "events" | "client">;

function anomaliesOf({ exchange, upstream: hops, cut }: Recording, { upstream, events, client }: Sides): string[] {
  const found: string[] = [];
  if (cut) found.push("the recording was too long: its rest is missing");
  if (exchange.brokenOff) found.push(exchange.brokenOff === "client" ? "the client left" : "the gateway closed");
  for (const { response, broken, request } of hops) {
    const { host } = new URL(request.url);
    if (!response) found.push(`${host} did not answer`);
    else if (response.status >= 400) found.push(`${host} answered ${response.status}`);
    if (broken && !exchange.brokenOff) found.push(`the answer of ${host} broke off`);
  }
  if (exchange.error) found.push(`it ended with an error: ${exchange.error.code}, ${exchange.error.message}`);
  const [from, between, to] = [upstream, events, client].map((response) => response && callsOf(response.content));
  if (from && between) found.push(...vanished(from, between, "between the upstream and the events"));
  if (between && to) found.push(...vanished(between, to, "between the events and the client"));
  for (const part of events.content) {
    if (part.type === "malformed") found.push(`a call could not be read (${part.code}): ${part.reason}`);
    else if (part.type === "tool-call" && part.truncated) found.push(`the call of ${part.name} was cut`);
  }
  for (const part of client?.content ?? events.content) {
    if (part.type !== "text" && part.type !== "thinking") continue;
    for (const mark of MARKS) if (part.text.includes(mark)) found.push(`markup is left in the ${part.type}: ${mark}`);
  }
  return [...new Set(found)];
}

const callsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.type === "tool-call" && !part.truncated ? [part.name] : []));

function vanished(before: readonly string[], after: readonly string[], where: string): string[] {
  const left = [...after];
  return before.flatMap((name) => {
    const at = left.indexOf(name);
    if (at < 0) return [`the call of ${name} vanished ${where}`];
    left.splice(at, 1);
    return [];
  });
}

/** Marks that should never appear in text or thinking. */
const MARKS: readonly string[] = [
  ...new Set(listDialects().flatMap((dialect) => [...dialect.stops, ...(dialect.grammar?.([], "auto").preserved ?? [])])),
].filter((mark) => /^[<[].*[>\]]$/.test(mark));
