/** `dragoman/gateway`: the HTTP server, for programs that want one of their own. */
export type { Exchange } from "./exchange.ts";
export { createGateway, type Gateway, type GatewayOptions } from "./gateway.ts";
export type { ModelRule } from "./models.ts";
