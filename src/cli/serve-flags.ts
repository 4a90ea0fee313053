/** What can be said to `dragoman serve`. */
import type { WireId } from "../core/nouns.ts";

export interface ServeFlags {
  upstream?: string;
  upstreamWire?: WireId;
  upstreamKey?: string;
  model?: string;
  host?: string;
  port?: number;
  key?: string[];
  insecure?: boolean;
  config?: string;
  check?: boolean;
}

export const CONFIG = "dragoman.toml";
export const PORT = 8080;
