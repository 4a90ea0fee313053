/** What can be said to `dragoman serve`. */
import type { Speech } from "../gateway/upstreams.ts";

export interface ServeFlags {
  upstream?: string;
  upstreamWire?: Speech;
  upstreamKey?: string;
  model?: string;
  host?: string;
  port?: number;
  key?: string[];
  insecure?: boolean;
  config?: string;
  record?: string;
  check?: boolean;
}

export const CONFIG = "dragoman.toml";
export const PORT = 8080;
