// OpenAI Responses, from its documentation and the types of openai 7.53.
import {
  anything,
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
  mapOf,
  matching,
  nullable,
  object,
  oneOf,
  parsed,
  positive,
  readSse,
  record,
  recordsOf,
  tagged,
  text,
  url,
  when,
} from "./check.ts";
import { strictSchema } from "./openai-chat.ts";

const NAME = matching(/^[a-zA-Z0-9_-]{1,64}$/);
const CALL_ID = matching(/^.{1,64}$/s);
const STATUS = oneOf("in_progress", "completed", "incomplete");
const EFFORT = oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max");
const cached = { prompt_cache_breakpoint: record };
/** The API refuses an item id without the prefix of its type. */
const idOf = (...prefixes: string[]): Check => matching(new RegExp(`^(?:${prefixes.join("|")})_?[A-Za-z0-9_-]+$`));
/** What codex sends beyond the public types. */
const passthrough = { internal_chat_message_metadata_passthrough: record };

// Requests

const inputs: Record<string, Check> = {
  input_text: object({ type: anything, text }, cached),
  input_image: both(
    object(
      { type: anything },
      { detail: oneOf("auto", "low", "high", "original"), image_url: nullable(url), file_id: nullable(filled), ...cached },
    ),
    when((part) => !part.image_url && !part.file_id, "needs image_url or file_id"),
  ),
  input_file: both(
    object({ type: anything }, { detail: text, file_data: url, file_url: url, file_id: nullable(filled), filename: filled, ...cached }),
    when((part) => !part.file_data && !part.file_url && !part.file_id, "needs file_data, file_url or file_id"),
  ),
};
const outputs: Record<string, Check> = {
  output_text: object({ type: anything, text }, { annotations: list(record), logprobs: list(record) }),
  refusal: object({ type: anything, refusal: text }),
};
const inputContent = either(text, list(tagged("type", inputs), 1));
const message = tagged("role", {
  assistant: object(
    { role: anything, content: either(text, list(tagged("type", outputs), 1)) },
    { type: oneOf("message"), id: idOf("msg"), status: STATUS, phase: nullable(text), ...passthrough },
  ),
  user: object({ role: anything, content: inputContent }, { type: oneOf("message"), id: idOf("msg"), status: STATUS, ...passthrough }),
  system: object({ role: anything, content: inputContent }, { type: oneOf("message"), id: idOf("msg"), status: STATUS, ...passthrough }),
  developer: object({ role: anything, content: inputContent }, { type: oneOf("message"), id: idOf("msg"), status: STATUS, ...passthrough }),
});
const result = either(text, list(tagged("type", inputs), 1));
const summary = list(object({ type: oneOf("summary_text"), text }));
const reasoning = list(object({ type: oneOf("reasoning_text"), text }));
const callMeta = { status: STATUS, namespace: text, async: flag, caller: nullable(record), ...passthrough };
/** Calls of tools that the API defines and the client runs. */
const natives = (fields: Record<string, Check>, more: Record<string, Check>): Record<string, Check> => ({
  local_shell_call: object(
    {
      ...fields,
      action: object(
        { type: oneOf("exec"), command: list(text), env: mapOf(text) },
        { timeout_ms: nullable(count), user: nullable(text), working_directory: nullable(text) },
      ),
    },
    more,
  ),
  shell_call: object(
    { ...fields, action: object({ commands: list(text), timeout_ms: nullable(count), max_output_length: nullable(count) }) },
    { ...more, environment: nullable(record) },
  ),
  apply_patch_call: object(
    { ...fields, operation: object({ type: oneOf("create_file", "update_file", "delete_file"), path: filled }, { diff: text }) },
    more,
  ),
  computer_call: object(fields, { ...more, action: record, actions: list(record), pending_safety_checks: list(record) }),
});
const items: Record<string, Check> = {
  message,
  function_call: object({ type: anything, call_id: CALL_ID, name: NAME, arguments: text }, { id: idOf("fc"), ...callMeta }),
  function_call_output: object(
    { type: anything, call_id: CALL_ID, output: result },
    {
      id: nullable(idOf("fc", "fco")),
      name: nullable(text),
      namespace: nullable(text),
      status: nullable(STATUS),
      caller: nullable(record),
      ...passthrough,
    },
  ),
  custom_tool_call: object({ type: anything, call_id: CALL_ID, name: NAME, input: text }, { id: idOf("ctc"), ...callMeta }),
  custom_tool_call_output: object(
    { type: anything, call_id: CALL_ID, output: result },
    { id: idOf("ctc", "ctco"), name: nullable(text), caller: nullable(record), ...passthrough },
  ),
  ...natives({ type: anything, call_id: CALL_ID }, { id: filled, status: STATUS, caller: nullable(record) }),
  local_shell_call_output: object({ type: anything, output: text }, { id: filled, call_id: CALL_ID, status: nullable(STATUS) }),
  shell_call_output: object(
    { type: anything, call_id: CALL_ID, output: list(object({ stdout: text, stderr: text, outcome: record })) },
    { id: filled, status: STATUS, max_output_length: nullable(count) },
  ),
  apply_patch_call_output: object(
    { type: anything, call_id: CALL_ID, status: oneOf("completed", "failed") },
    { id: filled, output: nullable(text) },
  ),
  computer_call_output: object(
    { type: anything, call_id: CALL_ID, output: object({ type: oneOf("computer_screenshot") }, { image_url: url, file_id: filled }) },
    { id: filled, status: STATUS, acknowledged_safety_checks: list(record) },
  ),
  // The AI SDK leaves the id out when nothing is stored.
  reasoning: object(
    { type: anything, summary },
    { id: idOf("rs"), content: nullable(reasoning), encrypted_content: nullable(text), status: STATUS, ...passthrough },
  ),
  item_reference: object({ type: anything, id: filled }),
};

