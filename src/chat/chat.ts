/**
 * A conversation with a model that uses tools, over any engine:
 *
 *     const chat = createChat({ engine, tools: [paint], system: "You paint pages." });
 *     for await (const event of chat.send("make it red")) if (event.type === "text") process.stdout.write(event.text);
 *
 * One `send` is a turn: the model is asked, its calls run, it gets their results and is asked again, until it answers without calls.
 * However a turn ends, the history holds everything the model said, and every call in it has a result.
 */
import { createFold } from "../core/fold.ts";
import type { Event, Media, Message, Request, Text, ToolChoice, ToolResult, Usage, Warning } from "../core/nouns.ts";
import { onAbort, unlessAborted } from "../engines/bounded.ts";
import type { Answer, Engine, Preview } from "../engines/engine.ts";
import { estimateTokens } from "../engines/estimate.ts";
import { explainError, NO_FINISH } from "../engines/finish.ts";
import { blocksOf, type ContextSettings, dropOldest } from "./context.ts";
import { type ChatData, checkPart, type Turn } from "./data.ts";
import { History, type OpenResult } from "./history.ts";
import { FreshIds } from "./ids.ts";
import { brokenOff, CANCELLED, contentOf, type Finished, type Outcome, outcomeOf } from "./outcome.ts";
import { Reply } from "./reply.ts";
import { type Approve, type Asked, decide, type Fate, failure, isAsked, run } from "./run.ts";
import type { ChatTool, ToolSet } from "./tool.ts";
import { Toolbox } from "./toolbox.ts";

export interface ChatOptions extends RequestSettings {
  engine: Engine;
  /** Default: the first model that the engine lists. */
  model?: string | undefined;
  /** Tools, and sets of tools such as MCP servers. */
  tools?: readonly (ChatTool | ToolSet)[] | undefined;
  system?: string | undefined;
  /** A saved conversation to continue. Its system text is used unless `system` is given. */
  data?: ChatData | undefined;
  /** The most steps (requests to the model) in one turn. */
  maxSteps?: number | undefined;
  /** How many answers in one turn may have calls that cannot be run. The result of such a call says what is wrong with it. */
  maxRepairs?: number | undefined;
  /** Called before a tool runs, for one call after the other. */
  approve?: Approve | undefined;
  /** Absent: the whole conversation is always sent. */
  context?: ContextSettings | undefined;
  /** Called for each setting of the request that could not be passed on, or that the model's server ignored. */
  onWarning?: ((warning: Warning) => void) | undefined;
}

/** The settings that every request of a chat has besides the conversation. */
export type RequestSettings = {
  [Key in "thinking" | "sampling" | "maxTokens" | "stop" | "toolChoice" | "parallelCalls" | "output" | "extra"]?: Request[Key] | undefined;
};

export interface SendOptions {
  /** Ends the turn; what the model said until then stays in the history. */
  signal?: AbortSignal | undefined;
  /** `false`: the model may not call tools in this turn. */
  tools?: false | undefined;
}

/** The model's events, with one `finish` per step; between the steps, what the tools do; last, the turn's result. */
export type ChatEvent =
  | Event
  | { type: "tool-run"; id: string; name: string }
  | ({ type: "tool-result" } & Omit<ToolResult, "role">)
  /** The conversation outgrew the context: this many of its messages are no longer sent. */
  | { type: "left-out"; messages: number }
  | { type: "turn-end"; turn: Turn };

/** What a step asked: the request, and what the engine sent for it, if the engine has `preview`. */
export interface Asking {
  request: Request;
  sent?: Preview;
}

const MAX_STEPS = 24;
const MAX_REPAIRS = 3;
/** The share of the context that is kept for the answer if the request has no `maxTokens`. */
const ANSWER_SHARE = 0.25;

/** A conversation with an engine, with tools that run. */
export function createChat(options: ChatOptions): Chat {
  return new Chat(options);
}

/** What a step sent. A list of sent messages only grows or is replaced, so its length at that time is enough to remember. */
interface Step {
  readonly engine: Engine;
  readonly settings: Omit<Request, "messages">;
  readonly messages: readonly Message[];
  readonly count: number;
}

const stepsOf = new WeakMap<Turn, readonly Step[]>();

export class Chat {
  readonly #options: ChatOptions;
  readonly #tools: Toolbox;
  readonly #history: History;
  readonly #turns: Turn[];
  readonly system: string | undefined;
  #model: string | undefined;
  #busy = false;

