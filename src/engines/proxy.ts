/**
 * The way out of a company's network: `HTTPS_PROXY=http://proxy.example:3128`, `HTTP_PROXY` and `NO_PROXY`, as curl and most programs heed
 * them, in capitals or small letters. What runs on this machine is asked directly.
 */
import { isIP } from "node:net";
import { EnvHttpProxyAgent } from "undici/index.js";

export const isLoopback = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));

/** curl takes a proxy without its scheme, too. */
function proxyIn(...variables: readonly string[]): string | undefined {
  const text = variables.map((name) => process.env[name]).find(Boolean);
  return text === undefined || text.includes("://") ? text : `http://${text}`;
}

/** What reaches a server by way of the proxy, if there is one and the server is not on this machine; `NO_PROXY` it heeds itself. */
export function proxyTo({ hostname }: URL, options: EnvHttpProxyAgent.Options = {}): EnvHttpProxyAgent | undefined {
  const httpProxy = proxyIn("http_proxy", "HTTP_PROXY");
  const httpsProxy = proxyIn("https_proxy", "HTTPS_PROXY");
  if ((httpProxy ?? httpsProxy) === undefined || isLoopback(hostname.replace(/^\[|\]$/g, ""))) return undefined;
  return new EnvHttpProxyAgent({ ...options, ...(httpProxy ? { httpProxy } : {}), ...(httpsProxy ? { httpsProxy } : {}) });
}
