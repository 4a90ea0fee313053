// dragoman.toml: how it is read, and how its mistakes are reported.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { describe, expect, test } from "vitest";
import { secretsOf } from "../../src/cli/serve-record.ts";
import { readConfig } from "../../src/gateway/config.ts";
import { tempFolder } from "../servers.ts";

const environment = { KEY: "sk-canary-1", UP: "sk-canary-2", OPENAI_API_KEY: "sk-canary-3" };
/** The path of a configuration, with an empty file of this name beside it. */
function writtenBeside(name: string): string {
  const folder = tempFolder();
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), "");
  return join(folder, "dragoman.toml");
}

const read = (text: string) => readConfig(text, "dragoman.toml", environment);

test("a host and port alone are a URL, as on the command line", () => {
  expect(read('[upstreams.a]\nurl = ["127.0.0.1:8000", "box:8001/v1"]').upstreams.a?.urls).toEqual([
    "http://127.0.0.1:8000",
    "http://box:8001/v1",
  ]);
});

test("every setting is read", () => {
  const settings = read(`
[server]
host = "0.0.0.0"
port = 9000
names = ["gate.example"]
keys = ["env:KEY"]
body_limit = 1000
heartbeat = 5
headers_after = 2.5

[cors]
origins = ["https://app.example"]

[upstreams.local]
url = ["http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"]
wire = "openai-chat"
key = "env:UP"
headers = { x-title = "me" }
timeouts = { connect = 1, idle = 2.5 }

[upstreams.openai]
[upstreams.ollama]

[models."gemini-*"]
upstream = "local"
model = "qwen3"
temperature = 0.2
thinking = "low"
tools = "inband"
dialect = "gemma4"
rescue = false
max_tokens = 100

[aliases]
"gpt-4o" = "gemini-x"
`);
  expect(settings.server).toMatchObject({
    host: "0.0.0.0",
    port: 9000,
    names: ["gate.example"],
    keys: ["sk-canary-1"],
    bodyLimit: 1000,
    origins: ["https://app.example"],
    patience: { heartbeatMs: 5000, headersMs: 2500 },
  });
  expect(settings.upstreams).toMatchObject({
    local: {
      urls: ["http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"],
      wire: "openai-chat",
      key: "sk-canary-2",
      headers: { "x-title": "me" },
      timeouts: { connect: 1000, idle: 2500 },
    },
    openai: { urls: ["https://api.openai.com/v1"], wire: "openai-chat", key: "sk-canary-3", profile: { official: true } },
    ollama: { wire: "ollama" },
  });
  expect(settings.models).toMatchObject([
    {
      name: "gemini-*",
      upstream: "local",
      model: "qwen3",
      sampling: { temperature: 0.2 },
      thinking: { effort: "low" },
      maxTokens: 100,
      tools: "inband",
      dialect: "gemma4",
      rescue: false,
    },
    { name: "gpt-4o", alias: "gemini-x" },
  ]);
});

const ONE = '[upstreams.a]\nurl = "http://x"\n';

test("seconds become whole milliseconds, since Node refuses others", () => {
  expect(read("[server]\nrequest_timeout = 64.1\nread_timeout = 5\nheartbeat = 0.0001").server.patience).toMatchObject({
    requestMs: 64_100,
    readMs: 5000,
    heartbeatMs: 1,
  });
});

test("a header's value from the environment is a secret, whatever the header's name: no recording has it", () => {
  const text = '[upstreams.a]\nurl = "http://x"\nheaders = { x-title = "mine", x-tenant = "env:TENANT" }';
  expect(secretsOf(readConfig(text, "dragoman.toml", { TENANT: "canary-9" }))).toEqual(["canary-9"]);
});

test("so is a key in an upstream's URL", () => {
  const text = '[upstreams.a]\nurl = ["http://x/v1?api-version=2024-10-21&api-key=canary-1", "http://y?code=c&access_token=canary-2"]';
  expect(secretsOf(readConfig(text, "dragoman.toml", {}))).toEqual(["canary-1", "canary-2"]);
});

test("an upstream may be called __proto__", () => {
  const { upstreams, locals } = read('[upstreams.__proto__]\nurl = "http://x"\n[upstreams.b]\nurl = "http://y"');
  expect([Object.keys(upstreams), Object.keys(locals)]).toEqual([["__proto__", "b"], []]);
});

test.each(["*", "null", "https://app.example", "http://localhost:3000", "http://[::1]:8080", "chrome-extension://abc"])(
  "an origin that browsers send is accepted: %s",
  (origin) => {
    expect(read(`[cors]\norigins = ["${origin}"]`).server.origins).toEqual([origin]);
  },
);

