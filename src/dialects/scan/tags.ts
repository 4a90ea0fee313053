/**
 * Calls whose parameters are wrapped in tags, each value as raw text:
 *
 *     <function=write_file><parameter=path>a.py</parameter></function>
 *
 * A `TagForm` says what the tags look like; this file derives the marks to look for. `tag-calls.ts` reads a call up to its name,
 * `params.ts` its parameters.
 */
import type { Tool } from "../../core/nouns.ts";
import { Marks } from "../../core/window.ts";
import type { Head } from "./heads.ts";
import type { Scan, Step } from "./scan.ts";

export interface Tag {
  /** The tag up to where its name or attributes begin. */
  readonly open: string;
  readonly head: Head;
  /** A slip of models: it counts only right after a head, and for a call only if the tool is declared. */
  readonly slip?: true;
}
export interface ParamTag extends Tag {
  /** The tag between the head and the value. */
  readonly value?: string;
  readonly close: string;
  /** It contains all arguments as one object. */
  readonly all?: true;
}

export interface TagForm {
  /** The marks around a block of calls. */
  readonly open: readonly string[];
  readonly close: readonly string[];
  /** The tags that open a call. Outside a block only the first does. */
  readonly calls: readonly Tag[];
  readonly callClose: string;
  readonly params: readonly ParamTag[];
  readonly stops: readonly string[];
  /** Whether a name may follow the block's opener directly. */
  readonly bareNames: "always" | "declared" | "never";
  /** Outside a block a call counts only at the beginning of a line, or if the tool is declared. */
  readonly shy?: boolean;
  /** One newline at each end of a value belongs to the tags. */
  readonly strips?: boolean;
  /** How a declared parameter may also begin, `<city>`, and the tag that this stands for. */
  readonly ownTag?: (key: string) => Partial<ParamTag> & { readonly begin: string };
  /** A call may come escaped, like the inside of a JSON string. */
  readonly escaped?: boolean;
  /** Misspelt closers of calls and parameters, and what they stand for. */
  readonly closeSlips?: Readonly<Record<string, string>>;
  /** The arguments may be one JSON object, alone or in a single parameter with one of these names. */
  readonly wrappers?: readonly string[];
  /** Reads what may precede a value, then goes on with the given step. */
  readonly valueHead?: (value: Step) => Step;
  /** Nothing but its own closer ends a value. */
  readonly opaque?: boolean;
  /** Reads the arguments and the call's closer, where arguments are not parameters in tags. */
  readonly body?: Step;
  /** The step at a JSON object or list right after the block's opener. */
  readonly json?: Step;
}

export type Tags = ReturnType<typeof tagMarks>;

export function tagMarks(form: TagForm) {
  const { open, close, calls, callClose, params, stops, ownTag, closeSlips = {} } = form;
  const slips = new Map(Object.entries(closeSlips));
  const spellings = (mark: string): string[] => [mark, ...[...slips.keys()].filter((slip) => slips.get(slip) === mark)];
  const nextCalls = new Marks(opens(calls));
  const openers = [...open, ...nextCalls.list];
  const behindCall = new Marks([...openers, ...close, ...stops]);
  const behindParam = new Marks([...opens(params), ...spellings(callClose), ...behindCall.list]);
  const behindHead = new Marks([...params.map((tag) => tag.open), ...behindParam.list]);
  const breaks = [...openers, ...opens(params), ...params.map((tag) => tag.close), callClose, ...close, ...stops];
  const inQuotes: ReadonlyMap<string, Marks> = new Map([...`"'`].map((quote) => [quote, new Marks([quote, ...breaks])]));
  const quoted = params.flatMap(({ open, head, value, slip }) => (slip ? [] : value === undefined ? `\n${open}` : (head.whole ?? [])));
  const valueMarks = (closer: string, next: readonly string[] = []): Marks =>
    new Marks([...spellings(closer), ...(form.opaque ? [] : next), ...quoted, ...spellings(callClose), ...close, ...openers, ...stops]);
  const inValue = new Map(params.map((tag) => [tag.open, valueMarks(tag.close, [...opens(params), tag.open])]));
  /** For each tool: the marks that may come next, and its parameters by how else they begin. */
  const known = new WeakMap<Tool, { readonly head: Marks; readonly param: Marks; readonly own: ReadonlyMap<string, string> }>();

  return {
    /** The openers of calls, and those of calls and blocks. */
    nextCalls,
    openers,
    /** How a parameter begins in a call that a value quotes: on a line of its own, or with the tag of its value, as in no sentence. */
    quoted: new Set(quoted),
    /** The openers of calls, and the closers of calls, which may come twice. */
    moreCalls: new Marks([...nextCalls.list, ...spellings(callClose).filter((mark) => !close.includes(mark))]),
    /** What may follow a call's closer, a block's, a parameter's, and a call's head. */
    behindCall,
    behindBlock: new Marks([...open, ...stops]),
    behindParam,
    behindHead,
    /** What no name can contain, not even in quotes. */
    breaks,
    inQuotes,
    isBreak: ({ ends }: Head, mark: string): boolean => breaks.includes(mark) && !ends.list.includes(mark),
    headEnds: ({ ends }: Head): Marks => {
      const others = breaks.filter((mark) => !(ends.list.includes("<") && mark.startsWith("<")));
      return others.length > 0 ? new Marks([...ends.list, ...others]) : ends;
    },
    /** What a mark stands for, as it may be misspelt. */
    meant: (mark: string): string => slips.get(mark) ?? mark,
    /** A mark and its misspellings. */
    spellings,
    /** The marks that matter inside a value, of a usual parameter or of one in a tag of its own name. */
    marksInValue: ({ open = "", close = "" }: Partial<ParamTag>): Marks => inValue.get(open) ?? valueMarks(close),

    /** The marks that may come next in a call. A declared tool's own name may be the call's closing tag. */
    legalHere(s: Scan): Marks {
      const place = s.param?.closer === params[0]?.close && !s.param?.slip ? "param" : "head";
      const tool = s.toolNamed(s.call?.name ?? "");
      if (!tool) return place === "param" ? behindParam : behindHead;
      let marks = known.get(tool);
      if (!marks) {
        const closer = `</${tool.name}>`;
        const own = new Map(ownTag ? Object.keys(tool.parameters?.properties ?? {}).map((key) => [ownTag(key).begin, key]) : []);
        marks = { head: new Marks([...behindHead.list, closer, ...own.keys()]), param: new Marks([...behindParam.list, closer]), own };
        known.set(tool, marks);
      }
      return marks[place];
    },
    /** The parameter that begins with such a mark. */
    ownKey(s: Scan, mark: string): string | undefined {
      const tool = s.toolNamed(s.call?.name ?? "");
      return tool && known.get(tool)?.own.get(mark);
    },
  };
}

/** The openers of these tags, without slips. */
const opens = (tags: readonly Tag[]): string[] => tags.flatMap((tag) => (tag.slip ? [] : tag.open));
