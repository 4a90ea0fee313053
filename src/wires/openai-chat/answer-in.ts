/** Reads a server's answer: the chunks of a stream, or a whole answer, which is like one chunk with a `message` instead of a `delta`. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject, Opaque, Usage } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { AnswerReader } from "../answer-in.ts";
import { readError } from "../errors.ts";
import { mayCut } from "../events.ts";
import { Fields } from "../fields.ts";
import { joined } from "../opaque.ts";
import { CHAT_USAGE, readUsage } from "../openai.ts";
import { printBody } from "../raw.ts";
import { defined, entryOf, isEmpty, isText, listOf, numberOf, objectOf, restOf, textOf, wholeUsage } from "../read.ts";
import type { Draft } from "../wire.ts";
import { readSignature } from "./signature.ts";
import { AS_PART, DETAILS, LOGPROBS, PART, reasonOf, spelled, THINKING, WIRE } from "./tables.ts";

/** A string without escapes; and the same, with its content captured. */
const STRING = String.raw`"[^"\\\x00-\x1f]*"`;
const INNER = String.raw`"([^"\\\x00-\x1f]*)"`;
const COUNT = String.raw`"(?:prompt|completion|total)_tokens":\d+`;

/** A chunk with only a role, a text, a finish reason or token counts, as most servers write it. Parsing it would take three times as long. */
const PLAIN = new RegExp(
  [
    String.raw`^\{"id":${INNER},"object":"chat\.completion\.chunk","created":\d+,"model":${INNER},((?:"\w+":${STRING},)*)"choices":\[(?:`,
    String.raw`\{"index":0,"delta":\{(?:"role":"assistant"(?=\}|,"content"),?)?(?:"content":(?:${INNER}|null))?\},`,
    String.raw`(?:"logprobs":null,)?"finish_reason":(?:${INNER}|null)(?:,"\w+":null)*\}\](?:,"\w+":null)*`,
    String.raw`|\],"usage":\{(?=[^}]*"prompt_tokens":(\d+))(?=[^}]*"completion_tokens":(\d+))(?=[^}]*"total_tokens":(\d+)|)(?:${COUNT},)*${COUNT}\}`,
    String.raw`)(?:,"obfuscation":${STRING})?\}$`,
  ].join(""),
);

/** The key of the thinking in a part of this type: Mistral's, Databricks'. */
const THOUGHTS: Readonly<Record<string, string>> = { thinking: "thinking", reasoning: "summary" };

export class ChatReader extends AnswerReader {
  readonly wire = WIRE;
  override readonly repeats = true;
  #reason: FinishReason | undefined;
  #native: string | undefined;
  #stop: string | undefined;
  /** The last chunk held only usage: such a chunk ends the answer, even without `[DONE]`. */
  #counted = false;
  /** The state of the thinking: its field, and its joined `reasoning_details`. Details that arrive after a call become state of the last call. */
  #spelling: Opaque[] | undefined;
  #details: Draft[] | undefined;
  /** The thinking has a field of its own: the text in the details only repeats it. */
  #isSpelled = false;
  /** Details that arrived after a call, to be sent on at the end. */
  #late: Json[] | undefined;
  /** The unknown fields that every chunk repeats, as text. */
  #others = "";
  /** A chunk before the answer's id is known: Azure reports on the prompt first. */
  #early: JsonObject | undefined;
  /** The index of the choice that is the answer, and of the one that makes calls. */
  #answer: number | undefined;
  #calling: number | undefined;
  /** The last value of each unknown field of a chunk. */
  readonly #said = new Map<string, string>();