const grammar = tagged("type", {
  text: object({ type: anything }),
  grammar: object({ type: anything, syntax: oneOf("lark", "regex"), definition: text }),
});
const lent = { allowed_callers: nullable(list(text)), async: flag, defer_loading: flag };
const functionTool = both(
  object(
    { type: anything, name: NAME, parameters: nullable(jsonSchema) },
    { strict: nullable(flag), description: nullable(text), output_schema: nullable(record), ...lent },
  ),
  (value, at) => (isRecord(value) && value.strict === true ? strictSchema(value.parameters, `${at}.parameters`) : []),
);
const customTool = object({ type: anything, name: NAME }, { description: text, format: grammar, ...lent });
const SERVER_TOOLS =
  `web_search web_search_preview file_search computer computer_use_preview mcp code_interpreter image_generation local_shell
  shell apply_patch tool_search programmatic_tool_calling`.split(/\s+/);
const tools = tagged("type", {
  function: functionTool,
  custom: customTool,
  namespace: object({
    type: anything,
    name: NAME,
    description: text,
    tools: list(tagged("type", { function: functionTool, custom: customTool }), 1),
  }),
  ...Object.fromEntries(SERVER_TOOLS.map((type) => [type, record])),
});
const named = tagged("type", { function: object({ type: anything, name: NAME }), custom: object({ type: anything, name: NAME }) }, record);
const choice = either(
  oneOf("none", "auto", "required"),
  tagged(
    "type",
    {
      function: named,
      custom: named,
      allowed_tools: object({ type: anything, mode: oneOf("auto", "required"), tools: list(named, 1) }),
    },
    record,
  ),
);
const format = tagged("type", {
  text: object({ type: anything }),
  json_object: object({ type: anything }),
  json_schema: both(
    object({ type: anything, name: NAME, schema: jsonSchema }, { description: text, strict: nullable(flag) }),
    (value, at) => (isRecord(value) && value.strict === true ? strictSchema(value.schema, `${at}.schema`) : []),
  ),
});

const body = object(
  { model: filled, input: either(text, list(tagged("type", items, message), 1)) },
  {
    include: nullable(list(text)),
    instructions: nullable(text),
    max_output_tokens: nullable(positive),
    max_tool_calls: nullable(positive),
    metadata: nullable(mapOf(text)),
    parallel_tool_calls: nullable(flag),
    previous_response_id: nullable(filled),
    prompt: nullable(record),
    prompt_cache_key: nullable(text),
    prompt_cache_options: record,
    prompt_cache_retention: nullable(oneOf("in_memory", "24h")),
    reasoning: nullable(
      object(
        {},
        {
          effort: nullable(EFFORT),
          summary: nullable(oneOf("auto", "concise", "detailed")),
          context: nullable(oneOf("auto", "current_turn", "all_turns")),
          mode: text,
        },
      ),
    ),
    safety_identifier: nullable(text),
    service_tier: nullable(text),
    store: nullable(flag),
    stream: nullable(flag),
    stream_options: nullable(object({}, { include_obfuscation: flag })),
    temperature: nullable(between(0, 2)),
    text: object({}, { format, verbosity: nullable(oneOf("low", "medium", "high")) }),
    tool_choice: choice,
    tools: list(tools, 0, 128),
    top_logprobs: nullable(between(0, 20)),
    top_p: nullable(between(0, 1)),
    truncation: nullable(oneOf("auto", "disabled")),
    user: text,
    client_metadata: record, // codex
  },
);

