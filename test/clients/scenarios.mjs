// What the agents are put through. A scenario is one run of one agent: a script for the upstream, and what must be true at its end.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AGENTS } from "./agents.mjs";
import { endedWell, filesAreThere, gatewayIsWell, keyStays, prefixesAreStable, thoughtsComeBack } from "./checks.mjs";
import { contentOf, LARGE } from "./contents.mjs";
import { createHome, runChild, startGateway } from "./processes.mjs";
import { SIGNATURE } from "./upstream/framing.mjs";
import { configOf, startUpstream, WIRES } from "./upstream/server.mjs";
import { TEXTS } from "./upstream/text.mjs";

const KEY = "sk-clients-canary";
const PROMPT = "Write the files, please.";
const END = "All files are written.";

/** Requests beside the conversation: titles, and gemini-cli's question which model should answer. */
const aside = ({ text }) => ({
  text: text.includes("complexity_score") ? '{"complexity_reasoning":"short","complexity_score":10}' : "A title",
});

/** How many rounds the conversation in a request already has: the files of each carry its number. */
const roundOf = ({ text }) => Math.max(0, ...[...text.matchAll(/round-(\d+)-/g)].map(([, n]) => Number(n)));

/** Starts upstream and gateway, runs the agent, and checks the result. */
async function runAgent(name, wire, { script, config = "", env: more, errors, codes, mayGiveUp, check, timeoutMs = 180_000 }) {
  const agent = AGENTS[name];
  const place = createHome();
  const fileOf = (round, i, hard = contentOf(2 * (round - 1) + i)) => {
    const content = agent.lines ? `${hard.replaceAll(/[\r\v\f]/g, "").trimEnd()}\n` : hard;
    return { file: join(place.cwd, `round-${round}-${i}.md`), content }; // .md: in other files Claude Code removes blanks at line ends
  };
  const files = [];
  /** An answer that thinks, talks and writes two files. */
  const writing = (round, [manner, how] = [undefined, {}], last = false) => {
    const both = [fileOf(round, 0), fileOf(round, 1, last ? LARGE : undefined)].map((file) => ({ ...file, manner }));
    if (!files.some(({ file }) => file === both[0].file)) files.push(...both);
    return { thinking: `Thought of round ${round}: “où?”`, text: `Round ${round}.`, calls: both.map(agent.write), manner: how };
  };
  const ending = { thinking: "It is done.", text: END };
  const tell = script({ agent, writing, ending, fileOf });
  const upstream = await startUpstream(wire, (ask) => (ask.tools.length === 0 && !tell.all ? aside(ask) : tell(ask)));
  let gateway;
  try {
    const { speaks, rule } = configOf(wire);
    const models = rule ? `[models."*"]\nupstream = "up"\n${rule}\n` : "";
    const toml = `[server]\nkeys = ["env:GATE"]\n${config}\n[upstreams.up]\nurl = "${upstream.url}"\nwire = "${speaks}"\n${models}`;
    gateway = await startGateway({ home: place.home, config: toml, env: { GATE: KEY } });
    agent.prepare?.(place, gateway.url, KEY);
    const { args, env } = agent.command({ url: gateway.url, key: KEY, prompt: PROMPT });
    const run = await runChild(agent.binary, [...(agent.program ?? []), ...args], { ...place, env: { ...env, ...more }, timeoutMs });
    const asked = upstream.asked.filter(({ tools }) => tools.length > 0);
    return (
      filesAreThere(files) ??
      check?.({ asked, agent, wire, place }) ??
      (mayGiveUp ? undefined : endedWell(run, END, codes)) ??
      gatewayIsWell(gateway.log, errors) ??
      keyStays(upstream.asked, KEY) ??
      (await gateway.recordings())
    );
  } finally {
    await gateway?.close();
    upstream.close();
    place.drop();
  }
}

// ---- The scenarios

/** With more rounds than these, gemini-cli asks its model whether it is in a loop. */
const MOST_ROUNDS = 13;

/** A round for each manner of the upstream; the thinking comes back, and the requests share their prefixes. */
const everyManner = (manners) => ({
  script:
    ({ writing, ending }) =>
    (ask) => {
      const round = roundOf(ask) + 1;
      return round > manners.length ? ending : writing(round, manners[round - 1], round === manners.length);
    },
  check: ({ asked, agent, wire }) =>
    thoughtsComeBack(asked, agent.forgetsThoughts && wire === "gemini" ? SIGNATURE : undefined) ?? prefixesAreStable(asked),
});

