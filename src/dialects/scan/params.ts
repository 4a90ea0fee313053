/**
 * The parameters of a call, each between tags. Values are not escaped, so a closing tag counts only if something legal follows it; otherwise
 * it is content. `values.ts` turns the values into JSON.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { Pile } from "../../core/pile.ts";
import { NO_LIMIT, NO_MARKS } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import { MAX_TAG, openHead, readHead } from "./heads.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, cut, readThen, speak, stop, tooDeep } from "./steps.ts";
import type { ParamTag, TagForm, Tags } from "./tags.ts";
import { endParam, holdsArguments, type Param, paramSchema, readJson, sayValue, typeBySchema } from "./values.ts";

export interface ParamSteps {
  /** After the head of a call. */
  readonly between: Step;
  /** Ends the call, which `mark` has closed. */
  endCall(s: Scan, mark?: string): Step;
}

/** The steps between parameters, and for the heads of parameters. */
export function paramSteps(form: TagForm, tags: Tags): ParamSteps {
  const { close, callClose, params, stops, wrappers = [], escaped = false } = form;
  const { openers, behindParam, inQuotes, isBreak, headEnds, meant, spellings, marksInValue, legalHere, ownKey } = tags;
  const closers = new Marks(params.flatMap((tag) => spellings(tag.close)));

  /** After the head of a call, or after what closes a parameter if something legal follows. */
  const between: Step = (s) => {
    const code = gap(s, escaped);
    if (code === undefined) return undefined;
    const legal = legalHere(s);
    const mark = s.match(legal, true);
    if (mark === undefined) return s.last ? ended(s, legal) : undefined;
    if (mark === "") return s.param ? doubled(s, s.param) : body(s, code);
    const head = paramHeads.get(mark);
    const key = head ? undefined : ownKey(s, mark);
    const isParam = head !== undefined || key !== undefined;
    const failed = finish(s, !isParam, escaped);
    if (failed) return failed;
    if (isParam) {
      if (s.json.complete) return broken(s, "bad-arguments", "a parameter follows the arguments");
      s.pos += mark.length;
      openHead(s);
      return head ?? beginParam(s, form.ownTag?.(key ?? "") ?? {}, key ?? "");
    }
    if (!behindParam.list.includes(mark) || meant(mark) === callClose) s.pos += mark.length;
    if (!stops.includes(mark)) return endCall(s, mark);
    s.endCall(!s.json.complete);
    s.pos += mark.length;
    return stop;
  };

  /** After a closer that nothing legal follows. It was content, unless the value is no string and the model wrote the closer twice. */
  const doubled = (s: Scan, param: Param): Step | undefined => {
    const again = param.type === "json" ? s.match(closers, true) : "";
    if (again === undefined && !s.last) return undefined;
    if (!again || meant(again) !== param.closer || param.blanks.includes(again)) return content(s, param, param.blanks);
    s.pos += again.length;
    param.blanks += again;
    return between;
  };

  /** The input ended here, perhaps inside a mark. If that can only be the opener of the next call, this call is complete. */
  const ended = (s: Scan, legal: Marks): Step => {
    const rest = s.ahead;
    if (legal.list.every((mark) => openers.includes(mark) || !mark.startsWith(rest))) return finish(s, true, escaped) ?? endCall(s);
    s.pos = s.stop;
    if (s.json.complete) return endCall(s); // it came as one object
    if (s.param) endParam(s, s.param, escaped, true);
    return cut;
  };

  /** At neither a parameter nor the end of the call. A parameter's closer is ignored: GLM writes one after the name of a call without parameters. */
  const body = (s: Scan, code: number): Step | undefined => {
    const stray = s.match(closers, true);
    if (stray === undefined && !s.last) return undefined;
    if (stray) {
      s.pos += stray.length;
      return between;
    }
    if (code === 125 && s.json.complete) {
      s.pos++; // a superfluous brace, or that of the wrapper
      return between;
    }
    if (code !== 123 || !form.wrappers || s.json.complete) return broken(s, "bad-arguments", "a parameter was expected");
    const wrapper = s.match(wrapped(s), true);
    if (wrapper === undefined && !s.last) return undefined;
    if (wrapper) s.pos += wrapper.indexOf("{", 1);
    s.begin(JSON_SYNTAX, s.json, behindParam);
    return inObject;
  };

  /** How an object may begin that has all arguments under a key that is no parameter. */
  const wrapped = (s: Scan): Marks => {
    const keys = Object.keys(s.toolNamed(s.call?.name ?? "")?.parameters?.properties ?? {});
    const others = wrappers.filter((wrapper) => !keys.includes(wrapper));
    return new Marks(others.flatMap((wrapper) => keys.flatMap((key) => [`{"${wrapper}": {"${key}"`, `{"${wrapper}":{"${key}"`])));
  };

  const inObject = readThen((s) => between(s));

  const endCall = (s: Scan, mark = ""): Step => {
    if (s.json.begun && !s.json.complete) s.json.shut();
    s.endCall();
    if (mark !== callClose || !close.includes(mark)) return s.behind ?? speak;
    s.unclosed = false;
    return speak;
  };

  /** After the opener of a parameter; with `isInside`, in a value whose closer may be missing, so that the opener may be content. */
  const paramHead = (tag: ParamTag, isInside: boolean): Step => {
    const { head, slip } = tag;
    const ends = isInside ? head.endsInside : headEnds(head);
    return (s) => {
      const inside = isInside ? s.param : undefined;
      const mark = readHead(s, ends, inQuotes, inside ? MAX_TAG : NO_LIMIT);
      if (mark === undefined) return undefined;
      if (mark === "") return cut;
      const { name, type, rest = "" } = head.read(s.word);
      const broke =
        mark === null ||
        name === undefined ||
        isBreak(head, mark) ||
        // Where the `>` is missing, a key of several words contains its value.
        (mark === "<" && (slip || rest !== "" || /\s/.test(name.trim()))) ||
        (slip && (/^$|\s/.test(name) || !fits(s, name)));
      if (inside && (broke || head.next.includes(mark) || !fits(s, name) || has(s, inside, name))) return content(s, inside, s.word);
      if (broke) return broken(s, "bad-arguments", "a parameter has no name");
      const failed = inside && finish(s, false, escaped);
      if (failed) return failed;
      if (!head.next.includes(mark)) s.pos += mark.length;
      const next = beginParam(s, tag, name, type);
      return mark === "/>" ? between : next;
    };
  };
  const paramHeads = new Map(params.map((tag) => [tag.open, paramHead(tag, false)]));
  const innerHeads = new Map(params.map((tag) => [tag.open, paramHead(tag, true)]));

  const beginParam = (s: Scan, tag: Partial<ParamTag>, key: string, type = typeBySchema(s, key)): Step => {
    const { close: closer = "", slip = false } = tag;
    const marks = marksInValue(tag);
    const all = tag.all === true || (wrappers.includes(key) && s.param === undefined && !fits(s, key));
    s.param = {
      key,
      type,
      all,
      text: new Pile(),
      written: false,
      newline: "",
      closer,
      slip,
      marks,
      quoted: 0,
      nested: false,
      mark: "",
      blanks: "",
    };
    return valueTags.get(tag.open ?? "") ?? start;
  };

  const { start, content, valueTags } = valueSteps(form, tags, { between, endCall, innerHeads });
  return { between, endCall };
}

