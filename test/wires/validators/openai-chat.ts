// OpenAI chat completions, from its documentation and the types of openai 7.53, with what compatible servers accept beyond it.
import {
  amount,
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
  mapOf,
  matching,
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
  whole,
} from "./check.ts";

const NAME = matching(/^[a-zA-Z0-9_-]{1,64}$/);
const EFFORT = oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max");
const cached = { prompt_cache_breakpoint: record };

// Requests

const textPart = object({ type: oneOf("text"), text }, cached);
const refusalPart = object({ type: oneOf("refusal"), refusal: text });
const parts = tagged("type", {
  text: textPart,
  image_url: object({ type: anything, image_url: object({ url }, { detail: oneOf("auto", "low", "high", "original") }) }, cached),
  input_audio: object({ type: anything, input_audio: object({ data: base64, format: oneOf("wav", "mp3") }) }, cached),
  file: object(
    {
      type: anything,
      file: both(
        object({}, { file_data: url, file_id: filled, filename: filled }),
        when((file) => file.file_data === undefined && file.file_id === undefined, "needs file_data or file_id"),
      ),
    },
    cached,
  ),
});
const words = either(text, list(textPart, 1));
const call = tagged("type", {
  function: object({ id: filled, type: anything, function: object({ name: NAME, arguments: text }) }, { extra_content: record }),
  custom: object({ id: filled, type: anything, custom: object({ name: NAME, input: text }) }),
});
const messages = tagged("role", {
  system: object({ role: anything, content: words }, { name: text }),
  developer: object({ role: anything, content: words }, { name: text }),
  user: object({ role: anything, content: either(text, list(parts, 1)) }, { name: text }),
  assistant: both(
    object(
      { role: anything },
      {
        content: nullable(either(text, list(tagged("type", { text: textPart, refusal: refusalPart }), 1))),
        refusal: nullable(text),
        name: text,
        audio: nullable(object({ id: filled })),
        tool_calls: list(call, 1),
        annotations: list(record),
        // Not OpenAI's: DeepSeek, llama.cpp, SGLang and vLLM accept one of these.
        reasoning_content: text,
        reasoning: text,
      },
    ),
    when(
      (message) => (message.content ?? undefined) === undefined && !message.tool_calls && !message.refusal,
      "has neither content nor tool_calls",
    ),
  ),
  tool: object({ role: anything, tool_call_id: filled, content: words }),
});
const definition = both(object({ name: NAME }, { description: text, parameters: jsonSchema, strict: nullable(flag) }), (value, at) =>
  isRecord(value) && value.strict === true ? strictSchema(value.parameters, `${at}.parameters`) : [],
);
const tools = tagged("type", {
  function: object({ type: anything, function: definition }),
  custom: object({
    type: anything,
    custom: object(
      { name: NAME },
      {
        description: text,
        format: tagged("type", {
          text: object({ type: anything }),
          grammar: object({ type: anything, grammar: object({ definition: text, syntax: oneOf("lark", "regex") }) }),
        }),
      },
    ),
  }),
});
const chosen = tagged("type", {
  function: object({ type: anything, function: object({ name: NAME }) }),
  custom: object({ type: anything, custom: object({ name: NAME }) }),
});
const choice = either(
  oneOf("none", "auto", "required"),
  tagged("type", {
    function: chosen,
    custom: chosen,
    allowed_tools: object({ type: anything, allowed_tools: object({ mode: oneOf("auto", "required"), tools: list(chosen, 1) }) }),
  }),
);
const format = tagged("type", {
  text: object({ type: anything }),
  json_object: object({ type: anything }),
  json_schema: object({
    type: anything,
    json_schema: both(object({ name: NAME }, { description: text, schema: jsonSchema, strict: nullable(flag) }), (value, at) =>
      isRecord(value) && value.strict === true ? strictSchema(value.schema, `${at}.schema`) : [],
    ),
  }),
});

