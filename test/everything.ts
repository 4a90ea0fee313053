// The MCP server that its makers test clients with.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