function everyMannerOf(wire) {
  const manners = Object.entries(WIRES[wire].manners);
  const count = Math.ceil(manners.length / MOST_ROUNDS);
  const size = Math.ceil(manners.length / count);
  return Array.from({ length: count }, (_, i) => [
    count === 1 ? "every manner" : `every manner, ${i + 1} of ${count}`,
    everyManner(manners.slice(i * size, (i + 1) * size)),
  ]);
}

/** Silent for longer than the gateway waits with its headers, and silent again after the first piece. */
const slow = {
  config: "heartbeat = 0.3",
  timeoutMs: 90_000,
  script:
    ({ writing, ending }) =>
    (ask) =>
      roundOf(ask) > 0 ? ending : { ...writing(1), delayMs: 11_000, pauseMs: 1500 },
};

/**
 * A call that takes longer than gemini-cli waits, for headers and then between two pieces. Its clock is fast: 60 s become 12 s, and 300 s
 * become 3 s; without signs of life from the gateway it gives up and asks again.
 */
const longerThanItsTimeouts = {
  config: "heartbeat = 0.6",
  env: { NODE_OPTIONS: `--import=${new URL("./short-clock.mjs", import.meta.url)}`, CLIENT_PATIENCE_MS: "12000,3000" },
  timeoutMs: 120_000,
  script:
    ({ writing, ending }) =>
    (ask) =>
      roundOf(ask) > 0 ? ending : { ...writing(1), delayMs: 14_000, pauseMs: 8000, pauseInside: true },
  check: ({ asked }) => (asked.length === 2 ? undefined : `it asked ${asked.length} times instead of 2: it did not wait for the call`),
};

/** An answer that breaks off in the middle of a call, which must never be run. If the client asks again, all goes well. */
const cutOff = (cut, more) => ({
  ...more,
  timeoutMs: 90_000,
  script: ({ agent, writing, ending, fileOf }) => {
    let broken = false;
    return (ask) => {
      if (roundOf(ask) > 0) return ending;
      if (broken) return writing(1);
      broken = true;
      const { file } = fileOf(2, 0);
      const { name, args } = agent.write({ file: file.replace("round-2", "half"), content: "half of what ".repeat(20) });
      return { text: "Let me write.", calls: [{ name, args }], cut };
    };
  },
  check: ({ place }) => (existsSync(join(place.cwd, "half-0.md")) ? "a call that was cut off was run" : undefined),
});

/** Fails at first, then works. */
const refusedOnce = (status, error, code) => ({
  errors: [error],
  timeoutMs: 90_000,
  script:
    ({ writing, ending }) =>
    (ask) => {
      if (ask.n === 0) return { status, error: "not now", code };
      return roundOf(ask) > 0 ? ending : writing(1);
    },
});

/** How servers report a prompt that is too long. */
const OVERFLOWS = {
  vLLM: {
    error:
      "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens (39000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
  },
  "llama-server": {
    error: "request (40000 tokens) exceeds the available context size (32768 tokens), try increasing it",
    type: "exceed_context_size_error",
  },
  SGLang: { error: "The input (40000 tokens) is longer than the model's context length (32768 tokens)." },
  OpenAI: {
    error:
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
    code: "context_length_exceeded",
  },
};

const SUMMARY = /TEXT ONLY|conversation so far/;

/** Two rounds, then the prompt is too long: the client makes a summary, and continues with it. */
const overflow = (spelling) => {
  let summaries = 0;
  return {
    errors: ["context-length"],
    codes: [0, 1], // opencode continues, and still counts the error
    timeoutMs: 120_000,
    script: ({ writing, ending }) => {
      let step = "before";
      const tell = (ask) => {
        const round = roundOf(ask);
        if (step === "before" && round >= 2) {
          step = "after";
          return { status: 400, ...OVERFLOWS[spelling] };
        }
        if (step === "before") return ask.tools.length === 0 ? aside(ask) : writing(round + 1);
        if (SUMMARY.test(JSON.stringify(ask.body.messages.at(-1)))) {
          summaries++;
          return { text: "<analysis>Short.</analysis>\n<summary>Two rounds are done.</summary>" };
        }
        if (ask.tools.length === 0) return aside(ask);
        if (step === "last") return ending;
        step = "last";
        return writing(9);
      };
      return Object.assign(tell, { all: true });
    },
    check: () => (summaries === 0 ? "it made no summary of the conversation" : undefined),
  };
};

