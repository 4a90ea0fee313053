/**
 * Calls whose parameters stand between tags, each value as raw text:
 *
 *     <function=write_file><parameter=path>a.py</parameter></function>
 *
 * How the tags look is data: a `TagForm`. Here it is made into the marks to look for. What stands up to the name of a call is read in
 * `tag-calls.ts`, its parameters in `params.ts`.
 */
import type { Tool } from "../../core/nouns.ts";
import { Marks } from "../../core/window.ts";
import type { Head } from "./heads.ts";
import type { Scan, Step } from "./scan.ts";

export interface Tag {
  /** Up to where the name or the attributes begin. */
  readonly open: string;
  readonly head: Head;
  /** A slip of the model: it counts only behind a head, and a call only if it is declared. */
  readonly slip?: true;
}
export interface ParamTag extends Tag {
  /** What stands between the head and the value. */
  readonly value?: string;
  readonly close: string;
  /** It holds all arguments. */
  readonly all?: true;
}

export interface TagForm {
  /** What opens and closes a block of calls. */
  readonly open: readonly string[];
  readonly close: readonly string[];
  /** What opens a call; without a block only the first does. */
  readonly calls: readonly Tag[];
  readonly callClose: string;
  readonly params: readonly ParamTag[];
  readonly stops: readonly string[];
  /** Whether the name of a call may stand right behind the block's opener. */
  readonly bareNames: "always" | "declared" | "never";
  /** A call without a block counts only where a line begins, or if it is declared. */
  readonly shy?: boolean;
  /** One newline at each end of a value belongs to the tags. */
  readonly strips?: boolean;
  /** A declared parameter may stand in a tag of its own name. */
  readonly ownTags?: boolean;
  /** A call may come escaped, like the inside of a JSON string. */
  readonly escaped?: boolean;
  /** Slips of the model for what closes calls and parameters, and what they stand for. */
  readonly closeSlips?: Readonly<Record<string, string>>;
  /** The arguments may come as one JSON object, or in one parameter of such a name. */
  readonly wrappers?: readonly string[];
  /** Nothing but its own closer ends a value. */
  readonly opaque?: boolean;
  /** Reads the arguments and what closes the call, where they are no parameters. */
  readonly body?: Step;
  /** Where a JSON object follows the block's opener. */
  readonly json?: Step;
}

export type Tags = ReturnType<typeof tagMarks>;

export function tagMarks(form: TagForm) {
  const { open, close, calls, callClose, params, stops, closeSlips = {} } = form;
  const slips = new Map(Object.entries(closeSlips));
  const spellings = (mark: string): string[] => [mark, ...[...slips.keys()].filter((slip) => slips.get(slip) === mark)];
  const nextCalls = new Marks(opens(calls));
  const openers = [...open, ...nextCalls.list];
  const behindCall = new Marks([...openers, ...close, ...stops]);
  const behindParam = new Marks([...opens(params), ...spellings(callClose), ...behindCall.list]);
  const behindHead = new Marks([...params.map((tag) => tag.open), ...behindParam.list]);
  const breaks = [...openers, ...opens(params), callClose, ...close, ...stops];
  const inQuotes: ReadonlyMap<string, Marks> = new Map([...`"'`].map((quote) => [quote, new Marks([quote, ...breaks])]));
  const valueMarks = (closer: string, next: readonly string[] = []): Marks =>
    new Marks([...spellings(closer), ...(form.opaque ? [] : [...next, ...spellings(callClose), ...close, ...openers]), ...stops]);
  const inValue = new Map(params.map((tag) => [tag.open, valueMarks(tag.close, [...opens(params), tag.open])]));
  const known = new WeakMap<Tool, { readonly head: Marks; readonly param: Marks }>();

  return {
    /** What opens a call, and what opens a block or a call. */
    nextCalls,
    openers,
    /** The same, and what closes one that is closed already. */
    moreCalls: new Marks([...nextCalls.list, ...spellings(callClose).filter((mark) => !close.includes(mark))]),
    /** What is legal behind a call's closer, behind a block's, behind a parameter's, and behind a call's head. */
    behindCall,
    behindBlock: new Marks([...open, ...stops]),
    behindParam,
    behindHead,
    /** What no name can hold, be it in quotes. */
    breaks,
    inQuotes,
    isBreak: ({ ends }: Head, mark: string): boolean => breaks.includes(mark) && !ends.list.includes(mark),
    headEnds: ({ ends }: Head): Marks => {
      const others = breaks.filter((mark) => !(ends.list.includes("<") && mark.startsWith("<")));
      return others.length > 0 ? new Marks([...ends.list, ...others]) : ends;
    },
    /** What a mark stands for that may be a slip. */
    meant: (mark: string): string => slips.get(mark) ?? mark,
    /** What matters inside the value of a tag, or of a parameter that has a tag of its own. */
    marksInValue: ({ open = "", close = "" }: Partial<ParamTag>): Marks => inValue.get(open) ?? valueMarks(close),

    /** What is legal where the scanner stands, in a call: its name may be the closer, if it is declared. */
    legalHere(s: Scan): Marks {
      const place = s.param?.closer === params[0]?.close && !s.param?.slip ? "param" : "head";
      const tool = s.toolNamed(s.call?.name ?? "");
      if (!tool) return place === "param" ? behindParam : behindHead;
      let marks = known.get(tool);
      if (!marks) {
        const closer = `</${tool.name}>`;
        const keys = form.ownTags ? Object.keys(tool.parameters?.properties ?? {}) : [];
        marks = {
          head: new Marks([...behindHead.list, closer, ...keys.map((key) => `<${key}>`)]),
          param: new Marks([...behindParam.list, closer]),
        };
        known.set(tool, marks);
      }
      return marks[place];
    },
  };
}

/** What opens such tags, but for slips. */
const opens = (tags: readonly Tag[]): string[] => tags.flatMap((tag) => (tag.slip ? [] : tag.open));
