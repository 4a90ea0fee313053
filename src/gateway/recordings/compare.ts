/**
 * A recording played through the gateway as it is now: does the client still get the same bytes? With it, a bug report is a test.
 *
 *     const { same, recorded, now } = await compareRecording(readRecording(text));
 *
 * The upstream repeats its recorded bytes and the client its recorded request. Where the gateway closed before the end, it closes again at
 * the same byte of the upstream's answer. What differs between any two exchanges is left out on both sides: times, heartbeats, the
 * exchange's id and the upstream's address.
 */
import { request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { ErrorInfo, Event, JsonObject, WireId } from "../../core/nouns.ts";
import { around } from "../../engines/around.ts";
import type { Engine } from "../../engines/engine.ts";
import { knownByUrl } from "../../engines/known.ts";
import { createScripted } from "../../engines/scripted.ts";
import { wholeBody } from "../../wires/openai-responses/turns.ts";
import { createUpstream } from "../connect.ts";
import { createGateway } from "../gateway.ts";
import type { Patience } from "../options.ts";
import type { ModelRule } from "../rules.ts";
import type { OpenTap } from "../tap.ts";
import { bytesOfPiece, type Edge, fellSilent, type Recording, textOfEdge, wasClosed } from "./recording.ts";
import { createReplay } from "./replay.ts";
import { pathOf, speechOf } from "./speech.ts";

export interface Comparison {
  readonly same: boolean;
  readonly recorded: Heard;
  readonly now: Heard;
}

/** What a client received, without what differs from one exchange to the next. */
export interface Heard {
  readonly status: number;
  readonly body: string;
}

/** Throws an error with a readable message if there is nothing to compare. */
export async function compareRecording(recording: Recording): Promise<Comparison> {
  const { exchange, client, cut } = recording;
  if (exchange.kind !== "generate" || client.request.method === "") throw new Error("it holds no answer of a model");
  if (cut) throw new Error("it was too long to be kept whole");
  const beginning = beginningOf(recording);
  const silence = new Silence(beginning);
  const upstream = await openUpstream(recording, beginning, silence);
  let again: Said = { id: "", error: undefined };
  const gateway = createGateway({
    port: 0,
    upstreams: { recorded: upstream.engine },
    models: [ruleOf(recording)],
    patience: patienceOf(beginning),
    taps: [silence.tap, ...(wasClosed(recording) ? [closing(recording, () => void gateway.close())] : [])],
    onExchange: ({ id, error }) => {
      again = { id, error };
    },
  });
  try {
    const { port } = await gateway.listen();
    const answer = await ask(port, asked(recording));
    await gateway.close(); // so that the exchange has ended
    return judged(recording, answer, again);
  } finally {
    await gateway.close();
    upstream.close();
  }
}

// ---- The upstream, again

interface Upstream {
  readonly engine: Engine;
  close(): void;
}

async function openUpstream(recording: Recording, beginning: Beginning, silence: Silence): Promise<Upstream> {
  const played = recording.upstream.at(-1);
  const speech = played?.response && spokenIn(recording, played);
  if (!played || !speech) return { engine: told(recording, beginning, silence), close: () => {} };
  const server = createReplay(recording, { fast: true, before: (what) => silence.before(what) });
  const urls = [await listen(server)];
  const timeouts = fellSilent(recording) ? { idle: SILENT_MS } : {};
  const { spoken } = speech;
  const engine =
    "wire" in spoken
      ? createUpstream(spoken.wire, { urls, timeouts, profile: knownByUrl(played.request.url)?.profile })
      : createUpstream("completions", { urls, timeouts, server: spoken.server });
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { engine, close };
}

/** Ollama completes text at the same path that its own clients use: without a dialect in the recording, the request was a client's. */
function spokenIn({ exchange }: Recording, edge: Edge): ReturnType<typeof speechOf> {
  const speech = speechOf(pathOf(edge));
  const isAsked = speech && "server" in speech.spoken && speech.spoken.server === "ollama" && exchange.dialect === undefined;
  return isAsked ? { ...speech, spoken: { wire: "ollama" } } : speech;
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

/** If no upstream answered, or the model ran in this process, the recording holds only events. */
const told = ({ events, exchange: { error } }: Recording, { hadAnswered }: Beginning, silence: Silence): Engine =>
  around(createScripted([]), {
    async *generate(_, { onAnswer } = {}): AsyncGenerator<Event, void, undefined> {
      await silence.before("answer");
      if (hadAnswered) onAnswer?.({ ok: true, headers: {}, warnings: [] });
      await silence.before("body");
      for (const [, event] of events) yield event;
      if (error?.code === "internal") throw new Error(error.message); // as the engine did when recorded
    },
  });

const SILENT_MS = 100;

/** The dialect detected then is set explicitly now, because the source that revealed it is not in the recording. */
function ruleOf(recording: Recording): ModelRule {
  const { upstreamModel: model, tools, rescue, dialect } = recording.exchange;
  const played = recording.upstream.at(-1);
  const speech = played && spokenIn(recording, played);
  const isNative = speech !== undefined && "wire" in speech.spoken && (tools ?? "native") === "native";
  return { name: "*", upstream: "recorded", model, tools, dialect, rescue: isNative && dialect !== undefined ? (rescue ?? "auto") : false };
}

// ---- Time

/** What the client received before the upstream sent anything: only then does the upstream wait again. */
interface Beginning {
  /** A model in this process had accepted the request before its first event. */
  readonly hadAnswered: boolean;
  /** Status and headers were sent during the silence. */
  readonly headersWereEarly: boolean;
  /** The stream's opening was sent with the first heartbeat, before anything was known of the answer. */
  readonly beganWithBeat: boolean;
}

function beginningOf({ client, upstream, events, exchange }: Recording): Beginning {
  const { response } = upstream.at(-1) ?? {};
  const answeredMs = response?.ms ?? events[0]?.[0];
  const headersCameFirst = client.response !== undefined && answeredMs !== undefined && client.response.ms < answeredMs;
  const first = client.pieces[0]?.[1];
  const beganWithBeat = typeof first === "string" && first.search(BEATS[exchange.wire]) >= 0;
  const isSignOfLife = beganWithBeat || (typeof first === "string" && first.startsWith("\n")); // what follows early headers
  const hadAnswered = headersCameFirst && response === undefined && !isSignOfLife;
  return { hadAnswered, headersWereEarly: headersCameFirst && !hadAnswered, beganWithBeat };
}

const NEVER_MS = 1e9;

/** Later heartbeats change nothing. */
function patienceOf({ headersWereEarly, beganWithBeat }: Beginning): Patience {
  const early = headersWereEarly ? 1 : NEVER_MS;
  return { headersMs: early, wholeMs: early, heartbeatMs: !headersWereEarly && beganWithBeat ? 1 : NEVER_MS };
}

/** In case that the gateway, as it is now, never breaks the silence. */
const MAX_SILENCE_MS = 10_000;

/** The upstream's silence lasts until the client received what it had received by then. No clock decides: only the order matters. */
class Silence {
  readonly #ends: Partial<Record<"answer" | "body", Promise<void>>> = {};
  readonly tap: OpenTap;

  constructor({ headersWereEarly, beganWithBeat }: Beginning) {
    let end = (): void => {};
    const broken = new Promise<void>((resolve) => {
      end = resolve;
    });
    if (headersWereEarly) this.#ends.answer = broken;
    else if (beganWithBeat) this.#ends.body = broken;
    this.tap = () => (headersWereEarly ? { replied: end } : { wrote: end });
  }

  /** Waits until the upstream may send its answer's headers, or its body. */
  async before(what: "answer" | "body"): Promise<void> {
    const end = this.#ends[what];
    if (end) await Promise.race([end, pause(MAX_SILENCE_MS, undefined, { ref: false })]);
  }
}

// ---- The gateway, again

/** Closes the gateway where it closed when recorded: after the last byte of the upstream. */
function closing({ upstream }: Recording, close: () => void): OpenTap {
  let left = upstream.at(-1)?.pieces.reduce((sum, piece) => sum + bytesOfPiece(piece).length, 0) ?? 0;
  const heard = (bytes: number): void => {
    left -= bytes;
    if (left === 0) setImmediate(close); // once those bytes have reached the client
  };
  return () => ({ upstream: { answered: () => heard(0), received: ({ length }) => heard(length) } });
}

// ---- The client, again

/** Headers of the connection itself, and those that make the gateway refuse, now that it listens at another address. */
const NOT_AGAIN = /^(?:host|origin|connection|keep-alive|content-length|transfer-encoding|content-encoding|accept-encoding|expect)$/i;

/** Items that the gateway had kept are sent in full. */
function asked({ client: { request }, items }: Recording): Edge["request"] {
  if (!items) return request;
  const body = JSON.parse(request.body) as JsonObject;
  const whole = wholeBody(body, (id) => items[id]) ?? body;
  const input = Array.isArray(whole.input) ? whole.input.map((item: { id?: string }) => items[item.id ?? ""] ?? item) : whole.input;
  return { ...request, body: JSON.stringify({ ...whole, input }) };
}

function ask(port: number, { method, url: path, headers: given, body }: Edge["request"]): Promise<Heard> {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !NOT_AGAIN.test(name)));
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => {}); // a failed answer that does not stream may be cut off
      response.on("close", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** What an answer reveals of its own exchange. */
interface Said {
  readonly id: string;
  readonly error?: ErrorInfo | undefined;
}

function judged({ exchange, client }: Recording, answer: Heard, again: Said): Comparison {
  const recorded = settled({ status: client.response?.status ?? 0, body: textOfEdge(client) }, exchange.wire, exchange);
  const now = settled(answer, exchange.wire, again);
  const isSame = recorded.status === now.status && recorded.body === now.body;
  // A client that left received only the beginning.
  return { same: exchange.brokenOff === "client" ? now.body.startsWith(recorded.body) : isSame, recorded, now };
}

// ---- What is never the same

const COMMENT = /^:[^\n]*\n\n/gm;
const BEATS: Readonly<Record<WireId, RegExp>> = {
  "openai-chat": COMMENT,
  "openai-responses": COMMENT,
  anthropic: /^event: ping\ndata: [^\n]*\n\n/gm,
  // With `alt=sse`, or as one array.
  gemini:
    /(?:^data: |(?<=^\[?))\{"candidates":\[\{"content":\{"role":"model","parts":\[\{"text":""\}\]\},"index":0\}\][^\n]*(?:\r?\n\r?\n|(?<=\},)\n)/gm,
  ollama: /^\{[^\n]*"message":\{"role":"assistant","content":""\},"done":false\}\n/gm,
};
const TIMES = /"(created|created_at|completed_at|total_duration|prompt_eval_duration|eval_duration)":(?:\d+|"[^"]*")/g;

function settled({ status, body }: Heard, wire: WireId, { id, error }: Said): Heard {
  let text = body
    .replace(BEATS[wire], "")
    .replace(/^\n+/, "") // the heartbeats of an answer that does not stream
    .replaceAll(TIMES, '"$1":0')
    .replaceAll(id.slice("req_".length), "ID")
    .replaceAll(/(?<=_drgmID)[0-9a-f]{16}/g, "");
  if (error) text = text.replaceAll(quoted(error.message), quoted(withoutAddress(error.message)));
  return { status, body: text };
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);
/** `the upstream closed the connection (127.0.0.1:8000)` */
const withoutAddress = (message: string): string => message.replace(/ \([^()]*\)$/, "");
