/**
 * Which endpoint a path means. Model names contain slashes and colons, and users put one prefix too many or too few into a base URL: so a
 * path is read from its end, and everything before the endpoint must be known prefixes.
 *
 *     POST /v1beta/models/google/gemma:free:streamGenerateContent?alt=sse
 *     POST /v1/v1/messages                                                  a base URL with /v1, and an SDK that adds its own
 */
import { setOwn } from "../core/json.ts";
import type { WireId } from "../core/nouns.ts";
import type { Headers } from "../wires/wire.ts";
import { remembering } from "./memory.ts";
import type { PageFile } from "./page.ts";

export type Route = { readonly wire: WireId } /** `model`: from an Azure path. */ & (
  | { readonly kind: "generate"; readonly path: string; readonly model?: string }
  | { readonly kind: "count"; readonly path: string }
  /** Bytes for an upstream of the same wire; `behind`: what follows the model's name, if the upstream's path contains it. */
  | { readonly kind: "pass"; readonly path: string; readonly model?: string; readonly behind?: string }
  | { readonly kind: "models" | "catalogue" | "show" | "running" | "version" | "root" | "health" | "ready" | "metrics" | "upgrade" }
  | { readonly kind: "page"; readonly file: PageFile }
  /** `name` absent: the list of all exchanges. */
  | { readonly kind: "exchanges"; readonly name?: string | undefined }
  | { readonly kind: "model"; readonly id: string }
  | { readonly kind: "wrong-method"; readonly allow: string }
  | { readonly kind: "unknown"; readonly hint: string }
);

export interface Visit {
  method: string;
  path: string;
  query: Readonly<Record<string, string>>;
  /** With lower-case names. */
  headers: Headers;
}

/** The parts of a request's URL. Nonsense is kept as it is, a path without a route. URLs with a key are not remembered. */
export const readUrl = remembering(
  (url): Pick<Visit, "path" | "query"> => {
    const at = url.indexOf("?");
    const given = at < 0 ? url : url.slice(0, at);
    const path = /\/(?:\/|$)/.test(given) ? given.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "") : given;
    return { path, query: at < 0 ? NO_QUERY : readQuery(url.slice(at + 1)) };
  },
  ({ query }) => query.key === undefined,
);

const NO_QUERY: Visit["query"] = {};

/** Reads what `URLSearchParams` would, but faster. Of several values for one name the last wins. */
function readQuery(text: string): Visit["query"] {
  const query: Record<string, string> = {};
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    if (/[%+]/.test(pair)) for (const [name, value] of new URLSearchParams(pair)) setOwn(query, name, value);
    else setOwn(query, at < 0 ? pair : pair.slice(0, at), at < 0 ? "" : pair.slice(at + 1));
  }
  return query;
}

/** Path segments that may precede an endpoint and carry no meaning. */
const PREFIX =
  /^\/(?:v1|v1beta|v1beta1|v1alpha|api|openai|anthropic|gemini|ollama|codex|backend-api|upload|deployments\/[^/]+|(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google)(?=\/)/;
/** Vertex clients write any model name with a slash, such as `meta/llama`, in this form. */
const PUBLISHER = /\/publishers\/(?!google\/)([^/]+)\/models\//;
/** Azure clients name the model in the path: `/openai/deployments/gpt-4o/chat/completions`. */
const DEPLOYMENT = /^\/deployments\/(.+)$/;

interface Endpoint {
  readonly method: "GET" | "POST";
  readonly route: Route;
}

const post = (route: Route): Endpoint => ({ method: "POST", route });
const get = (route: Route): Endpoint => ({ method: "GET", route });

/** Keyed by the path without its prefixes. */
const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  "/chat/completions": post({ kind: "generate", wire: "openai-chat", path: "/v1/chat/completions" }),
  "/completions": post({ kind: "pass", wire: "openai-chat", path: "/v1/completions" }),
  "/embeddings": post({ kind: "pass", wire: "openai-chat", path: "/v1/embeddings" }),
  "/responses": post({ kind: "generate", wire: "openai-responses", path: "/v1/responses" }),
  "/responses/compact": post({ kind: "generate", wire: "openai-responses", path: "/v1/responses/compact" }),
  "/responses/input_tokens": post({ kind: "count", wire: "openai-responses", path: "/v1/responses/input_tokens" }),
  "/messages": post({ kind: "generate", wire: "anthropic", path: "/v1/messages" }),
  "/messages/count_tokens": post({ kind: "count", wire: "anthropic", path: "/v1/messages/count_tokens" }),
};

