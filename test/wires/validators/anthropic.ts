// Anthropic Messages, from its documentation and the types of @anthropic-ai/sdk 1.8, with the settings that Claude Code sends under a beta
// header.
import {
  anything,
  base64,
  between,
  both,
  type Check,
  completeCall,
  count,
  either,
  filled,
  flag,
  isRecord,
  json,
  jsonSchema,
  list,
  listOf,
  matching,
  nothing,
  nullable,
  object,
  oneOf,
  positive,
  readSse,
  record,
  recordsOf,
  tagged,
  text,
  url,
  when,
} from "./check.ts";

const ID = matching(/^[a-zA-Z0-9_-]+$/);
const NAME = matching(/^[a-zA-Z0-9_-]{1,128}$/);
const cached = { cache_control: nullable(object({ type: oneOf("ephemeral") }, { ttl: oneOf("5m", "1h") })) };
const cited = { citations: nullable(either(object({}, { enabled: flag }), list(record))) };

// Requests

const textBlock = object({ type: anything, text: matching(/\S/) }, { ...cached, ...cited });
const imageBlock = object(
  {
    type: anything,
    source: tagged("type", {
      base64: object({ type: anything, media_type: oneOf("image/jpeg", "image/png", "image/gif", "image/webp"), data: base64 }),
      url: object({ type: anything, url }),
      file: object({ type: anything, file_id: filled }),
    }),
  },
  { ...cached, transformations: nullable(record) },
);
const documentBlock = object(
  {
    type: anything,
    source: tagged("type", {
      base64: object({ type: anything, media_type: oneOf("application/pdf"), data: base64 }),
      text: object({ type: anything, media_type: oneOf("text/plain"), data: text }),
      content: object({ type: anything, content: either(text, list(record)) }),
      url: object({ type: anything, url }),
      file: object({ type: anything, file_id: filled }),
    }),
  },
  { ...cached, ...cited, context: nullable(text), title: nullable(text) },
);
const results: Record<string, Check> = {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: object({ type: anything, content: list(textBlock), source: text, title: text }, { ...cached, ...cited }),
  tool_reference: object({ type: anything, tool_name: filled }, cached),
};
const toolResult = object(
  { type: anything, tool_use_id: ID },
  { content: either(text, list(tagged("type", results))), is_error: flag, toolset_name: nullable(text), ...cached },
);
const toolUse = object({ type: anything, id: ID, name: NAME, input: record }, { ...cached, caller: record, toolset_name: nullable(text) });
const userBlocks = tagged("type", {
  text: textBlock,
  image: imageBlock,
  document: documentBlock,
  search_result: record,
  tool_result: toolResult,
});
const assistantBlocks = tagged("type", {
  text: textBlock,
  thinking: object({ type: anything, thinking: text, signature: text }),
  redacted_thinking: object({ type: anything, data: filled }),
  tool_use: toolUse,
  ...Object.fromEntries(
    ["server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "tool_search_tool_result"].map((type) => [type, record]),
  ),
});
const effort = { output_config: record };
const messages = tagged("role", {
  user: object({ role: anything, content: either(filled, list(userBlocks, 1)) }),
  assistant: object({ role: anything, content: either(filled, list(assistantBlocks, 1)) }),
  system: object({ role: anything, content: either(filled, list(textBlock, 1)) }, effort),
});
const schema = both(
  jsonSchema,
  when((value) => value.type !== "object", 'must have the type "object"'),
  when((value) => ["anyOf", "oneOf", "allOf"].some((key) => key in value), "may not be a union"),
);
const tools = tagged(
  "type",
  Object.fromEntries(
    `web_search_20250305 web_search_20260209 web_search_20260318 bash_20241022 bash_20250124 text_editor_20250124 text_editor_20250728
      memory_20250818 computer_20251124`
      .split(/\s+/)
      .map((type) => [type, record]),
  ),
  object(
    { name: NAME, input_schema: schema },
    {
      type: nullable(oneOf("custom")),
      description: text,
      strict: flag,
      defer_loading: flag,
      eager_input_streaming: nullable(flag),
      input_examples: list(record),
      allowed_callers: list(text),
      ...cached,
    },
  ),
);
const serial = { disable_parallel_tool_use: flag };
const choice = tagged("type", {
  auto: object({ type: anything }, serial),
  any: object({ type: anything }, serial),
  tool: object({ type: anything, name: NAME }, serial),
  none: object({ type: anything }),
});
const display = { display: nullable(oneOf("summarized", "omitted")) };
const thinking = tagged("type", {
  enabled: object({ type: anything, budget_tokens: between(1024, Number.MAX_SAFE_INTEGER) }, display),
  adaptive: object({ type: anything }, display),
  between_tools: object({ type: anything }),
  disabled: object({ type: anything }),
});
const format = object({ type: oneOf("json_schema"), schema: jsonSchema });

const shared = {
  cache_control: nullable(record),
  context_management: nullable(record),
  output_config: object({}, { effort: nullable(oneOf("low", "medium", "high", "xhigh", "max")), format: nullable(format) }),
  system: either(text, list(textBlock, 1)),
  thinking,
  tool_choice: choice,
  tools: list(tools),
};
const body = object(
  { model: filled, messages: list(messages, 1), max_tokens: positive },
  {
    ...shared,
    metadata: object({}, { user_id: nullable(text) }),
    service_tier: oneOf("auto", "standard_only"),
    speed: nullable(oneOf("standard", "fast")),
    stop_sequences: list(matching(/\S/)),
    stream: flag,
    // Removed from the SDK's types in version 2026-10-21; the older API version accepts them.
    temperature: between(0, 1),
    top_p: between(0, 1),
    top_k: count,
  },
);
const countBody = object({ model: filled, messages: list(messages, 1) }, shared);

export const anthropicRequest: Check = (value, at) => [...body(value, at), ...(isRecord(value) ? rules(value, at) : [])];
export const anthropicCount: Check = (value, at) => [...countBody(value, at), ...(isRecord(value) ? rules(value, at) : [])];

const blocks = (message: Record<string, unknown> | undefined, type: string): Record<string, unknown>[] =>
  recordsOf(message?.content).filter((block) => block.type === type);

function rules(request: Record<string, unknown>, at: string): string[] {
  const complaints: string[] = [];
  const say = (what: string): number => complaints.push(`${at}${what}`);
  const said = recordsOf(request.messages).filter((message) => message.role !== "system");
  if (said[0]?.role !== "user") say(".messages must begin with the user");
  const turns = merged(said);
  for (const [i, turn] of turns.entries()) {
    const calls = blocks(turn, "tool_use").map((block) => block.id);
    const answers = turn.role === "assistant" ? blocks(turns[i + 1], "tool_result").map((block) => block.tool_use_id) : [];
    if (new Set(calls).size < calls.length) say(`.messages: a tool_use id stands twice in turn ${i}`);
    for (const id of calls)
      if (answers.filter((answer) => answer === id).length !== 1) say(`.messages: the tool_use ${id} has not one result right behind it`);
    for (const id of answers) if (!calls.includes(id)) say(`.messages: the tool_result ${id} answers nothing right before it`);
    if (turn.role === "user" && i === 0 && blocks(turn, "tool_result").length > 0) say(".messages begins with a tool_result");
    const types = recordsOf(turn.content).map((block) => block.type);
    const other = types.findIndex((type) => type !== "tool_result");
    if (other >= 0 && other < types.lastIndexOf("tool_result")) say(`.messages: in turn ${i} something stands before a tool_result`);
  }
  const names = recordsOf(request.tools).map((tool) => tool.name);
  for (const [i, name] of names.entries()) if (names.indexOf(name) < i) say(`.tools has ${name} twice`);
  const { tool_choice: choice, thinking, max_tokens: limit } = request;
  if (isRecord(choice) && choice.type !== "none" && names.length === 0) say(".tool_choice needs tools");
  if (isRecord(choice) && choice.name !== undefined && !names.includes(choice.name))
    say(`.tool_choice names ${choice.name}, which is no tool`);
  if (isRecord(thinking) && thinking.type === "enabled") {
    if (typeof limit === "number" && Number(thinking.budget_tokens) >= limit) say(".thinking.budget_tokens must be below max_tokens");
    if (isRecord(choice) && (choice.type === "any" || choice.type === "tool"))
      say(".tool_choice may not force a call while thinking is enabled");
    if (request.temperature !== undefined && request.temperature !== 1) say(".temperature must be 1 while thinking is enabled");
    if (request.top_k !== undefined) say(".top_k may not be set while thinking is enabled");
  }
  const marks = JSON.stringify(request).split('"cache_control":{').length - 1;
  if (marks > 4) say(` has ${marks} cache_control marks; 4 are allowed`);
  return complaints;
}

/** Consecutive messages of one role are one turn. */
function merged(list: readonly Record<string, unknown>[]): { role: unknown; content: unknown[] }[] {
  const turns: { role: unknown; content: unknown[] }[] = [];
  for (const { role, content } of list) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);
    const last = [turns.at(-1)].find((turn) => turn?.role === role);
    if (last) last.content.push(...blocks);
    else turns.push({ role, content: [...blocks] });
  }
  return turns;
}

