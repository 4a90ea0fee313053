import type { ErrorCode, ErrorInfo } from "../core/nouns.ts";

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "auth",
  403: "permission",
  404: "not-found",
  413: "too-large",
  500: "internal",
  503: "overloaded",
};

/** A request that the gateway itself turns away; its status may be one that no wire has a word for. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly info: ErrorInfo;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {}) {
    super(message, options);
    this.status = status;
    this.headers = headers;
    this.info = { code: CODES[status] ?? "bad-request", message };
  }
}
