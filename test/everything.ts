// The MCP project's own server for testing clients.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
