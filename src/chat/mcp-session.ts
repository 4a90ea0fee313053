/**
 * A session with an MCP server, for as long as it is wanted and however often the server ends: whoever uses a tool connects anew, once, and
 * the call that was under way says that nobody knows what became of it.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  ErrorCode,
  McpError,
  type Result,
  ResultSchema,
  type Task,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "../core/nouns.ts";
import { bounded, unlessAborted } from "../engines/bounded.ts";
import { textOf } from "../wires/read.ts";
import { checkOfJsonSchema } from "./check.ts";
import type { McpSettings, McpTools } from "./mcp.ts";
import { answerOf, listedOf } from "./mcp-answer.ts";
import type { ChatTool, ToolAnswer } from "./tool.ts";
import { VERSION } from "./version.ts";

/** The way to a server. */
export interface McpLine {
  /** What the server is called until it says so itself. */
  readonly name: string;
  open(): McpConnection;
  /** An error of the first connection that says that the server speaks in another way: from then on, `open` speaks so. */
  turn?(error: unknown): boolean;
  /** An error that says that the server is gone, or (and then it did nothing) that it knows nothing of this session. */
  lost(error: unknown): "gone" | "forgotten" | undefined;
}

export interface McpConnection {
  readonly transport: Transport;
  /** What an error beside a call means: that the server may be gone, and is asked; or that it is. */
  readonly onError?: "ask" | "close";
  /** Why the server does not answer. */
  why(error: Error): string;
}

const TIMEOUT_MS = 300_000;
const CONNECT_TIMEOUT_MS = 60_000;
/** For the answer to the question whether the server is still there. */
const ALIVE_TIMEOUT_MS = 10_000;

/** Throws if the server does not answer or is none. */
export async function openSession(settings: McpSettings, line: McpLine): Promise<McpTools> {
  const session = new Session(settings, line);
  await session.connect(settings.signal);
  return session;
}

class Session implements McpTools {
  readonly #settings: McpSettings;
  readonly #line: McpLine;
  /** Connected, or about to be. */
  #client: Promise<Client> | undefined;
  #tools: readonly ChatTool[] = [];
  /** The server has said that its tools are others now. */
  #isStale = false;
  #wasThere = false;
  readonly #closing = new AbortController();
  /** What became of the last connection. */
  #end = (error: Error): string => error.message;
  name: string;
  instructions: string | undefined;

  constructor(settings: McpSettings, line: McpLine) {
    this.#settings = settings;
    this.#line = line;
    this.name = line.name;
  }

  get tools(): readonly ChatTool[] {
    return this.#tools;
  }

