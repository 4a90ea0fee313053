/**
 * `dragoman/engines/mediapipe`: runs a `.task` file in a web page, with MediaPipe's LLM inference (`@mediapipe/tasks-genai`).
 *
 *     const files = await FilesetResolver.forGenAiTasks("/wasm");
 *     const engine = createMediaPipe(await LlmInference.createFromModelPath(files, "/functiongemma.task"), { dialect: functiongemma });
 */

import type { LlmInference } from "@mediapipe/tasks-genai";
import { promptText } from "../../dialects/prompt.ts";
import { onAbort, unlessAborted } from "../bounded.ts";
import type { Disposing } from "../disposing.ts";
import type { Engine } from "../engine.ts";
import { Inbox } from "../inbox.ts";
import { createTextEngine, type TextEngineOptions, type TextRuntime } from "./text.ts";

/** The part of `LlmInference` that is used. */
export type MediaPipeInference = Pick<LlmInference, "cancelProcessing" | "close"> & {
  /** `undefined` resets an option. */
  setOptions(options: { temperature?: number | undefined; topK?: number | undefined; randomSeed?: number | undefined }): Promise<void>;
  generateResponse(query: string, listener: (partial: string, done: boolean) => void): Promise<string>;
};

/** An engine of a model that MediaPipe has loaded. */
export const createMediaPipe = (inference: MediaPipeInference, options: TextEngineOptions): Engine & Disposing =>
  createTextEngine(mediaPipeRuntime(inference), options);

/**
 * MediaPipe takes one prompt at a time, so the next one waits. Its token limit includes the prompt, so an answer has no limit of its own.
 */
function mediaPipeRuntime(inference: MediaPipeInference): TextRuntime {
  let last: Promise<unknown> = Promise.resolve();
  /** Options of the last request to reset: MediaPipe keeps them. Options that the page itself has set are left alone. */
  let unset: Record<string, undefined> = {};
  return {
    takes: ["temperature", "topK", "seed"],
    async *generate(prompt, { sampling, signal }) {
      const before = last;
      let over = (): void => {};
      let isOurs = true;
      last = new Promise<void>((resolve) => {
        over = resolve;
      });
      try {
        await unlessAborted(signal, before);
        const { temperature, topK, seed } = sampling;
        const asked = {
          ...(temperature !== undefined && { temperature }),
          ...(topK !== undefined && { topK }),
          ...(seed !== undefined && { randomSeed: seed }),
        };
        await inference.setOptions({ ...unset, ...asked });
        unset = Object.fromEntries(Object.keys(asked).map((option) => [option, undefined]));
        if (signal?.aborted) return;
        isOurs = false;
        yield* pieces(inference, promptText(prompt, { neutralize: true }), signal, over);
      } finally {
        if (isOurs) void before.then(over); // after an abort, the one before may still be running
      }
    },
    close: async () => inference.close(),
  };
}

/** The pieces of one answer. If the consumer stops, the model is cancelled, which takes a while; `over` is called when it has ended. */
function pieces(inference: MediaPipeInference, text: string, signal: AbortSignal | undefined, over: () => void): Inbox<string> {
  const cancel = (): void => inference.cancelProcessing();
  const heard = new Inbox<string>({
    start() {
      const forget = onAbort(signal, cancel);
      const answer = async () => inference.generateResponse(text, (partial) => heard.push(partial)); // async, since it may also throw
      const ended = answer().then(
        () => heard.end(),
        (error: unknown) => heard.end({ error }),
      );
      void ended.then(() => {
        forget();
        over();
      });
    },
    // MediaPipe cannot be paused.
    pause() {},
    resume() {},
    stop: cancel,
  });
  return heard;
}
