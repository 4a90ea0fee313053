/**
 * A session with an MCP server that survives the server's end: the next call of a tool connects again. A call during which the server ended
 * fails with an error that says that its effect is unknown.
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

/** How a server is reached: over stdio or HTTP. */
export interface McpLine {
  /** The server's name until it gives its own. */
  readonly name: string;
  open(): McpConnection;
  /** Called with the error of the first connection. `true`: the server needs another transport, which `open` uses from now on. */
  turn?(error: unknown): boolean;
  /** What an error means: the server is gone, or it has forgotten this session (and so did not run the call). */
  lost(error: unknown): "gone" | "forgotten" | undefined;
}

export interface McpConnection {
  readonly transport: Transport;
  /** What to do after an error outside a call: `ask` whether the server is still there, or `close` the connection. */
  readonly onError?: "ask" | "close";
  /** An explanation of the error, for people. */
  why(error: Error): string;
}

const TIMEOUT_MS = 300_000;
const CONNECT_TIMEOUT_MS = 60_000;
/** How long a ping may take. */
const ALIVE_TIMEOUT_MS = 10_000;

/** Throws if the server does not answer, or is not an MCP server. */
export async function openSession(settings: McpSettings, line: McpLine): Promise<McpTools> {
  const session = new Session(settings, line);
  await session.connect(settings.signal);
  return session;
}

class Session implements McpTools {
  readonly #settings: McpSettings;
  readonly #line: McpLine;
  /** The connection, or the attempt to connect. */
  #client: Promise<Client> | undefined;
  #tools: readonly ChatTool[] = [];
  /** The server has announced that its tools changed. */
  #isStale = false;
  #wasThere = false;
  readonly #closing = new AbortController();
  /** Explains errors of the last connection. */
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

  /** The current connection, or a new one. */
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
      this.#isStale = true; // the old list stays; a call of one of its tools reports what is wrong
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
        if (tools.some(({ tool }) => tool.name === prefix + name)) continue; // two tools of one name: a call reaches one of them
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
        // Progress resets the timeout. The SDK never removes its listener from a signal, so each call gets a signal of its own.
        const asking = (own: AbortSignal) => call(client, { signal: own, timeout, resetTimeoutOnProgress: true, onprogress: () => {} });
        return answerOf(await bounded({ signals: [signal] }, asking));
      } catch (error) {
        if (signal.aborted) throw error;
        this.#closing.signal.throwIfAborted();
        if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
          throw new Error(`the MCP server ${this.name} neither answered nor reported progress for ${timeout / 1000} s`, { cause: error });
        const lost = client.transport ? this.#line.lost(error) : "gone";
        if (lost === undefined && error instanceof McpError) throw whole(error);
        const why = this.#end(error as Error); // it includes the cause
        if (lost === undefined) throw new Error(`the call of the MCP server ${this.name} failed: ${why}`);
        await client.close();
        if (lost === "forgotten" && !isSecond) continue;
        if (lost === "forgotten") throw new Error(`the MCP server ${this.name} forgot the session, and then a new one as well: ${why}`);
        throw new Error(
          `the MCP server ${this.name} ended during this call, so it is unknown whether the call was carried out; the next call connects again (${why})`,
        );
      }
    }
  }

  /** Limits how long `work` may take: a server may stay silent, or page through its list for ever. */
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
 * Calls a tool that must run as a task: the server is polled until it has the result. An abort cancels the task, for which its id is
 * needed. If the id is not known yet, the caller does not wait for it; the task is cancelled as soon as it arrives.
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

/** Adds the error's `data` to its message: where to sign in, what is missing. */
const whole = (error: McpError): Error =>
  error.data === undefined ? error : new Error(`${error.message}: ${JSON.stringify(error.data)}`, { cause: error });

/** After an error, pings the server, and closes the connection if it does not answer. */
function watch(client: Client): void {
  client.onerror = () => {
    client.onerror = () => {}; // the ping may fail as well
    void client.ping({ timeout: ALIVE_TIMEOUT_MS }).then(
      () => watch(client),
      () => client.close(),
    );
  };
}