export const responsesRequest: Check = (value, at) => [...body(value, at), ...(isRecord(value) ? rules(value, at) : [])];

const NATIVE = /^(?:local_shell|shell|apply_patch|computer)_call(_output)?$/;

function rules(request: Record<string, unknown>, at: string): string[] {
  const input = recordsOf(request.input);
  const complaints: string[] = [];
  const open = new Map<unknown, string>();
  const ids = new Set<unknown>();
  for (const [i, item] of input.entries()) {
    const where = `${at}.input[${i}]`;
    if (item.id !== undefined && item.type !== "item_reference") {
      if (ids.has(item.id)) complaints.push(`${where}.id ${item.id} stands twice`);
      ids.add(item.id);
    }
    const native = NATIVE.exec(String(item.type));
    if (native) {
      if (!native[1]) open.set(item.call_id, "");
      else if (!open.delete(item.call_id ?? item.id)) complaints.push(`${where} is the result of nobody's call`);
    } else if (item.type === "function_call" || item.type === "custom_tool_call") {
      if (open.has(item.call_id)) complaints.push(`${where}.call_id ${item.call_id} is open already`);
      open.set(item.call_id, `${item.type}_output`);
    } else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      const wants = open.get(item.call_id);
      if (wants !== item.type && wants !== "")
        complaints.push(`${where} is the ${item.type} of ${item.call_id}, which ${wants ? `wants a ${wants}` : "nobody called before it"}`);
      open.delete(item.call_id);
    }
  }
  for (const id of open.keys()) complaints.push(`${at}.input has no output for the call ${id}`);
  const names = recordsOf(request.tools).flatMap((tool) => (tool.type === "namespace" ? [] : [tool.name]));
  const known = names.filter((name) => name !== undefined);
  complaints.push(...known.filter((name, i) => known.indexOf(name) < i).map((name) => `${at}.tools has ${name} twice`));
  const choice = request.tool_choice;
  if (isRecord(choice)) {
    const wanted = [choice, ...recordsOf(choice.tools)].map(({ name }) => name).filter((name) => name !== undefined);
    complaints.push(...wanted.filter((name) => !known.includes(name)).map((name) => `${at}.tool_choice names ${name}, which is no tool`));
  }
  return complaints;
}

// Streams

const part = tagged("type", { ...outputs, reasoning_text: object({ type: anything, text }) });
const outputText = object({ type: anything, text, annotations: list(record) }, { logprobs: list(record) });
const outputItem = tagged("type", {
  message: object(
    {
      type: anything,
      id: filled,
      role: oneOf("assistant"),
      status: STATUS,
      content: list(tagged("type", { output_text: outputText, refusal: record })),
    },
    { phase: nullable(text) },
  ),
  reasoning: object(
    { type: anything, id: filled, summary },
    { content: nullable(reasoning), encrypted_content: nullable(text), status: nullable(STATUS) },
  ),
  function_call: object(
    { type: anything, id: filled, call_id: filled, name: filled, arguments: text, status: STATUS },
    { namespace: text },
  ),
  custom_tool_call: object({ type: anything, id: filled, call_id: filled, name: filled, input: text }, { status: STATUS, namespace: text }),
  ...natives({ type: anything, id: filled, call_id: filled, status: STATUS }, {}),
});
const usage = object({
  input_tokens: count,
  input_tokens_details: mapOf(count),
  output_tokens: count,
  output_tokens_details: mapOf(count),
  total_tokens: count,
});
const RESPONSE_FIELDS = { id: filled, object: oneOf("response"), created_at: count, model: text, output: list(outputItem) };
const RESPONSE_REST = {
  error: nullable(object({ code: filled, message: filled }, { type: nullable(text), param: nullable(text) })),
  incomplete_details: nullable(object({ reason: oneOf("max_output_tokens", "content_filter") })),
  usage: nullable(usage),
};
/** The request's settings are echoed, in the request's shape. */
const ECHOED = `instructions metadata parallel_tool_calls temperature tool_choice tools top_p background completed_at conversation
  max_output_tokens max_tool_calls previous_response_id prompt prompt_cache_key reasoning safety_identifier service_tier store text
  top_logprobs truncation user output_text access_programs`;
