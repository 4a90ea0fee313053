/** What can be said to `dragoman serve`. */
import type { ModelFlags } from "./local-model.ts";
import type { UpstreamFlags } from "./upstreams.ts";

export interface ServeFlags extends UpstreamFlags, ModelFlags {
  model?: string;
  host?: string;
  port?: number;
  key?: string[];
  insecure?: boolean;
  config?: string;
  record?: string;
  check?: boolean;
  /** An option of every command. */
  verbose?: boolean;
}

export const CONFIG = "dragoman.toml";
export const PORT = 8080;
