// What is played to every SDK: the events of an answer, and what any client must make of them.
import type { ErrorInfo, Event, FinishReason, JsonObject, Usage } from "../../src/core/nouns.ts";

export interface Scenario {
  readonly events: readonly Event[];
  readonly text?: string;
  readonly thinking?: string;
  /** The calls that a client may run. */
  readonly calls?: readonly Call[];
  readonly reason: FinishReason;
  /** The calls are complete, but the answer is not: a client may ignore them all. */
  readonly mayLeave?: true;
  /** What the error's message must contain. */
  readonly error?: string;
}

export interface Call {
  readonly name: string;
  readonly arguments: JsonObject;
}

export const usage: Required<Usage> = { inputTokens: 100, outputTokens: 20, thinkingTokens: 4, cachedTokens: 60, cacheWriteTokens: 30 };

const start: Event = { type: "start", id: "answer_1", model: "some-model" };
const counted: Event = { type: "usage", ...usage };
const say = (...texts: string[]): Event[] => texts.map((text) => ({ type: "text", text }));
const think = (...texts: string[]): Event[] => [
  { type: "thinking-start" },
  ...texts.map((text): Event => ({ type: "thinking-delta", text })),
  { type: "thinking-end" },
];
const finish = (reason: FinishReason): Event[] => [counted, { type: "finish", reason }];
const fail = (error: ErrorInfo): Event => ({ type: "finish", reason: "error", error });

const begin = (index: number, name: string): Event => ({ type: "tool-start", id: `call_a${index}`, index, name });
const pieces = (index: number, json: string): Event[] =>
  (json.match(/.{1,5}/gsu) ?? []).map((json) => ({ type: "tool-delta", id: `call_a${index}`, json }));
const call = (index: number, name: string, json: string): Event[] => [
  begin(index, name),
  ...pieces(index, json),
  { type: "tool-end", id: `call_a${index}`, index, name, arguments: JSON.parse(json) as JsonObject, json },
];
/** The answer ended inside this call; `json` is all that came. */
const cutCall = (index: number, name: string, json: string): Event[] => [
  begin(index, name),
  ...pieces(index, json),
  { type: "tool-end", id: `call_a${index}`, index, name, arguments: {}, truncated: true },
];

const written = {
  file_path: "notes/a b.txt",
  content: 'line 1\n\t"quoted" \\ } ] é 😀 \u2028 </tool_call>\n',
  lines: 2,
  deep: { a: [1.5, null, true] },
};
const write: Call = { name: "write_file", arguments: written };
const read: Call = { name: "read_file", arguments: { path: "b.txt" } };
const list: Call = { name: "list_files", arguments: {} };
const json = JSON.stringify(written);

const BUSY: ErrorInfo = { code: "overloaded", message: "all engines are busy" };
const UNREADABLE: ErrorInfo = { code: "malformed-call", message: "the model wrote a tool call that cannot be read" };
const raw = '{"name":"write_file","arguments":"{\\"file_path\\": oops"}';
const bad = { type: "malformed", raw, code: "bad-arguments", reason: "a value was expected" } as const;