interface Around extends ParamSteps {
  /** The steps after what may open a parameter, inside a value. */
  readonly innerHeads: ReadonlyMap<string, Step>;
}

/** The steps inside a value, up to its closer. */
function valueSteps(form: TagForm, tags: Tags, { between, endCall, innerHeads }: Around) {
  const { open, close, callClose, params, stops, strips = false, escaped = false, opaque = false } = form;
  const { nextCalls, openers, behindCall, behindBlock, breaks, meant, quoted } = tags;

  /** At the tag that opens a value. A value without it must have its closer before any other mark. */
  const valueTag = (value: string, closer: string): Step => {
    const opener = new Marks([value]);
    const marks = new Marks([closer, ...breaks]);
    return (s) => {
      const code = gap(s, escaped);
      if (code === undefined) return undefined;
      const mark = s.match(opener, true);
      if (mark === undefined && s.last) s.pos = s.stop;
      if (mark === undefined) return s.last ? cut : undefined;
      if (mark === "" && s.param) {
        if (code === 60) return noValue(s);
        s.param = { ...s.param, slip: true, marks };
      }
      s.pos += mark.length;
      return start;
    };
  };
  const noValue = (s: Scan): Step => broken(s, "bad-arguments", "a value was expected");
  const valueTags = new Map(
    params.flatMap(({ open, value, close }) => (value === undefined ? [] : [[open, valueTag(value, close)] as const])),
  );

  const start: Step = (s) => {
    const mark = strips ? s.match(NEWLINE) : "";
    if (mark === undefined) return undefined;
    s.pos += mark.length;
    return valueHead;
  };

  const value: Step = (s) => {
    const { param } = s;
    if (!param) return between;
    const mark = s.until(param.marks, true);
    sayValue(s, param, s.run, strips);
    if (mark === undefined) return undefined;
    if (mark === "") {
      s.pos = s.stop;
      return cut;
    }
    const closes = meant(mark) === param.closer;
    s.pos += mark.length;
    param.mark = mark;
    param.blanks = "";
    if (closes && !param.nested) return between;
    if (closes) param.nested = false;
    else if (openers.includes(mark)) param.quoted++;
    else if (stops.includes(mark) || (param.quoted === 0 && !opaque)) {
      openHead(s);
      if (mark.startsWith("\n")) {
        // A line break is a part of that mark only in a quoted call; here it is content.
        sayValue(s, param, "\n", strips);
        param.mark = mark.slice(1);
      }
      return innerHeads.get(param.mark) ?? closedEarly;
    } else if (param.quoted > 0) {
      if (quoted.has(mark)) param.nested = true;
      else if (!innerHeads.has(mark)) {
        param.nested = false;
        param.quoted--;
      }
    }
    return content(s, param, "");
  };

  const valueHead = form.valueHead?.(value) ?? value;

  /** The mark was content, and so is what was read after it. */
  const content = (s: Scan, param: Param, behind: string): Step => {
    sayValue(s, param, param.mark + behind, strips);
    return value;
  };

  /** Inside a value, after the closer of the call or the block, or after a stop: if something legal follows, the value has ended; after a stop nothing may. */
  const closedEarly: Step = (s) => {
    const { param } = s;
    const code = gap(s, escaped);
    if (code === undefined || !param) return undefined;
    const closesCall = meant(param.mark) === callClose;
    const closesBlock = close.includes(param.mark);
    const mark = code === -1 ? undefined : s.match(closesCall ? behindCall : closesBlock ? behindBlock : NO_MARKS, true);
    if (mark === undefined && !s.last) return undefined;
    const ends = mark && stops.includes(mark) ? s.isCut() : true; // a stop is legal only where it ends the output
    if (ends === undefined) return undefined;
    if (mark === undefined && !(closesBlock && code === -1)) {
      s.pos = s.stop;
      return cut;
    }
    if (mark === "" || !ends) return content(s, param, param.blanks);
    if (mark !== undefined && closesBlock && !closesCall && open.includes(mark)) {
      s.pos += mark.length;
      param.blanks += mark;
      return openedBehind;
    }
    const failed = finish(s, true, escaped);
    if (failed) return failed;
    const next = endCall(s);
    if (!closesBlock) return next;
    s.unclosed = false;
    return speak;
  };

  /** Inside a value, after the block's closer and the opener of another block: if a call follows, the value ended before them. */
  const openedBehind: Step = (s) => {
    const { param } = s;
    const code = gap(s, escaped);
    if (code === undefined || !param) return undefined;
    const mark = s.match(nextCalls, true);
    if (mark === undefined && !s.last) return undefined;
    return mark ? (finish(s, true, escaped) ?? endCall(s)) : content(s, param, param.blanks);
  };

  return { start, content, valueTags };
}