  constructor(options: ChatOptions) {
    const { data, tools = [], model } = options;
    if (typeof options.engine?.generate !== "function") throw new Error("a chat needs an engine: createRemote({ wire, url }) makes one");
    if (data && data.version !== 1)
      throw new Error("data must be what chat.save() returned; readChat(JSON.parse(text)) reads it from a file");
    this.#options = options;
    this.#tools = new Toolbox(tools);
    this.system = options.system ?? data?.system;
    this.#history = new History(data?.messages);
    this.#turns = [...(data?.turns ?? [])];
    this.#model = model;
  }

  /** All messages except the system text, as plain data. */
  get history(): readonly Message[] {
    return this.#history.all;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** The current tools: those of an MCP server may change. */
  get tools(): readonly ChatTool[] {
    return [...this.#tools.byName.values()];
  }

  /** Lazy: the turn begins when the reply's events are read, or its `text()` or `turn()` is awaited. */
  send(input: string | readonly (Text | Media)[], options: SendOptions = {}): Reply {
    const parts: readonly (Text | Media)[] = typeof input === "string" ? [{ type: "text", text: input }] : input;
    if (!Array.isArray(parts) || parts.some((part) => !part?.type))
      throw new Error('a message is text, or a list like [{ type: "text", text }]');
    for (const [i, part] of parts.entries()) checkPart(part, `the message's [${i}]`);
    const content = structuredClone(parts);
    return this.#reply(() => {
      const answered = this.#history.closeCalls("The user went on without a result.");
      this.#history.add({ role: "user", content });
      return answered;
    }, options);
  }

  /** Continues after a turn that ended with `tool-calls`, with the results of these calls. */
  answer(results: readonly OpenResult[], options: SendOptions = {}): Reply {
    return this.#reply(() => this.#history.addResults(results), options);
  }

