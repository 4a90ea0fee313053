// Ollama's /api/chat and /api/generate, from its documentation and the types its server reads requests into.
import {
  amount,
  anything,
  base64,
  between,
  both,
  type Check,
  count,
  either,
  filled,
  flag,
  isRecord,
  json,
  jsonSchema,
  lazily,
  list,
  mapOf,
  matching,
  object,
  oneOf,
  record,
  recordsOf,
  tagged,
  text,
  when,
  whole,
} from "./check.ts";

// Requests

const call = object({ function: object({ name: filled, arguments: record }, { index: count }) }, { id: filled, type: oneOf("function") });
const images = { images: list(base64, 1) }; // plain base64: a data: URL is refused
const messages = tagged("role", {
  system: object({ role: anything, content: text }, images),
  user: object({ role: anything, content: text }, images),
  assistant: object({ role: anything, content: text }, { thinking: text, tool_calls: list(call, 1), ...images }),
  tool: both(
    object({ role: anything, content: text }, { tool_name: filled, tool_call_id: filled, ...images }),
    when((message) => !message.tool_name && !message.tool_call_id, "answers nobody knows what"),
  ),
});
/** What the server keeps of a property; it silently drops the rest, so a request that relies on the rest is wrong. */
const dropped = ["$ref", "oneOf", "allOf", "const"];
const property: Check = both(
  lazily(() =>
    both(record, (value, at) =>
      !isRecord(value)
        ? []
        : [
            ...(value.type === undefined ? [] : either(text, list(text))(value.type, `${at}.type`)),
            ...(value.description === undefined ? [] : text(value.description, `${at}.description`)),
            ...(value.enum === undefined ? [] : list(anything)(value.enum, `${at}.enum`)),
            ...(value.required === undefined ? [] : list(text)(value.required, `${at}.required`)),
            ...(value.properties === undefined ? [] : mapOf(property)(value.properties, `${at}.properties`)),
            ...(value.anyOf === undefined ? [] : list(property)(value.anyOf, `${at}.anyOf`)),
          ],
    ),
  ),
  when((value) => dropped.some((key) => key in value), `has one of ${dropped.join(", ")}, which the server drops`),
);
const parameters: Check = (value, at) => [
  ...jsonSchema(value, at),
  ...(isRecord(value) ? text(value.type, `${at}.type`) : []),
  ...(isRecord(value) && value.properties !== undefined ? mapOf(property)(value.properties, `${at}.properties`) : []),
];
const tools = object({ type: oneOf("function"), function: object({ name: filled, parameters }, { description: text }) });

const options = object(
  {},
  {
    num_keep: whole,
    seed: whole,
    num_predict: whole,
    top_k: whole,
    top_p: between(0, 1),
    min_p: between(0, 1),
    typical_p: amount,
    repeat_last_n: whole,
    temperature: amount,
    repeat_penalty: amount,
    presence_penalty: amount,
    frequency_penalty: amount,
    stop: list(text, 1),
    num_ctx: whole,
    num_batch: whole,
    num_gpu: whole,
    main_gpu: whole,
    use_mmap: flag,
    num_thread: whole,
    draft_num_predict: whole,
    mirostat: whole, // for older servers; newer ones ignore it
    mirostat_tau: amount,
    mirostat_eta: amount,
  },
);
const shared = {
  stream: flag,
  format: either(oneOf("json"), jsonSchema),
  options,
  think: either(flag, oneOf("low", "medium", "high", "max")),
  keep_alive: either(amount, matching(/^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$|^0$/)),
  truncate: flag,
  shift: flag,
  logprobs: flag,
  top_logprobs: between(0, 20),
  _debug_render_only: flag,
};
const chat = object({ model: filled, messages: list(messages) }, { ...shared, tools: list(tools, 1) });
const generate = both(
  object(
    { model: filled, prompt: text },
    { ...shared, ...images, system: text, suffix: text, template: text, context: list(whole), raw: flag },
  ),
  when(
    (value) => value.raw === true && ["template", "system", "context"].some((key) => key in value),
    "is raw and has a template, system or context",
  ),
);