// Streams

const counts = {
  cache_creation_input_tokens: nullable(count),
  cache_read_input_tokens: nullable(count),
  output_tokens_details: nullable(record),
  server_tool_use: nullable(record),
  cache_creation: nullable(record),
  service_tier: nullable(text),
  inference_geo: nullable(text),
  speed: nullable(text),
};
const startUsage = object({ input_tokens: count, output_tokens: count }, counts);
const endUsage = object({ output_tokens: count }, { ...counts, input_tokens: nullable(count) });
const STOP = oneOf("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded");
const messageStart = object(
  {
    id: filled,
    type: oneOf("message"),
    role: oneOf("assistant"),
    model: text,
    content: list(anything, 0, 0),
    stop_reason: nothing,
    stop_sequence: nothing,
    usage: startUsage,
  },
  { container: nullable(record), diagnostics: nullable(record), stop_details: nullable(record) },
);
const empty = oneOf("");
const startBlocks = tagged("type", {
  text: object({ type: anything, text: empty }, { citations: nullable(list(record)) }),
  thinking: object({ type: anything, thinking: empty, signature: empty }),
  redacted_thinking: object({ type: anything, data: filled }),
  tool_use: object({ type: anything, id: ID, name: filled, input: object({}) }, { caller: record, toolset_name: nullable(text) }),
  ...Object.fromEntries(
    ["server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "tool_search_tool_result"].map((type) => [type, record]),
  ),
});
const DELTAS: Record<string, { check: Check; block: RegExp }> = {
  text_delta: { check: object({ type: anything, text }), block: /^text$/ },
  citations_delta: { check: object({ type: anything, citation: record }), block: /^text$/ },
  thinking_delta: { check: object({ type: anything, thinking: text }, { estimated_tokens: count }), block: /^thinking$/ },
  signature_delta: { check: object({ type: anything, signature: text }), block: /^thinking$/ },
  input_json_delta: { check: object({ type: anything, partial_json: text }), block: /^(?:server_)?tool_use$/ },
};
const anthropicError = object(
  { type: oneOf("error"), error: object({ type: filled, message: filled }, { details: nullable(record) }) },
  { request_id: nullable(text) },
);
const events: Record<string, Check> = {
  message_start: object({ type: anything, message: messageStart }),
  content_block_start: object({ type: anything, index: count, content_block: startBlocks }),
  content_block_delta: object({ type: anything, index: count, delta: record }),
  content_block_stop: object({ type: anything, index: count }),
  message_delta: object(
    {
      type: anything,
      delta: object({ stop_reason: STOP, stop_sequence: nullable(text) }, { container: nullable(record), stop_details: nullable(record) }),
      usage: endUsage,
    },
    { context_management: nullable(record) },
  ),
  message_stop: object({ type: anything }),
  ping: object({ type: anything }),
  error: anthropicError,
};

export function anthropicStream(stream: string): string[] {
  const { frames, complaints } = readSse(stream);
  const calls: string[] = [];
  const types: string[] = [];
  let open: { type: string; json: string; signed: boolean } | undefined;
  let stop: unknown;
  let ended: string | undefined;
  let started = false;
  for (const [i, { event, data }] of frames.entries()) {
    const { value, complaints: unreadable } = json(data, `event ${i}`);
    complaints.push(...unreadable);
    if (!value) continue;
    const type = String(value.type);
    const at = `event ${i} (${type})`;
    const say = (what: string): number => complaints.push(`${at} ${what}`);
    if (ended) {
      say(`comes after ${ended}`);
      continue;
    }
    if (event !== type) say(`has the event line ${event}`);
    complaints.push(...(events[type]?.(value, at) ?? [`${at} is no event of this API`]));
    if (type === "ping") continue;
    if (type === "error") {
      ended = type;
      continue;
    }
    if (!started && type !== "message_start") say("comes before message_start");
    if (started && type === "message_start") say("comes again");
    started = true;
    if (stop !== undefined && type !== "message_stop") say("comes after message_delta");
    if (type === "content_block_start") {
      if (open) say("opens a block inside a block");
      if (value.index !== types.length) say(`has the index ${value.index} instead of ${types.length}`);
      open = { type: String(isRecord(value.content_block) ? value.content_block.type : ""), json: "", signed: false };
      types.push(open.type);
    } else if (type === "content_block_delta") {
      const delta = isRecord(value.delta) ? value.delta : {};
      const kind = DELTAS[String(delta.type)];
      if (!kind) {
        say(`has the delta ${delta.type}`);
        continue;
      }
      complaints.push(...kind.check(delta, `${at}.delta`));
      if (!open || value.index !== types.length - 1) {
        say("belongs to no open block");
        continue;
      }
      if (!kind.block.test(open.type)) say(`has a ${delta.type} in a ${open.type} block`);
      if (open.signed) say("comes after the signature");
      if (delta.type === "signature_delta") open.signed = true;
      open.json += String(delta.partial_json ?? "");
    } else if (type === "content_block_stop") {
      if (!open || value.index !== types.length - 1) {
        say("ends a block that is not open");
        continue;
      }
      if (open.type === "tool_use") calls.push(open.json);
      open = undefined;
    } else if (type === "message_delta") {
      stop = isRecord(value.delta) ? value.delta.stop_reason : undefined;
      // A truncated call may stay open: clients run whatever is stopped.
      if (open && !(open.type === "tool_use" && stop === "max_tokens")) say("leaves a block open");
    } else if (type === "message_stop") {
      if (stop === undefined) say("comes without message_delta");
      ended = type;
    }
  }
  if (!ended) complaints.push("the stream ends without message_stop");
  if (ended === "message_stop") {
    const cut = stop === "max_tokens" || stop === "model_context_window_exceeded";
    if (stop === "tool_use" && calls.length === 0) complaints.push("stop_reason is tool_use, and there is no tool_use block");
    if (stop === "end_turn" && calls.length > 0) complaints.push("stop_reason is end_turn, and there are tool_use blocks");
    const whole = cut && !open ? calls.slice(0, -1) : calls;
    complaints.push(...whole.flatMap((json, i) => completeCall(json, `tool_use ${i}`)));
  }
  return complaints;
}
