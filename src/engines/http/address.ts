/**
 * Where the API of a server is, and how a key is sent. Some SDKs have `/v1` in their base URLs and others add it; people write either, or
 * the URL of an endpoint; and some servers have their own prefix.
 *
 *     baseOf("openai-chat", "https://example.com/v1beta/openai").path("/v1/models")   // "/v1beta/openai/models"
 */
import type { WireId } from "../../core/nouns.ts";
import type { Headers, Wire } from "../../wires/wire.ts";
import type { Base } from "./asked.ts";
import { HttpServer, type Timeouts } from "./http.ts";

export interface ServerAddress {
  /**
   * The base URL as SDKs take it, with or without `/v1`, or an endpoint's URL. Several URLs take turns and replace each other on failure.
   */
  url: string | readonly string[];
  key?: string | undefined;
  /** More headers for every request. */
  headers?: Headers | undefined;
  timeouts?: Timeouts | undefined;
  /** Most connections at a time to each URL. */
  connections?: number | undefined;
}

/** `readError`: how to read the server's errors, if not in the general way. */
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
  /** The prefix of the wire's paths, which a URL may end in. */
  readonly prefix: RegExp;
  /** A URL with a path contains the prefix, whatever it is, so paths are appended without `/v1`. */
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

/** The query that requests the complete list of models. */
export const modelsQueryOf = (wire: WireId): string => HABITS[wire].modelsQuery ?? "";

export const credentialsOf = (wire: WireId, key: string): Headers => HABITS[wire].credentials(key);

/** What is wrong with the URL of a server; `undefined`: nothing. */
export function urlProblem(url: string): string | undefined {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return "must be an http or https URL";
  const { username, password } = new URL(url);
  return username + password === "" ? undefined : "must not contain a name and password: pass a key as the key, anything else as a header";
}

/** Paths of endpoints, which people copy from the documentation of a server. */
const ENDPOINT = /\/(?:(?:chat\/)?completions|responses|messages|(?<=\/api\/)chat)$/;

/** Maps the wire's paths to a URL that a user gave; the URL's query (`?api-version=2024-10-21`) is added to all of them. */
export function baseOf(wire: WireId, url: string): Base {
  const problem = urlProblem(url);
  if (problem) throw new Error(`the URL of an upstream ${problem}; it is ${String(url).replace(/\/\/[^/?#]*@/, "//[secret]@")}`);
  const { prefix, inUrl } = HABITS[wire];
  const { origin, pathname, search } = new URL(url);
  const root = pathname.replace(/\/+$/, "").replace(ENDPOINT, "");
  const asked = search === "" ? String : (path: string) => path + (path.includes("?") ? search.replace("?", "&") : search);
  const bare = inUrl && root !== "" && !prefix.test(root); // the server has its own prefix, such as /v1beta/openai
  if (bare) return { origin, path: (path) => asked(root + path.replace(/^\/v1(?=\/)/, "")) };
  const above = root.replace(prefix, "");
  return { origin, path: (path) => asked(above + path) };
}