describe("a mistake is reported in one line, with its place", () => {
  test.each([
    ["[server\nport = 1", /^dragoman\.toml:1: /],
    ['[upstreams.a]\nmodel = "C:\\models\\x.gguf"', /^dragoman\.toml:2: .* escape .*a path with \\ in it stands between '…'/],
    ["[upstreams.a]\nurl = []", "dragoman.toml:2: upstreams.a.url must be a list of strings that is not empty"],
    ["[server]\n\nport = 70000", "dragoman.toml:3: server.port must be a port: 0 to 65535"],
    [
      "[server]\nprot = 1",
      "dragoman.toml:2: server.prot is not known; known here: host, port, names, keys, insecure, body_limit, headers_after",
    ],
    ["[upstream.x]", "dragoman.toml:1: upstream is not known; known here: server, cors, upstreams, models, aliases"],
    ['[server]\nkeys = ["env:NOWHERE"]', "dragoman.toml:2: server.keys names the variable NOWHERE, which is not set"],
    [
      '[server]\nkeys = ["sk-canary-9"]',
      'dragoman.toml:2: server.keys must not be the secret itself: put it into a variable and write "env:NAME"',
    ],
    ['# first\n[upstreams.a]\nurl = "http://x/v1"\nkey = "sk-canary-9"', /^dragoman\.toml:4: upstreams\.a\.key must not be the secret/],
    ["[upstreams.a]", /^dragoman\.toml:1: upstreams\.a needs a url/],
    ['[upstreams.a]\nurl = "file:///etc"', "dragoman.toml:2: upstreams.a.url must be an http or https URL"],
    [
      '[upstreams.a]\nurl = "http://me:canary@x/v1"',
      /^dragoman\.toml:2: upstreams\.a\.url must not contain a name and password: pass a key/,
    ],
    [
      '[upstreams.a]\nurl = "http://x"\nheaders = { "x y" = "1" }',
      /^dragoman\.toml:3: upstreams\.a\.headers\."x y" is no name of a header/,
    ],
    ...["authorization", "X-Api-Key", "api-key", "Cookie", "x-auth-token"].map((name): [string, string] => [
      `[upstreams.a]\nurl = "http://x"\nheaders = { ${name} = "Bearer sk-canary-9" }`,
      `dragoman.toml:3: upstreams.a.headers.${name} must not be the secret itself: put it into a variable and write "env:NAME"`,
    ]),
    [
      '[upstreams.a]\nurl = "http://x"\nheaders = { x = "1\\n2" }',
      /^dragoman\.toml:3: upstreams\.a\.headers\.x cannot be sent as a header/,
    ],
    ...["http://gate.example:80/", "gate.example:80", "gate.example/"].map((name): [string, RegExp] => [
      `[server]\nnames = ["fine.example", "::1", "${name}"]`,
      /^dragoman\.toml:2: server\.names must be names, such as "gate.example", without scheme and port/,
    ]),
    ["[models.m]\nseed = 1", "dragoman.toml:1: models.m needs an upstream, and there is none: add one, [upstreams.NAME]"],
    ['upstreams.a.url = "http://x"\nupstreams.a.wire = "open"', /^dragoman\.toml:2: upstreams\.a\.wire must be one of openai-chat/],
    ['[upstreams."a b"]\nurl = [\n  "http://x"\n]\nwire = 1', /^dragoman\.toml:5: upstreams\."a b"\.wire/],
    [
      '[upstreams.a]\nurl = "http://x"\n[models."m.*"]\nupstream = "b"',
      'dragoman.toml:4: models."m.*".upstream is no upstream; there are: a',
    ],
    [
      '[upstreams.a]\nurl = "http://x"\n[models.m]\nthinking = "hard"',
      /^dragoman\.toml:4: models\.m\.thinking must be true, false or one of/,
    ],
    [`${ONE}[models.m]\ntemperature = -3`, "dragoman.toml:4: models.m.temperature must be a number, 0 or more"],
    [`${ONE}[models.m]\ntop_p = 1.5`, "dragoman.toml:4: models.m.top_p must be a number from 0 to 1"],
    [`${ONE}[models.m]\nmin_p = nan`, "dragoman.toml:4: models.m.min_p must be a number from 0 to 1"],
    [`${ONE}[models.m]\nseed = "1"`, "dragoman.toml:4: models.m.seed must be a number"],
    [`${ONE}[models.m]\ntemperature = inf`, "dragoman.toml:4: models.m.temperature must be a number, 0 or more"],
    [`${ONE}[server]\nheartbeat = inf`, "dragoman.toml:4: server.heartbeat must be a number of seconds over 0, at most 2147483"],
    [`[server]\nwhole_after = 3_000_000`, "dragoman.toml:2: server.whole_after must be a number of seconds over 0, at most 2147483"],
    [`${ONE}[aliases]\nx = "y"\ny = "x"`, "dragoman.toml:4: aliases.x leads in a circle: x → y → x"],
    [`${ONE}[aliases]\n"gpt-*" = "gpt-x"`, 'dragoman.toml:4: aliases."gpt-*" leads in a circle'],
    ...["app.example", "https://app.example/", "https://app.example:443", "https://App.example", ""].map((origin): [string, RegExp] => [
      `[cors]\norigins = ["https://fine.example", "${origin}"]`,
      /^dragoman\.toml:2: cors\.origins must be (origins, such as|a string)/,
    ]),
  ])("%j", (text, message) => {
    expect(() => read(text)).toThrow(message);
    try {
      read(text);
    } catch (error) {
      expect(String(error)).not.toContain("canary");
      expect(String(error)).not.toContain("\n");
    }
  });
});

