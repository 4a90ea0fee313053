/** `dragoman/gateway`: the HTTP server, for programs that want one of their own. */
export { ConfigError, readConfig, type Settings } from "./config.ts";
export type { Exchange } from "./exchange.ts";
export { type Changes, createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export type { ModelRule } from "./models.ts";
export { createUpstream, discover, probeWire, type UpstreamSettings } from "./upstreams.ts";
