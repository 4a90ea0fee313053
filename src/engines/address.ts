/**
 * Where the API of a server is found, and how it is shown a key: SDKs have `/v1` in their base URLs or add it, people write either, or all of
 * an endpoint, and some servers have a prefix of their own.
 *
 *     baseOf("openai-chat", "https://example.com/v1beta/openai").path("/v1/models")   // "/v1beta/openai/models"
 */
import type { WireId } from "../core/nouns.ts";
import type { Headers, Wire } from "../wires/wire.ts";
import type { Base } from "./asked.ts";
import { HttpServer, type Timeouts } from "./http.ts";

export interface ServerAddress {
  /** As the SDKs of its API have it; `/v1` may be missing, or too much, and so may be what stands behind it. Several: they take turns, and stand in for each other. */
  url: string | readonly string[];
  key?: string | undefined;
  /** More headers for every request. */
  headers?: Headers | undefined;
  timeouts?: Timeouts | undefined;
  /** How many connections at a time, to each URL. */
  connections?: number | undefined;
}

/** `readError`: how its errors are written, if not as everywhere. */
export function serverAt(
  wire: WireId,
  { url, key, headers, timeouts, connections }: ServerAddress,
  readError?: Wire["decodeError"],
): HttpServer {
  const bases = [url].flat().map((one) => baseOf(wire, one));
  const credentials = key === undefined ? undefined : credentialsOf(wire, key);
  return new HttpServer({ bases, headers, credentials, secret: key, readError, timeouts, connections });
}

type Credentials = (key: string) => Headers;
const bearer: Credentials = (key) => ({ authorization: `Bearer ${key}` });

interface Habit {
  readonly credentials: Credentials;
  /** What the paths of the wire begin with and a URL may end in. */
  readonly prefix: RegExp;
  /** The URL has the prefix in it, whatever that is: so the path goes without. */
  readonly inUrl?: true;
  readonly modelsQuery?: string;
}

const HABITS: Readonly<Record<WireId, Habit>> = {
  "openai-chat": { credentials: bearer, prefix: /\/v1$/, inUrl: true },
  "openai-responses": { credentials: bearer, prefix: /\/v1$/, inUrl: true },
  anthropic: { credentials: (key) => ({ "x-api-key": key }), prefix: /\/v1$/, modelsQuery: "?limit=1000" },
  gemini: { credentials: (key) => ({ "x-goog-api-key": key }), prefix: /\/v1(beta|alpha)?$/, modelsQuery: "?pageSize=1000" },
  ollama: { credentials: bearer, prefix: /\/(api|v1)$/ },
};

/** The query with which a list of models is whole. */
export const modelsQueryOf = (wire: WireId): string => HABITS[wire].modelsQuery ?? "";

export const credentialsOf = (wire: WireId, key: string): Headers => HABITS[wire].credentials(key);

/** What is wrong with the URL of a server; `undefined`: nothing. */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return "must be an http or https URL";
  const { username, password } = new URL(url);
  return username + password === ""
    ? undefined
    : "may have no name and password in it: a key is given as the key, anything else as a header";
}

/** Where a request goes to, which documentations of servers show and people copy. */
const ENDPOINT = /\/(?:(?:chat\/)?completions|responses|messages|(?<=\/api\/)chat)$/;

/** Where the paths of the wire are found under a URL that a user gave; its query (`?api-version=2024-10-21`) goes along with all of them. */
export function baseOf(wire: WireId, url: string): Base {
  const problem = urlProblem(url);
  if (problem) throw new Error(`the URL of an upstream ${problem}; it is ${url}`);
  const { prefix, inUrl } = HABITS[wire];
  const { origin, pathname, search } = new URL(url);
  const root = pathname.replace(/\/+$/, "").replace(ENDPOINT, "");
  const asked = search === "" ? String : (path: string) => path + (path.includes("?") ? search.replace("?", "&") : search);
  const bare = inUrl && root !== "" && !prefix.test(root); // a prefix of the server's own, such as /v1beta/openai
  if (bare) return { origin, path: (path) => asked(root + path.replace(/^\/v1(?=\/)/, "")) };
  const above = root.replace(prefix, "");
  return { origin, path: (path) => asked(above + path) };
}
