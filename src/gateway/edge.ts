/** Who may come in: keys, and the checks that keep web pages out of a server on loopback. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback } from "../engines/http/proxy.ts";
import type { Headers } from "../wires/wire.ts";
import { remembering } from "./memory.ts";
import type { Visit } from "./routes.ts";

// ---- Keys: only their digests are kept, so that no key can be printed, nor guessed from the time that a comparison takes

const digest = (key: string): Buffer => createHash("sha256").update(key, "utf8").digest();

/** All places where clients put a key; gemini-cli uses two at once. */
export function keysOf({ headers, query }: Visit): string[] {
  const bearer = /^bearer +(.+)$/i.exec(headers.authorization ?? "")?.[1];
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], headers["api-key"], query.key].filter((key) => key !== undefined);
}

export class Keys {
  readonly #digests: readonly Buffer[];

  constructor(keys: readonly string[]) {
    this.#digests = keys.map(digest);
  }

  get needed(): boolean {
    return this.#digests.length > 0;
  }

  admit(visit: Visit): boolean {
    if (!this.needed) return true;
    const given = keysOf(visit).map(digest);
    let found = false;
    for (const one of given) for (const known of this.#digests) found = timingSafeEqual(one, known) || found;
    return found;
  }
}

// ---- Host: after DNS rebinding, a web page's requests arrive here, but still name the page's own host

/** The name in a `Host` header, without brackets and port. */
export const hostName = remembering((host) => {
  const [, inner] = /^\[([^\]]*)\](?::\d+)?$/.exec(host) ?? [];
  return (inner ?? host.replace(/:\d*$/, "")).toLowerCase().replace(/\.$/, "");
});

/** The same for a bare address or name. */
export const nameOf = (host: string): string => hostName(host.includes(":") ? `[${host}]` : host);

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase();

/** `own`: the configured `host`; `local`: the address at which the connection arrived. */
export function hostAllowed(host: string | undefined, local: string | undefined, names: readonly string[], own?: string): boolean {
  const name = hostName(host ?? "");
  if (name === "") return false;
  if (isLoopback(name) || own?.toLowerCase() === name) return true;
  return names.some((known) => known.toLowerCase() === name) || (local !== undefined && plainAddress(local) === name);
}

// ---- Origin: web pages from elsewhere may not use this server on behalf of whoever visits them

export function originAllowed(origin: string | undefined, host: string | undefined, origins: readonly string[]): boolean {
  if (origin === undefined || origins.includes("*") || origins.includes(origin)) return true;
  return origin === `http://${host}` || origin === `https://${host}`; // the gateway's own page
}

/** Headers that web pages may read. */
const EXPOSED = "retry-after, x-request-id, request-id, x-dragoman-warnings, x-dragoman-count";

export const corsHeaders = (origin: string | undefined): Record<string, string> =>
  origin === undefined ? {} : { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED, vary: "origin" };

export const preflightHeaders = ({ headers }: Visit): Record<string, string> => ({
  ...corsHeaders(headers.origin),
  "access-control-allow-methods": "GET, HEAD, POST, OPTIONS",
  "access-control-allow-headers": headers["access-control-request-headers"] ?? "*",
  "access-control-max-age": "600",
  ...(headers["access-control-request-private-network"] ? { "access-control-allow-private-network": "true" } : {}),
});

// ---- Secrets: only the check of keys sees them

/**
 * The names of headers, and of parameters of a URL, whose value is a secret, whatever it looks like: clients of other gateways send keys
 * under names of their own.
 */
export const SECRET_NAME = /auth(?!or\b)|cookie|secret|password|credential|api-?key|(?:^|[-_])key$|token$/i;

export function withoutSecrets({ method, path, query, headers }: Visit): { method: string; url: string; headers: Headers } {
  const rest = new URLSearchParams(Object.entries(query).filter(([name]) => !SECRET_NAME.test(name))).toString();
  return {
    method,
    url: rest === "" ? path : `${path}?${rest}`,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_NAME.test(name))),
  };
}
