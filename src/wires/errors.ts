/** Errors: the name of each code on each wire, and the meaning of a server's error. One table, read in both directions. */
import { isObject } from "../core/json.ts";
import type { ErrorCode, ErrorInfo, JsonObject, WireId } from "../core/nouns.ts";
import { defined, isList, isText, listOf, type Meanings, meaningIn, objectOf, parsed, textOf } from "./read.ts";
import type { Headers, Wire } from "./wire.ts";

/** The status; OpenAI's `error.code`, chat and Responses; Anthropic's `error.type`; Gemini's `error.status`. */
type Spelling = readonly [status: number, openai: string | null, anthropic: string, gemini: string];

export const ERRORS: Readonly<Record<ErrorCode, Spelling>> = {
  "bad-request": [400, null, "invalid_request_error", "INVALID_ARGUMENT"],
  auth: [401, "invalid_api_key", "authentication_error", "UNAUTHENTICATED"],
  permission: [403, "permission_denied", "permission_error", "PERMISSION_DENIED"],
  "not-found": [404, "model_not_found", "not_found_error", "NOT_FOUND"],
  "too-large": [413, "request_too_large", "request_too_large", "INVALID_ARGUMENT"],
  "context-length": [400, "context_length_exceeded", "invalid_request_error", "INVALID_ARGUMENT"],
  "rate-limit": [429, "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"],
  overloaded: [503, "overloaded", "overloaded_error", "UNAVAILABLE"],
  timeout: [504, "timeout", "timeout_error", "DEADLINE_EXCEEDED"],
  aborted: [499, "aborted", "api_error", "CANCELLED"],
  upstream: [502, "upstream_error", "api_error", "UNAVAILABLE"],
  "malformed-call": [502, "malformed_call", "api_error", "INTERNAL"],
  internal: [500, "internal_error", "api_error", "INTERNAL"],
};

/**
 * Clients recognise by the wording that the prompt is too long, and shorten it. Copilot looks for the words of Responses, whichever of OpenAI's
 * APIs it speaks.
 */