  /** Asks again without a new message: after an error, or after `max-steps`. */
  resume(options: SendOptions = {}): Reply {
    return this.#reply(() => {
      const { waiting } = this.#history;
      if (waiting.length > 0) throw new Error(`these calls still need results, give them with chat.answer: ${waiting.join(", ")}`);
      return [];
    }, options);
  }

  /** What a step (by default the turn's last) sent: the exact prompt if the engine renders one, otherwise the request to the server. */
  async promptOf(turn: Turn | undefined = this.#turns.at(-1), step = -1): Promise<Asking> {
    if (!turn) throw new Error("there is no turn yet");
    const steps = Math.max(turn.steps, 1);
    if (step >= steps || step < -steps) throw new Error(`the turn has no step ${step}: it has ${turn.steps}`);
    const { engine, settings, messages, count } = stepsOf.get(turn)?.at(step) ?? (await this.#stepOf(turn, step));
    const request: Request = { ...settings, messages: this.#withSystem(messages.slice(0, count)) };
    return engine.preview ? { request, sent: await engine.preview(request) } : { request };
  }

  /** A copy of the conversation as plain data. */
  save(): ChatData {
    const { system } = this;
    return structuredClone({
      version: 1,
      ...(system === undefined ? {} : { system }),
      messages: this.#history.all,
      turns: this.#turns,
    } satisfies ChatData);
  }

  /** A new chat that begins with this conversation; with another `engine`, another model continues it. */
  fork(changes: Partial<Omit<ChatOptions, "data">> = {}): Chat {
    const { engine, model: _, ...options } = this.#options;
    const model = changes.engine && changes.engine !== engine ? undefined : this.#model;
    const data: ChatData = { version: 1, messages: this.#history.all, turns: this.#turns };
    return new Chat({ engine, ...options, system: this.system, model, ...changes, data });
  }

  /** Removes the last turn from the history. */
  undo(): Turn | undefined {
    this.#rest();
    const turn = this.#turns.pop();
    if (!turn) return undefined;
    this.#history.cut(turn.from, turn.answered);
    return turn;
  }

  // ---- A turn

  /** `begin` returns the ids of calls of the previous turn that get their results now. */
  #reply(begin: () => string[], options: SendOptions): Reply {
    return new Reply(() => this.#turn(begin, options));
  }

  async *#turn(begin: () => string[], options: SendOptions): AsyncGenerator<ChatEvent, Turn, undefined> {
    this.#rest();
    const from = this.#history.all.length;
    const answered = begin();
    this.#busy = true;
    const abort = new AbortController();
    const forward = (): void => abort.abort();
    if (options.signal?.aborted) forward();
    const forget = onAbort(options.signal, forward);
    const steps: Step[] = [];
    const usage: Usage = {};
    const running: Promise<unknown>[] = [];
    let outcome: Outcome = { reason: "aborted", error: CANCELLED }; // unless `#steps` returns
    let turn: Turn;
    try {
      outcome = yield* this.#steps({ ...options, signal: abort.signal, steps, usage, running, isAnswered: this.#endsInResults });
    } finally {
      // Also reached when the caller stops reading the events.
      abort.abort();
      forget();
      await Promise.all(running);
      if (outcome.reason !== "tool-calls") this.#history.closeCalls("Not run: the turn was stopped.");
      const place = { from, to: this.#history.all.length, ...(answered.length > 0 ? { answered } : {}) };
      turn = { ...place, steps: steps.length, model: this.#model ?? "", ...outcome, usage };
      stepsOf.set(turn, steps);
      this.#turns.push(turn);
      this.#busy = false;
    }
    yield { type: "turn-end", turn };
    return turn;
  }

  async *#steps(turn: TurnState): AsyncGenerator<ChatEvent, Outcome, undefined> {
    const { maxSteps = MAX_STEPS, maxRepairs = MAX_REPAIRS } = this.#options;
    let repairs = 0;
    for (let n = 1; ; n++) {
      const { finish, asked } = yield* this.#step(turn);
      const broken = brokenOff(finish);
      if (asked.length === 0 || broken !== undefined) {
        this.#history.add(...asked.map((call) => failure(call, `Not run: ${broken}`)));
        return outcomeOf(finish);
      }
      const fates = yield* this.#run(asked, turn);
      if (turn.signal.aborted) return { reason: "aborted", error: CANCELLED };
      if (fates.some(({ type }) => type === "open")) return { reason: "tool-calls" };
      const mistakes = fates.filter((fate) => fate.type === "refused" && fate.mistake).length;
      turn.isAnswered ||= mistakes < fates.length;
      if (mistakes > 0 && ++repairs > maxRepairs) {
        return { reason: "error", error: { code: "malformed-call", message: `${repairs} answers had calls that cannot be run` } };
      }
      if (n >= maxSteps) return { reason: "max-steps" };
    }
  }

  /** Asks the model once, and adds its answer to the history even if it was cut short. */
  async *#step(turn: TurnState): AsyncGenerator<ChatEvent, { finish: Finished; asked: Asked[] }, undefined> {
    for (let tight = false; ; tight = true) {
      let request: Request;
      try {
        request = await this.#request(turn);
        const left = await this.#fit(request, tight, turn.signal);
        if (left !== undefined && left > 0) yield { type: "left-out", messages: left };
        if (left !== undefined) request = await this.#request(turn);
      } catch (error) {
        const finish: Finished = { reason: "error", error: turn.signal.aborted ? CANCELLED : explainError(error) };
        yield { type: "finish", ...finish };
        return { finish, asked: [] };
      }
      const { messages: _, ...settings } = request;
      turn.steps.push({ engine: this.#options.engine, settings, messages: this.#history.sent, count: this.#history.sent.length });
      const { finish, asked, silent } = yield* this.#listen(request, turn);
      // The server's context is smaller than we thought: once more, with fewer messages.
      if (silent && finish.error?.code === "context-length" && this.#options.context && !tight) continue;
      yield { type: "finish", ...finish };
      return { finish, asked };
    }
  }

  async *#listen(request: Request, turn: TurnState) {
    const ids = new FreshIds(this.history);
    const fold = createFold();
    try {
      const { engine, onWarning } = this.#options;
      const onAnswer = onWarning && (({ warnings }: Answer) => warnings.forEach(onWarning));
      for await (const raw of engine.generate(request, { signal: turn.signal, onAnswer, onWarning })) {
        const event = ids.fresh(raw);
        fold.add(event);
        if (event.type !== "finish") yield event;
      }
    } catch (error) {
      fold.add({ type: "finish", reason: "error", error: turn.signal.aborted ? CANCELLED : explainError(error) }); // no engine of ours throws
    } finally {
      const { usage = {} } = fold.response();
      for (const key of Object.keys(usage) as (keyof Usage)[]) turn.usage[key] = (turn.usage[key] ?? 0) + (usage[key] ?? 0);
      const content = contentOf(fold.response());
      if (content.length > 0) this.#history.add({ role: "assistant", content });
    }
    const { finish = { reason: "error", error: turn.signal.aborted ? CANCELLED : NO_FINISH } } = fold.response();
    const content = contentOf(fold.response());
    return { finish, asked: content.filter(isAsked), silent: content.length === 0 };
  }

  async *#run(asked: readonly Asked[], { signal, tools, running }: TurnState): AsyncGenerator<ChatEvent, Fate[], undefined> {
    const off = tools === false ? "tools are switched off for this turn. Answer in words." : undefined;
    const options = { tools: this.#tools.byName, approve: this.#options.approve, history: [...this.history], signal, off };
    const fates: Fate[] = [];
    for (const call of asked) fates.push(await decide(call, options));
    // All start before the first result is awaited. A result is added to the history at once, even if the caller stops reading.
    const coming = new Map<string, Promise<ToolResult>>();
    for (const fate of fates) {
      if (fate.type === "open") continue;
      const result = fate.type === "run" ? run(fate, options) : Promise.resolve(fate.result);
      const added = result.then((result) => this.#history.addResult(result));
      coming.set(fate.type === "run" ? fate.call.id : fate.result.id, added);
      running.push(added);
    }
    for (const fate of fates) if (fate.type === "run") yield { type: "tool-run", id: fate.call.id, name: fate.call.name };
    while (coming.size > 0) {
      const { role: _, ...result } = await Promise.race(coming.values());
      coming.delete(result.id);
      yield { type: "tool-result", ...result };
    }
    return fates;
  }

  // ---- Requests

  async #request({ tools, signal, isAnswered = this.#endsInResults }: Partial<TurnState> = {}): Promise<Request> {
    const { engine, thinking, sampling, maxTokens, stop, toolChoice, parallelCalls, output, extra } = this.#options;
    this.#model ??= (await unlessAborted(signal, engine.models({ signal })))[0]?.id ?? "default";
    const set = { thinking, sampling, maxTokens, stop, parallelCalls, output, extra };
    // Tools that were declared before stay declared: prompts are cached by their beginning, and some servers refuse calls of unknown tools.
    await unlessAborted(signal, this.#tools.refresh());
    const known = this.tools;
    const choice: ToolChoice | undefined = tools === false ? "none" : toolChoice && isAnswered ? loosened(toolChoice) : toolChoice;
    const declared = known.length > 0 && (tools !== false || this.history.some(({ role }) => role === "tool"));
    return {
      model: this.#model,
      stream: "sse",
      ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)),
      ...(declared ? { tools: known.map(({ tool }) => tool) } : {}),
      ...(declared && choice ? { toolChoice: choice } : {}),
      messages: this.#withSystem(this.#history.sent),
    };
  }

  get #endsInResults(): boolean {
    return this.#history.sent.at(-1)?.role === "tool";
  }

  #withSystem(messages: readonly Message[]): Message[] {
    const { system } = this;
    return system === undefined ? [...messages] : [{ role: "system", content: [{ type: "text", text: system }] }, ...messages];
  }

  /**
   * Leaves out what the context has no room for. Returns how many messages that were, or `undefined` if nothing changed. `tight`: the
   * server has just refused the request as too long.
   */
  async #fit(request: Request, tight: boolean, signal: AbortSignal): Promise<number | undefined> {
    const { context, engine, maxTokens } = this.#options;
    if (!context) return undefined;
    const { limit, policy = dropOldest } = context;
    const room = limit - Math.min(maxTokens ?? limit * ANSWER_SHARE, limit / 2);
    if (!tight && estimateTokens(request) * 2 < room) return undefined; // far from the limit: no need to count
    const { tokens } = await unlessAborted(signal, engine.countTokens(request, { signal }));
    if (!tight && tokens <= room) return undefined;
    const around = estimateTokens({ ...request, messages: this.#withSystem([]) });
    const goal = tight ? Math.min(room, tokens) / 2 : room;
    const left = { tokens: Math.max(goal - around, 0), signal };
    const blocks = await unlessAborted(signal, policy(blocksOf(this.#history.sent, Math.max(tokens - around, 1)), left));
    return this.#history.send(blocks.flatMap(({ messages }) => messages));
  }

  /** For a turn of a loaded conversation: what this chat would send for it now. */
  async #stepOf(turn: Turn, step: number): Promise<Step> {
    if (!this.#turns.includes(turn)) throw new Error("this turn does not belong to the chat; chat.turns lists its turns");
    const answers = this.history.flatMap(({ role }, i) => (role === "assistant" && i >= turn.from && i < turn.to ? [i] : []));
    const { messages: _, ...settings } = await this.#request();
    return { engine: this.#options.engine, settings, messages: this.history, count: answers.at(step) ?? turn.to };
  }

  #rest(): void {
    if (this.#busy) throw new Error("a turn is still running: read its events to the end, or abort it");
  }
}

/** A required call is required only until one has succeeded: otherwise the model could never answer without a call. */
function loosened(choice: ToolChoice): ToolChoice {
  if (typeof choice === "string") return choice === "required" ? "auto" : choice;
  return "name" in choice ? "auto" : { allowed: choice.allowed };
}

interface TurnState extends SendOptions {
  readonly signal: AbortSignal;
  readonly steps: Step[];
  readonly usage: Usage;
  /** Settled when every tool that was started has its result in the history. */
  readonly running: Promise<unknown>[];
  /** The model already has the result of a valid call, so a required call was made. */
  isAnswered: boolean;
}
