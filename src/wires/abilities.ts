/** What a wire is able to say: each has a table of that, and all parts of its translation get what `adapt` made of a request by it. */
import type { JsonObject, Media, Message, Opaque, Request, Sampling, Thinking, Tool, ToolResult, WireId } from "../core/nouns.ts";
import type { NameRule, Names } from "./names.ts";
import type { Warnings } from "./warnings.ts";
import type { WireProfile } from "./wire.ts";

/** What is absent cannot be said. */
export interface Abilities {
  readonly wire: WireId;
  /** The names that tools may have; absent: any. */
  readonly names?: NameRule;
  readonly developer?: boolean;
  /** A system text in mid-conversation. */
  readonly systemAnywhere?: boolean;
  /** Text behind the calls of a message, thinking behind its text. */
  readonly order?: boolean;
  /** The arguments of a call are text, which may be broken. */
  readonly textArguments?: boolean;
  /** A call of the history that was cut. */
  readonly cutCalls?: boolean;
  /** Calls without results and results without calls are refused, whoever sends them; of other wires' clients nobody is sent any. */
  readonly pairs?: boolean;
  /** Results that are no text; that are errors; that have media. */
  readonly result?: (result: ToolResult) => boolean;
  readonly errors?: (result: ToolResult) => boolean;
  readonly resultMedia?: boolean;
  readonly media: (media: Media, role: Message["role"]) => boolean;
  /** Files that only Google's servers can read. */
  readonly googleFiles?: boolean;
  readonly thinking?: (thinking: Thinking) => boolean;
  readonly customTools?: boolean;
  readonly strictTools?: boolean;
  readonly deferredTools?: boolean;
  /** Whether the API wants tools declared of which none may be called; absent: they are not sent. */
  readonly idleTools?: (request: Request) => boolean;
  /** The schema of what a tool returns. */
  readonly responses?: boolean;
  /** `"mode"`: which tools may be called can only be said by sending no others; absent: nor can it be said that one must be. */
  readonly toolChoice?: "mode" | "allowed";
  /** `"tools"`: only beside tools. */
  readonly parallelCalls?: true | "tools";
  /** What the output is about; absent: its schema says so. */
  readonly describedOutput?: true;
  /** The API's keys, and ours. */
  readonly sampling: Readonly<Record<string, keyof Sampling>>;
  /** How many stop strings there may be; absent: any number. */
  readonly stops?: number;
  /** How long the ids of calls may be; absent: as long as they are. */
  readonly ids?: number;
  /** Marks of the prompt's cache, `cache_control`, have a place here, whoever sets them. */
  readonly cacheMarks?: boolean | undefined;
  /** Models that refuse a conversation which ends with their own words; others go on from there. */
  readonly wantsUser?: RegExp;
  /** Another wire's state that has a place here. */
  readonly carries?: (opaque: Opaque) => boolean;
}

/** What all parts of a wire's translation need. */
export interface Out {
  /** What the target is able to say. */
  readonly able: Abilities;
  /** Its tools are those that the calls of the conversation are calls of. */
  readonly request: Request;
  /** The tools that are sent. */
  readonly tools: readonly Tool[];
  readonly profile: WireProfile;
  readonly warnings: Warnings;
  readonly names: Names;
  /** The ids of calls, as they are sent. */
  readonly ids: Pick<Names, "out">;
  /** Schemas that were changed so that null stands for what is absent, by the names of their tools. */
  readonly nulls: Record<string, JsonObject>;
  /** The schema of the output was put in an object. */
  wrapped?: true;
}
