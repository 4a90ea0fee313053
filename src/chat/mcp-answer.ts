/**
 * What an MCP server says of its tools, and what it answers to a call, as the result of a tool: `{ content: [{ type: "text", text: "42" }] }` is
 * `"42"`. Read leniently: one odd tool hides no other, a newer server has content that nobody knows yet, and a result that breaks its own
 * `outputSchema` is all there is of what was done.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Media } from "../core/nouns.ts";
import { isText, listOf, objectOf, textOf } from "../wires/read.ts";
import { ToolAnswer } from "./tool.ts";

export interface Listed {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonObject;
  readonly readOnly: boolean;
  /** It is called only as a task. */
  readonly asTask: boolean;
}

/** What has no name cannot be called. Arguments are always an object, which many schemas forget to say. */
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
  const { content, structuredContent, toolResult, isError } = answer; // toolResult: of the first servers there were
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

/** Servers say the same twice, as data and as text for those who read no data. What is no object, they put into one for that. */
function outputOf(texts: readonly string[], structured: Json | undefined): Json {
  const text = texts.join("\n");
  if (structured === undefined || structured === null) return text;
  if (text === "" || isSame(texts, structured)) return structured;
  const [value, ...more] = isObject(structured) ? Object.values(structured) : [];
  return value !== undefined && more.length === 0 && isSame(texts, value) ? value : { text, structured };
}

/** Whether the texts say this value: as it is, as JSON, or each of them one of its elements. */
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
