/** What a wire can express, as a table that each wire has, and what `adapt` makes of a request by that table. */
import type { JsonObject, Media, Message, Opaque, Request, Sampling, Thinking, Tool, ToolResult, WireId } from "../core/nouns.ts";
import type { NameRule, Names } from "./names.ts";
import type { Warnings } from "./warnings.ts";
import type { WireProfile } from "./wire.ts";

/** The wire cannot express what is absent here. */
export interface Abilities {
  readonly wire: WireId;
  /** Which tool names are allowed; absent: any. */
  readonly names?: NameRule;
  readonly developer?: boolean;
  /** A system text in mid-conversation. */
  readonly systemAnywhere?: boolean;
  /** The parts of a message keep their order: text may follow calls, thinking may follow text. */
  readonly order?: boolean;
  /** The arguments of a call are text, which may be broken. */
  readonly textArguments?: boolean;
  /** Truncated calls in the history. */
  readonly cutCalls?: boolean;
  /** The API refuses calls without results and results without calls, so they are mended even for its own clients (for others, always). */
  readonly pairs?: boolean;
  /** Results that are not text; that are errors; that have media. */
  readonly result?: (result: ToolResult) => boolean;
  readonly errors?: (result: ToolResult) => boolean;
  readonly resultMedia?: boolean;
  readonly media: (media: Media, role: Message["role"]) => boolean;
  /** Files that only Google's servers can fetch. */
  readonly googleFiles?: boolean;
  readonly thinking?: (thinking: Thinking) => boolean;
  readonly customTools?: boolean;
  readonly strictTools?: boolean;
  readonly deferredTools?: boolean;
  /** Whether tools are sent even though none may be called; absent: they are not. */
  readonly idleTools?: (request: Request) => boolean;
  /** A schema for a tool's result. */
  readonly responses?: boolean;
  /** `"mode"`: calls are restricted to some tools only by sending no others; absent: nor can a call be demanded. */
  readonly toolChoice?: "mode" | "allowed";
  /** `"tools"`: only together with tools. */
  readonly parallelCalls?: true | "tools";
  /** A description of the output; absent: it moves into the schema. */
  readonly describedOutput?: true;
  /** From the API's names of the settings to the nouns' names. */
  readonly sampling: Readonly<Record<string, keyof Sampling>>;
  /** How many stop strings are allowed; absent: any number. */
  readonly stops?: number;
  /** The maximum length of call ids; absent: none. */
  readonly ids?: number;
  /** Prompt-cache marks (`cache_control`), including those of other wires' clients. */
  readonly cacheMarks?: boolean | undefined;
  /** Models that refuse a conversation that ends with an assistant message; others continue that message. */
  readonly wantsUser?: RegExp;
  /** Which state of other wires this wire can carry. */
  readonly carries?: (opaque: Opaque) => boolean;
}

/** What `adapt` hands to the wire's encoder. */
export interface Out {
  /** The abilities by which the request was adapted. */
  readonly able: Abilities;
  /** Its tools include those that are not sent, if the choice is `none`: calls in the history still refer to them. */
  readonly request: Request;
  /** The tools that are sent. */
  readonly tools: readonly Tool[];
  readonly profile: WireProfile;
  readonly warnings: Warnings;
  readonly names: Names;
  /** Maps call ids to the ids that are sent. */
  readonly ids: Names;
  /** The original schemas, by tool name, of tools whose schema was changed so that null means absent. */
  readonly nulls: Record<string, JsonObject>;
  /** The output's schema was wrapped in an object. */
  wrapped?: true;
}
