// An upstream with Gemini's generateContent.
import { pieces, SIGNATURE, sse } from "./framing.mjs";

export const url = (base) => base;
export const path = /^\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent)$/;

export const manners = {
  "as Gemini does it": { eol: "\r\n" },
  "no ids": { ids: false },
  "no thoughtSignature": { signature: false },
  "one part an event": { apart: true },
  "one character at a time": { size: 1 },
  "finishReason in an event of its own": { finish: "own" },
  "no finishReason": { finish: "none" },
  "a JSON array": { array: true },
  "a JSON array, cut anywhere": { array: true, cut: 3 },
  "CRLF, comments, cut anywhere": { eol: "\r\n", comments: true, cut: 9 },
};

export const read = (body, pathname) => ({
  streamed: pathname.endsWith(":streamGenerateContent"),
  tools: (body.tools ?? []).flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
});

const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 15, thoughtsTokenCount: 5, totalTokenCount: 120 };
const base = { modelVersion: "test-model", responseId: "r1" };

const partOf = ({ name, args }, i, { ids = true, signature = true }) => ({
  functionCall: { ...(ids ? { id: `fc${i}` } : {}), name, args },
  ...(signature && i === 0 ? { thoughtSignature: SIGNATURE } : {}),
});

export function stream({ thinking = "", text = "", calls = [] }, manner) {
  const { size, finish = "end" } = manner;
  const events = [];
  const add = (parts, more = {}) =>
    events.push({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }], usageMetadata, ...base });
  for (const piece of pieces(thinking, size)) add([{ text: piece, thought: true }]);
  for (const piece of pieces(text, size)) add([{ text: piece }]);
  const parts = calls.map((call, i) => partOf(call, i, manner));
  if (manner.apart) for (const part of parts) add([part]);
  else if (parts.length > 0) add(parts);
  if (finish === "own") events.push({ candidates: [{ finishReason: "STOP", index: 0 }], usageMetadata, ...base });
  if (finish === "end") events.at(-1).candidates[0].finishReason = "STOP";
  if (!manner.array) return events.map((data) => sse({ data }, manner));
  return events.map((data, i) => `${i === 0 ? "[" : ",\r\n"}${JSON.stringify(data, undefined, 2)}`).concat("]\n");
}

export const whole = ({ thinking, text, calls = [] }) => ({
  candidates: [
    {
      content: {
        role: "model",
        parts: [
          ...(thinking ? [{ text: thinking, thought: true }] : []),
          ...(text ? [{ text }] : []),
          ...calls.map((call, i) => partOf(call, i, {})),
        ],
      },
      finishReason: "STOP",
      index: 0,
    },
  ],
  usageMetadata,
  ...base,
});

export const error = ({ error: message }) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });
