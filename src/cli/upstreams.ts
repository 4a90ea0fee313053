/** Upstreams for the command line: given by a flag, or found on this machine. */

import { urlProblem } from "../engines/http/address.ts";
import { proxyNote } from "../engines/http/proxy.ts";
import { DialectFinder } from "../engines/inband/dialects.ts";
import type { Engine } from "../engines/index.ts";
import { KNOWN } from "../engines/known.ts";
import { urlOf, usualKey } from "../gateway/config.ts";
import { createUpstream, discover, guessed, probeWire, type Speech, type UpstreamSettings } from "../gateway/connect.ts";
import { secretOf } from "../gateway/toml.ts";
import { Complaint } from "./complaint.ts";
import { CONFIG } from "./serve-flags.ts";
import { visible } from "./terminal.ts";

export interface UpstreamFlags {
  upstream?: string;
  upstreamWire?: Speech;
  upstreamKey?: string;
}

export type Upstreams = Readonly<Record<string, UpstreamSettings>>;

export interface Upstream extends Spoken {
  name: string;
  urls: readonly string[];
  hasKey: boolean;
  engine: Engine;
}

/** What an upstream speaks, and how that is known. */
interface Spoken {
  wire: Speech;
  how: string;
  /** `false`: guessed. */
  certain: boolean;
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
  const url = urlOf(upstream);
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Complaint(`--upstream must be a URL or one of ${Object.keys(KNOWN).join(", ")}; it is ${visible(upstream)}`);
  }
  const problem = urlProblem(url);
  if (problem) throw new Complaint(`--upstream ${problem} (--upstream-key, or ${CONFIG})`);
  return { [new URL(url).host]: { urls: [url], wire, key: given } };
}

/** What `--upstream-wire` and `--upstream-key` say is about no other upstream, and would be ignored without `--upstream`. */
export function needUpstream({ upstreamWire, upstreamKey }: UpstreamFlags): void {
  const flag = upstreamWire !== undefined ? "--upstream-wire" : upstreamKey !== undefined ? "--upstream-key" : undefined;
  if (flag !== undefined) throw new Complaint(`${flag} works only with --upstream`);
}

export const NOT_FOUND =
  "no upstream is given, and no model server was found at the usual ports of this machine; give one, as in --upstream http://127.0.0.1:8000/v1";

/** The servers found at their usual ports; may be empty. */
export async function fromMachine(): Promise<Upstreams> {
  const found = await discover();
  const nameOf = (url: string): string => Object.entries(KNOWN).find(([, known]) => known.url === url)?.[0] ?? new URL(url).host;
  return Object.fromEntries(found.map(({ url, wire }) => [nameOf(url), { urls: [url], wire }]));
}

/** The URL for logs, without the values of its query, which may be secret. */
function shownUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()];
  return origin + pathname + (names.length === 0 ? "" : `?${names.map((name) => `${name}=…`).join("&")}`);
}

/** `undefined`: no server answers, and no wire is configured. */
async function reach(name: string, settings: UpstreamSettings): Promise<Upstream | undefined> {
  if (settings.wire) return upstreamOf(name, settings, { wire: settings.wire, how: "as configured", certain: true });
  const found = await probeWire(settings.urls[0]!, settings.key);
  return found && upstreamOf(name, settings, found);
}

function upstreamOf(name: string, settings: UpstreamSettings, { wire, how, certain }: Spoken): Upstream {
  const { urls, key } = settings;
  return { name, urls: urls.map(shownUrl), hasKey: key !== undefined, wire, how, certain, engine: createUpstream(wire, settings) };
}

export interface Others {
  /** The upstreams from before the configuration changed. */
  before?: readonly Upstream[];
  /** There are models in this process, or the gateway runs already, so it is no error if no upstream answers. */
  here?: boolean;
}

/** Upstreams that do not answer yet are accepted as long as there is another, or they answered before. */
export async function connectAll(upstreams: Upstreams, { before = [], here = false }: Others = {}): Promise<Upstream[]> {
  const all = Object.entries(upstreams);
  const reached = await Promise.all(all.map(([name, settings]) => reach(name, settings)));
  const known = all.map(
    ([name, { urls }], i) => reached[i] ?? before.find((one) => one.name === name && one.urls[0] === shownUrl(urls[0]!)),
  );
  const [missed] = here || known.some(Boolean) ? [] : all.flatMap(([, { urls }]) => urls);
  if (missed !== undefined) {
    throw new Complaint(
      `nothing answers at ${shownUrl(missed)}: start the upstream first, or set what it speaks with --upstream-wire (wire in ${CONFIG})${proxyNote([new URL(missed)])}`,
    );
  }
  return all.map(
    ([name, settings], i) => reached[i] ?? upstreamOf(name, settings, known[i] ?? guessed(settings.urls[0]!, "nothing answers there now")),
  );
}

const MAX_SHOWN = 5;

/** The dialects that were detected for the models of an upstream that only completes text. */
export async function dialectLines({ name, engine }: Upstream): Promise<string[]> {
  if (!engine.speaking) return [];
  try {
    const finder = new DialectFinder("auto", engine.about?.bind(engine));
    const models = (await engine.models()).slice(0, MAX_SHOWN);
    const found = await Promise.all(models.map(async ({ id }) => [id, await finder.find(id)] as const));
    return found.map(([id, dialect]) =>
      dialect
        ? `upstream ${name}: ${visible(id)} speaks ${dialect.dialect.id} (${visible(dialect.why)})`
        : `upstream ${name}: the dialect of ${visible(id)} is unknown; set dialect for this model in ${CONFIG}`,
    );
  } catch (error) {
    return [`upstream ${name}: ${(error as Error).message}`];
  }
}
