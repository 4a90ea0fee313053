// Loaded into each measured server (`--import`): tells whoever started it what it has used so far.
import process from "node:process";

process.on("message", (asked) => {
  if (asked !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send({ user, system, cpu: user + system, rss: process.memoryUsage.rss() });
});
process.channel?.unref();
