/**
 * A conversation with a model that uses tools, over any engine:
 *
 *     const chat = createChat({ engine, tools: [paint], system: "You paint pages." });
 *     for await (const event of chat.send("make it red")) if (event.type === "text") process.stdout.write(event.text);
 *
 * One `send` is a turn: the model is asked, its calls run, it sees their results and is asked again, until it answers in words. However a turn
 * ends, the history holds what was said, and every call in it has its result.
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
  /** Unsaid: the first that the engine has. */
  model?: string | undefined;
  /** Tools, and sets of them: MCP servers. */
  tools?: readonly (ChatTool | ToolSet)[] | undefined;
  system?: string | undefined;
  /** A conversation to go on with; its system text holds unless another is given. */
  data?: ChatData | undefined;
  /** How often the model is asked in one turn, at most. */
  maxSteps?: number | undefined;
  /** How many answers in one turn may have calls that no tool takes; each gets a result that says what was wrong. */
  maxRepairs?: number | undefined;
  /** Asked before a tool runs, one call after the other. */
  approve?: Approve | undefined;
  /** Unsaid: everything is always sent. */
  context?: ContextSettings | undefined;
  /** Hears what the model's server was not told, or did not do, though the request says so. */
  onWarning?: ((warning: Warning) => void) | undefined;
}

/** What every request of a chat says beside the conversation. */
export type RequestSettings = {
  [Key in "thinking" | "sampling" | "maxTokens" | "stop" | "toolChoice" | "parallelCalls" | "output" | "extra"]?: Request[Key] | undefined;
};

export interface SendOptions {
  /** Ends the turn; what was said until then stays. */
  signal?: AbortSignal | undefined;
  /** `false`: the model answers in words, this time. */
  tools?: false | undefined;
}

/** What the model says, step by step, each with a `finish`; between the steps, what the tools do; last, what the turn came to. */
export type ChatEvent =
  | Event
  | { type: "tool-run"; id: string; name: string }
  | ({ type: "tool-result" } & Omit<ToolResult, "role">)
  /** The conversation outgrew the context: so many of its messages are not sent from now on. */
  | { type: "left-out"; messages: number }
  | { type: "turn-end"; turn: Turn };

/** What a step asked: the request, and, of an engine that can tell, what it made of it. */
export interface Asking {
  request: Request;
  sent?: Preview;
}

const MAX_STEPS = 24;
const MAX_REPAIRS = 3;
/** Of the context, for the answer, where the request does not limit it. */
const ANSWER_SHARE = 0.25;

export function createChat(options: ChatOptions): Chat {
  return new Chat(options);
}

