/** What an MCP server answers to a call, as the result of a tool: `{ content: [{ type: "text", text: "42" }] }` is `"42"`. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Json, JsonObject, Media } from "../core/nouns.ts";
import { ToolAnswer } from "./tool.ts";

export function answerOf({ content, structuredContent, isError }: CallToolResult): ToolAnswer {
  const texts: string[] = [];
  const media: Media[] = [];
  for (const block of content) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "image" || block.type === "audio") media.push({ type: "media", mediaType: block.mimeType, data: block.data });
    else if (block.type === "resource_link") texts.push(`[${block.name}](${block.uri})`);
    else if ("text" in block.resource) texts.push(block.resource.text);
    else {
      const { blob, mimeType = "application/octet-stream", uri } = block.resource;
      media.push({ type: "media", mediaType: mimeType, data: blob, name: uri });
    }
  }
  return new ToolAnswer(outputOf(texts, structuredContent as JsonObject | undefined), { media, isError: isError === true });
}

/** Servers say the same twice, as data and as text for those who read no data. What is no object, they put into one for that. */
function outputOf(texts: readonly string[], structured: JsonObject | undefined): Json {
  const text = texts.join("\n");
  if (!structured) return text;
  if (text === "" || isSame(texts, structured)) return structured;
  const [value, ...more] = Object.values(structured);
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
