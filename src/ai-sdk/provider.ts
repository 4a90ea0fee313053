/**
 * Any engine as a model of the AI SDK:
 *
 *     const dragoman = createDragoman(await createLlama({ model: "embedded" }));
 *     const { text } = await generateText({ model: dragoman("any"), prompt: "Hi", tools });
 */
import {
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3StreamPart,
  type LanguageModelV3StreamResult,
  NoSuchModelError,
  type ProviderV3,
  type SharedV3Warning,
} from "@ai-sdk/provider";
import { createFold } from "../core/fold.ts";
import type { Event, Warning } from "../core/nouns.ts";
import type { Engine } from "../engines/engine.ts";
import { NO_FINISH } from "../engines/finish.ts";
import { failure } from "./failure.ts";
import { readCall } from "./prompt.ts";
import { readable } from "./readable.ts";
import { contentOf, extensionsOf, finishReason, malformedWarnings, PartStream, usageOf } from "./stream.ts";

export interface Dragoman extends ProviderV3 {
  (modelId: string): LanguageModelV3;
}

/** A provider of the AI SDK whose models are those of an engine. */
export function createDragoman(engine: Engine): Dragoman {
  if (typeof engine?.generate !== "function") throw new TypeError("createDragoman takes an engine: createRemote({ wire, url }) makes one");
  const languageModel = (modelId: string): LanguageModelV3 => new EngineModel(engine, modelId);
  const none = (modelType: "embeddingModel" | "imageModel") => (modelId: string) => {
    throw new NoSuchModelError({ modelId, modelType });
  };
  return Object.assign(languageModel.bind(undefined), {
    specificationVersion: "v3" as const,
    languageModel,
    embeddingModel: none("embeddingModel"),
    imageModel: none("imageModel"),
  });
}

class EngineModel implements LanguageModelV3 {
  readonly specificationVersion = "v3";
  readonly provider = "dragoman";
  /** None: the SDK downloads URLs and passes the bytes. */
  readonly supportedUrls = {};
  readonly modelId: string;
  readonly #engine: Engine;

  constructor(engine: Engine, modelId: string) {
    this.#engine = engine;
    this.modelId = modelId;
  }

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    const { events, warnings } = await this.#ask(options);
    const fold = createFold();
    for await (const event of events) fold.add(event);
    const { content, refusal, finish, usage = {}, id, model, extensions } = fold.response();
    const { error, ...end } = finish ?? { reason: "error", error: NO_FINISH };
    if (error) throw failure(error);
    return {
      content: contentOf(content, refusal),
      finishReason: finishReason(end),
      usage: usageOf(usage),
      response: { ...(id !== undefined && { id }), ...(model !== undefined && { modelId: model }) },
      ...extensionsOf(extensions ?? []),
      warnings: [...warnings, ...malformedWarnings(content)],
    };
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    const { events, warnings } = await this.#ask(options);
    const parts = new PartStream();
    async function* stream(): AsyncGenerator<LanguageModelV3StreamPart, void, undefined> {
      yield { type: "stream-start", warnings };
      for await (const event of events) {
        if (options.includeRawChunks) yield { type: "raw", rawValue: event };
        yield* parts.take(event);
      }
    }
    return { stream: readable(stream()) };
  }

  /** Waits for the first event. If it is an error, throws it: before any output the SDK can retry. */
  async #ask(options: LanguageModelV3CallOptions): Promise<{ events: AsyncIterable<Event>; warnings: SharedV3Warning[] }> {
    const { request, warnings } = readCall(this.modelId, options);
    const warn = ({ message }: Warning): void => void warnings.push({ type: "other", message });
    const answer = this.#engine.generate(request, {
      signal: options.abortSignal,
      headers: given(options.headers),
      onAnswer: ({ warnings: said }) => said.forEach(warn),
      onWarning: warn,
    });
    const events = answer[Symbol.asyncIterator]();
    const first = await events.next();
    if (!first.done && first.value.type === "finish" && first.value.error) throw failure(first.value.error);
    return { events: from(first, events), warnings };
  }
}

async function* from(first: IteratorResult<Event>, rest: AsyncIterator<Event>): AsyncGenerator<Event, void, undefined> {
  try {
    for (let step = first; !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}

const given = (headers: LanguageModelV3CallOptions["headers"] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
