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
  return new ToolAnswer(outputOf(texts.join("\n"), structuredContent as JsonObject | undefined), { media, isError: isError === true });
}

/** Servers say the same twice, as data and as text for those who read no data. */
function outputOf(text: string, structured: JsonObject | undefined): Json {
  if (!structured) return text;
  return text === "" || isSame(text, structured) ? structured : { text, structured };
}

function isSame(text: string, value: Json): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value);
  } catch {
    return false;
  }
}
