// For `node --import`: node-llama-cpp is not installed.
import module from "node:module";

const resolve = (specifier, context, next) => {
  if (specifier !== "node-llama-cpp") return next(specifier, context);
  throw Object.assign(new Error("Cannot find package 'node-llama-cpp'"), { code: "ERR_MODULE_NOT_FOUND" });
};
// Node 20 knows only the second form, about which Node 26 warns.
if (module.registerHooks) module.registerHooks({ resolve });
else module.register(`data:text/javascript,${encodeURIComponent(`export const resolve = ${resolve}`)}`);
