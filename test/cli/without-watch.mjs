// For `node --import`: the system cannot watch any more files.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

fs.watch = () => {
  throw Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), { code: "ENOSPC" });
};
syncBuiltinESMExports();