/** Keyed by the path after `/api`. */
const OLLAMA: Readonly<Record<string, Endpoint>> = {
  "/chat": post({ kind: "generate", wire: "ollama", path: "/api/chat" }),
  "/generate": post({ kind: "generate", wire: "ollama", path: "/api/generate" }),
  "/embed": post({ kind: "pass", wire: "ollama", path: "/api/embed" }),
  "/embeddings": post({ kind: "pass", wire: "ollama", path: "/api/embeddings" }),
  "/tags": get({ kind: "models", wire: "ollama" }),
  "/show": post({ kind: "show", wire: "ollama" }),
  "/ps": get({ kind: "running", wire: "ollama" }),
  "/version": get({ kind: "version", wire: "ollama" }),
};

const OWN: Readonly<Record<string, Endpoint>> = {
  "/": get({ kind: "root", wire: "openai-chat" }),
  "/api/hello": get({ kind: "root", wire: "anthropic" }), // what Claude Code tries first
  "/healthz": get({ kind: "health", wire: "openai-chat" }),
  "/health": get({ kind: "health", wire: "openai-chat" }), // where clients of llama-server, vLLM and LiteLLM look
  "/readyz": get({ kind: "ready", wire: "openai-chat" }),
  "/metrics": get({ kind: "metrics", wire: "openai-chat" }),
  "/web/main.js": get({ kind: "page", wire: "openai-chat", file: "main.js" }),
  "/web/style.css": get({ kind: "page", wire: "openai-chat", file: "style.css" }),
};

const PAGE = get({ kind: "page", wire: "openai-chat", file: "index.html" });
/** Requested by the web page. */
const EXCHANGES = /^\/web\/exchanges(?:\/([^/]+))?$/;

export const routeOf = (visit: Visit): Route => (visit.method === "POST" && generated(visit.path)) || readRoute(visit);

/** Whether a POST generates depends on the path alone, so the result is remembered by path. */
const generated = remembering((path): Route | undefined => {
  const route = readRoute({ method: "POST", path, query: NO_QUERY, headers: {} });
  return route.kind === "generate" ? route : undefined;
});

function readRoute(visit: Visit): Route {
  const { method, path } = visit;
  const own = path === "/" && visit.headers.accept?.includes("text/html") ? PAGE : OWN[path];
  if (own) return allowed(own, method);
  const exchanges = EXCHANGES.exec(path);
  if (exchanges) return allowed(get({ kind: "exchanges", wire: "openai-chat", name: exchanges[1] }), method);
  let rest = path.replace(PUBLISHER, "/publishers/google/models/$1/");
  let last = "";
  for (let match = PREFIX.exec(rest); match; match = PREFIX.exec(rest)) {
    [last] = match;
    rest = rest.slice(last.length);
  }
  const endpoint = (last === "/api" && Object.hasOwn(OLLAMA, rest) && OLLAMA[rest]) || (Object.hasOwn(ENDPOINTS, rest) && ENDPOINTS[rest]);
  if (endpoint && isUpgrade(visit, rest)) return { kind: "upgrade", wire: "openai-responses" };
  if (endpoint) return deployed(allowed(endpoint, method), DEPLOYMENT.exec(last)?.[1]);
  return modelRoute(visit, last, rest) ?? { kind: "unknown", wire: callerOf(visit), hint: hintFor(last, rest) };
}