export const ollamaRequest: Check = (value, at) =>
  isRecord(value) && "prompt" in value ? generate(value, at) : [...chat(value, at), ...(isRecord(value) ? rules(value, at) : [])];

/** Results follow the calls they answer: a server without ids matches by name, then by order. */
function rules(request: Record<string, unknown>, at: string): string[] {
  const complaints: string[] = [];
  let open: Record<string, unknown>[] = [];
  for (const [i, message] of recordsOf(request.messages).entries()) {
    const where = `${at}.messages[${i}]`;
    if (message.role === "tool") {
      const match = open.find(({ id, name }) => (message.tool_call_id && id ? id === message.tool_call_id : name === message.tool_name));
      if (!match) complaints.push(`${where} answers no call that waits`);
      open = open.filter((call) => call !== match);
      continue;
    }
    complaints.push(...open.map(({ name }) => `${where} comes before the result of ${name}`));
    open = recordsOf(message.tool_calls).map(({ id, function: fn }) => ({ id, name: isRecord(fn) ? fn.name : "" }));
  }
  const names = recordsOf(request.tools).map((tool) => (isRecord(tool.function) ? tool.function.name : ""));
  complaints.push(...names.filter((name, i) => names.indexOf(name) < i).map((name) => `${at}.tools has ${name} twice`));
  return complaints;
}

// Streams

const said = object({ role: oneOf("assistant"), content: text }, { thinking: text, images: list(base64), tool_calls: list(call, 1) });
const head = { model: text, created_at: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/) };
const stats = {
  total_duration: count,
  load_duration: count,
  prompt_eval_duration: count,
  eval_duration: count,
};
/** The server leaves out unknown fields. */
const counts = { prompt_eval_count: count, eval_count: count };
const more = { logprobs: list(record), remote_model: text, remote_host: text };
const REASON = oneOf("stop", "length", "load", "unload");
const line = (body: Record<string, Check>, optional: Record<string, Check> = {}): Check =>
  tagged("kind", {
    open: object({ kind: anything, ...head, ...body, done: oneOf(false) }, { ...more, ...optional }),
    done: object(
      { kind: anything, ...head, ...body, done: oneOf(true), done_reason: REASON, ...stats },
      { ...more, ...counts, ...optional, context: list(whole) },
    ),
  });
const chatLine = line({ message: said });
const generateLine = line({ response: text }, { thinking: text });
const ollamaError = object({ error: filled });

export function ollamaStream(stream: string): string[] {
  const complaints: string[] = [];
  const lines = stream.split("\n");
  if (lines.pop() !== "") complaints.push("the stream does not end with a line end");
  const ids: unknown[] = [];
  let calls = 0;
  let ended: string | undefined;
  for (const [i, text] of lines.entries()) {
    const at = `line ${i}`;
    if (ended) complaints.push(`${at} comes after ${ended}`);
    const { value, complaints: unreadable } = json(text, at);
    complaints.push(...unreadable);
    if (!value) continue;
    if ("error" in value) {
      ended = "the error";
      complaints.push(...ollamaError(value, at));
      continue;
    }
    const check = "response" in value ? generateLine : chatLine;
    complaints.push(...check({ ...value, kind: value.done === true ? "done" : "open" }, at));
    const message = isRecord(value.message) ? value.message : {};
    for (const made of recordsOf(message.tool_calls)) {
      const index = isRecord(made.function) ? made.function.index : undefined;
      if (index !== undefined && index !== calls) complaints.push(`${at} has call ${index} instead of ${calls}`);
      calls++;
      if (made.id !== undefined && ids.includes(made.id)) complaints.push(`${at} has the id ${made.id} again`);
      ids.push(made.id);
    }
    if (value.done === true) ended = "done";
  }
  if (!ended) complaints.push("the stream ends without done");
  return complaints;
}
