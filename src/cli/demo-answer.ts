/** What the demo plays: an answer in Gemma 4's dialect, cut as a tokenizer would. Written by hand, not taken from a model. */
import type { Tool } from "../index.ts";

export const question = "Add a slug helper, and find the places that should use it.";

export const tools: readonly Tool[] = [
  {
    name: "write_file",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
  },
  {
    name: "search_files",
    parameters: {
      type: "object",
      properties: { pattern: { type: "string" }, limit: { type: "integer" }, regex: { type: "boolean" } },
    },
  },
];

const output = `<|channel>thought
The user wants a helper that turns a title into a slug, and a list of the places that should use it. \
Neither needs the other, so both calls can go out at once.
<channel|>I will add the helper and look for titles that are turned into links by hand.\
<|tool_call>call:write_file{content:<|"|>export function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}
<|"|>,path:<|"|>src/slug.ts<|"|>}<tool_call|>\
<|tool_call>call:search_files{limit:20,pattern:<|"|>.toLowerCase().replace(<|"|>,regex:false}<tool_call|><|tool_response>`;

/** A control token is one token; a word includes the space before it. */
export const tokens: readonly string[] = output.match(/<\|?[a-z_"]+\|?>| ?[a-zA-Z]+|\s+|[^\sa-zA-Z]/g) ?? [];
