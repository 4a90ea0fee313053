/**
 * Calls whose parameters stand between tags, each value as raw text:
 *
 *     <function=write_file><parameter=path>a.py</parameter></function>
 *
 * Nothing is escaped, so a closer counts only where a legal token follows it; elsewhere it is content. How the tags look is data: a
 * `TagForm`. What becomes of the values is told in `values.ts`.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { Tool } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { MAX_NAME, NO_LIMIT, NO_MARKS } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import { type Head, MAX_TAG, openHead, readHead } from "./heads.ts";
import type { Param, Scan, Step } from "./scan.ts";
import { broken, closing, cut, nameTooLong, readThen, releaseBlanks, speak, stop, tooDeep, tooLong } from "./steps.ts";
import { endParam, holdsArguments, paramSchema, readJson, sayValue, typeBySchema } from "./values.ts";

interface Tag {
  /** Up to where the name or the attributes begin. */
  readonly open: string;
  readonly head: Head;
  /** A slip of the model: it counts only behind a head, and a call only if it is declared. */
  readonly slip?: true;
}
interface ParamTag extends Tag {
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

export interface TagSteps {
  /** Behind the opener of a block. */
  readonly block: Step;
  /** Behind the opener of a call without a block. */
  readonly bare: Step;
}

const NEWLINE = new Marks(["\n"]);
const ESCAPED_NEWLINE = new Marks(["\\n"]);

export function tagCalls(form: TagForm): TagSteps {
  const { open, close, calls, callClose, params, stops, strips = false, escaped = false } = form;
  const opens = (tags: readonly Tag[]): string[] => tags.flatMap((tag) => (tag.slip ? [] : tag.open));
  const nextCalls = new Marks(opens(calls));
  const openers = [...open, ...nextCalls.list];
  const slips = new Map(Object.entries(form.closeSlips ?? {}));
  const meant = (mark: string): string => slips.get(mark) ?? mark;
  const slipsOf = (mark: string): string[] => [mark, ...[...slips.keys()].filter((slip) => slips.get(slip) === mark)];
  const blockHeads = new Marks([...calls.map((tag) => tag.open), ...open, ...close, ...stops]);
  const nameEnds = new Marks(["<", "\n", ...(escaped ? ["\\n"] : [])]);
  /** What is legal behind a call's closer, behind a parameter's, and behind a call's head. */
  const behindCall = new Marks([...openers, ...close, ...stops]);
  const behindBlock = new Marks([...open, ...stops]);
  const behindParam = new Marks([...opens(params), ...slipsOf(callClose), ...behindCall.list]);
  const behindHead = new Marks([...params.map((tag) => tag.open), ...behindParam.list]);
  /** The same in a call of a declared tool: its name may be the closer. */
  const ownTags = new WeakMap<Tool, { readonly head: Marks; readonly param: Marks }>();
  const valueMarks = (closer: string, next: readonly string[] = []): Marks =>
    new Marks([...slipsOf(closer), ...(form.opaque ? [] : [...next, ...slipsOf(callClose), ...close, ...openers]), ...stops]);
  /** What no name can hold, be it in quotes. */
  const breaks = [...openers, ...opens(params), callClose, ...close, ...stops];
  const inQuotes = new Map([...`"'`].map((quote) => [quote, new Marks([quote, ...breaks])]));
  const isBreak = ({ ends }: Head, mark: string): boolean => breaks.includes(mark) && !ends.list.includes(mark);
  const headEnds = ({ ends }: Head): Marks => (ends.list.includes("<") ? ends : new Marks([...ends.list, ...breaks]));
  const inValue = new Map(params.map((tag) => [tag.open, valueMarks(tag.close, [...opens(params), tag.open])]));

  // -- up to the name

  const begin = (s: Scan, behind: Step): void => {
    s.openCall();
    s.bound(tooLong);
    s.behind = behind;
    openHead(s);
  };

  const block: Step = (s) => {
    s.resume = resume;
    begin(s, more);
    return blockHead;
  };

  const resume = (mark: string): Step => (close.includes(mark) ? speak : more);

  const bare: Step = (s) => {
    s.resume = undefined;
    begin(s, closing);
    s.lineStart = s.beginsLine;
    return bareHead;
  };

  /** Behind a call of a block: another one, or the block's end. */
  const more: Step = (s) => {
    s.bound(releaseBlanks);
    return nextCall;
  };

  const nextCall: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    const mark = s.match(nextCalls);
    if (mark === undefined) return undefined;
    const head = callHeads.get(mark);
    if (!head) return code === 60 && form.bareNames === "never" ? noCall : closing;
    s.pos += mark.length;
    begin(s, more);
    return head;
  };

