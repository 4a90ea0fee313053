/**
 * One request, in the words that its model is known to take; and in others, where it refuses something that is not the client's business: a
 * limit that does not fit, a setting that it does not know, a way to think, a window that is too small. As long as nothing was said, it is asked
 * again, with a warning for what is lost, and whoever comes after is spared the refusal.
 */
import type { ErrorInfo, Request, ThinkingSettings, Warning } from "../../core/nouns.ts";
import { Remembered } from "../remembered.ts";
import { heeding, joined, type Lesson, lessonOf } from "./lessons.ts";
import { refusesThinking, ThinkingWays, waysToThink } from "./thinking.ts";
import { hasWindow, inWindow, windowFor } from "./window.ts";

/** Nobody shall be asked for ever. */
const MAX_LESSONS = 4;
const MAX_LOWERED = 3;

type Thinking = Request & { thinking: ThinkingSettings };
const isThinking = (request: Request): request is Thinking => request.thinking !== undefined;

/** What the models of a server have taught. */
export class Experience {
  readonly lessons = new Remembered<Lesson>();
  readonly thinking = new ThinkingWays();
  readonly windows = new Remembered<number>();
}

export interface AgainOptions {
  readonly experience: Experience;
  /** A client of the server's own wire has put its settings as it wants them. */
  readonly isTranslated: boolean;
  readonly warn: (warning: Warning) => void;
}

export class Again {
  /** As the model is asked now. */
  request: Request;
  readonly #options: AgainOptions;
  #lowered = 0;
  /** What the model has taught this time, and how often. */
  #lesson: Lesson | undefined;
  #lessons = 0;
  /** What shall be thought about, where its settings were translated. */
  #thinking: Thinking | undefined;
  #way = 0;
  /** The window that the model was found to need; one that somebody has chosen stays. */
  #window: number | undefined;
  readonly #isChosen: boolean;

  constructor(request: Request, options: AgainOptions) {
    this.request = request;
    this.#options = options;
    this.#isChosen = hasWindow(request);
    const { experience, isTranslated } = options;
    const lesson = experience.lessons.get(request.model);
    if (lesson) this.#heed(lesson);
    if (!isTranslated) return;
    this.#widen(experience.windows.get(request.model));
    if (!isThinking(this.request)) return;
    this.#thinking = this.request;
    this.#think(this.#thinking, experience.thinking.first(this.#thinking));
  }

  /** Whether `request` says now what is worth trying. */
  refused(error: ErrorInfo): boolean {
    return this.#asksForLess(error) || this.#asksForRoom(error) || this.#asksAsTaught(error) || this.#asksToThinkOtherwise(error);
  }

  /** It answers. */
  took(): void {
    const { lessons, thinking, windows } = this.#options.experience;
    const { model } = this.request;
    if (this.#lesson) lessons.set(model, joined(lessons.get(model), this.#lesson));
    if (this.#window !== undefined) windows.set(model, this.#window); // it keeps it while it is used
    if (this.#thinking) thinking.took(this.#thinking, this.#way);
  }

  /**
   * A server that counts otherwise than we do, and refuses only what the answer may take, is asked again. vLLM stops counting where the prompt
   * leaves one token too few, and says that it is "at least" so long: half of what it would leave may do.
   */
  #asksForLess({ tokens }: ErrorInfo): boolean {
    const { request } = this;
    if (this.#lowered === MAX_LOWERED || !tokens?.answer || request.maxTokens === undefined) return false;
    const room = tokens.limit - (tokens.used - tokens.answer);
    const maxTokens = room === request.maxTokens - 1 ? room >> 1 : room;
    if (maxTokens < 1 || maxTokens >= request.maxTokens) return false;
    this.#lowered++;
    const message = `the limit of ${request.maxTokens} tokens was lowered to ${maxTokens}: the model's context has ${tokens.limit}`;
    this.#options.warn({ code: "max-tokens", message });
    this.request = { ...request, maxTokens };
    return true;
  }

  /** An Ollama whose window is too small for the prompt gets a larger one, if nobody has chosen it. */
  #asksForRoom(error: ErrorInfo): boolean {
    const window = this.#isChosen ? undefined : windowFor(error, this.request);
    if (window === undefined || window <= (this.#window ?? 0)) return false;
    this.#widen(window);
    return true;
  }
  #widen(window: number | undefined): void {
    if (window === undefined || this.#isChosen) return;
    this.#window = window;
    this.request = inWindow(this.request, window);
  }

  /** A model that refuses a setting is asked as it wants it. */
  #asksAsTaught(error: ErrorInfo): boolean {
    const lesson = this.#lessons < MAX_LESSONS ? lessonOf(error, this.request, this.#options.isTranslated) : undefined;
    if (!lesson) return false;
    this.#lessons++;
    this.#lesson = joined(this.#lesson, lesson);
    this.#heed(lesson);
    return true;
  }
  #heed(lesson: Lesson): void {
    const { isTranslated, warn } = this.#options;
    const { request, warnings } = heeding(this.request, lesson, isTranslated);
    this.request = request;
    warnings.forEach(warn);
  }

  /** A model that refuses how it is told to think is asked in another way. */
  #asksToThinkOtherwise(error: ErrorInfo): boolean {
    const wanted = this.#thinking;
    if (!wanted || !refusesThinking(error) || this.#way + 1 >= waysToThink(wanted.thinking).length) return false;
    this.#think(wanted, this.#way + 1);
    return true;
  }
  #think(wanted: Thinking, way: number): void {
    this.#way = way;
    if (way === 0) return;
    const { warn } = this.#options;
    const thinking = waysToThink(wanted.thinking)[way];
    const { thinking: _, ...rest } = this.request;
    this.request = thinking ? { ...rest, thinking } : rest;
    const message = `the model "${wanted.model}" refuses these settings for thinking: it was asked ${thinking ? "in another way" : "without"}`;
    warn({ code: "thinking", message });
  }
}
