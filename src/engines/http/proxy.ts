/**
 * The proxy of a company's network: `HTTPS_PROXY=http://proxy.example:3128`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case, as curl
 * and most programs read them. Servers on this machine are reached directly.
 */
import { isIP } from "node:net";
import { EnvHttpProxyAgent } from "undici/index.js";
import { EngineError } from "../error.ts";

export const isLoopback = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));

/** The scheme may be missing, as with curl. */
function proxyIn(...variables: readonly string[]): string | undefined {
  const name = variables.find((variable) => process.env[variable]);
  if (name === undefined) return undefined;
  const text = process.env[name]!;
  const url = text.includes("://") ? text : `http://${text}`;
  if (URL.canParse(url) && /^(https?|socks5?):/i.test(url)) return url;
  // Without its value, which may contain a password.
  throw new EngineError({ code: "bad-request", message: `${name} must be the URL of a proxy, such as http://proxy.example:3128` });
}

const proxiesTo = ({ hostname }: URL): { httpProxy?: string; httpsProxy?: string } => {
  if (isLoopback(hostname.replace(/^\[|\]$/g, ""))) return {};
  const httpProxy = proxyIn("http_proxy", "HTTP_PROXY");
  const httpsProxy = proxyIn("https_proxy", "HTTPS_PROXY");
  return { ...(httpProxy ? { httpProxy } : {}), ...(httpsProxy ? { httpsProxy } : {}) };
};

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;

/**
 * The agent that reaches a server through the proxy; `undefined`: none is set, or the server is on this machine. It checks `NO_PROXY`
 * itself.
 */
export function proxyTo(url: URL, options: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent | undefined {
  const proxies = proxiesTo(url);
  return isEmpty(proxies) ? undefined : new EnvHttpProxyAgent({ ...options, ...proxies });
}

/** For errors: the proxy may be the cause. */
export const proxyNote = (urls: readonly URL[]): string =>
  urls.every((url) => isEmpty(proxiesTo(url))) ? "" : "; a proxy is set in HTTP_PROXY or HTTPS_PROXY";