  /** Other markup in a block. */
  const noCall: Step = (s) => {
    const mark = s.match(s.table.text.marks, true);
    if (mark === undefined && !s.last) return undefined;
    if (mark !== "") return closing;
    s.bound(tooLong);
    return broken(s, "no-name", "a call was expected in the block");
  };

  const blockHead: Step = (s) => {
    const code = gap(s);
    if (code === undefined) return undefined;
    const mark = s.match(blockHeads);
    if (mark === undefined) return undefined;
    const head = callHeads.get(mark);
    if (head) {
      s.pos += mark.length;
      return head;
    }
    if (mark !== "") return broken(s, "empty", "the block is empty");
    if ((code === 123 || code === 91) && form.json) return form.json;
    return form.bareNames === "never" ? noName(s, code !== 60) : bareName;
  };

  const noName = (s: Scan, mention = false): Step => broken(s, "no-name", "the name of a tool was expected", mention);

  const bareName: Step = (s) => {
    const mark = s.readWord(nameEnds);
    if (mark === undefined) return undefined;
    if (mark === null) return form.bareNames === "always" ? nameTooLong : noName(s, true);
    if (mark === "") return cut;
    const name = s.word.trim();
    if (name === "" || (form.bareNames === "declared" && !s.declares(name))) return noName(s, name !== "");
    s.startCall(name);
    return between;
  };

  const callHead = ({ head, slip }: Tag, bare = false): Step => {
    const ends = headEnds(head);
    return (s) => {
      const mark = readHead(s, ends, inQuotes, MAX_TAG);
      if (mark === undefined) return undefined;
      const { name = "" } = head.read(s.word);
      const broke = mark !== null && isBreak(head, mark);
      if (bare && (broke || (form.shy && !(mark && name && (s.lineStart || s.declares(name)))))) return releaseBlanks;
      if (mark === null || name.length > MAX_NAME) return nameTooLong;
      if (mark === "") return cut;
      if (broke || name === "" || (slip && !s.declares(name))) return noName(s);
      if (!head.next.includes(mark)) s.pos += mark.length;
      if (bare && mark !== "/>" && !form.body && !s.declares(name)) return confirm(name);
      s.startCall(name);
      return mark === "/>" ? endCall(s) : (form.body ?? between);
    };
  };

  const callHeads = new Map(calls.map((tag) => [tag.open, callHead(tag)]));
  const bareHead = calls[0] ? callHead(calls[0], true) : releaseBlanks;

