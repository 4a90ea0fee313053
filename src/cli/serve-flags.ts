/** The options of `dragoman serve`. */
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
  /** A global option. */
  verbose?: boolean;
}

export const CONFIG = "dragoman.toml";
export const PORT = 8080;