  override body(body: Fields): void {
    if (listOf(body.value.choices).length === 0) this.broken(body.value);
    else this.#read(body, true);
  }
  /** A chunk whose unknown fields differ from those of the chunk before is read in full. */
  override plain(data: string): boolean {
    const [, id, model, others, text = "", native, input, output, total = 0] = PLAIN.exec(data) ?? [];
    if (others === undefined || this.#early || this.#answer) return false; // this is the choice 0
    if (others !== this.#others) {
      this.#others = others;
      return false;
    }
    this.#answer ??= 0;
    this.start(id, model);
    this.text(text);
    if (native) this.#because(native);
    this.#counted = input !== undefined;
    if (this.#counted) this.usage(wholeUsage({ inputTokens: Number(input), outputTokens: Number(output) }, Number(total)));
    return true;
  }
  chunk(chunk: Fields): void {
    this.#read(chunk, false);
  }
  /** MiniMax reports errors in `base_resp`. */
  override isError(value: JsonObject): boolean {
    return super.isError(value) || Boolean(objectOf(value.base_resp).status_code);
  }
  /** `finish_reason` comes before the usage, so the `finish` event waits for the end of the stream. */
  end(ended: boolean): void {
    if (this.#details && this.fragment) {
      if (this.calls.idle) super.endThinking(this.#takeDetails());
      else this.call({ index: this.fragment.index, state: this.#takeDetails() });
      this.#sayDetails(this.#late ?? []);
    }
    this.finish({ reason: this.#reason, native: this.#native, stop: this.#stop, ended: ended || this.#counted });
  }

  #read(chunk: Fields, whole: boolean): void {
    chunk.ask("object", "created", "error", "obfuscation");
    const [id, model] = [chunk.text("id"), chunk.text("model")];
    if (!this.started && !id && !model && listOf(chunk.value.choices).length === 0) {
      chunk.ask("choices", "usage");
      this.#early = chunk.rest();
      return;
    }
    this.start(id, model);
    if (this.#early) this.#unknown(this.#early);
    this.#early = undefined;
    chunk.each("choices", (choice) => this.#choice(choice, whole));
    const usage = chunk.object("usage");
    if (usage) this.#count(usage);
    else this.#countIn(chunk.value.x_groq);
    this.#counted = usage !== undefined && listOf(chunk.value.choices).length === 0;
    const rest = chunk.rest();
    if (rest) this.#unknown(rest);
  }

  #choice(choice: Fields, whole: boolean): void {
    const index = choice.number("index") ?? 0;
    this.#answer ??= index;
    if (hasCalls(choice.value)) this.#calling = index;
    if (index !== this.#answer && index !== this.#calling) return; // the request asks for one answer
    const [first, other] = whole ? (["message", "delta"] as const) : (["delta", "message"] as const);
    const delta = choice.object(first) ?? choice.object(other);
    if (choice.value[first]) choice.ask(other); // Perplexity sends both: in a stream `message` repeats all text so far; in a whole answer `delta` is empty
    this.#countIn(choice.value);
    const native = choice.text("finish_reason");
    const cause = textOf(choice.value.native_finish_reason) ?? ""; // OpenRouter's `finish_reason` is `tool_calls` even if a call was cut
    if (native) this.#because(reasonOf(cause) === "length" ? cause : native);
    if (delta) this.#delta(delta, whole, delta.value.content ? choice.json("logprobs") : undefined);
    const error = choice.json("error");
    if (error !== undefined) this.fail(readError(0, {}, { error })); // OpenRouter
    const isToken = typeof choice.value.stop_reason === "number"; // vLLM: the token that ended the answer
    if (!isToken) this.#stop = choice.text("stop_reason") ?? this.#stop;
    const rest = choice.rest();
    if (!rest) return;
    const { message, ...said } = rest; // an extension has the shape of a chunk
    this.extend({ choices: [message ? { ...said, delta: message } : said] }, isToken && Object.keys(rest).length === 1);
  }

  #count(usage: Fields): void {
    const { cached_tokens, prompt_cache_hit_tokens, reasoning_tokens } = usage.value; // Moonshot, DeepSeek, Perplexity
    const [cachedTokens, thinkingTokens] = [numberOf(cached_tokens ?? prompt_cache_hit_tokens), numberOf(reasoning_tokens)];
    this.usage(defined<Usage>({ cachedTokens, thinkingTokens, ...readUsage(usage, CHAT_USAGE) }));
  }
  /** Groq and Moonshot also report usage elsewhere, and only there if the request does not ask for it. */
  #countIn(holder: Json | undefined): void {
    const { usage } = objectOf(holder);
    if (isObject(usage)) this.#count(new Fields(usage, this));
  }

  #because(native: string): void {
    this.#native = native;
    this.#reason = reasonOf(native);
  }

  #delta(delta: Fields, whole: boolean, logprobs: Json | undefined): void {
    delta.ask("role");
    const details = delta.list("reasoning_details");
    this.#detail(details);
    const [usual, other] = THINKING;
    const spoken = delta.text(usual, other) ?? "";
    this.#isSpelled ||= spoken !== "";
    const thought = this.#isSpelled ? spoken : details.map((piece) => textOf(objectOf(piece).text) ?? "").join("");
    if (spoken !== "" && !delta.value[usual]) {
      this.#spelling = spelled(other);
      this.startThinking(this.#spelling);
    }
    this.thinking(thought);
    const content = delta.json("content");
    if (isText(content)) this.text(content, logprobs ? [{ wire: WIRE, kind: LOGPROBS, data: logprobs }] : undefined);
    else if (isObject(content))
      this.text(printBody(content)); // Cloudflare, if JSON was asked for
    else if (content) delta.each("content", (part) => this.#part(part));
    this.refusal(delta.text("refusal") ?? "");
    const only = isObject(delta.value.tool_calls) ? delta.thing("tool_calls") : undefined; // TGI
    const each = (call: Fields, i: number): void => {
      call.ask("type");
      const shell = call.object("custom");
      const custom = call.value.type === "function" ? undefined : shell; // Snowflake sends both
      const fn = custom ?? call.inner("function");
      const index = call.number("index") ?? (whole ? i : undefined);
      const signed = readSignature(call)?.state;
      const [id, name, args] = [call.text("id"), fn.text("name"), argumentsOf(fn)];
      const input = custom && (custom.text("input") ?? "");
      const done = whole && !mayCut(this.#reason); // otherwise its JSON shows whether a call was cut; of custom calls the last counts as cut
      // Always the same shape: this is the hottest object of a stream.
      this.call({ index, id, name, arguments: args, input, state: joined(signed, call.state()), done, truncated: undefined });
    };
    if (only) each(only, 0);
    else delta.each("tool_calls", each);
    const state = readSignature(delta)?.state;
    if (state) this.text("", [...state]);
    const legacy = delta.thing("function_call");
    if (legacy?.value.name || legacy?.value.arguments)
      this.call({ index: 0, name: legacy.text("name"), arguments: argumentsOf(legacy), done: whole });
  }

  override endThinking(): void {
    const state = this.#spelling || this.#details ? [...(this.#spelling ?? []), ...(this.fragment ? [] : this.#takeDetails())] : undefined;
    this.#spelling = undefined;
    super.endThinking(state);
  }

  /** Clients of this wire get the pieces as they come; for the state they are joined. */
  #detail(pieces: readonly Json[]): void {
    if (pieces.length === 0) return;
    if (this.fragment) {
      this.#late ??= []; // sent now, they would end the open call
      this.#late.push(...pieces);
    } else this.#sayDetails(pieces);
    const known = this.#details ?? [];
    const fresh = pieces.map(objectOf).filter((piece) => !isMore(known, piece));
    for (const piece of fresh) known.push({ ...piece });
    this.#details = known;
  }
  #sayDetails(pieces: readonly Json[]): void {
    this.extend({ choices: [{ delta: { reasoning_details: pieces } }] }, true);
  }
  #takeDetails(): Opaque[] {
    const details = this.#details as JsonObject[] | undefined;
    this.#details = undefined;
    return details ? [{ wire: WIRE, kind: DETAILS, data: details }] : [];
  }

  /** Content is a list of parts if it holds thinking, or references (Mistral), which keep their place as they are. */
  #part({ value: part }: Fields): void {
    const key = entryOf(THOUGHTS, part.type);
    for (const piece of key ? listOf(part[key]) : [part]) {
      const text = textOf(piece) ?? textOf(objectOf(piece).text);
      if (text === undefined) this.text("", [{ wire: WIRE, kind: PART, data: key ? { ...part, [key]: [piece] } : part }]);
      else if (!key) this.text(text);
      else {
        if (key === part.type) this.#spelling = spelled(AS_PART);
        this.startThinking(this.#spelling);
        this.thinking(text);
      }
    }
  }

  /** Sends on unknown fields, but only where they have changed: servers repeat their bookkeeping in every chunk. */
  #unknown(rest: JsonObject): void {
    const fresh = restOf(rest, (key) => this.#isNews(key, rest[key]!));
    if (!fresh) return;
    const { usage, ...others } = fresh;
    if (!isEmpty(others)) this.extend(others, true);
    if (usage) this.extend({ usage }, true);
  }

  #isNews(key: string, item: Json): boolean {
    const text = isText(item) ? item : JSON.stringify(item);
    const known = this.#said.get(key) === text;
    this.#said.set(key, text);
    return !known;
  }
}

/** LiteLLM (in front of the Responses API), Copilot and OpenRouter have sent an answer's text in one choice and its calls in the next. */
const hasCalls = ({ message, delta }: JsonObject): boolean => listOf(objectOf(message ?? delta).tool_calls).length > 0;

/** Appends a piece to the detail that it continues; returns whether there is one. */
function isMore(details: readonly Draft[], { type, index, ...piece }: JsonObject): boolean {
  const last = details.findLast((detail) => detail.type === type && detail.index === index);
  if (!last || (index === undefined && piece.data !== undefined)) return false; // encrypted data without an index is not sent in pieces
  for (const key of Object.keys(piece))
    last[key] = /^(text|summary|data)$/.test(key) ? `${last[key] ?? ""}${piece[key] ?? ""}` : (piece[key] ?? last[key]);
  return true;
}

function argumentsOf(fn: Fields): CallFragment["arguments"] {
  const args = fn.json("arguments");
  return isText(args) || isObject(args) ? args : undefined;
}