const body = object(
  { model: filled, messages: list(messages, 1) },
  {
    audio: nullable(record),
    frequency_penalty: nullable(between(-2, 2)),
    logit_bias: nullable(mapOf(amount)),
    logprobs: nullable(flag),
    max_completion_tokens: nullable(positive),
    max_tokens: nullable(positive),
    metadata: nullable(mapOf(text)),
    modalities: nullable(list(oneOf("text", "audio"))),
    n: nullable(oneOf(1)),
    parallel_tool_calls: flag,
    prediction: nullable(record),
    presence_penalty: nullable(between(-2, 2)),
    prompt_cache_key: nullable(text),
    prompt_cache_options: record,
    prompt_cache_retention: nullable(oneOf("in_memory", "24h")),
    reasoning_effort: nullable(EFFORT),
    response_format: format,
    safety_identifier: nullable(text),
    seed: nullable(whole),
    service_tier: nullable(text),
    stop: nullable(either(filled, list(filled, 1, 4))),
    store: nullable(flag),
    stream: nullable(flag),
    stream_options: nullable(object({}, { include_usage: flag, include_obfuscation: flag })),
    temperature: nullable(between(0, 2)),
    tool_choice: choice,
    tools: list(tools, 1, 128),
    top_logprobs: nullable(between(0, 20)),
    top_p: nullable(between(0, 1)),
    user: text,
    verbosity: nullable(oneOf("low", "medium", "high")),
    web_search_options: record,
    // Not OpenAI's: vLLM, SGLang, llama.cpp.
    top_k: whole,
    min_p: between(0, 1),
    repeat_penalty: amount,
    repetition_penalty: amount,
    chat_template_kwargs: record,
  },
);

/** Strict mode: every object closed, every property required. */
export function strictSchema(schema: unknown, at: string): string[] {
  if (!isRecord(schema)) return [];
  const names = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const optional = names.filter((name) => !listOf(schema.required).includes(name));
  const isObject = [schema.type].flat().includes("object");
  const inner = ["properties", "$defs", "definitions"].flatMap((key) => Object.entries(isRecord(schema[key]) ? schema[key] : {}));
  const unions = ["anyOf", "items"].flatMap((key) => [schema[key]].flat().map((item): [string, unknown] => [key, item]));
  return [
    ...(isObject && schema.additionalProperties !== false ? [`${at}.additionalProperties must be false in strict mode`] : []),
    ...optional.map((name) => `${at}.required must name ${name} in strict mode`),
    ...["oneOf", "allOf", "not"].filter((key) => key in schema).map((key) => `${at}.${key} is not allowed in strict mode`),
    ...[...inner, ...unions].flatMap(([key, item]) => strictSchema(item, `${at}.${key}`)),
  ];
}

export const chatRequest: Check = (value, at) => [...body(value, at), ...(isRecord(value) ? chatRules(value, at) : [])];

function chatRules(request: Record<string, unknown>, at: string): string[] {
  const names = recordsOf(request.tools).map((tool) =>
    isRecord(tool.function) ? tool.function.name : isRecord(tool.custom) ? tool.custom.name : "",
  );
  return [
    ...conversation(recordsOf(request.messages), `${at}.messages`),
    ...names.filter((name, i) => names.indexOf(name) < i).map((name) => `${at}.tools has ${name} twice`),
    ...chosenNames(request.tool_choice)
      .filter((name) => !names.includes(name))
      .map((name) => `${at}.tool_choice names ${name}, which is no tool`),
    ...(request.tools
      ? []
      : ["tool_choice", "parallel_tool_calls"].filter((key) => key in request).map((key) => `${at}.${key} needs tools`)),
    ...(request.stream_options && request.stream !== true ? [`${at}.stream_options needs stream`] : []),
    ...("max_tokens" in request && "max_completion_tokens" in request ? [`${at} has both max_tokens and max_completion_tokens`] : []),
  ];
}

function chosenNames(choice: unknown): unknown[] {
  if (!isRecord(choice)) return [];
  const allowed = isRecord(choice.allowed_tools) ? recordsOf(choice.allowed_tools.tools).flatMap(chosenNames) : [];
  return [...[choice.function, choice.custom].filter(isRecord).map((fn) => fn.name), ...allowed];
}

/** Each call is answered right after its message, and nothing else is answered. */
function conversation(list: readonly Record<string, unknown>[], at: string): string[] {
  let open = new Set<unknown>();
  const complaints: string[] = [];
  const unanswered = (i: number): void => {
    for (const id of open) complaints.push(`${at}[${i}] comes before the result of call ${id}`);
  };
  for (const [i, message] of list.entries()) {
    if (message.role === "tool") {
      if (!open.delete(message.tool_call_id)) complaints.push(`${at}[${i}] answers ${message.tool_call_id}, which nobody called before it`);
      continue;
    }
    unanswered(i);
    const ids = recordsOf(message.tool_calls).map((call) => call.id);
    open = new Set(ids);
    if (open.size < ids.length) complaints.push(`${at}[${i}].tool_calls has an id twice`);
  }
  unanswered(list.length);
  return complaints;
}

