/** `dragoman serve --check`: reports what would be served and whether it would work, without starting the server. */
import type { Settings } from "../gateway/index.ts";
import { exposed } from "../gateway/options.ts";
import type { ModelRule } from "../gateway/rules.ts";
import { describeModel } from "./local-model.ts";
import { PORT } from "./serve-flags.ts";
import type { Local } from "./serve-local.ts";
import { counted, visible } from "./terminal.ts";
import { dialectLines, type Upstream } from "./upstreams.ts";

/** Configured models that their upstream does not list. Skips clouds, which accept names that they do not list. */
export async function unlisted({ models }: Settings, upstreams: readonly Upstream[]): Promise<string[]> {
  const lines = upstreams.map(async ({ name, engine }) => {
    const wanted = models.flatMap(({ upstream, model }) => (upstream === name && model !== undefined ? [model] : []));
    if (wanted.length === 0 || !engine.about) return [];
    const ids = (await engine.models().catch(() => [])).map(({ id }) => id);
    const missing = wanted.filter((model) => ids.length > 0 && !ids.includes(model) && !ids.includes(`${model}:latest`));
    return missing.map((model) =>
      visible(`upstream ${name} does not list the model ${model}; it has: ${ids.slice(0, MAX_NAMED).join(", ")}`),
    );
  });
  return (await Promise.all(lines)).flat();
}

const MAX_NAMED = 10;

export async function check(settings: Settings, upstreams: readonly Upstream[], locals: readonly Local[]): Promise<void> {
  const { host = "127.0.0.1", port = PORT, keys = [], insecure = false } = settings.server;
  const lines = [`server: ${host}:${port}, ${keys.length > 0 ? counted(keys.length, "key") : "no key"}${insecure ? ", insecure" : ""}`];
  const why = exposed(settings.server);
  if (why !== undefined) {
    lines.push(`  it would not start: ${why}`);
    process.exitCode = 2;
  }
  const missing = await unlisted(settings, upstreams);
  for (const upstream of upstreams) {
    const { name, wire, urls, hasKey, how, engine } = upstream;
    lines.push(`upstream ${name}: ${urls.join(", ")} speaks ${wire} (${how}), ${hasKey ? "with a key" : "without a key"}`);
    try {
      const models = await engine.models();
      lines.push(`  answers: ${counted(models.length, "model")}`);
      lines.push(...(await dialectLines(upstream)).map((line) => `  ${line}`));
    } catch (error) {
      lines.push(`  does not answer: ${(error as Error).message}`);
      process.exitCode = 2;
    }
    await engine.close();
  }
  for (const { name, engine, opened } of locals) {
    const isNamed = name !== opened.engine.facts.id;
    lines.push(
      `${isNamed ? `upstream ${name}: ` : ""}${describeModel(opened.engine)}`,
      ...opened.warnings.map(({ message }) => `  ${message}`),
    );
    await engine.close();
  }
  lines.push(...missing);
  lines.push(...settings.models.map(ruleLine));
  process.stdout.write(`${lines.map(visible).join("\n")}\n`);
}

/** A rule, in the words of the configuration file: `model gemini-*: local, as qwen3; tools inband, max_tokens 8192`. */
function ruleLine({ name, alias, upstream, model, sampling, thinking, ...rest }: ModelRule): string {
  if (alias !== undefined) return `alias ${name}: ${alias}`;
  const settings = { ...rest, thinking: thinking?.effort ?? thinking?.enabled, ...sampling };
  const said = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined ? [] : `${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} ${value}`,
  );
  return `model ${name}: ${upstream}${model === undefined ? "" : `, as ${model}`}${said.length > 0 ? `; ${said.join(", ")}` : ""}`;
}
