/** What the gateway itself says no to, before any upstream is asked: `new Refusal(404, 'there is no model "x"')`, told in the caller's wire. */
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
  /** What OpenAI calls it, where its status alone would say something else. */
  native?: string;
}

/** A request that the gateway itself turns away; its status may be one that no wire has a word for. */
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
