/** `dragoman/gateway`: the HTTP server, for programs that run their own. */
export { type LocalSettings, readConfig, type Settings } from "./config.ts";
export { createUpstream, discover, probeWire, type UpstreamSettings } from "./connect.ts";
export type { Exchange } from "./exchange.ts";
export { createGateway, type Gateway } from "./gateway.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export type { Changes, GatewayOptions, Patience } from "./options.ts";
export { type Comparison, compareRecording, type Heard } from "./recordings/compare.ts";
export { createRecorder, type Recorder, type RecorderOptions } from "./recordings/recorder.ts";
export { type Recording, readRecording } from "./recordings/recording.ts";
export { createReplay, type ReplayOptions } from "./recordings/replay.ts";
export type { ModelRule } from "./rules.ts";
export type { OpenTap, Tap } from "./tap.ts";
export { ConfigError } from "./toml.ts";
