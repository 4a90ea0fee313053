// Loaded into each measured server (`--import`): reports its CPU time and memory to the parent process on request.
import process from "node:process";

process.on("message", (asked) => {
  if (asked !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send({ user, system, cpu: user + system, rss: process.memoryUsage.rss() });
});
process.channel?.unref();
