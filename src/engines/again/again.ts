/**
 * Adapts a request to what its model is known to accept, and again whenever the model refuses something the client need not care about: a
 * token limit that does not fit, an unknown setting, a way to ask for thinking, a window that is too small. As long as the model has said
 * nothing, it is asked again, with a warning for whatever is lost; later requests to the model are adapted beforehand.
 */
import type { ErrorInfo, Request, ThinkingSettings, Warning } from "../../core/nouns.ts";
import { Remembered } from "../remembered.ts";
import { heeding, joined, type Lesson, lessonOf } from "./lessons.ts";
import { refusesThinking, ThinkingWays, waysToThink } from "./thinking.ts";
import { hasWindow, inWindow, windowFor } from "./window.ts";

/** How often one request may be changed and sent again. */
const MAX_LESSONS = 4;
const MAX_LOWERED = 3;

type Thinking = Request & { thinking: ThinkingSettings };
const isThinking = (request: Request): request is Thinking => request.thinking !== undefined;

/** What was learnt about a server's models from their refusals. */
export class Experience {
  readonly lessons = new Remembered<Lesson>();
  readonly thinking = new ThinkingWays();
  readonly windows = new Remembered<number>();
}

export interface AgainOptions {
  readonly experience: Experience;
  /** The client speaks another wire than the server. If it speaks the same, its settings are sent as they are. */
  readonly isTranslated: boolean;
  readonly warn: (warning: Warning) => void;
}

export class Again {
  /** The request as it should be sent now. */
  request: Request;
  readonly #options: AgainOptions;
  #lowered = 0;
  /** What this request's refusals have taught, and how many there were. */
  #lesson: Lesson | undefined;
  #lessons = 0;
  /** The request with its original thinking settings, if they were translated from another wire. */
  #thinking: Thinking | undefined;
  #way = 0;
  /** The window that the model was found to need. A window set in the configuration is never changed. */
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

  /** Changes `request` after a refusal; returns whether it is worth sending again. */
  refused(error: ErrorInfo): boolean {
    return this.#asksForLess(error) || this.#asksForRoom(error) || this.#asksAsTaught(error) || this.#asksToThinkOtherwise(error);
  }

  /** The model accepted `request`: what it took to get there is remembered. */
  took(): void {
    const { lessons, thinking, windows } = this.#options.experience;
    const { model } = this.request;
    if (this.#lesson) lessons.set(model, joined(lessons.get(model), this.#lesson));
    if (this.#window !== undefined) windows.set(model, this.#window); // renewed, so that a window in use is not forgotten
    if (this.#thinking) thinking.took(this.#thinking, this.#way);
  }

  /**
   * The prompt fits, but prompt and token limit together do not: the limit is lowered to the room that is left. vLLM stops counting the
   * prompt once it is one token too long and reports "at least" that many; the real room is then unknown, and half of the reported room is
   * tried.
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

  /** Ollama's window is too small for the prompt: a larger one is requested, unless the configuration sets it. */
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

  /** The model refuses a setting: the request is adapted, and the lesson kept. */
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

  /** The model refuses the thinking settings: the next way to express them is tried. */
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
