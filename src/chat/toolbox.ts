/** The tools of a chat as they are now: those that it was given, and those of the sets among them, which come and go. */
import type { ChatTool, ToolSet } from "./tool.ts";

const NESTED = "a list is among the tools of a chat: spread it, as in [...fileTools(folder)]";

const isTool = (one: unknown): boolean => typeof one === "object" && one !== null && ("tools" in one || "tool" in one);

export class Toolbox {
  readonly #given: readonly (ChatTool | ToolSet)[];

  constructor(given: readonly (ChatTool | ToolSet)[]) {
    if (!Array.isArray(given)) throw new Error("the tools of a chat are a list");
    for (const one of given) if (!isTool(one)) throw new Error(Array.isArray(one) ? NESTED : "a tool of a chat is made with defineTool");
    this.#given = given;
    const names = this.#all().map(({ tool }) => tool.name);
    const double = names.find((name, i) => names.indexOf(name) < i);
    if (double !== undefined) throw new Error(`two tools have the same name: ${double}; mcpTools takes a prefix for a server's`);
  }

  /** A tool that a set brings later under a name that is taken does not take it away. */
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