export const scenarios = {
  text: { events: [start, ...say("Hello, ", "wörld 🌍", "\u2028!"), ...finish("stop")], text: "Hello, wörld 🌍\u2028!", reason: "stop" },
  thinking: {
    events: [start, ...think("Hm, ", "so."), ...say("Yes."), ...finish("stop")],
    thinking: "Hm, so.",
    text: "Yes.",
    reason: "stop",
  },
  "one-call": { events: [start, ...call(0, "write_file", json), ...finish("tool-calls")], calls: [write], reason: "tool-calls" },
  "call-without-arguments": {
    events: [start, ...call(0, "list_files", "{}"), ...finish("tool-calls")],
    calls: [list],
    reason: "tool-calls",
  },
  "call-without-deltas": {
    events: [start, begin(0, "read_file"), { type: "tool-end", id: "call_a0", index: 0, ...read }, ...finish("tool-calls")],
    calls: [read],
    reason: "tool-calls",
  },
  "parallel-calls": {
    events: [
      start,
      ...call(0, "write_file", json),
      ...call(1, "read_file", '{"path": "b.txt"}'),
      ...call(2, "list_files", "{}"),
      ...finish("tool-calls"),
    ],
    calls: [write, read, list],
    reason: "tool-calls",
  },
  "thinking-text-calls": {
    events: [
      start,
      ...think("I should write."),
      ...say("Writing."),
      ...call(0, "write_file", json),
      ...call(1, "list_files", "{}"),
      ...finish("tool-calls"),
    ],
    thinking: "I should write.",
    text: "Writing.",
    calls: [write, list],
    reason: "tool-calls",
  },
  interleaved: {
    events: [
      start,
      ...say("a"),
      ...think("b"),
      ...say("c"),
      ...think("d"),
      ...call(0, "read_file", '{"path":"b.txt"}'),
      ...say("e"),
      ...call(1, "list_files", "{}"),
      ...finish("tool-calls"),
    ],
    text: "ace",
    thinking: "bd",
    calls: [read, list],
    reason: "tool-calls",
  },
  "cut-text": { events: [start, ...say("Once upon"), ...finish("length")], text: "Once upon", reason: "length" },
  filtered: { events: [start, ...say("I "), ...finish("content-filter")], text: "I ", reason: "content-filter" },
  empty: { events: [start, ...finish("stop")], reason: "stop" },
  "cut-call": {
    events: [start, ...say("Writing."), ...cutCall(0, "write_file", json.slice(0, 60)), ...finish("length")],
    text: "Writing.",
    reason: "length",
  },
  "call-cut-before-its-arguments": { events: [start, ...cutCall(0, "list_files", ""), ...finish("length")], reason: "length" },
  "cut-call-that-looks-whole": { events: [start, ...cutCall(0, "list_files", "{}"), ...finish("length")], reason: "length" },
  "good-call-then-cut-call": {
    events: [start, ...call(0, "read_file", '{"path":"b.txt"}'), ...cutCall(1, "write_file", json.slice(0, 60)), ...finish("length")],
    calls: [read],
    mayLeave: true,
    reason: "length",
  },
  "malformed-call": {
    events: [start, ...say("Writing."), bad, counted, fail(UNREADABLE)],
    text: "Writing.",
    reason: "error",
    error: "cannot be read",
  },
  "call-that-turns-out-malformed": {
    events: [start, begin(0, "write_file"), ...pieces(0, '{"file_path": oops'), { ...bad, id: "call_a0" }, counted, fail(UNREADABLE)],
    reason: "error",
    error: "a value was expected|cannot be read",
  },
  "error-in-mid-stream": { events: [start, ...say("Wri"), fail(BUSY)], text: "Wri", reason: "error", error: BUSY.message },
  "error-inside-a-call": {
    events: [start, ...cutCall(0, "write_file", json.slice(0, 60)), fail(BUSY)],
    reason: "error",
    error: BUSY.message,
  },
  "connection-lost": { events: [start, ...say("Wri")], text: "Wri", reason: "error", error: "answer was terminated" },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof scenarios;

/** What each wire has a form of its own for. */
export const asides: Readonly<Record<string, readonly Event[]>> = {
  refusal: [start, { type: "refusal", text: "I " }, { type: "refusal", text: "cannot." }, ...finish("stop")],
  "stop-string": [start, ...say("Once"), counted, { type: "finish", reason: "stop", stop: "END" }],
};

/** The server's answer once the tools have run. */
export const done: readonly Event[] = [start, ...say("Done."), ...finish("stop")];

/** Errors with a status: the model's name is the code. */
export const errors = {
  "bad-request": { code: "bad-request", message: "no such field" },
  auth: { code: "auth", message: "who are you" },
  permission: { code: "permission", message: "not you" },
  "not-found": { code: "not-found", message: "no such model" },
  "context-length": { code: "context-length", message: "too long", tokens: { used: 9000, limit: 8192 } },
  "rate-limit": { code: "rate-limit", message: "slow down", retryAfterMs: 2000 },
  overloaded: BUSY,
  upstream: { code: "upstream", message: "it broke" },
  timeout: { code: "timeout", message: "it took too long" },
  internal: { code: "internal", message: "our fault" },
} as const satisfies Record<string, ErrorInfo>;

export type ErrorName = keyof typeof errors;

/** The tools that every client declares. */
export const toolNames = ["write_file", "read_file", "list_files"] as const;
export const parameters: { type: "object"; properties: { path: { type: "string"; description: string } } } = {
  type: "object",
  properties: { path: { type: "string", description: "Where." } },
};
