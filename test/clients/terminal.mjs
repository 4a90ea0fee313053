// Claude Code as people run it: in a terminal, with keys. Its screen is redrawn all the time, so its requests tell where it is.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { AGENTS } from "./agents.mjs";
import { filesAreThere, gatewayIsWell, keyStays } from "./checks.mjs";
import { createHome, environment, startGateway, stop } from "./processes.mjs";
import { startUpstream } from "./upstream/server.mjs";

const KEY = "sk-clients-terminal-canary";
const ESCAPE = "\x1b";
const INTERRUPTED = "Request interrupted by user";

/** No dialogs: it was started before, knows the key, and trusts the folder. */
const settled = (cwd) => ({
  hasCompletedOnboarding: true,
  customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
  projects: { [cwd]: { hasTrustDialogAccepted: true } },
});

/** A program in a terminal of its own, made by `script`. */
function openTerminal(program, args, { home, cwd, env }) {
  const quoted = [program, ...args].map((part) => `'${part}'`).join(" ");
  const line = `stty cols 100 rows 40; exec ${quoted}`;
  const how = process.platform === "linux" ? ["-qfec", line, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", line];
  const child = spawn("script", how, { cwd, env: { ...environment(home), TERM: "xterm-256color", ...env }, detached: true });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    shown += text;
  });
  const gone = new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  return { shown: () => shown, press: (keys) => child.stdin.write(keys), gone, close: () => stop(child) };
}

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The error names what was waited for in vain. */
async function until(what, isSo, ms = 45_000) {
  for (const end = performance.now() + ms; !isSo(); await later(50)) if (performance.now() > end) throw new Error(`in vain: ${what}`);
}

/** A turn that is interrupted, one that writes a file, and the end. */
async function inTerminal() {
  const agent = AGENTS["claude-code"];
  const place = createHome();
  const file = { file: join(place.cwd, "a.md"), content: "written\n" };
  const upstream = await startUpstream("openai-chat", ({ tools, text }) => {
    if (tools.length === 0) return { text: "A title" };
    if (!text.includes("SECOND")) return { text: "One word after the other. ".repeat(50), pauseMs: 20_000, pauseInside: true };
    return text.includes('"role":"tool"') ? { text: "Done." } : { thinking: "Easy.", text: "Now.", calls: [agent.write(file)] };
  });
  const saw = (words) => upstream.asked.some(({ tools, text }) => tools.length > 0 && words.every((word) => text.includes(word)));
  let gateway;
  let terminal;
  try {
    const config = `[server]\nkeys = ["env:GATE"]\n[upstreams.up]\nurl = "${upstream.url}"\nwire = "openai-chat"\n`;
    gateway = await startGateway({ home: place.home, config, env: { GATE: KEY } });
    place.put(".claude.json", settled(place.cwd));
    const { env } = agent.command({ url: gateway.url, key: KEY, prompt: "" });
    terminal = openTerminal(agent.binary, ["--permission-mode", "acceptEdits", "FIRST, please."], { ...place, env });
    await until("the first question", () => saw(["FIRST"]));
    await until("a part of the answer", () => terminal.shown().includes("word"));
    terminal.press(ESCAPE);
    const isAborted = ({ outcome }) => outcome === "aborted";
    await until("the upstream is left when the client is interrupted", () => gateway.log.some(isAborted));
    terminal.press("SECOND, please.");
    await later(500); // pressed together with the text, it would be a line break in it
    terminal.press("\r");
    await until("the question after the interrupted one", () => saw(["FIRST", INTERRUPTED, "SECOND"]));
    await until("the result of the call", () => saw(["SECOND", '"role":"tool"']));
    await until("the last answer", () => gateway.log.filter(({ outcome }) => outcome === "ok").length >= 2);
    terminal.press("\x04"); // nothing is running: twice ends it
    await later(300);
    terminal.press("\x04");
    await Promise.race([terminal.gone, later(5000)]);
    return (
      filesAreThere([file]) ?? gatewayIsWell(gateway.log, ["aborted"]) ?? keyStays(upstream.asked, KEY) ?? (await gateway.recordings())
    );
  } finally {
    terminal?.close();
    await terminal?.gone;
    await gateway?.close();
    upstream.close();
    place.drop();
  }
}

export const terminalRuns = () => [{ client: "claude-code", title: "in a terminal", wire: "openai-chat", run: inTerminal }];