const deployed = (route: Route, model: string | undefined): Route =>
  (route.kind === "generate" || route.kind === "pass") && model !== undefined ? { ...route, model: decoded(model) } : route;

/** `HEAD` is allowed everywhere: clients also probe POST endpoints with it. */
const allowed = ({ method, route }: Endpoint, given: string): Route =>
  given === method || given === "HEAD" ? route : { kind: "wrong-method", wire: route.wire, allow: method };

const isUpgrade = ({ method, headers }: Visit, rest: string): boolean =>
  method === "GET" && rest === "/responses" && /\bwebsocket\b/i.test(headers.upgrade ?? "");

/** `/models`, `/models/{name}`, `/models/{name}:{method}`: the method follows the last colon. */
function modelRoute(visit: Visit, prefix: string, rest: string): Route | undefined {
  const { method } = visit;
  const isTheirs = /^\/v1(beta|alpha)|\/publishers\/google$/.test(prefix) || rest.startsWith("/tunedModels/");
  const wire = isTheirs ? "gemini" : callerOf(visit); // Google's SDKs use `/v1`, too
  const isGemini = wire === "gemini";
  const isOfKey = rest === "/models/user" && visit.path.includes("/api/v1/"); // where OpenRouter lists a key's models, and where Zed looks
  const kind = visit.query.client_version === undefined ? "models" : "catalogue"; // sent by Codex
  if (rest === "/models" || isOfKey) return allowed(get({ kind, wire }), method);
  const [, collection = "", given = ""] = /^\/(models|tunedModels)\/(.+)$/.exec(rest) ?? [];
  const name = given.replace(/%3A(?=\w+$)/i, ":"); // some clients escape the colon, too
  if (name === "") return undefined;
  const [, model, action] = /^(.+):(\w+)$/.exec(name) ?? [];
  if (model !== undefined && (method === "POST" || isGemini)) {
    const path = `/v1beta/${collection}/${name}`;
    if (action === "generateContent" || action === "streamGenerateContent")
      return allowed(post({ kind: "generate", wire: "gemini", path }), method);
    if (action === "countTokens") return allowed(post({ kind: "count", wire: "gemini", path }), method);
    if (action === "embedContent" || action === "batchEmbedContents") {
      return allowed(post({ kind: "pass", wire: "gemini", path: "/v1beta/models/", model: decoded(model), behind: `:${action}` }), method);
    }
    if (isGemini && method === "POST") return undefined;
  }
  return allowed(get({ kind: "model", wire, id: decoded(name) }), method);
}

/** A name with a stray `%` is taken literally. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The client's wire where the path does not tell: SDKs are recognized by their headers. */
function callerOf({ path, query, headers }: Omit<Visit, "method">): WireId {
  if (headers["x-goog-api-key"] !== undefined || headers["x-goog-api-client"] !== undefined || query.key !== undefined) return "gemini";
  if (/^\/v1beta(?!.*\/openai\/)|\/publishers\/google\//.test(path)) return "gemini"; // also Vertex, but not Google's OpenAI endpoint
  if (headers["anthropic-version"] !== undefined || headers["x-api-key"] !== undefined || /\/messages\b/.test(path)) return "anthropic";
  return /^\/api\/(?!v1\/)/.test(path) ? "ollama" : "openai-chat"; // OpenRouter's clients use /api/v1
}

const WRONG_BASE =
  "set the client's base URL to this server's address for Gemini, Anthropic and Ollama clients, and to the address with /v1 added for OpenAI clients";
const NOT_HERE = `chats, token counts, models and embeddings are here, and no files, batches or what else an API has; if a chat was meant, ${WRONG_BASE}`;

/** After a known prefix, an unknown rest means a missing feature, unless it ends in an endpoint that exists: then the base URL is wrong. */
function hintFor(prefix: string, rest: string): string {
  const isHere = [ENDPOINTS, OLLAMA].some((table) => Object.keys(table).some((path) => rest.endsWith(path)));
  return prefix === "" || isHere ? WRONG_BASE : NOT_HERE;
}
