/** Connects to configured upstreams: probes which wire the server at a URL speaks, and creates its engine. */
import { request } from "undici/index.js";
import { isObject } from "../core/json.ts";
import type { WireId } from "../core/nouns.ts";
import { createCompletions } from "../engines/completions/completions.ts";
import type { Engine, ServerId } from "../engines/engine.ts";
import { baseOf, credentialsOf } from "../engines/http/address.ts";
import type { Base } from "../engines/http/asked.ts";
import type { Timeouts } from "../engines/http/http.ts";
import { proxyTo } from "../engines/http/proxy.ts";
import { KNOWN, knownByUrl } from "../engines/known.ts";
import { createLimited, type Limits } from "../engines/limited.ts";
import { createRemote } from "../engines/remote.ts";
import { parsed } from "../wires/read.ts";
import type { Headers, WireProfile } from "../wires/wire.ts";

/** What an upstream speaks: a wire; or it only completes text, and Dragoman speaks the model's dialect. */
export type Speech = WireId | "completions";

export interface UpstreamSettings {
  readonly urls: readonly string[];
  /** Absent: found by probing. */
  readonly wire?: Speech | undefined;
  /** For `completions`; absent: found by probing. */
  readonly server?: ServerId | undefined;
  readonly limits?: Limits | undefined;
  readonly key?: string | undefined;
  readonly headers?: Headers | undefined;
  /** The values of headers that must not be recorded, whatever their names. */
  readonly secrets?: readonly string[] | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly profile?: WireProfile | undefined;
}

/** The engine for one upstream of a gateway. */
export function createUpstream(wire: Speech, settings: UpstreamSettings): Engine {
  const { limits } = settings;
  const engine = wire === "completions" ? completionsAt(settings) : remoteAt(wire, settings);
  return limits ? createLimited(engine, limits) : engine;
}

function remoteAt(wire: WireId, { urls, key, headers, timeouts, profile }: UpstreamSettings): Engine {
  return createRemote({ wire, url: urls, key, headers, timeouts, profile });
}

const completionsAt = ({ urls, server, key, headers, timeouts }: UpstreamSettings): Engine =>
  createCompletions({ url: urls, server, key, headers, timeouts });

// ---- Probing

export interface Found {
  wire: WireId;
  /** How the wire was found, in words for the person who started the gateway. */
  how: string;
  /** `false`: guessed from the URL. */
  certain: boolean;
  /** The server is itself a Dragoman gateway, which speaks all wires. */
  isGateway?: true;
}

const PROBE_MS = 3_000;

/** The order matters: Ollama also answers like OpenAI, and other servers like Ollama. */
const PROBES: readonly { wire: WireId; path: string; answers: (body: Record<string, unknown>) => boolean }[] = [
  { wire: "ollama", path: "/api/version", answers: ({ version }) => typeof version === "string" },
  {
    wire: "anthropic",
    path: "/v1/models",
    answers: ({ data, object, has_more }) => Array.isArray(data) && object === undefined && has_more !== undefined,
  },
  { wire: "openai-chat", path: "/v1/models", answers: ({ data }) => Array.isArray(data) },
  { wire: "gemini", path: "/v1beta/models", answers: ({ models }) => Array.isArray(models) },
];

/** `undefined`: no server listens there. If a server answers no probe, its wire is guessed from the URL. */
export async function probeWire(url: string, key?: string): Promise<Found | undefined> {
  const known = knownByUrl(url);
  if (known) return { wire: known.wire, how: "by its name", certain: true };
  const [root, ...answers] = await Promise.all([
    look(new URL("/", url), {}),
    ...PROBES.map(({ wire, path }) => look(urlOf(baseOf(wire, url), path), key ? credentialsOf(wire, key) : {})),
  ]);
  if (root?.body === GREETING) return { ...guessed(url, ""), how: "it is a gateway of Dragoman", certain: true, isGateway: true };
  // A URL that ends in `/v1` means an OpenAI-like server, unless it is Ollama itself.
  const skipsOllama = /\/v1\/?$/.test(new URL(url).pathname) && root?.body !== OLLAMA;
  const probe = PROBES.find(({ wire, answers: fits }, i) => {
    const body = answers[i]?.body;
    return !(skipsOllama && wire === "ollama") && isObject(body) && fits(body);
  });
  if (probe) return { wire: probe.wire, how: `it answers ${probe.path}`, certain: true };
  if (answers.every((answer) => answer === undefined)) return undefined;
  return guessed(url, whyNoList(answers, key));
}

/** Guesses the wire from the URL. */
export function guessed(url: string, why: string): Found {
  const path = new URL(url).pathname;
  const wire = /\/v1beta/.test(path) && !/openai/.test(path) ? "gemini" : /\/api\/?$/.test(path) ? "ollama" : "openai-chat";
  return { wire, how: `a guess, since ${why}; --upstream-wire, or wire in dragoman.toml, says it`, certain: false };
}

function whyNoList(answers: readonly (Looked | undefined)[], key: string | undefined): string {
  const location = answers.find((answer) => answer?.location)?.location;
  if (location !== undefined) return `it only points to ${location}, which may be its URL`;
  if (!answers.some((answer) => answer?.status === 401 || answer?.status === 403)) return "it answers no list of models";
  return key === undefined ? "it wants a key (--upstream-key, or key in dragoman.toml)" : "it refuses this key";
}

interface Looked {
  readonly status: number;
  readonly body: unknown;
  readonly location: string | undefined;
}

const urlOf = ({ origin, path }: Base, asked: string): URL => new URL(origin + path(asked));

/** `undefined`: no answer at all. */
async function look(url: URL, headers: Headers): Promise<Looked | undefined> {
  const proxy = proxyTo(url);
  try {
    const answer = await request(url, { headers, signal: AbortSignal.timeout(PROBE_MS), ...(proxy ? { dispatcher: proxy } : {}) });
    const text = await answer.body.text();
    const { location } = answer.headers;
    return { status: answer.statusCode, body: parsed(text) ?? text, location: location === undefined ? undefined : String(location) };
  } catch {
    return undefined;
  } finally {
    await proxy?.destroy();
  }
}

/** What every gateway answers at its root, so that none becomes its own upstream; and what Ollama answers. */
export const GREETING = "dragoman is running\n";
const OLLAMA = "Ollama is running";

/** Finds servers that run on this machine at their usual ports. */
export async function discover(urls: readonly string[] = LOCAL): Promise<{ url: string; wire: WireId }[]> {
  const found = await Promise.all(
    urls.map(async (url) => {
      const root = await look(new URL("/", url), {});
      if (root === undefined || root.body === GREETING) return [];
      const probed = await probeWire(url);
      return probed?.certain ? [{ url, wire: probed.wire }] : [];
    }),
  );
  return found.flat();
}

const LOCAL: readonly string[] = Object.values(KNOWN)
  .map(({ url }) => url)
  .filter((url) => url.startsWith("http:"));
