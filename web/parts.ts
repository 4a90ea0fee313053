/** Shows events, or the parts of an answer, one per row. */
import type { Event, Response } from "../src/index.ts";
import { el, pre } from "./dom.ts";

export interface Row {
  readonly name: string;
  readonly text: string;
  readonly kind: "text" | "thinking" | "call" | "wrong" | "quiet";
}

export const rows = (list: readonly Row[]): HTMLElement =>
  el(
    "dl",
    { className: "events" },
    ...list.flatMap(({ name, text, kind }) => [el("dt", { textContent: name }), el("dd", {}, pre(text, kind))]),
  );

const call = ({ name, arguments: args }: { name: string; arguments: unknown }): string => `${name} ${JSON.stringify(args, undefined, 2)}`;

export function rowOf(event: Event): Row {
  const name = event.type;
  switch (event.type) {
    case "text":
      return { name, text: event.text, kind: "text" };
    case "thinking-delta":
      return { name, text: event.text, kind: "thinking" };
    case "tool-start":
      return { name, text: event.name, kind: "call" };
    case "tool-delta":
      return { name, text: event.json, kind: "call" };
    case "tool-end":
      return { name: event.truncated ? `${name}, cut off` : name, text: call(event), kind: event.truncated ? "wrong" : "call" };
    case "malformed":
      return { name, text: `${event.reason}\n${event.raw}`, kind: "wrong" };
    case "thinking-start":
    case "thinking-end":
    case "control":
      return { name, text: event.raw ?? "", kind: "quiet" };
    default: {
      const { type: _, ...rest } = event;
      return { name, text: JSON.stringify(rest), kind: event.type === "finish" && event.error ? "wrong" : "quiet" };
    }
  }
}

/** The rows of a whole answer. */
export function rowsOf({ content, finish }: Response): Row[] {
  const said = content.map((part): Row => {
    if (part.type === "tool-call")
      return { name: part.truncated ? "call, cut off" : "call", text: call(part), kind: part.truncated ? "wrong" : "call" };
    if (part.type === "malformed") return { name: part.type, text: `${part.reason}\n${part.raw}`, kind: "wrong" };
    if (part.type === "media") return { name: part.type, text: part.mediaType, kind: "quiet" };
    return { name: part.type, text: part.text, kind: part.type };
  });
  const end = finish && ({ name: "finish", text: finish.error?.message ?? finish.reason, kind: finish.error ? "wrong" : "quiet" } as const);
  return end ? [...said, end] : said;
}
