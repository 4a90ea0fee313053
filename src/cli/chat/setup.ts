/** Sets up a chat: its model, its tools, and what must be closed at the end. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type Approval,
  type Chat,
  type ChatData,
  type ChatTool,
  createChat,
  defineTool,
  readChat,
  type ToolDefinition,
  type ToolSet,
} from "../../chat/index.ts";
import { isObject } from "../../core/json.ts";
import type { JsonObject, ToolCall, Warning } from "../../core/nouns.ts";
import { Complaint } from "../complaint.ts";
import { parseJson, readText } from "../input.ts";
import { modelHere } from "../local-model.ts";
import { clearLine, visible } from "../terminal.ts";
import { type Connected, connectAll, systemWith, toolsOf } from "./mcp.ts";
import { offlineTools, type Terminal } from "./offline.ts";
import { type Source, type SourceFlags, type Speaker, sourcesOf, speakerOf, speakersOf } from "./sources.ts";
import { stateFolder } from "./state.ts";

export interface ChatFlags extends SourceFlags {
  prompt?: string;
  json?: boolean;
  system?: string;
  tool?: string[];
  mcp?: string[];
  folder?: string;
  /** `--no-tools`. */
  tools: boolean;
  think?: boolean;
  yes?: boolean;
  load?: string;
}

export interface Setup {
  readonly chat: Chat;
  readonly speaker: Speaker;
  readonly sources: readonly Source[];
  /** The folder whose files the model may use. */
  readonly folder: string;
  /** Begins another conversation with the same tools. */
  open(speaker: Speaker, data?: ChatData): Chat;
  close(): Promise<void>;
}

/** The user of the chat, or a script in their place. */
export interface Person {
  /** Called before a tool of --tool or --mcp runs, unless it is read-only. */
  ask(call: ToolCall, signal: AbortSignal): Approval | Promise<Approval>;
  /** Called once for each setting that could not be passed on, or that the model's server ignored. */
  warn(message: string): void;
}

export async function setUp(flags: ChatFlags, terminal: Terminal, person: Person): Promise<Setup> {
  if (flags.folder !== undefined && !(existsSync(flags.folder) && statSync(flags.folder).isDirectory()))
    throw new Complaint(`--folder: there is no folder ${visible(flags.folder)}`);
  const sources = await sourcesOf(flags);
  const name = modelHere(flags) === undefined ? flags.model : undefined;
  const speaker = speakerOf(await modelsOf(sources, name), name);
  const data = flags.load === undefined ? undefined : await loadChat(flags.load);
  const folder = resolve(flags.folder ?? stateFolder("files"));
  const open: { close(): Promise<void> }[] = sources.map(({ engine }) => engine);
  const close = async (): Promise<void> => void (await Promise.allSettled(open.map((one) => one.close())));
  try {
    const own = (await Promise.all((flags.tool ?? []).map(loadTools))).flat();
    const servers = await waiting("connecting to MCP servers", connectAll(flags.mcp ?? []));
    open.push(...servers.map(({ server }) => server));
    const ours = offlineTools(folder, terminal);
    const tools = together(own, servers, ours);
    const onWarning = toldOnce(person);
    const asks = (tool: ChatTool): boolean => !flags.yes && !tool.readOnly && !ours.includes(tool);
    const begin = (speaker: Speaker, data?: ChatData): Chat =>
      createChat({
        ...speakerOptions(speaker),
        tools: flags.tools ? [tools] : [],
        data,
        system: flags.tools ? systemWith(flags.system ?? data?.system, servers) : flags.system,
        onWarning,
        thinking: flags.think === undefined ? undefined : { enabled: flags.think },
        approve: (call, tool, signal) => !asks(tool) || person.ask(call, signal),
      });
    return { chat: begin(speaker, data), speaker, sources, folder, open: begin, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function toldOnce(person: Person): (warning: Warning) => void {
  const warned = new Set<string>();
  return ({ code, message }) => {
    if (code !== "converted" && !warned.has(message)) person.warn(message); // "converted": nothing was lost
    warned.add(message);
  };
}

/** A server that does not list its models can still be asked for one by name. */
async function modelsOf(sources: readonly Source[], name: string | undefined): Promise<Speaker[]> {
  try {
    return await speakersOf(sources);
  } catch (error) {
    const [source] = sources;
    if (name === undefined || !source) throw error;
    return [{ source, model: { id: name } }];
  }
}

/** The options of a chat with this model. */
export function speakerOptions({ source, model }: Speaker) {
  const limit = source.context ?? model.contextLength;
  return { engine: source.engine, model: model.id, context: limit === undefined ? undefined : { limit } };
}

export async function loadChat(file: string): Promise<ChatData> {
  const json = parseJson(await readText(file), file);
  try {
    return readChat(json);
  } catch (error) {
    throw new Complaint(`${visible(file)}: ${(error as Error).message}`, { cause: error });
  }
}

/** Shows in a terminal what is being waited for, since it may take a minute. */
async function waiting<T>(what: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  const late = stderr.isTTY ? setTimeout(() => stderr.write(`${what} …`), SAID_AFTER_MS) : undefined;
  try {
    return await work;
  } finally {
    clearTimeout(late);
    if (stderr.isTTY) stderr.write(clearLine(stderr));
  }
}

const SAID_AFTER_MS = 500;

// ---- The user's tools

/** The current tools. Of several with one name the first is used: the user's tools come before the built-in ones. */
const together = (own: readonly ChatTool[], servers: readonly Connected[], ours: readonly ChatTool[]): ToolSet => ({
  get tools() {
    const names = own.map(({ tool }) => tool.name);
    const all = [...own, ...toolsOf(servers, names), ...ours];
    return [...new Map(all.toReversed().map((tool) => [tool.tool.name, tool])).values()].toReversed();
  },
  refresh: async () => void (await Promise.all(servers.map(({ server }) => server.refresh()))),
});

/** A module whose exports are tools, or lists of them. */
async function loadTools(file: string): Promise<ChatTool[]> {
  if (!existsSync(file)) throw new Complaint(`cannot read ${visible(file)}: there is no such file`);
  let tools: ChatTool[];
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
    tools = [...new Set(Object.values(module).flat())].flatMap(toolOf);
  } catch (error) {
    throw new Complaint(`cannot load ${visible(file)}: ${(error as Error).message}`, { cause: error });
  }
  if (tools.length === 0) throw new Complaint(`${visible(file)} exports no tool: an object with name, parameters and run`);
  return tools;
}

/** A tool made with `defineTool`, or its definition: a user of `npx dragoman` cannot import `defineTool`. */
const toolOf = (value: unknown): ChatTool[] => (isTool(value) ? [value] : isDefinition(value) ? [defineTool(value)] : []);

const isTool = (value: unknown): value is ChatTool => isObject(value) && "tool" in value && typeof value.check === "function";

const isDefinition = (value: unknown): value is ToolDefinition<JsonObject> =>
  isObject(value) && typeof value.name === "string" && typeof value.run === "function";