const ECHO = Object.fromEntries(ECHOED.split(/\s+/).map((key) => [key, anything]));
const responseIs = (...statuses: string[]): Check =>
  object({ ...RESPONSE_FIELDS, status: oneOf(...statuses) }, { ...RESPONSE_REST, ...ECHO });

const about = { type: anything, sequence_number: count, item_id: filled, output_index: count };
const inContent = { ...about, content_index: count };
const inSummary = { ...about, summary_index: count };
const logged = { logprobs: list(record), obfuscation: text };
const events: Record<string, Check> = {
  "response.created": object({ type: anything, sequence_number: count, response: responseIs("in_progress", "queued") }),
  "response.in_progress": object({ type: anything, sequence_number: count, response: responseIs("in_progress") }),
  "response.completed": object({ type: anything, sequence_number: count, response: responseIs("completed") }),
  "response.incomplete": object({ type: anything, sequence_number: count, response: responseIs("incomplete") }),
  "response.failed": object({ type: anything, sequence_number: count, response: responseIs("failed") }),
  "response.output_item.added": object({ type: anything, sequence_number: count, output_index: count, item: outputItem }),
  "response.output_item.done": object({ type: anything, sequence_number: count, output_index: count, item: outputItem }),
  "response.content_part.added": object({ ...inContent, part }),
  "response.content_part.done": object({ ...inContent, part }),
  "response.output_text.delta": object({ ...inContent, delta: text }, logged),
  "response.output_text.done": object({ ...inContent, text }, logged),
  "response.refusal.delta": object({ ...inContent, delta: text }),
  "response.refusal.done": object({ ...inContent, refusal: text }),
  "response.reasoning_text.delta": object({ ...inContent, delta: text }),
  "response.reasoning_text.done": object({ ...inContent, text }),
  "response.reasoning_summary_part.added": object({ ...inSummary, part: object({ type: oneOf("summary_text"), text }) }),
  "response.reasoning_summary_part.done": object({ ...inSummary, part: object({ type: oneOf("summary_text"), text }) }, { status: text }),
  "response.reasoning_summary_text.delta": object({ ...inSummary, delta: text }, { obfuscation: text }),
  "response.reasoning_summary_text.done": object({ ...inSummary, text }),
  "response.function_call_arguments.delta": object({ ...about, delta: text }, { obfuscation: text }),
  "response.function_call_arguments.done": object({ ...about, arguments: text }, { name: text }),
  "response.custom_tool_call_input.delta": object({ ...about, delta: text }, { obfuscation: text }),
  "response.custom_tool_call_input.done": object({ ...about, input: text }),
  // Flat in the SDKs' types, but nested in an object on the wire.
  error: object({ type: anything, sequence_number: count, code: nullable(text), message: filled, param: nullable(text), error: record }),
};
const ENDS = ["response.completed", "response.incomplete", "response.failed"];

interface OpenItem {
  id: unknown;
  type: unknown;
  /** The text of the deltas, by their event stem and the index inside the item. */
  said: Map<string, string>;
  finished: Set<string>;
}

