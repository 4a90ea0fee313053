/** Errors of the gateway itself, before any upstream is asked: `new Refusal(404, 'there is no model "x"')`, sent in the client's wire. */
import type { ErrorCode, ErrorInfo } from "../core/nouns.ts";

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "auth",
  403: "permission",
  404: "not-found",
  413: "too-large",
  500: "internal",
  503: "overloaded",
};

export interface RefusalOptions extends ErrorOptions {
  headers?: Record<string, string>;
  /** OpenAI's error code, where the status alone would give another one. */
  native?: string;
}

/** Thrown to refuse a request. Its status may be one that no wire has an error code for. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly info: ErrorInfo;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { headers = {}, native, ...options }: RefusalOptions = {}) {
    super(message, options);
    this.status = status;
    this.headers = headers;
    this.info = { code: CODES[status] ?? "bad-request", message, ...(native !== undefined && { native }) };
  }
}
