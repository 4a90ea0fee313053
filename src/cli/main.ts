#!/usr/bin/env node
/** The way in, in words that every Node reads: one that is too old is told so, before it meets what it cannot read. */
import { readFileSync } from "node:fs";

const { engines } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { engines: { node: string } };
const numbers = (version: string): number[] => version.split(".").map((part) => Number(part.replace(/\D/g, "")));
const [major = 0, minor = 0] = numbers(process.versions.node);
const [least = 0, leastMinor = 0] = numbers(engines.node);

if (major > least || (major === least && minor >= leastMinor)) await (await import("./program.ts")).run();
else {
  process.stderr.write(`dragoman: this is Node ${process.versions.node}; it must be ${engines.node.replace(">=", "")} or newer\n`);
  process.exitCode = 2;
}