  /** The connection there is, or a new one. */
  connect(signal?: AbortSignal): Promise<Client> {
    this.#closing.signal.throwIfAborted();
    if (this.#client) return this.#client;
    const forget = (): void => {
      if (this.#client === client) this.#client = undefined;
    };
    const client = this.#open(forget, signal);
    client.catch(forget);
    this.#client = client;
    return client;
  }

  async refresh(): Promise<void> {
    if (!this.#isStale || !this.#client) return;
    this.#isStale = false;
    try {
      this.#tools = await this.#inTime(this.#client.then((client) => this.#list(client)));
    } catch {
      this.#isStale = true; // the tools that were there are still declared; whoever uses one is told what is wrong
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error(`the connection to the MCP server ${this.name} was closed`));
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #open(forget: () => void, signal: AbortSignal | undefined): Promise<Client> {
    const client = new Client({ name: "dragoman", version: VERSION });
    const { transport, why, onError } = this.#line.open();
    try {
      await this.#inTime(this.#begin(client, transport), signal);
    } catch (error) {
      await client.close();
      if (!this.#wasThere && this.#line.turn?.(error)) return this.#open(forget, signal);
      throw new Error(`the MCP server ${this.name} does not answer: ${why(error as Error)}`, { cause: error });
    }
    this.#wasThere = true;
    this.#end = why;
    client.onclose = forget;
    if (onError === "ask") watch(client);
    if (onError === "close") client.onerror = () => void client.close();
    return client;
  }

  async #begin(client: Client, transport: Transport): Promise<void> {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#isStale = true;
    });
    await client.connect(transport);
    this.#isStale = false;
    this.#tools = await this.#list(client);
    this.name = client.getServerVersion()?.name ?? this.name;
    this.instructions = client.getInstructions();
  }

  async #list(client: Client): Promise<ChatTool[]> {
    const { prefix = "" } = this.#settings;
    const tools: ChatTool[] = [];
    if (!client.getServerCapabilities()?.tools) return tools;
    let cursor: string | undefined;
    do {
      const page = await client.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } }, ResultSchema);
      for (const { name, description, parameters, readOnly, asTask } of listedOf(page.tools)) {
        if (tools.some(({ tool }) => tool.name === prefix + name)) continue; // whoever calls it reaches one of them
        const call = asTask ? callAsTask : callPlainly;
        tools.push({
          tool: { name: prefix + name, ...(description === undefined ? {} : { description }), parameters },
          readOnly,
          check: checkOfJsonSchema(parameters),
          run: (args, { signal }) =>
            this.#call((client, options) => call(client, { name, arguments: args as JsonObject }, options), signal),
        });
      }
      cursor = textOf(page.nextCursor);
    } while (cursor !== undefined);
    return tools;
  }

  async #call(call: (client: Client, options: CallOptions) => Promise<Result>, signal: AbortSignal): Promise<ToolAnswer> {
    const { timeout = TIMEOUT_MS } = this.#settings;
    for (let isSecond = false; ; isSecond = true) {
      const client = await this.connect();
      try {
        // A server that reports progress is alive. The SDK leaves a listener on each signal that it gets: this one goes with the call.
        const asking = (own: AbortSignal) => call(client, { signal: own, timeout, resetTimeoutOnProgress: true, onprogress: () => {} });
        return answerOf(await bounded({ signals: [signal] }, asking));
      } catch (error) {
        if (signal.aborted) throw error;
        this.#closing.signal.throwIfAborted();
        if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
          throw new Error(`the MCP server ${this.name} gave no sign of life for ${timeout / 1000} s`, { cause: error });
        const lost = client.transport ? this.#line.lost(error) : "gone";
        if (lost === undefined && error instanceof McpError) throw whole(error);
        const why = this.#end(error as Error); // with all that its cause says
        if (lost === undefined) throw new Error(`the MCP server ${this.name} did not take the call: ${why}`);
        await client.close();
        if (lost === "forgotten" && !isSecond) continue;
        if (lost === "forgotten") throw new Error(`the MCP server ${this.name} does not know the session, nor a new one: ${why}`);
        throw new Error(
          `the MCP server ${this.name} ended during this call, and whether it was carried out is not known; the next call connects again (${why})`,
        );
      }
    }
  }

  /** What is waited for, but not for ever: a server may say nothing, or never come to the end of its list. */
  async #inTime<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
    const { connectTimeout: ms = CONNECT_TIMEOUT_MS } = this.#settings;
    return bounded({ signals: [this.#closing.signal, signal], ms }, (ends) => unlessAborted(ends, work));
  }
}

// ---- Calls

type CallOptions = RequestOptions & { signal: AbortSignal };
type CallParams = { name: string; arguments: JsonObject };

const callPlainly = (client: Client, params: CallParams, options: CallOptions): Promise<Result> =>
  client.request({ method: "tools/call", params }, ResultSchema, options);

/**
 * Of a tool that takes its time, and therefore no plain call: the server is asked how far it is, until it has the result. When nobody waits any
 * more, the task is cancelled, which takes its id: who leaves before it is there does not wait for it, and the task is cancelled when it comes.
 */
async function callAsTask(client: Client, params: CallParams, { signal, ...options }: CallOptions): Promise<Result> {
  signal.throwIfAborted();
  const { tasks } = client.experimental;
  const asked = { method: "tools/call" as const, params };
  const over = new AbortController();
  let task: Task | undefined;
  const cancel = (): void => {
    if (!task || over.signal.aborted) return;
    over.abort(signal.reason);
    tasks.cancelTask(task.taskId).catch(() => {});
  };
  const result = async (): Promise<Result> => {
    for await (const message of tasks.requestStream(asked, ResultSchema, { ...options, signal: over.signal, task: {} })) {
      if (message.type === "result") return message.result;
      if (message.type === "error") {
        if (task?.status === "failed" && task.statusMessage) throw new Error(task.statusMessage, { cause: message.error });
        throw message.error;
      }
      task = message.task;
      if (signal.aborted) cancel();
    }
    throw new Error("the task ended without a result");
  };
  const left = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
  });
  return Promise.race([result(), left]);
}

/** With what a server says of an error beside its words: where to sign in, what it lacks. */
const whole = (error: McpError): Error =>
  error.data === undefined ? error : new Error(`${error.message}: ${JSON.stringify(error.data)}`, { cause: error });

/** Whoever is gone does not answer, and is closed. */
function watch(client: Client): void {
  client.onerror = () => {
    client.onerror = () => {}; // the question may fail as well
    void client.ping({ timeout: ALIVE_TIMEOUT_MS }).then(
      () => watch(client),
      () => client.close(),
    );
  };
}
