/** Upstreams as the command line has them: given by a flag, or found on this machine. */
import { DialectFinder } from "../engines/inband/dialects.ts";
import type { Engine } from "../engines/index.ts";
import { KNOWN } from "../engines/known.ts";
import { secretOf, usualKey } from "../gateway/config.ts";
import { createUpstream, discover, probeWire, type Speech, type UpstreamSettings } from "../gateway/upstreams.ts";
import { Complaint } from "./complaint.ts";
import { CONFIG } from "./serve-flags.ts";
import { visible } from "./terminal.ts";

export interface UpstreamFlags {
  upstream?: string;
  upstreamWire?: Speech;
  upstreamKey?: string;
}

export type Upstreams = Readonly<Record<string, UpstreamSettings>>;

export interface Upstream {
  name: string;
  wire: Speech;
  urls: readonly string[];
  hasKey: boolean;
  how: string;
  engine: Engine;
}

export const secret = (text: string, flag: string): string =>
  secretOf(text, process.env, (what) => {
    throw new Complaint(`${flag} ${what}`);
  });

export function fromFlags(upstream: string, { upstreamWire: wire, upstreamKey }: UpstreamFlags): Upstreams {
  const given = upstreamKey === undefined ? undefined : secret(upstreamKey, "--upstream-key");
  if (Object.hasOwn(KNOWN, upstream)) {
    const known = KNOWN[upstream]!;
    const key = given ?? usualKey(upstream);
    if (known.keyVariable !== undefined && key === undefined) throw new Complaint(`${upstream} needs a key: set ${known.keyVariable}`);
    return { [upstream]: { urls: [known.url], wire: wire ?? known.wire, key, profile: known.profile } };
  }
  const url = /^[\w.-]+:\d+(\/|$)/.test(upstream) ? `http://${upstream}` : upstream;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Complaint(`--upstream must be a URL or one of ${Object.keys(KNOWN).join(", ")}; it is ${visible(upstream)}`);
  }
  return { [new URL(url).host]: { urls: [url], wire, key: given } };
}

export const NOT_FOUND =
  "no upstream is given, and none runs on this machine where it usually would; give one: --upstream http://127.0.0.1:8000/v1";

/** What runs where it usually does; nothing, if nothing does. */
export async function fromMachine(): Promise<Upstreams> {
  const found = await discover();
  const nameOf = (url: string): string => Object.entries(KNOWN).find(([, known]) => known.url === url)?.[0] ?? new URL(url).host;
  return Object.fromEntries(found.map(({ url, wire }) => [nameOf(url), { urls: [url], wire }]));
}

/** A URL may have a password in it. */
export function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

export async function connectOne(name: string, settings: UpstreamSettings): Promise<Upstream> {
  const { urls, key } = settings;
  const about = { name, urls: urls.map(withoutPassword), hasKey: key !== undefined };
  if (settings.wire) return { ...about, wire: settings.wire, how: "as configured", engine: createUpstream(settings.wire, settings) };
  const found = await probeWire(urls[0]!, key);
  if (!found) {
    throw new Complaint(
      `nothing answers at ${about.urls[0]}: start the upstream first, or say what it speaks with --upstream-wire (wire in ${CONFIG})`,
    );
  }
  return { ...about, wire: found.wire, how: found.how, engine: createUpstream(found.wire, settings) };
}

const MAX_SHOWN = 5;

/** What models that only complete text are taken to speak. */
export async function dialectLines({ name, engine }: Upstream): Promise<string[]> {
  if (!engine.speaking) return [];
  try {
    const finder = new DialectFinder("auto", engine.about?.bind(engine));
    const models = (await engine.models()).slice(0, MAX_SHOWN);
    const found = await Promise.all(models.map(async ({ id }) => [id, await finder.find(id)] as const));
    return found.map(([id, dialect]) =>
      dialect
        ? `upstream ${name}: ${visible(id)} speaks ${dialect.dialect.id} (${visible(dialect.why)})`
        : `upstream ${name}: nobody knows what ${visible(id)} speaks; set dialect for this model in ${CONFIG}`,
    );
  } catch (error) {
    return [`upstream ${name}: ${(error as Error).message}`];
  }
}
