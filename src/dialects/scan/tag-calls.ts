/** Calls between tags, up to the name: one after the other in a block, or without a block. */
import { MAX_NAME } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import { MAX_TAG, openHead, readHead } from "./heads.ts";
import { gap, paramSteps } from "./params.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closing, cut, mentioned, nameTooLong, releaseBlanks, speak, tooLong } from "./steps.ts";
import { type Tag, type TagForm, tagMarks } from "./tags.ts";

export interface TagSteps {
  /** After the opener of a block. */
  readonly block: Step;
  /** After the opener of a call without a block. */
  readonly bare: Step;
}

/** What is no name: the model writes about the format. */
const PROSE = /[\s`]/;

export function tagCalls(form: TagForm): TagSteps {
  const { open, close, calls, stops, escaped = false } = form;
  const tags = tagMarks(form);
  const { moreCalls, behindHead, inQuotes, isBreak, headEnds } = tags;
  const { between, endCall } = paramSteps(form, tags);
  const blockHeads = new Marks([...calls.map((tag) => tag.open), ...open, ...close, ...stops]);
  const nameEnds = new Marks(["<", "\n", ...(escaped ? ["\\n"] : []), ...(form.wrappers ? ["{"] : [])]);
  const params = new Marks(form.params.map((tag) => tag.open));

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
    s.lineStart = s.newline;
    return bareHead;
  };

  /** After a call in a block: another one, or the block's end. */
  const more: Step = (s) => {
    s.bound(releaseBlanks);
    return nextCall;
  };

  const nextCall: Step = (s) => {
    const code = s.blanks();
    if (code === undefined) return undefined;
    const mark = s.match(moreCalls);
    if (mark === undefined) return undefined;
    if (mark === "") return code === 60 && form.bareNames === "never" ? noCall : closing;
    s.pos += mark.length;
    const head = callHeads.get(mark);
    if (!head) {
      s.keepMarks();
      return nextCall;
    }
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
    const code = gap(s, escaped);
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
  const mention: Step = (s) => noName(s, true);

  const bareName: Step = (s) => {
    const mark = s.readWord(nameEnds);
    if (mark === undefined) return undefined;
    if (mark === null) return form.bareNames === "always" ? nameTooLong : noName(s, true);
    const name = s.word.trim();
    const isTool = s.tools.some((tool) => (mark === "" ? tool.name.startsWith(name) : tool.name === name));
    if (name !== "" && !isTool) {
      if (form.bareNames === "declared") return noName(s, true);
      if (PROSE.test(s.word)) return confirm(name, true, mention);
    }
    if (mark === "") return cut;
    if (name === "") return noName(s);
    s.startCall(name);
    return between;
  };

  const callHead = ({ head, slip }: Tag, isBare = false): Step => {
    const ends = headEnds(head);
    return (s) => {
      const bare = isBare && s.table.textual; // control tokens are never text
      const mark = readHead(s, ends, inQuotes, MAX_TAG);
      if (mark === undefined) return undefined;
      const { name = "" } = head.read(s.word, s);
      const broke = mark !== null && isBreak(head, mark);
      if (bare && mark === "" && PROSE.test(name.trim())) return mentioned;
      const doubtful = (slip || (form.shy && !(mark && name && s.lineStart))) && !(mark && s.declares(name));
      if (bare && (broke || doubtful)) return mentioned;
      if (mark === null || name.length > MAX_NAME) return nameTooLong;
      if (mark === "") return cut;
      if (broke || name.trim() === "" || (slip && !s.declares(name))) return noName(s);
      if (!head.next.includes(mark)) s.pos += mark.length;
      if (bare && mark !== "/>" && !form.body && (slip || !s.declares(name))) return confirm(name, PROSE.test(name));
      s.startCall(name);
      return mark === "/>" ? endCall(s) : (form.body ?? between);
    };
  };

  const callHeads = new Map(calls.map((tag) => [tag.open, callHead(tag)]));
  const bareHead = calls[0] ? callHead(calls[0], true) : releaseBlanks;

  /**
   * A name that looks like prose makes a call only if a parameter follows, and one without a block that is undeclared or comes after a slip
   * only if something legal does: the model may be explaining the format.
   */
  const confirm =
    (name: string, isProse: boolean, otherwise = mentioned): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      const mark = s.match(isProse ? params : behindHead, true);
      if (mark === undefined && !s.last) return undefined;
      if (mark === "" ? code !== 123 || !form.wrappers : mark === undefined && isProse) return otherwise;
      s.startCall(name);
      return between;
    };

  return { block, bare };
}
