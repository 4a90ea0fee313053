/**
 * Reads an MCP server's list of tools and its answers to calls: `{ content: [{ type: "text", text: "42" }] }` becomes the output `"42"`.
 * Reads leniently: one odd tool does not hide the others, content of an unknown type is kept as JSON, and a result that breaks its own
 * `outputSchema` is still the result.
 */
import type { Transport } from "@modelcontextprotocol/client";
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Media } from "../core/nouns.ts";
import { isText, listOf, objectOf, textOf } from "../wires/read.ts";
import { ToolAnswer } from "./tool.ts";

/**
 * Of a stateless server, the SDK checks every list of tools and every answer itself, and refuses what is odd. So it gets one that is empty,
 * with the server's own inside.
 */
export function sparing<T extends Transport>(transport: T): T {
  let hear: Transport["onmessage"];
  const spared: Transport["onmessage"] = (message, extra) =>
    hear?.("result" in message && isOurs(message.result) ? { ...message, result: { ...EMPTY, [SENT]: message.result } } : message, extra);
  return Object.defineProperty(transport, "onmessage", {
    get: () => hear && spared,
    set: (listener: Transport["onmessage"]) => {
      hear = listener;
    },
  });
}

const SENT = "dragoman";
/** Both an empty list and an empty answer. */
const EMPTY = { resultType: "complete", tools: [], ttlMs: 0, cacheScope: "private", content: [] } as const;

/** Whether it is a list of tools or an answer, and not yet spared. Servers forget to say that a result is complete. */
const isOurs = (result: Readonly<Record<string, unknown>>): boolean =>
  [undefined, EMPTY.resultType].includes(result.resultType as undefined) &&
  !(SENT in result) &&
  ["tools", "content", "structuredContent"].some((key) => key in result);

/** What the server sent. */
export const sentIn = (result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  isObject(result[SENT]) ? result[SENT] : result;

export interface Listed {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonObject;
  readonly readOnly: boolean;
  /** The tool can be called only as a task. */
  readonly asTask: boolean;
}

/** Skips tools without a name, which cannot be called. Adds `type: "object"`, which many schemas lack. */
export function listedOf(tools: unknown): Listed[] {
  return listOf(tools)
    .map(objectOf)
    .flatMap(({ name, description, inputSchema, annotations, execution }): Listed[] =>
      isText(name) && name !== ""
        ? [
            {
              name,
              description: textOf(description),
              parameters: { ...objectOf(inputSchema), type: "object" } as JsonObject,
              readOnly: objectOf(annotations).readOnlyHint === true,
              asTask: objectOf(execution).taskSupport === "required",
            },
          ]
        : [],
    );
}

export function answerOf(answer: Readonly<Record<string, unknown>>): ToolAnswer {
  const { content, structuredContent, toolResult, isError } = answer; // toolResult: of the earliest version of MCP
  const blocks = [(content ?? []) as Json].flat().map(read);
  const texts = blocks.filter((block) => isText(block));
  const media = blocks.filter((block): block is Media => !isText(block));
  return new ToolAnswer(outputOf(texts, (structuredContent ?? toolResult) as Json | undefined), { media, isError: isError === true });
}

function read(block: Json): string | Media {
  const { type, text, data, mimeType, name, uri, resource } = objectOf(block);
  const { text: inside, blob, mimeType: kind, uri: place } = objectOf(resource);
  if (type === "text" && isText(text)) return text;
  if ((type === "image" || type === "audio") && isText(data)) return { type: "media", mediaType: textOf(mimeType) ?? `${type}/*`, data };
  if (type === "resource_link") return `[${name}](${uri})`;
  if (isText(inside)) return inside;
  if (isText(blob)) return { type: "media", mediaType: textOf(kind) ?? "application/octet-stream", data: blob, name: String(place) };
  return isText(block) ? block : JSON.stringify(block);
}

/**
 * Servers send the same twice: as data, and as text for clients that read no data. Data that is not an object is wrapped in an object with
 * one field; it is unwrapped if the text shows that.
 */
function outputOf(texts: readonly string[], structured: Json | undefined): Json {
  const text = texts.join("\n");
  if (structured === undefined || structured === null) return text;
  if (text === "" || isSame(texts, structured)) return structured;
  const [value, ...more] = isObject(structured) ? Object.values(structured) : [];
  return value !== undefined && more.length === 0 && isSame(texts, value) ? value : { text, structured };
}

/** Whether the texts are this value: as it is, as JSON, or one element of a list each. */
function isSame(texts: readonly string[], value: Json): boolean {
  const text = texts.join("\n");
  if (text === value) return true;
  if (Array.isArray(value) && texts.length === value.length && texts.every((one, i) => isSame([one], value[i]))) return true;
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