const NEWLINE = new Marks(["\n"]);
const ESCAPED_NEWLINE = new Marks(["\\n"]);

/** Passes over blanks, and over newlines that the model escaped. */
export function gap(s: Scan, escaped: boolean): number | undefined {
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
}

const fits = (s: Scan, key: string): boolean => s.schemaOf(s.call?.name ?? "") === undefined || paramSchema(s, key) !== undefined;

/** Whether the call already has a parameter of this name. */
const has = ({ json }: Scan, { key }: Param, name: string): boolean => key === name || json.has(name);

/** Completes the last parameter, if there is one. `lone`: the call ends after it. Answers with a step if it cannot be read. */
function finish(s: Scan, lone: boolean, escaped: boolean): Step | undefined {
  const { param } = s;
  if (!param) return undefined;
  const text = param.text.toString();
  if (param.slip && text === "" && !param.written) return broken(s, "bad-arguments", "a parameter has no value");
  const isAll = param.all && lone && !s.json.begun && holdsArguments(s, text);
  if (param.all && param.key === "" && !isAll)
    return text.trim() === "" ? undefined : broken(s, "bad-arguments", "the arguments are not an object");
  const outcome = isAll ? readJson(text, s.json, s.maxDepth) : endParam(s, param, escaped, false);
  return outcome === "deep" ? tooDeep : undefined;
}
