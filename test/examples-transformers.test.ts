// The example's runtime over a stand-in for transformers.js: the library and its smallest model are half a gigabyte.
import { expect, test } from "vitest";
// @ts-expect-error an example is plain JavaScript
import { transformersRuntime } from "../examples/transformers.mjs";
import { collect } from "../src/core/fold.ts";
import { hermes } from "../src/dialects/hermes.ts";
import { createTextEngine } from "../src/engines/text/text.ts";
import { all } from "./events.ts";

interface StreamerOptions {
  skip_special_tokens: boolean;
  clean_up_tokenization_spaces: boolean;
  callback_function(text: string): void;
}

class TextStreamer {
  readonly options: StreamerOptions;
  constructor(_: unknown, options: StreamerOptions) {
    this.options = options;
  }
}
class StoppingCriteria {}

/** Says the pieces, one in each turn of the event loop, until it is stopped; and records what it was given. */
function standIn(pieces: readonly string[]) {
  const seen = { prompts: [] as unknown[], streamers: [] as StreamerOptions[], given: [] as Record<string, unknown>[], said: 0 };
  const tokenizer = (text: string, options: unknown) => {
    seen.prompts.push([text, options]);
    return { input_ids: [1] };
  };
  const model = {
    async generate(given: { streamer: TextStreamer; stopping_criteria: { _call(ids: unknown[]): boolean[] } } & Record<string, unknown>) {
      seen.given.push(given);
      seen.streamers.push(given.streamer.options);
      for (const piece of pieces) {
        await new Promise(setImmediate);
        if (given.stopping_criteria._call([1])[0]) return;
        seen.said++;
        given.streamer.options.callback_function(piece);
      }
    },
  };
  return { seen, runtime: transformersRuntime({ tokenizer, model, TextStreamer, StoppingCriteria }) };
}

async function ask(runtime: unknown, more: object = {}) {
  const engine = createTextEngine(runtime as Parameters<typeof createTextEngine>[0], { dialect: hermes });
  const tools = [{ name: "multiply", parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } }];
  const request = {
    model: "",
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "17 * 4?" }] }],
    tools,
    ...more,
  };
  return collect(await all(engine.generate(request)));
}

test("special tokens and blanks are kept, and none are added to the prompt", async () => {
  const { seen, runtime } = standIn([
    "<tool_call>\n",
    '{"name": "multiply", "arguments": ',
    '{"a": 17, "b": 4}}',
    "\n</tool_call>",
    "<|im_end|>",
  ]);
  const { content, finish } = await ask(runtime, { maxTokens: 50, sampling: { temperature: 0.7, topK: 5 } });
  expect(content).toMatchObject([{ type: "tool-call", name: "multiply", arguments: { a: 17, b: 4 } }]);
  expect(finish).toMatchObject({ reason: "tool-calls" });
  expect(seen.streamers).toMatchObject([{ skip_special_tokens: false, clean_up_tokenization_spaces: false }]);
  expect(seen.prompts).toEqual([[expect.stringContaining("17 * 4?"), { add_special_tokens: false }]]);
  expect(seen.given).toMatchObject([{ max_new_tokens: 50, do_sample: true, temperature: 0.7, top_k: 5 }]);
});

test("it stops at the dialect's stops, and when the answer is no longer read", async () => {
  const { seen, runtime } = standIn(["Hi", "<|im_end|>", "never", "said"]);
  expect((await ask(runtime)).content).toEqual([{ type: "text", text: "Hi" }]);
  expect(seen.said).toBe(2);
  const other = standIn(["one ", "two ", "three ", "four "]);
  await ask(other.runtime, { stop: ["two"] });
  await new Promise(setImmediate);
  expect(other.seen.said).toBeLessThan(4);
});
