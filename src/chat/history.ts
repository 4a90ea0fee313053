/**
 * All that was said in a chat, and what of it is sent. Every call has its result before the model is asked again: calls that are left open
 * get one that says why.
 */
import type { Message, ToolResult } from "../core/nouns.ts";
import { type Asked, failure, isAsked, resultOf } from "./run.ts";
import { ToolAnswer } from "./tool.ts";

/** The result of a call whose tool has no `run`. */
export type OpenResult = Pick<ToolResult, "id" | "output" | "media" | "isError">;

export class History {
  readonly all: Message[];
  /** What is sent: all of it, or what a policy has left of it and all that came since. */
  #sent: Message[];

  constructor(messages: readonly Message[] = []) {
    this.all = structuredClone([...messages]);
    this.#sent = [...this.all];
  }

  get sent(): readonly Message[] {
    return this.#sent;
  }

  add(...messages: Message[]): void {
    this.all.push(...messages);
    this.#sent.push(...messages);
  }

  /** From now on this is sent in place of what was; answers how many messages fewer these are. */
  send(messages: readonly Message[]): number {
    const before = this.#sent.length;
    this.#sent = [...messages];
    return Math.max(before - messages.length, 0);
  }

  /** Leaves so many messages, not counting the results of these calls, which go as well. */
  cut(length: number, answered: readonly string[] = []): void {
    const rest = this.all.slice(0, length + answered.length);
    this.all.splice(0, this.all.length, ...rest.filter((message) => message.role !== "tool" || !answered.includes(message.id)));
    this.#sent = [...this.all];
  }

  /** The calls that have no result yet get one that says why. Gives their ids, as `addResults` does. */
  closeCalls(why: string): string[] {
    return this.#insert(this.#openCalls().map((call) => failure(call, why)));
  }

  /** The ids of calls that wait for a result. */
  get waiting(): (string | undefined)[] {
    return this.#openCalls().map(({ id }) => id);
  }

  addResult(result: ToolResult): ToolResult {
    this.#insert([result]);
    return result;
  }

  addResults(results: readonly OpenResult[]): string[] {
    if (!Array.isArray(results)) throw new Error("the results are a list, like [{ id, output }]");
    const open = this.#openCalls();
    const given = new Map(results.map((result) => [result.id, result]));
    const missing = open.filter(({ id }) => !given.has(id ?? ""));
    if (open.length === 0) throw new Error("no call waits for a result");
    if (missing.length > 0 || given.size !== open.length || results.length !== given.size)
      throw new Error(`each of these calls needs one result: ${this.waiting.join(", ")}`);
    return this.#insert(
      open.flatMap((call) => {
        const result = given.get(call.id ?? "");
        return call.type === "tool-call" && result ? [resultOf(call, new ToolAnswer(result.output, result))] : [];
      }),
    );
  }

  /** Results stand behind their answer in the order of its calls, also where some tools ran here and others elsewhere. */
  #insert(results: readonly ToolResult[]): string[] {
    if (results.length === 0) return [];
    const order = this.#lastAnswer().asked.map(({ id }) => id);
    for (const list of [this.all, this.#sent]) {
      const from = list.findLastIndex(({ role }) => role === "assistant") + 1;
      const behind = list.findIndex(({ role }, i) => i >= from && role !== "tool");
      const there = list.slice(from, behind < 0 ? undefined : behind).filter((message) => message.role === "tool");
      list.splice(from, there.length, ...[...there, ...results].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id)));
    }
    return results.map(({ id }) => id);
  }

  #openCalls(): Asked[] {
    const { asked, since } = this.#lastAnswer();
    const answered = new Set(since.map((message) => (message.role === "tool" ? message.id : undefined)));
    return asked.filter(({ id }) => !answered.has(id));
  }

  /** The calls of the last answer, and the messages behind it. */
  #lastAnswer(): { asked: Asked[]; since: Message[] } {
    const last = this.all.findLastIndex(({ role }) => role === "assistant");
    const answer = this.all[last];
    return { asked: answer?.role === "assistant" ? answer.content.filter(isAsked) : [], since: this.all.slice(last + 1) };
  }
}