test("an upstream that completes text may have its server and its limits set", () => {
  const { upstreams } = read(`
[upstreams.local]
url = "http://127.0.0.1:8080"
wire = "completions"
server = "llama-server"
concurrent = 4
wait = 2.5
`);
  expect(upstreams.local).toMatchObject({ wire: "completions", server: "llama-server", limits: { concurrent: 4, waitMs: 2500 } });
});

test.each([
  ['server = "tgi"', "upstreams.local.server must be one of llama-server, vllm, sglang, ollama"],
  ["queue = 4", "upstreams.local needs concurrent"],
  ["concurrent = 0", "upstreams.local.concurrent must be a whole number over 0"],
  ["concurrent = 1\nwait = inf", "upstreams.local.wait must be a number of seconds over 0, at most 2147483"],
])("a bad setting of an upstream is refused: %s", (line, complaint) => {
  expect(() => read(`[upstreams.local]\nurl = "http://127.0.0.1:8080"\n${line}\n`)).toThrow(complaint);
});

describe("a model in this process", () => {
  test("is an upstream with a `model` instead of a URL", () => {
    const { upstreams, locals, models } = readConfig(
      `
[upstreams.far]
url = "http://127.0.0.1:8080"

[upstreams.near]
model = "models/a.gguf"
gpu = false
context = 8192
parallel = 4
concurrent = 8

[upstreams.tiny]
model = "embedded"

[models.m]
upstream = "near"
`,
      writtenBeside("models/a.gguf"),
      environment,
    );
    expect(Object.keys(upstreams)).toEqual(["far"]);
    expect(locals).toEqual({
      near: { model: expect.stringMatching(/models.a\.gguf$/), gpu: false, context: 8192, parallel: 4, limits: { concurrent: 8 } },
      tiny: { model: "embedded" },
    });
    expect(isAbsolute(locals.near!.model)).toBe(true);
    expect(models).toMatchObject([{ name: "m", upstream: "near" }]);
  });

  test.each([
    ['model = "a.gguf"', /^dragoman\.toml:2: upstreams\.x\.model names a file that is not there: .*a\.gguf$/],
    ['model = "qwen3:8b"', 'dragoman.toml:2: upstreams.x.model must be a GGUF: a file, its https URL, "hf:owner/repo" or "embedded"'],
    ['model = ""', "dragoman.toml:2: upstreams.x.model must be a string that is not empty"],
    ['model = "embedded"\nurl = "http://x"', "dragoman.toml:3: upstreams.x.url has no place beside model: a model runs here, or elsewhere"],
    ['model = "embedded"\ngpu = "abacus"', "dragoman.toml:3: upstreams.x.gpu must be one of true, false, auto, metal, cuda, vulkan"],
    ['model = "embedded"\nparallel = 0', "dragoman.toml:3: upstreams.x.parallel must be a whole number over 0"],
    ['model = "embedded"\nwire = "openai-chat"', /^dragoman\.toml:3: upstreams\.x\.wire is not known; known here: model, gpu, context/],
  ])("%j", (lines, complaint) => {
    expect(() => read(`[upstreams.x]\n${lines}\n`)).toThrow(complaint);
  });
});

test("a dialect may be followed by a variant", () => {
  const rule = (dialect: string) => read(`[upstreams.ollama]\n[models.m]\ndialect = "${dialect}"\n`).models[0];
  expect(rule("hermes/qwen2.5-7b-instruct")).toMatchObject({ dialect: "hermes/qwen2.5-7b-instruct" });
  expect(() => rule("hermes/none")).toThrow("must be one of hermes/qwen3-0.6b");
  expect(() => rule("herpes")).toThrow("must be one of auto, ");
});
