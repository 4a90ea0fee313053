// An upstream with OpenAI's Responses, and servers that send only half of it.
import { pieces, sse } from "./framing.mjs";

export const url = (base) => `${base}/v1`;
export const path = "/v1/responses";

export const manners = {
  "as OpenAI does it": {},
  "one character at a time": { size: 1 },
  "no deltas": { deltas: false },
  "no added, only done": { deltas: false, added: false },
  "no event lines": { events: false },
  "an empty output at the end": { output: false },
  "reasoning as text": { reasoning: "text" },
  "a [DONE] at the end": { done: true },
  "CRLF, comments, cut anywhere": { eol: "\r\n", comments: true, cut: 13 },
};

export const read = (body) => ({ streamed: body.stream === true, tools: (body.tools ?? []).map(({ name, type }) => name ?? type) });

const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120, output_tokens_details: { reasoning_tokens: 5 } };
const base = (n) => ({ id: `resp_${n}`, object: "response", created_at: 1, model: "test-model" });

const itemsOf = ({ thinking, text, calls = [] }, { reasoning = "summary" } = {}) => [
  ...(thinking ? [thought(thinking, reasoning)] : []),
  ...(text
    ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }]
    : []),
  ...calls.map(({ name, args }, i) => ({
    id: `fc_${i}`,
    type: "function_call",
    call_id: `call_${i}`,
    name,
    arguments: JSON.stringify(args),
    status: "completed",
  })),
];

const thought = (text, how) =>
  how === "text"
    ? { id: "rs_1", type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] }
    : { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text }] };

export function stream(answer, manner) {
  const { added = true, deltas = true, output: withOutput = true } = manner;
  const output = itemsOf(answer, manner);
  const events = [];
  const add = (type, more) => events.push({ name: type, data: { type, sequence_number: events.length, ...more } });
  add("response.created", { response: { ...base(answer.n), status: "in_progress", output: [] } });
  for (const [output_index, item] of output.entries()) {
    if (added) add("response.output_item.added", { output_index, item: opened(item) });
    if (deltas) for (const [type, more] of deltasOf(item, manner)) add(type, { output_index, item_id: item.id, ...more });
    add("response.output_item.done", { output_index, item });
  }
  add("response.completed", { response: { ...base(answer.n), status: "completed", output: withOutput ? output : [], usage } });
  if (manner.done) events.push({ data: "[DONE]" });
  return events.map((event) => sse(event, manner));
}

function opened(item) {
  if (item.type === "function_call") return { ...item, arguments: "", status: "in_progress" };
  return item.type === "message"
    ? { ...item, content: [], status: "in_progress" }
    : { ...item, summary: [], ...(item.content ? { content: [] } : {}) };
}

function deltasOf(item, { size }) {
  if (item.type === "function_call") {
    return [
      ...pieces(item.arguments, size).map((delta) => ["response.function_call_arguments.delta", { delta }]),
      ["response.function_call_arguments.done", { arguments: item.arguments }],
    ];
  }
  if (item.type === "message") {
    const [part] = item.content;
    return [
      ["response.content_part.added", { content_index: 0, part: { ...part, text: "" } }],
      ...pieces(part.text, size).map((delta) => ["response.output_text.delta", { content_index: 0, delta }]),
      ["response.output_text.done", { content_index: 0, text: part.text }],
      ["response.content_part.done", { content_index: 0, part }],
    ];
  }
  const [part] = item.content ?? item.summary;
  if (item.content) {
    return [
      ...pieces(part.text, size).map((delta) => ["response.reasoning_text.delta", { content_index: 0, delta }]),
      ["response.reasoning_text.done", { content_index: 0, text: part.text }],
    ];
  }
  return [
    ["response.reasoning_summary_part.added", { summary_index: 0, part: { ...part, text: "" } }],
    ...pieces(part.text, size).map((delta) => ["response.reasoning_summary_text.delta", { summary_index: 0, delta }]),
    ["response.reasoning_summary_text.done", { summary_index: 0, text: part.text }],
    ["response.reasoning_summary_part.done", { summary_index: 0, part }],
  ];
}

export const whole = (answer) => ({ ...base(answer.n), status: "completed", output: itemsOf(answer), usage });

export const error = ({ error: message, type = "invalid_request_error", code = null }) => ({ error: { message, type, code } });