  /** Without a block, a name that nobody declared is a call's only if something legal follows: somebody may be explaining the format. */
  const confirm =
    (name: string): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      const mark = s.match(behindHead, true);
      if (mark === undefined && !s.last) return undefined;
      if (mark === "" && !(code === 123 && form.wrappers)) return releaseBlanks;
      s.startCall(name);
      return between;
    };

  // -- between the parameters

  /** Passes over blanks, and newlines that the model escaped. */
  const gap = (s: Scan): number | undefined => {
    for (;;) {
      const code = s.blanks();
      if (s.param) s.param.blanks += s.run;
      if (code !== 92 || !escaped) return code;
      const mark = s.match(ESCAPED_NEWLINE);
      if (mark === undefined) return undefined;
      if (mark === "") return code;
      s.pos += mark.length;
      if (s.param) s.param.blanks += mark;
    }
  };

  /** Behind the head of a call, or what closes a parameter if something legal follows. */
  const between: Step = (s) => {
    const code = gap(s);
    if (code === undefined) return undefined;
    const legal = legalHere(s);
    const mark = s.match(legal, true);
    if (mark === undefined) return s.last ? ended(s, legal) : undefined;
    if (mark === "") return s.param ? content(s, s.param, s.param.blanks) : body(s, code);
    const head = paramHeads.get(mark);
    const failed = finish(s, !head);
    if (failed) return failed;
    const own = !head && !behindParam.list.includes(mark);
    if (head || (own && mark.charAt(1) !== "/")) {
      if (s.json.complete) return broken(s, "bad-arguments", "a parameter behind the arguments");
      s.pos += mark.length;
      if (head) {
        openHead(s);
        return head;
      }
      const key = mark.slice(1, -1);
      return beginParam(s, { close: `</${key}>` }, key);
    }
    if (own || meant(mark) === callClose) s.pos += mark.length;
    if (!stops.includes(mark)) return endCall(s, mark);
    s.endCall(true);
    s.pos += mark.length;
    return stop;
  };

  const legalHere = (s: Scan): Marks => {
    const place = s.param?.closer === params[0]?.close && !s.param?.slip ? "param" : "head";
    const tool = s.toolNamed(s.call?.name ?? "");
    if (!tool) return place === "param" ? behindParam : behindHead;
    let marks = ownTags.get(tool);
    if (!marks) {
      const closer = `</${tool.name}>`;
      const keys = form.ownTags ? Object.keys(tool.parameters?.properties ?? {}) : [];
      marks = {
        head: new Marks([...behindHead.list, closer, ...keys.map((key) => `<${key}>`)]),
        param: new Marks([...behindParam.list, closer]),
      };
      ownTags.set(tool, marks);
    }
    return marks[place];
  };

  /** The input ended here, perhaps inside a mark. That of the next call ends this one. */
  const ended = (s: Scan, legal: Marks): Step => {
    const rest = s.ahead;
    if (legal.list.every((mark) => openers.includes(mark) || !mark.startsWith(rest))) return finish(s, true) ?? endCall(s);
    s.pos = s.stop;
    if (s.param) endParam(s, s.param, escaped, true);
    return cut;
  };

  /** No parameter and no end of the call. */
  const body = (s: Scan, code: number): Step => {
    if (code !== 123 || !form.wrappers || s.json.complete) return broken(s, "bad-arguments", "a parameter was expected");
    s.begin(JSON_SYNTAX, s.json, behindParam);
    return inObject;
  };

  const inObject = readThen((s) => between(s));

  /** `mark`: what closed it. */
  const endCall = (s: Scan, mark = ""): Step => {
    if (s.json.begun && !s.json.complete) s.json.shut();
    s.endCall();
    if (mark !== callClose || !close.includes(mark)) return s.behind ?? speak;
    s.unclosed = false;
    return speak;
  };

  // -- parameters

  /** Behind the opener of a parameter; or of what may be one, inside a value whose closer is missing. */
  const paramHead = (tag: ParamTag, isInside: boolean): Step => {
    const { head } = tag;
    const ends = isInside ? head.endsInside : headEnds(head);
    return (s) => {
      const inside = isInside ? s.param : undefined;
      const mark = readHead(s, ends, inQuotes, inside ? MAX_TAG : NO_LIMIT);
      if (mark === undefined) return undefined;
      if (mark === "") return cut;
      const { name, type, rest = "" } = head.read(s.word);
      // Where the `>` is missing, a key of several words has its value in it.
      const broke = mark === null || name === undefined || isBreak(head, mark) || (mark === "<" && (rest !== "" || /\s/.test(name.trim())));
      if (inside && (broke || head.next.includes(mark) || !fits(s, name) || has(s, inside, name))) return content(s, inside, s.word);
      if (broke || (tag.slip && (mark === "<" || /^$|\s/.test(name) || !fits(s, name))))
        return broken(s, "bad-arguments", "a parameter has no name");
      const failed = inside && finish(s, false);
      if (failed) return failed;
      if (!head.next.includes(mark)) s.pos += mark.length;
      const next = beginParam(s, tag, name, type);
      return mark === "/>" ? between : next;
    };
  };
  const paramHeads = new Map(params.map((tag) => [tag.open, paramHead(tag, false)]));
  const innerHeads = new Map(params.map((tag) => [tag.open, paramHead(tag, true)]));

  const fits = (s: Scan, key: string): boolean => s.schemaOf(s.call?.name ?? "") === undefined || paramSchema(s, key) !== undefined;

  /** A parameter that the call has already cannot be its next one. */
  const has = ({ json }: Scan, { key }: Param, name: string): boolean => key === name || json.has(name);

  const beginParam = (s: Scan, tag: Partial<ParamTag>, key: string, type = typeBySchema(s, key)): Step => {
    const { close: closer = "", slip = false } = tag;
    const marks = inValue.get(tag.open ?? "") ?? valueMarks(closer);
    const all = tag.all === true || (form.wrappers?.includes(key) === true && s.param === undefined && !fits(s, key));
    s.param = { key, type, all, text: new Pile(), written: false, newline: "", closer, slip, marks, quoted: 0, mark: "", blanks: "" };
    return valueTags.get(tag.open ?? "") ?? valueStart;
  };

  /** What opens a value. Without it the value must have its closer before anything else. */
  const valueTag = (value: string, closer: string): Step => {
    const opener = new Marks([value]);
    const marks = new Marks([closer, ...breaks]);
    return (s) => {
      const code = gap(s);
      if (code === undefined) return undefined;
      const mark = s.match(opener, true);
      if (mark === undefined && s.last) s.pos = s.stop;
      if (mark === undefined) return s.last ? cut : undefined;
      if (mark === "" && s.param) {
        if (code === 60) return noValue(s);
        s.param = { ...s.param, slip: true, marks };
      }
      s.pos += mark.length;
      return valueStart;
    };
  };
  const noValue = (s: Scan): Step => broken(s, "bad-arguments", "a value was expected");
  const valueTags = new Map(
    params.flatMap(({ open, value, close }) => (value === undefined ? [] : [[open, valueTag(value, close)] as const])),
  );

  const valueStart: Step = (s) => {
    const mark = strips ? s.match(NEWLINE) : "";
    if (mark === undefined) return undefined;
    s.pos += mark.length;
    return value;
  };

  const value: Step = (s) => {
    const { param } = s;
    if (!param) return between;
    const mark = s.until(param.marks, true);
    sayValue(s, param, s.run, strips);
    if (mark === undefined) {
      if (param.written && param.newline === "") s.calm(param.marks.plainEnd);
      return undefined;
    }
    if (mark === "") {
      s.pos = s.stop;
      return cut;
    }
    const closes = meant(mark) === param.closer;
    if (form.opaque && param.slip && !closes) return noValue(s);
    s.pos += mark.length;
    param.mark = mark;
    param.blanks = "";
    if (closes) return between;
    if (openers.includes(mark)) param.quoted++;
    else if (param.quoted === 0 || stops.includes(mark)) {
      openHead(s);
      return innerHeads.get(mark) ?? closedEarly;
    } else if (!innerHeads.has(mark)) param.quoted--;
    return content(s, param, "");
  };

  /** The mark was content, and so is what was read behind it. */
  const content = (s: Scan, param: Param, behind: string): Step => {
    sayValue(s, param, param.mark + behind, strips);
    return value;
  };

  /** Behind the call's closer, the block's or a stop, inside a value: the value ends there if something legal follows; behind a stop that is nothing. */
  const closedEarly: Step = (s) => {
    const { param } = s;
    const code = gap(s);
    if (code === undefined || !param) return undefined;
    const closesCall = meant(param.mark) === callClose;
    const closesBlock = !closesCall && close.includes(param.mark);
    const mark = code === -1 ? undefined : s.match(closesCall ? behindCall : closesBlock ? behindBlock : NO_MARKS, true);
    if (mark === undefined && !s.last) return undefined;
    if (mark === undefined && !(closesBlock && code === -1)) {
      s.pos = s.stop;
      return cut;
    }
    if (mark === "") return content(s, param, param.blanks);
    if (mark !== undefined && closesBlock && open.includes(mark)) {
      s.pos += mark.length;
      param.blanks += mark;
      return openedBehind;
    }
    const failed = finish(s, true);
    if (failed) return failed;
    const next = endCall(s);
    if (!closesBlock) return next;
    s.unclosed = false;
    return speak;
  };

  /** Inside a value, behind the block's closer and the opener of another one: the value ended before them if a call follows. */
  const openedBehind: Step = (s) => {
    const { param } = s;
    const code = gap(s);
    if (code === undefined || !param) return undefined;
    const mark = s.match(nextCalls, true);
    if (mark === undefined && !s.last) return undefined;
    if (!mark) return content(s, param, param.blanks);
    const failed = finish(s, true);
    if (failed) return failed;
    endCall(s);
    return block;
  };

  /** The parameter that was read last, if any, is whole; `lone`: the call ends behind it. Answers with a step if it cannot be read. */
  const finish = (s: Scan, lone: boolean): Step | undefined => {
    const { param } = s;
    if (!param) return undefined;
    const text = param.text.toString();
    if (param.slip && text === "" && !param.written) return broken(s, "bad-arguments", "a parameter has no value");
    const isAll = param.all && lone && holdsArguments(s, text);
    if (param.all && param.key === "" && !isAll)
      return text.trim() === "" ? undefined : broken(s, "bad-arguments", "the arguments are no object");
    const outcome = isAll ? readJson(text, s.json, s.maxDepth) : endParam(s, param, escaped, false);
    return outcome === "deep" ? tooDeep : undefined;
  };

  return { block, bare };
}
