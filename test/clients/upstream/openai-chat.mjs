// An upstream with OpenAI's chat completions, with every bad habit that servers of this wire are known for.
import { pieces, sse } from "./framing.mjs";

export const url = (base) => `${base}/v1`;
export const path = "/v1/chat/completions";

/** What a server does differently from OpenAI's own. */
export const manners = {
  "as OpenAI does it": {},
  "one character at a time": { size: 1 },
  "arguments whole": { size: Infinity },
  "arguments as an object": { args: "object" },
  "arguments null first": { first: null },
  "arguments {} first": { first: "{}" },
  "ids that change": { ids: (call, n) => `call_${call}_${n}` },
  "no ids": { ids: () => undefined },
  "blank ids": { ids: () => "" },
  "one id for all": { ids: () => "call_x" },
  "ids in every chunk": { ids: (call) => `call_${call}` },
  "one id for all answers": { sameId: true },
  "names late": { names: "late" },
  "names in every chunk": { names: "always" },
  "all index 0": { index: () => 0 },
  "all index 0, no ids, whole": { index: () => 0, ids: () => undefined, size: Infinity },
  "all index 0, no ids": { index: () => 0, ids: () => undefined },
  "all index 0, ids that change": { index: () => 0, ids: (call, n) => `call_${call}_${n}` },
  "no index": { index: () => undefined },
  "index from 1": { index: (call) => call + 1 },
  "calls interleaved": { interleaved: true },
  "all calls in one chunk": { size: Infinity, together: true },
  "no finish_reason": { finish: undefined },
  "finish_reason stop": { finish: "stop" },
  "finish_reason twice": { finish: "tool_calls", twice: true },
  "usage with the end": { usage: "end" },
  "usage in every chunk": { usage: "always" },
  "no usage": { usage: "none" },
  reasoning: { reasoning: "reasoning" },
  "reasoning twice": { reasoning: "both" },
  "thinking behind the calls": { thinkingLast: true },
  "no [DONE]": { done: false },
  CRLF: { eol: "\r\n" },
  comments: { comments: true },
  "data: without a space": { noSpace: true },
  "data in several lines": { lines: true },
  "bytes cut anywhere": { cut: 7 },
  "CRLF, comments, cut anywhere": { eol: "\r\n", comments: true, cut: 11 },
  "not streamed at all": { streamed: false },
};

export const read = (body) => ({
  streamed: body.stream === true,
  tools: (body.tools ?? []).map((tool) => tool.function?.name ?? tool.custom?.name),
});

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const base = (object, { n = 0 }) => ({ id: `chatcmpl-${n}`, object, created: 1, model: "test-model" });

export function stream(answer, manner) {
  const { thinking = "", text = "", calls = [], cut, inputTokens = USAGE.prompt_tokens } = answer;
  const counts = { ...USAGE, prompt_tokens: inputTokens, total_tokens: inputTokens + USAGE.completion_tokens };
  const { reasoning = "reasoning_content", usage = "own", size, done = true } = manner;
  const head = base("chat.completion.chunk", manner.sameId ? {} : answer);
  const chunks = [];
  const add = (delta, finish_reason = null) => {
    const more = usage === "always" ? { usage: counts } : {};
    chunks.push({ ...head, choices: [{ index: 0, delta, finish_reason }], ...more });
  };
  const thinks = () => {
    for (const piece of pieces(thinking, size)) {
      add(reasoning === "both" ? { reasoning_content: piece, reasoning: piece } : { [reasoning]: piece });
    }
  };
  add({ role: "assistant", content: "" });
  if (!manner.thinkingLast) thinks();
  for (const piece of pieces(text, size)) add({ content: piece });
  const queues = calls.map((call, i) => fragments(call, i, manner));
  if (manner.together) add({ tool_calls: queues.flat() });
  else for (const fragment of manner.interleaved ? interleaved(queues) : queues.flat()) add({ tool_calls: [fragment] });
  if (manner.thinkingLast) thinks();
  const finish = "finish" in manner ? manner.finish : calls.length > 0 ? "tool_calls" : "stop";
  if (cut)
    return chunks
      .slice(0, -2)
      .map((data) => sse({ data }, manner))
      .concat(endOf(cut, head, manner));
  if (finish) add({}, calls.length > 0 ? finish : "stop");
  if (finish && manner.twice) add({}, finish);
  if (usage === "end") chunks.at(-1).usage = counts;
  if (usage === "own") chunks.push({ ...head, choices: [], usage: counts });
  return [...chunks.map((data) => sse({ data }, manner)), ...(done ? [sse({ data: "[DONE]" }, manner)] : [])];
}

/** An answer that was cut off: by the token limit, or by a broken server. */
function endOf(cut, head, manner) {
  if (cut === "length") {
    const data = { ...head, choices: [{ index: 0, delta: {}, finish_reason: "length" }] };
    return [sse({ data }, manner), sse({ data: "[DONE]" }, manner)];
  }
  return cut === "error"
    ? [sse({ data: { error: { message: "CUDA error: out of memory", type: "server_error", code: 500 } } }, manner)]
    : [];
}

function fragments({ name, args }, call, manner) {
  const { names = "first", size = 24, first = "", ids = (at, n) => (n === 0 ? `call_${at}` : undefined) } = manner;
  const { index = (at) => at } = manner;
  const texts = manner.args === "object" ? [args] : pieces(JSON.stringify(args), size);
  const whole = manner.args === "object" || size === Infinity;
  const bodies = whole ? texts : [first, ...texts];
  return bodies.map((piece, n) => {
    const named = names === "always" || n === (names === "late" ? Math.min(2, bodies.length - 1) : 0);
    const id = ids(call, n);
    return {
      index: index(call),
      ...(id === undefined ? {} : { id }),
      type: "function",
      function: { ...(named ? { name } : {}), arguments: piece },
    };
  });
}

function interleaved(queues) {
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, n) => queues.flatMap((queue) => queue.slice(n, n + 1))).flat();
}

export const whole = ({ thinking, text = null, calls = [], n }) => ({
  ...base("chat.completion", { n }),
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text,
        ...(thinking ? { reasoning_content: thinking } : {}),
        ...(calls.length > 0 ? { tool_calls: calls.map(callOf) } : {}),
      },
      finish_reason: calls.length > 0 ? "tool_calls" : "stop",
    },
  ],
  usage: USAGE,
});

const callOf = ({ name, args }, i) => ({ id: `call_${i}`, type: "function", function: { name, arguments: JSON.stringify(args) } });

export const error = ({ error: message, type = "invalid_request_error", code = null }) => ({ error: { message, type, code } });
