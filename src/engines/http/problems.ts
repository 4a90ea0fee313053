/**
 * Errors of the connection to a server, and the messages for them. An error in a stream has no status: clients (pi, oh-my-pi) decide by its
 * words whether to ask again. Those for what may pass have words that they know.
 */
import type { ErrorInfo } from "../../core/nouns.ts";
import { ABORTED } from "../finish.ts";

/** The connection broke. */
export const LOST: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
export const UNREACHED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** The beginning of undici's message if a proxy did not connect. */
const PROXY = "Proxy response";

const gone = { code: "upstream", message: "connection error: the upstream closed the connection" } as const;
const untrusted = {
  code: "upstream",
  message: "the upstream's certificate is not trusted; set NODE_EXTRA_CA_CERTS to a file with the certificate that signed it",
} as const;
export const PROBLEMS: Readonly<Record<string, ErrorInfo>> = {
  ECONNREFUSED: { code: "overloaded", message: "the upstream is not running, or not at this address" },
  ENOTFOUND: { code: "upstream", message: "the upstream's host name does not exist" },
  EAI_AGAIN: { code: "overloaded", message: "the upstream's name cannot be looked up" },
  UND_ERR_CONNECT_TIMEOUT: { code: "timeout", message: "timeout: the upstream cannot be reached" },
  UND_ERR_HEADERS_TIMEOUT: { code: "timeout", message: "timeout: the upstream did not answer in time" },
  UND_ERR_BODY_TIMEOUT: { code: "timeout", message: "timeout: the upstream fell silent" },
  UND_ERR_SOCKET: gone,
  ECONNRESET: gone,
  EPIPE: gone,
  [PROXY]: { code: "upstream", message: "the proxy set in HTTPS_PROXY or HTTP_PROXY did not connect to the upstream" },
  HTTPParserError: { code: "upstream", message: "the server at this address does not speak HTTP" },
  ERR_SSL_WRONG_VERSION_NUMBER: { code: "upstream", message: "the upstream does not speak https: its URL must begin with http://" },
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: { code: "upstream", message: "the upstream's certificate is for another name" },
  UND_ERR_ABORTED: ABORTED,
  ABORT_ERR: ABORTED,
  23: { code: "timeout", message: "timeout: the upstream did not answer in time" }, // what AbortSignal.timeout throws
};

/** The code of an error, or of its cause. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error.message.startsWith(PROXY)) return PROXY; // its code is that of an aborted request
  const { name, code } = error as NodeJS.ErrnoException;
  if (name === "HTTPParserError") return name; // it has the parser's own codes, or none
  if (code) return String(code);
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? "" : codeOf(inner);
}
