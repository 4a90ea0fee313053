/**
 * The MCP servers of `--mcp`: a command, a URL, or a file of servers in the format of other programs.
 *
 *     { "mcpServers": { "search": { "url": "https://search.example/mcp", "headers": { "authorization": "Bearer ${SEARCH_KEY}" } } } }
 */
import { existsSync } from "node:fs";
import { type ChatTool, type McpServer, type McpTools, mcpTools } from "../../chat/index.ts";
import { isObject } from "../../core/json.ts";
import { Complaint } from "../complaint.ts";
import { parseJson, readText } from "../input.ts";
import { visible } from "../terminal.ts";

export interface Connected {
  /** The prefix for tools whose names are taken. */
  readonly label: string;
  readonly server: McpTools;
}

/** Connects to all servers. If one fails, the others are closed again. */
export async function connectAll(texts: readonly string[]): Promise<Connected[]> {
  const wanted = (await Promise.all(texts.map(serversOf))).flat();
  const tried = await Promise.allSettled(
    wanted.map(async ({ name, server: settings }): Promise<Connected> => {
      const server = await mcpTools(settings);
      return { label: name ?? server.name, server };
    }),
  );
  const connected = tried.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = tried.find((one) => one.status === "rejected");
  if (!failed) return connected;
  await Promise.allSettled(connected.map(({ server }) => server.close()));
  throw new Complaint((failed.reason as Error).message, { cause: failed.reason });
}

/** Their tools with unique names: the first keeps its name, later ones get their server's name as a prefix. */
export function toolsOf(connected: readonly Connected[], taken: Iterable<string> = []): ChatTool[] {
  const names = new Set(taken);
  return connected.flatMap(({ label, server }) =>
    server.tools.map((tool) => {
      const { name } = tool.tool;
      const own = `${label.replaceAll(/[^\p{L}\p{N}]+/gu, "_")}_${name}`;
      let free = names.has(name) ? own : name;
      for (let n = 2; names.has(free); n++) free = `${own}_${n}`; // a third server of that name
      names.add(free);
      return free === name ? tool : { ...tool, tool: { ...tool.tool, name: free } };
    }),
  );
}

/** The system text: the user's, and the instructions of the servers unless it already contains them. */
export function systemWith(system: string | undefined, connected: readonly Connected[]): string | undefined {
  const more = new Set(connected.map(({ server }) => server.instructions?.trim() ?? ""));
  const texts = [system ?? "", ...[...more].filter((text) => !system?.includes(text))].filter((text) => text !== "");
  return texts.length === 0 ? system : texts.join("\n\n");
}

// ---- Reading --mcp

interface Wanted {
  readonly name?: string;
  readonly server: McpServer;
}

async function serversOf(text: string): Promise<Wanted[]> {
  if (/^https?:\/\//.test(text)) return [{ server: { url: text } }];
  if (/\.json$/i.test(text) && (!/\s/.test(text) || existsSync(text))) return serversInFile(text);
  const [command = "", ...args] = wordsOf(text);
  return [{ server: { command, args } }];
}

/** Splits like a shell: at spaces, except within quotes. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

async function serversInFile(file: string): Promise<Wanted[]> {
  const json = parseJson(await readText(file), file);
  const servers = isObject(json) ? (json.mcpServers ?? json.servers) : undefined;
  if (!isObject(servers)) throw new Complaint(`${visible(file)}: it has no "mcpServers"`);
  const enabled = Object.entries(servers).filter(([, entry]) => !(isObject(entry) && entry.disabled === true)); // as in other programs
  return enabled.map(([name, entry]) => ({ name, server: serverOf(entry, `${file}: ${name}`) }));
}

function serverOf(entry: unknown, where: string): McpServer {
  const complain = (what: string): never => {
    throw new Complaint(`${visible(where)}: ${what}`);
  };
  const text = (value: unknown, field: string): string =>
    typeof value === "string" ? filled(value, complain) : complain(`${field} must be a string`);
  const texts = (value: unknown, field: string): Record<string, string> =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, text(one, `${field}.${key}`)]))
      : complain(`${field} must be an object`);
  if (!isObject(entry)) return complain("it must be an object");
  const { command, args = [], env = {}, cwd, url, headers = {} } = entry;
  if (url !== undefined) return { url: text(url, "url"), headers: texts(headers, "headers") };
  if (command === undefined) return complain("it has neither a command nor a url");
  return {
    command: text(command, "command"),
    args: Array.isArray(args) ? args.map((one, i) => text(one, `args[${i}]`)) : complain("args must be a list"),
    env: texts(env, "env"),
    cwd: cwd === undefined ? undefined : text(cwd, "cwd"),
  };
}

/** Fills in environment variables: `${NAME}`, or `${NAME:-text}` with a default. */
function filled(text: string, complain: (what: string) => never): string {
  return text.replaceAll(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise: string | undefined) => {
    return process.env[name] || (otherwise ?? complain(`the environment variable ${name} is not set`));
  });
}
