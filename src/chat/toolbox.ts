/** The current tools of a chat: those it was given, and those of the tool sets among them, which may change. */
import type { ChatTool, ToolSet } from "./tool.ts";

const NESTED = "one of the tools is a list: spread it, as in [...fileTools(folder)]";

const isTool = (one: unknown): boolean => typeof one === "object" && one !== null && ("tools" in one || "tool" in one);

export class Toolbox {
  readonly #given: readonly (ChatTool | ToolSet)[];

  constructor(given: readonly (ChatTool | ToolSet)[]) {
    if (!Array.isArray(given)) throw new Error("the tools of a chat must be a list");
    for (const one of given)
      if (!isTool(one)) throw new Error(Array.isArray(one) ? NESTED : "one of the tools is not a tool: make it with defineTool");
    this.#given = given;
    const names = this.#all().map(({ tool }) => tool.name);
    const double = names.find((name, i) => names.indexOf(name) < i);
    if (double !== undefined)
      throw new Error(`two tools have the same name: ${double}; for the tools of an MCP server, mcpTools takes a prefix`);
  }

  /** The first tool of a name wins: one that a set adds later does not replace it. */
  get byName(): ReadonlyMap<string, ChatTool> {
    const tools = new Map<string, ChatTool>();
    for (const tool of this.#all()) if (!tools.has(tool.tool.name)) tools.set(tool.tool.name, tool);
    return tools;
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#given.map((given) => ("tools" in given ? given.refresh?.() : undefined)));
  }

  #all(): ChatTool[] {
    return this.#given.flatMap((given) => ("tools" in given ? given.tools : given));
  }
}
