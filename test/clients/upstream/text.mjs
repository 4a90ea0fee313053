// Upstreams that know nothing of tools: the model writes its calls as text, in its own dialect. One only completes text, one chats, and one
// takes tools and leaves the calls in the text all the same.
import { pieces, sse } from "./framing.mjs";
import * as chat from "./openai-chat.mjs";

const hermesCall = ({ name, args }) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

/** Gemma's strings are between tokens of their own, and nothing in them is escaped. */
const gemmaValue = (value) => {
  if (typeof value === "string") return `<|"|>${value}<|"|>`;
  if (Array.isArray(value)) return `[${value.map(gemmaValue).join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  return `{${gemmaPairs(value)}}`;
};
const gemmaPairs = (object) =>
  Object.entries(object)
    .map(([key, value]) => `${key}:${gemmaValue(value)}`)
    .join(",");

const DIALECTS = {
  hermes: {
    thought: (text) => `<think>\n${text}\n</think>\n\n`,
    calls: (calls) => `\n${calls.map(hermesCall).join("\n")}`,
    declares: "<tools>",
  },
  gemma4: {
    thought: (text) => `<|channel>thought\n${text}\n<channel|>`,
    calls: (calls) => calls.map(({ name, args }) => `<|tool_call>call:${name}{${gemmaPairs(args)}}<tool_call|>`).join(""),
    declares: "<|tool>declaration:",
  },
};

const written = (dialect, { thinking, text = "", calls = [] }) =>
  (thinking ? dialect.thought(thinking) : "") + text + (calls.length > 0 ? dialect.calls(calls) : "");

/** llama-server's `/completion`. */
const completing = (id) => {
  const dialect = DIALECTS[id];
  const messages = (answer) => [
    ...pieces(written(dialect, answer)).map((content) => ({ content, stop: false })),
    { content: "", stop: true, stop_type: "eos", stopping_word: "", tokens_evaluated: 100, tokens_predicted: 20 },
  ];
  return {
    speaks: "completions",
    rule: `dialect = "${id}"`,
    url: (base) => base,
    path: "/completion",
    lists: { "/props": { default_generation_settings: { params: {}, n_ctx: 200_000 } } },
    read: ({ prompt }) => ({ streamed: true, tools: prompt.includes(dialect.declares) ? ["declared"] : [] }),
    stream: (answer, manner) => messages(answer).map((data) => sse({ data }, manner)),
    error: (message) => ({ error: { code: 500, message, type: "server_error" } }),
  };
};

/** A chat whose calls are text; `rule`: what the gateway is told about the model. */
const chatting = (rule, read) => {
  const asText = (answer) => ({
    ...answer,
    calls: [],
    text: (answer.text ?? "") + (answer.calls ? DIALECTS.hermes.calls(answer.calls) : ""),
  });
  return {
    ...chat,
    speaks: "openai-chat",
    rule,
    read,
    stream: (answer, manner) => chat.stream(asText(answer), manner),
    whole: (answer) => chat.whole(asText(answer)),
  };
};

const explained = (body) => ({
  streamed: body.stream === true,
  tools: JSON.stringify(body.messages).includes("You can call these tools") ? ["explained"] : [],
});

export const TEXTS = {
  "completes text, gemma4": completing("gemma4"),
  "completes text, hermes": completing("hermes"),
  "chat without tools": chatting('tools = "inband"\ndialect = "hermes"', explained),
  "leaves calls in the text": chatting('dialect = "hermes"', chat.read),
};
