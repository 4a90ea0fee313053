// An upstream with Ollama's /api/chat: lines of JSON.
import { pieces } from "./framing.mjs";

export const url = (base) => base;
export const path = "/api/chat";

export const manners = {
  "as Ollama does it": {},
  "each call in a line of its own": { apart: true },
  "ids and indices": { ids: true },
  "all index 0": { ids: true, index: 0, apart: true },
  "calls with the end": { withEnd: true },
  "one character at a time": { size: 1 },
  "CRLF, blank lines, cut anywhere": { eol: "\r\n\r\n", cut: 17 },
};

export const read = (body) => ({ streamed: body.stream !== false, tools: (body.tools ?? []).map((tool) => tool.function?.name) });

const base = { model: "test-model", created_at: "2026-01-01T00:00:00Z" };
const end = { done: true, done_reason: "stop", total_duration: 1, prompt_eval_count: 100, eval_count: 20 };

const callOf = ({ name, args }, i, { ids, index = i } = {}) =>
  ids ? { id: `call_${i}`, function: { index, name, arguments: args } } : { function: { name, arguments: args } };

export function stream({ thinking = "", text = "", calls = [] }, manner) {
  const lines = [];
  const add = (message, more = { done: false }) =>
    lines.push({ ...base, message: { role: "assistant", content: "", ...message }, ...more });
  for (const piece of pieces(thinking, manner.size)) add({ thinking: piece });
  for (const piece of pieces(text, manner.size)) add({ content: piece });
  const tool_calls = calls.map((call, i) => callOf(call, i, manner));
  if (manner.apart) for (const call of tool_calls) add({ tool_calls: [call] });
  else if (tool_calls.length > 0 && !manner.withEnd) add({ tool_calls });
  add(manner.withEnd ? { tool_calls } : {}, end);
  return lines.map((line) => `${JSON.stringify(line)}${manner.eol ?? "\n"}`);
}

export const whole = ({ thinking, text = "", calls = [] }) => ({
  ...base,
  message: {
    role: "assistant",
    content: text,
    ...(thinking ? { thinking } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((call, i) => callOf(call, i)) } : {}),
  },
  ...end,
});

export const error = ({ error: message }) => ({ error: message });
