// The agents as `docs/clients` tells users to run them: the first `bash` block of each page, in a shell.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AGENTS } from "./agents.mjs";
import { endedWell, filesAreThere, gatewayIsWell } from "./checks.mjs";
import { createHome, runChild, startGateway } from "./processes.mjs";
import { startUpstream } from "./upstream/server.mjs";

const END = "It is written.";

/** By page: the agent, and its command. */
const PAGES = {
  "gemini-cli": ["gemini-cli", "gemini"],
  "claude-code": ["claude-code", "claude"],
  codex: ["codex", "codex"],
  opencode: ["opencode chat", "opencode"],
};

function blockOf(page) {
  const text = readFileSync(new URL(`../../docs/clients/${page}.md`, import.meta.url), "utf8");
  return /^```bash\n(.*?)^```$/ms.exec(text)[1];
}

async function asItsPageSays(page) {
  const [name, command] = PAGES[page];
  const agent = AGENTS[name];
  const place = createHome();
  const file = join(place.cwd, "hello.txt");
  const content = "Hello World\n";
  const upstream = await startUpstream("openai-chat", ({ tools, text }) => {
    if (tools.length === 0)
      return { text: text.includes("complexity_score") ? '{"complexity_reasoning":"-","complexity_score":1}' : "A title" };
    return /"role":"tool"/.test(text) ? { text: END } : { thinking: "Easy.", calls: [agent.write({ file, content })] };
  });
  let gateway;
  try {
    gateway = await startGateway({ home: place.home, args: ["--upstream", upstream.url] });
    const start = [agent.binary, ...(agent.program ?? [])].map((part) => `'${part}'`).join(" ");
    place.put(`bin/${command}`, `#!/bin/sh\nexec ${start} "$@"\n`);
    const path = `${join(place.home, "bin")}:${process.env.PATH}`;
    const script = join(place.home, "page.sh");
    writeFileSync(script, `chmod +x ~/bin/*\n${blockOf(page).replaceAll("http://127.0.0.1:8080", gateway.url)}`);
    const run = await runChild("bash", ["-eu", script], { ...place, env: { PATH: path } });
    return endedWell(run, END) ?? filesAreThere([{ file, content }]) ?? gatewayIsWell(gateway.log) ?? (await gateway.recordings());
  } finally {
    await gateway?.close();
    upstream.close();
    place.drop();
  }
}

export const pageRuns = () =>
  Object.entries(PAGES).map(([page, [client]]) => ({
    client,
    title: "as its page says",
    wire: "openai-chat",
    run: () => asItsPageSays(page),
  }));
