// `node --import` of this: node-llama-cpp is not there.
import { register } from "node:module";

const hooks = `export const resolve = (specifier, context, next) => {
  if (specifier !== "node-llama-cpp") return next(specifier, context);
  throw Object.assign(new Error("Cannot find package 'node-llama-cpp'"), { code: "ERR_MODULE_NOT_FOUND" });
};`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
