// An upstream with Anthropic's messages API, and servers that nearly speak it.
import { pieces, SIGNATURE, sse } from "./framing.mjs";

export const url = (base) => base;
export const path = "/v1/messages";

export const manners = {
  "as Anthropic does it": {},
  "one character at a time": { size: 1 },
  "input whole": { size: Infinity },
  "input at the start": { input: "start" },
  "no signature": { signature: false },
  "no event lines": { events: false },
  "no pings, comments": { pings: false, comments: true },
  "stop_reason end_turn": { stop: "end_turn" },
  "no message_stop": { end: false },
  "CRLF, comments, cut anywhere": { eol: "\r\n", comments: true, cut: 5 },
};

export const read = (body) => ({ streamed: body.stream === true, tools: (body.tools ?? []).map(({ name }) => name) });

const USAGE = { input_tokens: 100, output_tokens: 20 };
const base = (n) => ({ id: `msg_${n}`, type: "message", role: "assistant", model: "test-model" });

export function stream({ thinking = "", text = "", calls = [], n }, manner) {
  const { size, end = true, signature = true, pings = true } = manner;
  const events = [];
  const add = (data) => events.push({ name: data.type, data });
  add({
    type: "message_start",
    message: { ...base(n), content: [], stop_reason: null, stop_sequence: null, usage: { ...USAGE, output_tokens: 1 } },
  });
  if (pings) add({ type: "ping" });
  let index = 0;
  const block = (content_block, deltas) => {
    add({ type: "content_block_start", index, content_block });
    for (const delta of deltas) add({ type: "content_block_delta", index, delta });
    add({ type: "content_block_stop", index: index++ });
  };
  if (thinking) {
    const deltas = pieces(thinking, size).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    if (signature) deltas.push({ type: "signature_delta", signature: SIGNATURE });
    block({ type: "thinking", thinking: "", signature: "" }, deltas);
  }
  if (text)
    block(
      { type: "text", text: "" },
      pieces(text, size).map((piece) => ({ type: "text_delta", text: piece })),
    );
  for (const [i, { name, args }] of calls.entries()) {
    const head = { type: "tool_use", id: `toolu_${i}`, name };
    if (manner.input === "start") block({ ...head, input: args }, []);
    else {
      const deltas = ["", ...pieces(JSON.stringify(args), size)].map((partial_json) => ({ type: "input_json_delta", partial_json }));
      block({ ...head, input: {} }, deltas);
    }
  }
  const stop_reason = manner.stop ?? (calls.length > 0 ? "tool_use" : "end_turn");
  add({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
  if (end) add({ type: "message_stop" });
  return events.map((event) => sse(event, manner));
}

export const whole = ({ thinking, text, calls = [], n }) => ({
  ...base(n),
  content: [
    ...(thinking ? [{ type: "thinking", thinking, signature: SIGNATURE }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map(({ name, args }, i) => ({ type: "tool_use", id: `toolu_${i}`, name, input: args })),
  ],
  stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
  stop_sequence: null,
  usage: USAGE,
});

export const error = ({ error: message }) => ({ type: "error", error: { type: "invalid_request_error", message } });
