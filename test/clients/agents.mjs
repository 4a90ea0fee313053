// The coding agents: how each is run without a terminal, and how it writes a file.
import { fileURLToPath } from "node:url";

const installed = (path) => fileURLToPath(new URL(`./node_modules/${path}`, import.meta.url));
const PLATFORM = `${process.platform}-${process.arch}`;
const CODEX_TARGETS = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};

/** For a shell: between single quotes, everything but these is literal. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const geminiCli = (model) => ({
  /** It drops thoughts, and sends back what sealed them. */
  forgetsThoughts: true,
  prepare: ({ put }) =>
    put(".gemini/settings.json", {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    }),
  binary: process.execPath,
  program: [installed("@google/gemini-cli/bundle/gemini.js")],
  command: ({ url, key, prompt }) => ({
    args: [...model, "-p", prompt, "--approval-mode", "yolo", "--skip-trust"],
    env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: "true" },
  }),
  write: ({ file, content }) => ({ name: "write_file", args: { file_path: file, content } }),
});

const claudeCode = (folder) => ({
  binary: installed(`${folder}-${PLATFORM}/claude`),
  command: ({ url, key, prompt }) => ({
    args: ["-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Write"],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
  }),
  write: ({ file, content }) => ({ name: "Write", args: { file_path: file, content } }),
});

const CODEX = installed(`codex-${PLATFORM}/vendor/${CODEX_TARGETS[PLATFORM]}/bin/codex`);
const CODEX_BASE =
  'model_auto_compact_token_limit = 200000\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n';
const codexRun = (key, prompt) => ({
  args: ["exec", "--skip-git-repo-check", "--color", "never", prompt],
  env: { GATEWAY_KEY: key, OPENAI_API_KEY: key },
});

const codex = {
  binary: CODEX,
  prepare: ({ put }, url) =>
    put(
      ".codex/config.toml",
      `model = "any-name"\nmodel_provider = "gateway"\n${CODEX_BASE}[model_providers.gateway]\nname = "gateway"\nbase_url = "${url}/v1"\nenv_key = "GATEWAY_KEY"\nwire_api = "responses"\n`,
    ),
  command: ({ key, prompt }) => codexRun(key, prompt),
  write: ({ file, content }) => ({ name: "exec_command", args: { cmd: `printf %s ${quoted(content)} > ${quoted(file)}`, login: false } }),
};

/** Its own provider, which tries a WebSocket first, and a model it knows. */
const codexKnows = (model, rest) => ({
  binary: CODEX,
  prepare: ({ put }, url, key) => {
    put(".codex/config.toml", `model = "${model}"\nopenai_base_url = "${url}/v1"\n${CODEX_BASE}`);
    put(".codex/auth.json", { OPENAI_API_KEY: key });
  },
  command: ({ key, prompt }) => codexRun(key, prompt),
  ...rest,
});

/** Patches files with a tool that is not a function. */
const codexPatch = codexKnows("gpt-5.5", {
  write: ({ file, content }) => ({ name: "apply_patch", args: { input: patchOf(file, content) } }),
  /** A patch consists of lines. */
  lines: true,
});

/** Declares all tools in an item of the conversation, in namespaces; the one that writes files runs JavaScript. */
const codexScript = codexKnows("gpt-6-sol", {
  write: (given) => {
    const { args } = codex.write(given);
    return { name: "functions__exec", args: { input: `text(await tools.exec_command(${JSON.stringify(args)}))` } };
  },
});

const patchOf = (file, content) =>
  `*** Begin Patch\n*** Add File: ${file}\n${content
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `+${line}\n`)
    .join("")}*** End Patch\n`;

const opencode = (npm, base) => ({
  prepare: ({ put }, url, key) =>
    put("project/opencode.json", {
      model: "gateway/test-model",
      autoupdate: false,
      snapshot: false,
      lsp: false,
      formatter: false,
      share: "disabled",
      permission: { edit: "allow", bash: "allow", external_directory: "allow" },
      provider: {
        gateway: {
          npm,
          options: { baseURL: `${url}${base}`, apiKey: key },
          models: { "test-model": { name: "Test", limit: { context: 200_000, output: 8_000 }, reasoning: true, tool_call: true } },
        },
      },
    }),
  binary: installed(`opencode-cli-${PLATFORM}/bin/opencode`),
  command: ({ prompt }) => ({
    args: ["run", prompt],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    },
  }),
  write: ({ file, content }) => ({ name: "write", args: { filePath: file, content } }),
});

export const AGENTS = {
  "gemini-cli": geminiCli(["-m", "gemini-2.5-pro"]),
  "gemini-cli without -m": geminiCli([]),
  "claude-code": claudeCode("claude-code"),
  "claude-code 2.1.197": claudeCode("claude-code-old"),
  codex,
  "codex apply_patch": codexPatch,
  "codex gpt-6": codexScript,
  "opencode chat": opencode("@ai-sdk/openai-compatible", "/v1"),
  "opencode responses": opencode("@ai-sdk/openai", "/v1"),
  "opencode anthropic": opencode("@ai-sdk/anthropic", "/v1"),
  "opencode google": opencode("@ai-sdk/google", "/v1beta"),
};