// Streams

const usage = object(
  { prompt_tokens: count, completion_tokens: count, total_tokens: count },
  { prompt_tokens_details: record, completion_tokens_details: record },
);
const fragment = object(
  { index: count },
  {
    id: filled,
    type: oneOf("function", "custom"),
    function: object({}, { name: filled, arguments: text }),
    custom: object({}, { name: filled, input: text }),
    extra_content: record,
  },
);
const delta = object(
  {},
  {
    role: oneOf("assistant"),
    content: nullable(text),
    refusal: nullable(text),
    tool_calls: list(fragment, 1),
    reasoning_content: text,
    reasoning: text,
  },
);
const FINISH = oneOf("stop", "length", "tool_calls", "content_filter", "function_call");
const choices = list(
  object({ index: oneOf(0), delta, finish_reason: nullable(FINISH) }, { logprobs: nullable(record), stop_reason: text }),
  0,
  1,
);
const chunk = object(
  { id: filled, object: oneOf("chat.completion.chunk"), created: whole, model: text, choices },
  { usage: nullable(usage), system_fingerprint: nullable(text), service_tier: nullable(text), obfuscation: text },
);
const chatError = object({
  error: object({ message: filled, type: filled }, { code: nullable(either(text, whole)), param: nullable(text) }),
});

export function chatStream(stream: string): string[] {
  const { frames, complaints } = readSse(stream);
  const calls: { id?: string; name?: string; json: string; custom: boolean }[] = [];
  let finish: unknown;
  let ended: string | undefined;
  let spoke = false;
  let id: unknown;
  for (const [i, { event, data }] of frames.entries()) {
    const at = `chunk ${i}`;
    const say = (what: string): number => complaints.push(`${at} ${what}`);
    if (event !== undefined) say(`has an event line`);
    if (ended) {
      say(`comes after ${ended}`);
      continue;
    }
    if (data === "[DONE]") {
      ended = "[DONE]";
      if (finish === undefined) say("is [DONE], and no finish_reason came");
      continue;
    }
    const { value, complaints: unreadable } = json(data, at);
    complaints.push(...unreadable);
    if (!value) continue;
    if ("error" in value) {
      ended = "the error";
      if (finish !== undefined) say("is an error after a finish_reason");
      complaints.push(...chatError(value, at));
      continue;
    }
    complaints.push(...chunk(value, at));
    id ??= value.id;
    if (value.id !== id) say("has another id");
    const [choice] = recordsOf(value.choices);
    if (!choice) {
      if (!value.usage) say("has neither a choice nor usage");
      continue;
    }
    if (finish !== undefined) say("comes after the finish_reason");
    const delta = isRecord(choice.delta) ? choice.delta : {};
    if (!spoke && delta.role !== "assistant") say("is the first, and has no role");
    spoke = true;
    for (const piece of recordsOf(delta.tool_calls)) {
      const index = Number(piece.index);
      const fn = isRecord(piece.function) ? piece.function : isRecord(piece.custom) ? piece.custom : {};
      const call = calls[index];
      if (!call) {
        if (index !== calls.length) say(`opens call ${index}, and the next one is ${calls.length}`);
        if (!piece.id || !piece.type || !fn.name) say(`opens call ${index} without its id, type or name`);
        calls[index] = { id: String(piece.id), name: String(fn.name), json: "", custom: piece.type === "custom" };
      } else {
        if (index !== calls.length - 1) say(`goes back to call ${index}`);
        if (piece.id !== undefined && piece.id !== call.id) say(`changes the id of call ${index}`);
        if (fn.name !== undefined) say(`names call ${index} again`);
      }
      const open = calls[index];
      if (open) open.json += String(fn.arguments ?? fn.input ?? "");
    }
    finish = choice.finish_reason ?? undefined;
  }
  if (!ended) complaints.push("the stream ends without [DONE]");
  const ids = calls.map((call) => call.id);
  if (new Set(ids).size < ids.length) complaints.push("two calls have one id");
  if (ended === "[DONE]") {
    if (finish === "tool_calls" && calls.length === 0) complaints.push("finish_reason is tool_calls, and there is no call");
    if (finish === "stop" && calls.length > 0) complaints.push("finish_reason is stop, and there are calls");
    if (finish !== "length") complaints.push(...calls.flatMap(({ json, custom }, i) => (custom ? [] : completeCall(json, `call ${i}`))));
  }
  return complaints;
}