const TOO_LONG = {
  openai: {
    words: "Your input exceeds the context window of this model",
    counted: (used: number, limit: number) =>
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${used} tokens. Please reduce the length of the messages. Your input exceeds the context window of this model.`,
  },
  anthropic: {
    words: "prompt is too long",
    counted: (used: number, limit: number) => `prompt is too long: ${used} tokens > ${limit} maximum`,
  },
  gemini: {
    words: "The input token count exceeds the maximum number of tokens allowed",
    counted: (used: number, limit: number) => `The input token count (${used}) exceeds the maximum number of tokens allowed (${limit}).`,
  },
} as const;

/** The message in the wording that clients of that family of wires recognise. */
export function errorMessage({ code, message, tokens }: ErrorInfo, family: keyof typeof TOO_LONG): string {
  if (code !== "context-length") return message;
  const { words, counted } = TOO_LONG[family];
  if (tokens) return counted(tokens.used, tokens.limit);
  return message.toLowerCase().includes(words.toLowerCase()) ? message : `${words}: ${message}`;
}

/** Only Anthropic has its own status for an overloaded server. */
export function errorStatus({ code, status }: ErrorInfo, wire?: WireId): number {
  if (code === "bad-request" && (status === 409 || status === 422)) return status; // SDKs have a class for each, and retry after 409
  return wire === "anthropic" && code === "overloaded" ? 529 : ERRORS[code][0];
}

export const retryHeaders = ({ retryAfterMs }: ErrorInfo): Record<string, string> =>
  retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };

/** An error as a whole HTTP response, not inside a stream. */
export const errorOutput = (error: ErrorInfo, body: unknown, wire?: WireId): ReturnType<Wire["encodeError"]> => ({
  status: errorStatus(error, wire),
  headers: { "content-type": "application/json", ...retryHeaders(error) },
  body,
});

/** The body of an OpenAI error; also the `data:` of a chat stream that breaks off. */
export function openaiError(error: ErrorInfo): JsonObject {
  const [status, code] = ERRORS[error.code];
  const type = status === 429 ? "rate_limit_error" : status < 499 ? "invalid_request_error" : "server_error";
  return { error: { message: errorMessage(error, "openai"), type, param: error.param ?? null, code: error.native ?? code } };
}

// ---- What a server says

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** Words in an error that say more than its status, the most telling first. */
const WORDS: Meanings<ErrorCode> = [
  [/`max_tokens` must be|fewer output tokens/, "bad-request"], // Groq's and vLLM's messages, which go on to mention the context
  [/tokens per (minute|day)/i, "rate-limit"], // a rate limit, not too many tokens in one prompt
  [
    /context.?(length|window|size|limit)|(prompt|input) (is )?too long|(input|prompt) token count|maximum (context|prompt length|model length)|input length|too many tokens|model token limit|token limit exceeded|prompt exceeds|`inputs` (tokens|must)|tokens_limit_reached|too_many_prompt_tokens|max_(model|seq)_len|max message tokens|more than max tokens/i,
    "context-length",
  ],
  [/request_too_large|payload too large|request body is too large/i, "too-large"],
  [/overloaded/i, "overloaded"],
  [/insufficient balance/i, "permission"],
  [/rate.?limit|too_many_(requests|tokens)|RESOURCE_EXHAUSTED|insufficient_quota/i, "rate-limit"],
  [/API_KEY_INVALID|(invalid|incorrect).api.key|login fail|authentication_error|UNAUTHENTICATED/i, "auth"],
  [/permission_error|permission_denied/i, "permission"],
  [/not_found|model ('[^']*' )?not found|invalid_model|decommissioned|not a valid model|API model names/i, "not-found"], // some servers send 400
  [/invalid_request_error|INVALID_ARGUMENT|FAILED_PRECONDITION/, "bad-request"],
  [/UNAVAILABLE/, "overloaded"],
  [/timeout|DEADLINE_EXCEEDED/i, "timeout"],
];

/** The code that a status means: the first, where several codes share a status. 500 says nothing. */
const STATUSES: Readonly<Record<number, ErrorCode | undefined>> = {
  ...Object.fromEntries(CODES.toReversed().map((code) => [ERRORS[code][0], code])),
  402: "permission", // retrying is useless
  408: "timeout",
  422: "bad-request",
  500: undefined,
  529: "overloaded",
};

/** Reads any wire's error. Status 0: the error came in a stream. */
export function readError(status: number, headers: Headers, body: unknown): ErrorInfo {
  const value = isText(body) ? (parsed(body) ?? body) : body;
  const root: unknown = isList(value) ? value[0] : value; // Gemini wraps errors in a list if it streams a list
  const { status_code, status_msg } = objectOf(objectOf(root).base_resp); // MiniMax
  const own = status_msg ? { message: status_msg, code: String(status_code) } : root;
  const error = isObject(root) ? (root.error ?? listOf(root.errors)[0] ?? root.detail ?? own) : root; // Cloudflare sends a list
  const inner = isText(error) ? parsed(error) : undefined;
  if (isObject(inner)) return readError(status, headers, inner); // Ollama quotes the server that runs inside it
  const { message: told, detail, code: native, type, status: word, param, details, metadata, n_prompt_tokens, n_ctx } = objectOf(error);
  const raw = textOf(objectOf(metadata).raw); // OpenRouter: the error of its own upstream
  const faults = [error, detail, objectOf(told).detail].map(faultsIn); // Mistral's message is an object with such a list
  const text = [error, told, detail, ...faults].find((text) => isText(text))?.trim();
  const plain = titleOf(text) || text || `the server answered with status ${status}`;
  const message = raw ? `${plain}: ${readError(status, {}, raw).message}` : plain;
  const notes = listOf(details).map(objectOf);
  const coded = CODES.find((code) => ERRORS[code][1] === native && native !== null);
  const code = coded ?? codeOf([native, type, word, message, raw, ...notes.map(({ reason }) => reason)], status || Number(native));
  const delay = notes.map(({ retryDelay }) => textOf(retryDelay)).find(Boolean);
  const { "retry-after-ms": ms = "", "retry-after": after = "", date = "" } = headers;
  const waits = [Number.parseFloat(ms), 1000 * Number.parseFloat(delay ?? ""), 1000 * Number.parseFloat(after)];
  const wait = [...waits, Date.parse(after) - Date.parse(date)].find((count) => count >= 0); // a date, by the server's own clock
  return defined<ErrorInfo>({
    code,
    message,
    status: status || undefined,
    native: coded || (!isText(type) && type !== null) ? undefined : textOf(native), // Azure sends codes without a type
    param: param === "None" ? undefined : textOf(param), // Python's `None`, sent by LiteLLM
    retryAfterMs: wait && Math.round(wait),
    tokens: code === "context-length" ? tokensOf([message, n_prompt_tokens, n_ctx].join(" ")) : undefined,
  });
}

/** The title of an HTML page that a proxy sends instead of the server's error: `502 Bad Gateway`. */
const titleOf = (text = ""): string | undefined => (text.startsWith("<") ? /<title>([^<]+)/i.exec(text)?.[1]?.trim() : undefined);

/** FastAPI's list of what is wrong with a request: `[{"loc": ["body", "messages"], "msg": "Field required"}]`. */
const faultsIn = (list: unknown): string | undefined =>
  listOf(list)
    .map(objectOf)
    .flatMap(({ loc, msg }) => (isText(msg) ? [[listOf(loc).join("."), msg].filter(Boolean).join(": ")] : []))
    .join("; ") || undefined;

function codeOf(words: readonly unknown[], status: number): ErrorCode {
  const text = words.filter((word) => isText(word)).join(" ");
  const told = meaningIn(WORDS, text);
  // A precise status decides; 400 and 500 say too little.
  const plain = STATUSES[status];
  const isVague = !plain || plain === "bad-request" || (plain === "too-large" && told === "context-length");
  return (isVague && told) || (plain ?? (status >= 400 && status < 500 ? "bad-request" : "upstream"));
}

/** The prompt is too long only together with the answer's limit: messages of Anthropic, vLLM (several versions), SGLang and OpenRouter. */
const WITH_ANSWER = [
  /(?<prompt>\d+) \+ (?<answer>\d+) > (?<most>\d+)/,
  /\((?<answer>\d+) > (?<most>\d+) - (?<prompt>\d+)\)/,
  /length is (?<most>\d+) tokens.*\((?<prompt>\d+) in the \w+, (?<answer>\d+) in the completion/,
  /length is (?<most>\d+) tokens.*requested (?<answer>\d+) output tokens.*contains (?:at least )?(?<prompt>\d+) input tokens/,
  /passed (?<prompt>\d+) input tokens and requested (?<answer>\d+) output tokens.*length is only (?<most>\d+)/,
  /length of (?<most>\d+) tokens.*: (?<prompt>\d+) tokens from the input messages and (?<answer>\d+) tokens for/,
  /length is (?<most>\d+) tokens.*requested about (?<used>\d+) tokens \(.*\b(?<answer>\d+) in the output/,
];

const UUID = /[\da-f]{8}(-[\da-f]{4}){3}\S*/gi;

/** How many tokens the request has, and how many are allowed; servers name the two numbers in either order. */
function tokensOf(message: string): ErrorInfo["tokens"] {
  for (const pattern of WITH_ANSWER) {
    const { prompt, answer, most, used = Number(prompt) + Number(answer) } = pattern.exec(message)?.groups ?? {};
    if (most !== undefined) return { used: Number(used), limit: Number(most), answer: Number(answer) };
  }
  if (/\d characters/.test(message)) return undefined; // the server counted characters, not tokens
  const counts = (message.replace(UUID, "").match(/\d[\d,]*/g) ?? [])
    .map((digits) => Number(digits.replaceAll(",", "")))
    .filter((count) => count >= 100);
  const [limit, used] = counts.slice(0, 2).sort((a, b) => a - b);
  return limit === undefined || used === undefined ? undefined : { used, limit };
}
