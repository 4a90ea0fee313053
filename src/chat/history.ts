/**
 * The messages of a chat, and which of them are sent. Every call has a result before the model is asked again: a call that was left open
 * gets an error result that says why.
 */
import type { Message, ToolResult } from "../core/nouns.ts";
import { type Asked, failure, isAsked, resultOf } from "./run.ts";
import { ToolAnswer } from "./tool.ts";

/** The result of a call whose tool has no `run`. */
export type OpenResult = Pick<ToolResult, "id" | "output" | "media" | "isError">;

export class History {
  readonly all: Message[];
  /** What is sent: all messages, or what a policy kept and everything added since. */
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

  /** Replaces what is sent from now on; returns by how many messages it became shorter. */
  send(messages: readonly Message[]): number {
    const before = this.#sent.length;
    this.#sent = [...messages];
    return Math.max(before - messages.length, 0);
  }

  /** Keeps the first `length` messages, not counting the results of the calls in `answered`, which are removed too. */
  cut(length: number, answered: readonly string[] = []): void {
    const rest = this.all.slice(0, length + answered.length);
    this.all.splice(0, this.all.length, ...rest.filter((message) => message.role !== "tool" || !answered.includes(message.id)));
    this.#sent = [...this.all];
  }

  /** Gives every call without a result an error result that says why. Returns the ids of these calls, as `addResults` does. */
  closeCalls(why: string): string[] {
    return this.#insert(this.#openCalls().map((call) => failure(call, why)));
  }

  /** The ids of calls without a result. */
  get waiting(): (string | undefined)[] {
    return this.#openCalls().map(({ id }) => id);
  }

  addResult(result: ToolResult): ToolResult {
    this.#insert([result]);
    return result;
  }

  addResults(results: readonly OpenResult[]): string[] {
    if (!Array.isArray(results)) throw new Error("the results must be a list like [{ id, output }]");
    const open = this.#openCalls();
    const given = new Map(results.map((result) => [result.id, result]));
    if (open.length === 0) throw new Error("no call is waiting for a result");
    if (open.some(({ id }) => !given.has(id ?? "")) || given.size !== open.length || results.length !== given.size)
      throw new Error(`each of these calls needs one result: ${this.waiting.join(", ")}`);
    return this.#insert(
      open.flatMap((call) => {
        const result = given.get(call.id ?? "");
        return call.type === "tool-call" && result ? [resultOf(call, new ToolAnswer(result.output, result))] : [];
      }),
    );
  }

  /** Inserts results after the last answer, in the order of its calls, even if they arrive in another order. */
  #insert(results: readonly ToolResult[]): string[] {
    if (results.length === 0) return [];
    const order = this.#lastAnswer().asked.map(({ id }) => id);
    for (const list of [this.all, this.#sent]) {
      const from = list.findLastIndex(({ role }) => role === "assistant") + 1;
      const after = list.findIndex(({ role }, i) => i >= from && role !== "tool");
      const there = list.slice(from, after < 0 ? undefined : after).filter((message) => message.role === "tool");
      list.splice(from, there.length, ...[...there, ...results].sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id)));
    }
    return results.map(({ id }) => id);
  }

  #openCalls(): Asked[] {
    const { asked, since } = this.#lastAnswer();
    const answered = new Set(since.map((message) => (message.role === "tool" ? message.id : undefined)));
    return asked.filter(({ id }) => !answered.has(id));
  }

  /** The calls of the last answer, and the messages after it. */
  #lastAnswer(): { asked: Asked[]; since: Message[] } {
    const last = this.all.findLastIndex(({ role }) => role === "assistant");
    const answer = this.all[last];
    return { asked: answer?.role === "assistant" ? answer.content.filter(isAsked) : [], since: this.all.slice(last + 1) };
  }
}