/** What a step sent. The list of messages only grows, so its length then is all there is to remember. */
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
    if (data && data.version !== 1) throw new Error("the data of a chat are what chat.save() gave: readChat(JSON.parse(text)) reads them");
    this.#options = options;
    this.#tools = new Toolbox(tools);
    this.system = options.system ?? data?.system;
    this.#history = new History(data?.messages);
    this.#turns = [...(data?.turns ?? [])];
    this.#model = model;
  }

  /** All that was said, the system text aside. Plain data. */
  get history(): readonly Message[] {
    return this.#history.all;
  }

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** As they are now. */
  get tools(): readonly ChatTool[] {
    return [...this.#tools.byName.values()];
  }

  /** Nothing happens until the events are read, or `text()` or `turn()` of the reply is awaited. */
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

  /** Goes on with the results of the calls that a turn ended at: reason `tool-calls`. */
  answer(results: readonly OpenResult[], options: SendOptions = {}): Reply {
    return this.#reply(() => this.#history.addResults(results), options);
  }

  /** Asks again without new words: after an error, or after `max-steps`. */
  resume(options: SendOptions = {}): Reply {
    return this.#reply(() => {
      const { waiting } = this.#history;
      if (waiting.length > 0) throw new Error(`these calls wait for chat.answer: ${waiting.join(", ")}`);
      return [];
    }, options);
  }

  /** The exact prompt of a turn's last step, or of another, where the engine renders one; what its server was sent otherwise. */
  async promptOf(turn: Turn | undefined = this.#turns.at(-1), step = -1): Promise<Asking> {
    if (!turn) throw new Error("there is no turn yet");
    const steps = Math.max(turn.steps, 1);
    if (step >= steps || step < -steps) throw new Error(`the turn has no step ${step}: it has ${turn.steps}`);
    const { engine, settings, messages, count } = stepsOf.get(turn)?.at(step) ?? (await this.#stepOf(turn, step));
    const request: Request = { ...settings, messages: this.#withSystem(messages.slice(0, count)) };
    return engine.preview ? { request, sent: await engine.preview(request) } : { request };
  }

  /** A copy of the conversation, as data. */
  save(): ChatData {
    const { system } = this;
    return structuredClone({
      version: 1,
      ...(system === undefined ? {} : { system }),
      messages: this.#history.all,
      turns: this.#turns,
    } satisfies ChatData);
  }

  /** Another chat that begins with this conversation; with another engine, it is handed over to another model. */
  fork(changes: Partial<Omit<ChatOptions, "data">> = {}): Chat {
    const { engine, model: _, ...options } = this.#options;
    const model = changes.engine && changes.engine !== engine ? undefined : this.#model;
    const data: ChatData = { version: 1, messages: this.#history.all, turns: this.#turns };
    return new Chat({ engine, ...options, system: this.system, model, ...changes, data });
  }

  /** Takes the last turn back, as if it had never been. */
  undo(): Turn | undefined {
    this.#rest();
    const turn = this.#turns.pop();
    if (!turn) return undefined;
    this.#history.cut(turn.from, turn.answered);
    return turn;
  }

  // ---- A turn

  /** `begin` says which calls of the turn before have got their results. */
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
    let outcome: Outcome = { reason: "aborted", error: CANCELLED }; // unless the turn comes to its end
    let turn: Turn;
    try {
      outcome = yield* this.#steps({ ...options, signal: abort.signal, steps, usage, running, isAnswered: this.#endsInResults });
    } finally {
      // Also reached when whoever reads the events stops reading.
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
        return { reason: "error", error: { code: "malformed-call", message: `${repairs} answers had calls that no tool takes` } };
      }
      if (n >= maxSteps) return { reason: "max-steps" };
    }
  }

  /** Asks the model once, and adds what it said to the history, be it ever so short. */
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
      // The server knows its limit better than we did: once more, with less.
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
    // All of them begin before the first result is waited for. A result stands in the history as soon as it is there, whoever listens.
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
   * Leaves out what the context has no room for; says how many messages that were, or `undefined` where all is sent as it was. `tight`: the
   * server has just said that it is too much.
   */
  async #fit(request: Request, tight: boolean, signal: AbortSignal): Promise<number | undefined> {
    const { context, engine, maxTokens } = this.#options;
    if (!context) return undefined;
    const { limit, policy = dropOldest } = context;
    const room = limit - Math.min(maxTokens ?? limit * ANSWER_SHARE, limit / 2);
    if (!tight && estimateTokens(request) * 2 < room) return undefined; // no need to count
    const { tokens } = await unlessAborted(signal, engine.countTokens(request, { signal }));
    if (!tight && tokens <= room) return undefined;
    const around = estimateTokens({ ...request, messages: this.#withSystem([]) });
    const goal = tight ? Math.min(room, tokens) / 2 : room;
    const left = { tokens: Math.max(goal - around, 0), signal };
    const blocks = await unlessAborted(signal, policy(blocksOf(this.#history.sent, Math.max(tokens - around, 1)), left));
    return this.#history.send(blocks.flatMap(({ messages }) => messages));
  }

  /** For a turn that another process had: what this chat would send now. */
  async #stepOf(turn: Turn, step: number): Promise<Step> {
    if (!this.#turns.includes(turn)) throw new Error("this is no turn of the chat: chat.turns has them");
    const answers = this.history.flatMap(({ role }, i) => (role === "assistant" && i >= turn.from && i < turn.to ? [i] : []));
    const { messages: _, ...settings } = await this.#request();
    return { engine: this.#options.engine, settings, messages: this.history, count: answers.at(step) ?? turn.to };
  }

  #rest(): void {
    if (this.#busy) throw new Error("a turn is under way: read its events to the end, or abort it");
  }
}

/** A call that must be is made once, and well: a model that had to make one at every step could never answer in words. */
function loosened(choice: ToolChoice): ToolChoice {
  if (typeof choice === "string") return choice === "required" ? "auto" : choice;
  return "name" in choice ? "auto" : { allowed: choice.allowed };
}

interface TurnState extends SendOptions {
  readonly signal: AbortSignal;
  readonly steps: Step[];
  readonly usage: Usage;
  /** Ends with the tools that have begun: each has a result, whoever waits for it. */
  readonly running: Promise<unknown>[];
  /** A call was good, and the model has its result: it need not make another. */
  isAnswered: boolean;
}
