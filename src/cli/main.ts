#!/usr/bin/env node
/** The entry point, in syntax that old versions of Node can parse, so that they report that they are too old. */
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { engines: { node: string } };
const numbers = (version: string): number[] => version.split(".").map((part) => Number(part.replace(/\D/g, "")));
const [major = 0, minor = 0] = numbers(process.versions.node);
const [least = 0, leastMinor = 0] = numbers(engines.node);

if (major > least || (major === least && minor >= leastMinor)) await (await import("./program.ts")).run();
else {
  process.stderr.write(`dragoman: this is Node ${process.versions.node}, but ${engines.node.replace(">=", "")} or newer is needed\n`);
  process.exitCode = 2;
}
