/**
 * A session with an MCP server that survives the server's end: the next call of a tool connects again. A call during which the server ended
 * fails with an error that says that its effect is unknown.
 */
import {
  Client,
  ProtocolError,
  type RequestOptions,
  type Result,
  SdkError,
  SdkErrorCode,
  type StandardSchemaV1,
  type Transport,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../core/nouns.ts";
import { bounded, onAbort, unlessAborted } from "../engines/bounded.ts";
import { numberOf, objectOf, textOf } from "../wires/read.ts";
import { checkOfJsonSchema } from "./check.ts";
import type { McpSettings, McpTools } from "./mcp.ts";
import { answerOf, listedOf, sentIn, sparing } from "./mcp-answer.ts";
import type { ChatTool, ToolAnswer } from "./tool.ts";
import { VERSION } from "./version.ts";

/** How a server is reached: over stdio or HTTP. */
export interface McpLine {
  /** The server's name until it gives its own. */
  readonly name: string;
  /** The ways to speak to the server, by how common they are. The first that it does not refuse is used from then on. */
  readonly ways: readonly McpWay[];
  /** Whether an error of the first connection means that the server does not speak in this way, and the next one, if any, may be right. */
  refused(error: unknown, next: McpWay | undefined): boolean;
  /** What an error means: the server is gone, or it has forgotten this session (and so did not run the call). */
  lost(error: unknown): "gone" | "forgotten" | undefined;
}

export interface McpWay {
  /** As since the revision 2026-07-28 of MCP: no handshake and no session; every request says what the client can do. */
  readonly isStateless?: true;
  open(): McpConnection;
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
/** How long the question whether the server is still there may take. */
const ALIVE_TIMEOUT_MS = 10_000;
/** How long the server may take to say that it will announce changes. Some proxies hold a stream back until it ends. */
const LISTEN_TIMEOUT_MS = 5000;

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
  /** The server no longer announces changes, although it could. */
  #isDeaf = false;
  #wasThere = false;
  /** The index of the way in use. */
  #way = 0;
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
      const client = this.#client;
      this.#tools = await this.#inTime(async (ends) => {
        const there = await client;
        await this.#listen(there);
        return this.#list(there, ends);
      });
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

  async #open(forget: () => void, signal: AbortSignal | undefined, refusal?: Error): Promise<Client> {
    const { ways } = this.#line;
    const way = ways[this.#way] as McpWay;
    const client = new Client({ name: "dragoman", version: VERSION }, way.isStateless ? { versionNegotiation: { mode: "auto" } } : {});
    const { transport, why, onError } = way.open();
    try {
      await this.#inTime((ends) => this.#begin(client, way.isStateless ? sparing(transport) : transport, ends), signal);
    } catch (error) {
      await client.close();
      const next = ways[this.#way + 1];
      const isRefused = !this.#wasThere && this.#line.refused(error, next);
      const first = isRefused ? (refusal ?? (error as Error)) : (error as Error);
      if (isRefused && next) {
        this.#way++;
        return this.#open(forget, signal, first);
      }
      throw new Error(`the MCP server ${this.name} does not answer: ${why(first)}`, { cause: first });
    }
    this.#wasThere = true;
    this.#end = why;
    client.onclose = forget;
    if (onError === "ask") watch(client);
    if (onError === "close") client.onerror = () => void client.close();
    return client;
  }

  async #begin(client: Client, transport: Transport, ends: AbortSignal): Promise<void> {
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#isStale = true;
    });
    await client.connect(transport);
    this.#isStale = false;
    this.#isDeaf = client.getProtocolEra() === "modern" && client.getServerCapabilities()?.tools?.listChanged === true;
    await this.#listen(client);
    this.#tools = await this.#list(client, ends);
    this.name = client.getServerVersion()?.name ?? this.name;
    this.instructions = client.getInstructions();
  }

  /** Without a session, a server announces changes only on a stream that was opened for them. Whether it does so is up to the server. */
  async #listen(client: Client): Promise<void> {
    if (!this.#isDeaf) return;
    this.#isDeaf = false;
    const { connectTimeout = CONNECT_TIMEOUT_MS } = this.#settings;
    const timeout = Math.min(LISTEN_TIMEOUT_MS, connectTimeout / 2); // the list of tools needs time, too
    const subscription = await client.listen({ toolsListChanged: true }, { timeout }).catch(() => undefined);
    if (!subscription) this.#isDeaf = true; // asked again with the next list, if there is one
    void subscription?.closed.then((how) => {
      if (how !== "local") this.#isStale = this.#isDeaf = true;
    });
  }

  /** `ends`: when nobody waits for the list any more; a list without end would otherwise be read for ever. */
  async #list(client: Client, ends: AbortSignal): Promise<ChatTool[]> {
    const { prefix = "" } = this.#settings;
    const tools: ChatTool[] = [];
    if (!client.getServerCapabilities()?.tools) return tools;
    let cursor: string | undefined;
    do {
      const { length } = tools;
      const asked = cursor;
      const page = sentIn(await client.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } }, ANY_RESULT));
      for (const { name, description, parameters, readOnly, asTask } of listedOf(page.tools)) {
        if (tools.some(({ tool }) => tool.name === prefix + name)) continue; // two tools of one name: a call reaches one of them
        const call = asTask ? callAsTask : JSON.stringify(parameters).includes(HEADER) ? callWithHeaders(parameters) : callPlainly;
        tools.push({
          tool: { name: prefix + name, ...(description === undefined ? {} : { description }), parameters },
          readOnly,
          check: checkOfJsonSchema(parameters),
          run: (args, { signal }) =>
            this.#call((client, options) => call(client, { name, arguments: args as JsonObject }, options), signal),
        });
      }
      cursor = textOf(page.nextCursor);
      if (cursor === asked && tools.length === length) break; // the same page again: such a server ends its list with "" instead of nothing
    } while (cursor !== undefined && !ends.aborted);
    return tools;
  }

  async #call(call: (client: Client, options: CallOptions) => Promise<Result>, signal: AbortSignal): Promise<ToolAnswer> {
    const { timeout = TIMEOUT_MS } = this.#settings;
    for (let isSecond = false; ; isSecond = true) {
      const client = await this.connect();
      try {
        // Progress resets the timeout. The SDK never removes its listener from a signal, so each call gets a signal of its own.
        const asking = (own: AbortSignal) => call(client, { signal: own, timeout, resetTimeoutOnProgress: true, onprogress: () => {} });
        return answerOf(sentIn(await bounded({ signals: [signal] }, asking)));
      } catch (error) {
        if (signal.aborted) throw error;
        this.#closing.signal.throwIfAborted();
        if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
          throw new Error(`the MCP server ${this.name} neither answered nor reported progress for ${timeout / 1000} s`, { cause: error });
        const lost = client.transport ? this.#line.lost(error) : "gone";
        if (lost === undefined && error instanceof ProtocolError) throw whole(error);
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
  async #inTime<T>(work: (ends: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { connectTimeout: ms = CONNECT_TIMEOUT_MS } = this.#settings;
    return bounded({ signals: [this.#closing.signal, signal], ms }, (ends) => unlessAborted(ends, work(ends)));
  }
}

// ---- Calls

type CallOptions = RequestOptions & { signal: AbortSignal };
type CallParams = { name: string; arguments: JsonObject };

/** Results are read by `mcp-answer.ts`, which takes more than the SDK's own schemas. */
const ANY_RESULT: StandardSchemaV1<unknown, Result> = {
  "~standard": { version: 1, vendor: "dragoman", validate: (value) => ({ value: value as Result }) },
};

const callPlainly = (client: Client, params: CallParams, options: CallOptions): Promise<Result> =>
  client.request({ method: "tools/call", params }, ANY_RESULT, options);

/** Marks a parameter that a stateless server also wants as an HTTP header. */
const HEADER = '"x-mcp-header"';

const callWithHeaders =
  (parameters: JsonObject) =>
  (client: Client, params: CallParams, options: CallOptions): Promise<Result> => {
    const toolDefinition = { name: params.name, inputSchema: { ...parameters, type: "object" as const } };
    return client.callTool(params, { ...options, toolDefinition });
  };

const POLL_MS = 1000;

/**
 * Calls a tool that must run as a task: the server is polled until it has the result. An abort cancels the task, for which its id is
 * needed. If the id is not known yet, the caller does not wait for it; the task is cancelled as soon as it arrives.
 */
async function callAsTask(client: Client, params: CallParams, { signal, ...options }: CallOptions): Promise<Result> {
  signal.throwIfAborted();
  const ask = (method: string, asked: JsonObject): Promise<Result> => client.request({ method, params: asked }, ANY_RESULT, options);
  const run = async (): Promise<Result> => {
    const first = await ask("tools/call", { ...params, task: {} });
    if (first.task === undefined) return first; // the server made no task of it, and has run it
    let task = objectOf(first.task);
    const taskId = String(task.taskId);
    const cancel = (): void => void ask("tasks/cancel", { taskId }).catch(() => {});
    const back = onAbort(signal, cancel);
    if (signal.aborted) cancel();
    try {
      while (task.status === "working" && !signal.aborted) {
        await pause(numberOf(task.pollInterval) ?? POLL_MS, signal);
        task = objectOf(await ask("tasks/get", { taskId }));
      }
      if (task.status === "failed" && task.statusMessage) throw new Error(String(task.statusMessage));
      return await ask("tasks/result", { taskId });
    } finally {
      back();
    }
  };
  return unlessAborted(signal, run());
}

/** Waits, but not beyond an abort. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      back();
      resolve();
    };
    const timer = setTimeout(end, ms);
    const back = onAbort(signal, end);
  });

/** The error with its code, and with its `data`: where to sign in, what is missing. */
function whole(error: ProtocolError): Error {
  const { code, message, data } = error;
  return new Error(`MCP error ${code}: ${message}${data === undefined ? "" : `: ${JSON.stringify(data)}`}`, { cause: error });
}

/** After an error, asks whether the server is still there, and closes the connection if it does not answer. */
function watch(client: Client): void {
  client.onerror = () => {
    client.onerror = () => {}; // the question may fail as well
    const asked = { timeout: ALIVE_TIMEOUT_MS };
    const answer: Promise<unknown> = client.getProtocolEra() === "modern" ? client.discover(asked) : client.ping(asked);
    void answer.then(
      () => watch(client),
      () => client.close(),
    );
  };
}