const SHORT = "One round is done, another is to come.";

/** The conversation outgrows the client's own limit: the client replaces it by a summary, and continues. */
const outgrown = {
  script: ({ writing, ending }) => {
    let step = "before";
    const tell = ({ body, tools }) => {
      if (step === "before") {
        step = "summary";
        return { ...writing(1), inputTokens: 900_000 };
      }
      if (step === "summary" && /summar/i.test(JSON.stringify(body.messages.at(-1)))) {
        step = tools.length === 0 ? "after" : "tempted";
        return { text: SHORT };
      }
      if (step !== "after") return { text: `It went on without a summary: ${step}.` };
      step = "after";
      return JSON.stringify(body.messages).includes("round-2-") ? ending : writing(2);
    };
    return Object.assign(tell, { all: true });
  },
  check: ({ asked }) =>
    JSON.stringify(asked.at(-1)?.body.messages).includes(SHORT) ? undefined : "the model has no summary of what was said",
};
const OUTGROWN = { title: "outgrown", scenario: outgrown };

// ---- Which agent runs which scenario

const MANNERS = Object.keys(WIRES).flatMap((wire) => everyMannerOf(wire).map(([title, scenario]) => ({ title, wire, scenario })));
const [FIRST] = MANNERS;
const TROUBLE = [
  { title: "slow to start", scenario: slow },
  { title: "cut off in a call", scenario: cutOff("gone", { errors: ["upstream"] }) },
  { title: "cut off by the limit", scenario: cutOff("length", { mayGiveUp: true }) },
  { title: "503, then well", scenario: refusedOnce(503, "overloaded") },
];
const overflows = (...spellings) => spellings.map((spelling) => ({ title: `too long, says ${spelling}`, scenario: overflow(spelling) }));
const mannersOf = (wire) => MANNERS.filter((run) => run.wire === wire);

/** Two rounds, the second with a large file, at an upstream without tools. */
const inText = {
  script:
    ({ writing, ending }) =>
    (ask) => {
      const round = roundOf(ask) + 1;
      return round > 2 ? ending : writing(round, undefined, round === 2);
    },
};
const TEXT = Object.keys(TEXTS).map((wire) => ({ title: "calls as text", wire, scenario: inText }));

const RUNS = {
  "gemini-cli": [...MANNERS, ...TROUBLE, { title: "longer than its timeouts", scenario: longerThanItsTimeouts }, ...TEXT],
  "gemini-cli without -m": [FIRST],
  "claude-code": [...MANNERS, ...TROUBLE, ...TEXT, ...overflows("vLLM", "llama-server", "SGLang", "OpenAI")],
  "claude-code 2.1.197": [FIRST, ...mannersOf("anthropic"), ...overflows("vLLM")],
  codex: [...MANNERS, ...TROUBLE, ...TEXT, OUTGROWN],
  "codex apply_patch": [FIRST, ...mannersOf("openai-responses"), ...TEXT, OUTGROWN],
  "codex gpt-6": [FIRST, ...mannersOf("anthropic"), ...TEXT],
  "opencode chat": [...mannersOf("openai-chat"), ...TEXT, ...overflows("llama-server")],
  "opencode responses": [FIRST, ...mannersOf("openai-responses"), ...overflows("vLLM")],
  "opencode anthropic": [FIRST, ...mannersOf("anthropic"), ...overflows("SGLang")],
  "opencode google": [FIRST, ...mannersOf("gemini"), ...overflows("OpenAI")],
};

/** npm has no build of them for this machine. */
export const missingAgents = () => Object.keys(RUNS).filter((client) => !existsSync(AGENTS[client].binary));

export const agentRuns = () =>
  Object.entries(RUNS).flatMap(([client, runs]) =>
    runs.map(({ title, wire = "openai-chat", scenario }) => ({ client, title, wire, run: () => runAgent(client, wire, scenario) })),
  );
