/** What breaks between us and a server, and what is said of it. */
import type { ErrorInfo } from "../core/nouns.ts";
import { ABORTED } from "./finish.ts";

/** The connection broke before an answer came. */
export const LOST: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
export const UNREACHED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** How undici says that a proxy did not connect us. */
const PROXY = "Proxy response";

const gone = { code: "upstream", message: "the upstream closed the connection" } as const;
const untrusted = {
  code: "upstream",
  message: "the upstream's certificate is not trusted; NODE_EXTRA_CA_CERTS names a file with the one that signed it",
} as const;
export const PROBLEMS: Readonly<Record<string, ErrorInfo>> = {
  ECONNREFUSED: { code: "overloaded", message: "the upstream is not running, or not at this address" },
  ENOTFOUND: { code: "upstream", message: "there is no upstream of this name" },
  EAI_AGAIN: { code: "overloaded", message: "the upstream's name cannot be looked up" },
  UND_ERR_CONNECT_TIMEOUT: { code: "timeout", message: "the upstream cannot be reached" },
  UND_ERR_HEADERS_TIMEOUT: { code: "timeout", message: "the upstream did not answer in time" },
  UND_ERR_BODY_TIMEOUT: { code: "timeout", message: "the upstream fell silent" },
  UND_ERR_SOCKET: gone,
  ECONNRESET: gone,
  EPIPE: gone,
  [PROXY]: { code: "upstream", message: "the proxy of HTTPS_PROXY or HTTP_PROXY does not lead to the upstream" },
  HTTPParserError: { code: "upstream", message: "what answers at this address speaks no HTTP" },
  ERR_SSL_WRONG_VERSION_NUMBER: { code: "upstream", message: "the upstream does not speak https: its URL begins with http://" },
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: { code: "upstream", message: "the upstream's certificate is for another name" },
  UND_ERR_ABORTED: ABORTED,
  ABORT_ERR: ABORTED,
  23: { code: "timeout", message: "the upstream did not answer in time" }, // what AbortSignal.timeout throws
};

/** The code of an error, or of what caused it. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.message.startsWith(PROXY)) return PROXY; // its code is that of a request that somebody aborted
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "HTTPParserError") return name; // its codes are the parser's own, or none
  if (code) return String(code);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? "" : codeOf(inner);
}