export function responsesStream(stream: string): string[] {
  const { frames, complaints } = readSse(stream);
  const done: unknown[] = [];
  let open: OpenItem | undefined;
  let index = 0;
  let ended: string | undefined;
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
    if (value.sequence_number !== i) say(`has the sequence_number ${value.sequence_number}`);
    complaints.push(...(events[type]?.(value, at) ?? [`${at} is no event of this API`]));
    if ((i === 0) !== (type === "response.created")) say(i === 0 ? "is the first" : "comes again");
    if (type === "response.output_item.added") {
      if (open) say("opens an item inside an item");
      if (value.output_index !== index) say(`has the output_index ${value.output_index} instead of ${index}`);
      const item = isRecord(value.item) ? value.item : {};
      open = { id: item.id, type: item.type, said: new Map(), finished: new Set() };
    } else if (type === "response.output_item.done") {
      const item = isRecord(value.item) ? value.item : {};
      if (!open || open.id !== item.id || open.type !== item.type) say("ends an item that is not open");
      else complaints.push(...itemComplaints(item, open, at));
      if (value.output_index !== index) say(`has the output_index ${value.output_index} instead of ${index}`);
      done.push(item);
      index++;
      open = undefined;
    } else if ("item_id" in value) {
      if (!open || open.id !== value.item_id || value.output_index !== index) {
        say("belongs to no open item");
        continue;
      }
      follow(open, value, type, at, complaints);
    } else if (ENDS.includes(type)) {
      ended = type;
      const response = isRecord(value.response) ? value.response : {};
      // A truncated call may stay open: clients run whatever is done.
      if (open && !(type !== "response.completed" && (isCall(open.type) || type !== "response.incomplete"))) say("leaves an item open");
      if (JSON.stringify(response.output) !== JSON.stringify(done)) say("has not the items that were done as its output");
      if (type === "response.incomplete" && !response.incomplete_details) say("does not say why");
      for (const item of recordsOf(response.output)) {
        if (!isCall(item.type) || item.status !== "incomplete") continue;
        if (item.type === "custom_tool_call" || isRecord(parsed(item.arguments)) || item.arguments === "")
          say(`has a call that was cut, ${item.call_id}, and that a client could run`);
      }
      if (type === "response.failed" && !response.error) say("has no error");
      if (type === "response.completed") {
        for (const item of recordsOf(response.output)) {
          if (item.status === "incomplete") say("has an incomplete item");
          if (item.type === "function_call") complaints.push(...completeCall(String(item.arguments), at));
        }
      }
    }
  }
  if (!ended) complaints.push(`the stream ends without ${ENDS.join(", ")}`);
  return complaints;
}

const isCall = (type: unknown): boolean => type === "function_call" || type === "custom_tool_call";

/** The stem of an event, and its place inside the item. */
const stemOf = (value: Record<string, unknown>, type: string): string =>
  `${type.replace(/^response\.|\.(?:added|delta|done)$/g, "")} ${value.content_index ?? value.summary_index ?? 0}`;

function follow(open: OpenItem, value: Record<string, unknown>, type: string, at: string, complaints: string[]): void {
  const stem = stemOf(value, type);
  if (open.finished.has(stem)) complaints.push(`${at} comes after ${stem} was done`);
  const said = open.said.get(stem);
  if (type.endsWith(".added")) open.said.set(stem, "");
  else if (type.endsWith(".delta")) open.said.set(stem, (said ?? "") + String(value.delta));
  else if (type.endsWith(".done")) {
    open.finished.add(stem);
    const whole = value.text ?? value.arguments ?? value.input ?? value.refusal;
    if (whole !== undefined && whole !== (said ?? "")) complaints.push(`${at} is not what the deltas said`);
    if ("part" in value && said === undefined) complaints.push(`${at} ends a part that was not added`);
  }
  const inPart = /^(?:output_text|refusal|reasoning_text)/.test(stem);
  if (inPart && !open.said.has(`content_part ${value.content_index}`)) complaints.push(`${at} belongs to no content part that was added`);
}

function itemComplaints(item: Record<string, unknown>, open: OpenItem, at: string): string[] {
  const unfinished = [...open.said.keys()].filter((stem) => !open.finished.has(stem) && item.status !== "incomplete");
  const texts = [...listOf(item.content), ...listOf(item.summary)].filter(isRecord).map((part) => part.text ?? part.refusal);
  const said = (stem: string): string | undefined => open.said.get(`${stem} 0`);
  const all = [...open.said]
    .filter(([stem]) => /^(?:output_text|refusal|reasoning_text|reasoning_summary_text) /.test(stem))
    .map(([, text]) => text);
  return [
    ...unfinished.map((stem) => `${at} leaves ${stem} without its done`),
    ...(item.type === "function_call" && item.arguments !== (said("function_call_arguments") ?? "")
      ? [`${at} has not the arguments of its deltas`]
      : []),
    ...(item.type === "custom_tool_call" && item.input !== (said("custom_tool_call_input") ?? "")
      ? [`${at} has not the input of its deltas`]
      : []),
    ...(all.join("") === texts.join("") ? [] : [`${at} has not the text of its deltas`]),
  ];
}
