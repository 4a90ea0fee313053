// Images, audio and video in a prompt: each is in its place, as the placeholder of the model's template.
import { describe, expect, test } from "vitest";
import type { Media, Message, Text } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";

const KINDS = { image: "image/png", audio: "audio/wav", video: "video/mp4", application: "application/pdf" } as const;
const said = (text: string): Text => ({ type: "text", text });
const shown = (mediaType: string): Media => ({ type: "media", mediaType, data: "AA==" });
const user = (...content: (Text | Media)[]): Message[] => [{ role: "user", content }];

/** The placeholder of each kind of media, with the template's text around it. If a variant is given, only there. */
const PLACEHOLDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  apriel: { image: "[IMG]" },
  cohere: { image: "<|END_TEXT|><|IMG_PATCH|><|START_TEXT|>" },
  "command-r7b": { image: "<|IMG_PATCH|>" },
  "deepseek-v4/deepseek-v4.1-flash": { image: "\n\n<｜deepseek_image｜>\n\n" },
  functiongemma: { image: "<start_of_image>" },
  gemma4: { image: "<|image|>", audio: "<|audio|>", video: "<|video|>" },
  inkling: {
    image: "<|end_message|><|message_user|><|content_image|><|end_message|><|message_user|><|content_text|>",
    audio: "<|end_message|><|message_user|><|content_audio_input|><|audio_end|><|end_message|><|message_user|><|content_text|>",
  },
  "json/gemma": { image: "<start_of_image>" },
  "kimi-k2": { image: "<|media_start|>image<|media_content|><|media_pad|><|media_end|>\n" },
  "kimi-k2/kimi-k2.5": { image: "<|media_begin|>image<|media_content|><|media_pad|><|media_end|>\n" },
  "kimi-k2/kimi-k2.7-code": { image: "<|media_begin|>image<|media_content|><|media_pad|><|media_end|>\n" },
  "kimi-k3": { image: "<|kimi_image_placeholder|>" },
  "llama3/llama-4": { image: "<|image|>" },
  "llama3/vllm-llama4-json": { image: "<|image|>" },
  "minimax-m3": { image: "]<]image[>[", video: "]<]video[>[" },
  mistral: { image: "[IMG]" },
  "muse-glimmer": { image: "<|patch|>", video: "<|video|>" },
  "muse-glimmer/vllm-muse-glimmer": { image: "<|image|>", video: "<|video|>" },
  pythonic: { image: "<image>" },
  "pythonic/vllm-llama4-pythonic": { image: "<|image|>" },
  "pythonic/olmo-3-7b-instruct": {},
  "qwen3-coder/qwen3.5-4b": { image: "<|vision_start|><|image_pad|><|vision_end|>", video: "<|vision_start|><|video_pad|><|vision_end|>" },
  "hermes/qwen3-vl-instruct": {
    image: "<|vision_start|><|image_pad|><|vision_end|>",
    video: "<|vision_start|><|video_pad|><|vision_end|>",
  },
  "qwen3-coder/qwen3.6-35b-a3b": {
    image: "<|vision_start|><|image_pad|><|vision_end|>",
    video: "<|vision_start|><|video_pad|><|vision_end|>",
  },
  "qwen3-coder/qwen3.5-0.8b": {
    image: "<|vision_start|><|image_pad|><|vision_end|>",
    video: "<|vision_start|><|video_pad|><|vision_end|>",
  },
  "qwen3-coder/qwen3.8-27b": { image: "<|vision_start|><|image_pad|><|vision_end|>", video: "<|vision_start|><|video_pad|><|vision_end|>" },
};

const cases = listDialects().flatMap((dialect) =>
  dialect.variants.flatMap((variant) => {
    const placeholders = PLACEHOLDERS[`${dialect.id}/${variant}`] ?? PLACEHOLDERS[dialect.id] ?? {};
    return Object.entries(KINDS).map(([kind, mediaType]) => ({ dialect, variant, kind, mediaType, expected: placeholders[kind] }));
  }),
);

describe.each(cases.filter(({ expected }) => expected !== undefined))(
  "$dialect.id/$variant, $kind",
  ({ dialect, variant, mediaType, expected = "" }) => {
    const render = (...content: (Text | Media)[]) => dialect.render({ model: "", messages: user(...content) }, { variant });

    test("is between the texts it was sent between", () => {
      const prompt = render(said("first words"), shown(mediaType), said("last words"));
      expect(promptText(prompt)).toContain(`first words${expected}last words`);
      expect(prompt.filter(({ media }) => media)).toEqual([{ text: expect.stringMatching(/./), control: true, media: shown(mediaType) }]);
    });

    test("one placeholder for each medium, and none for text that merely looks like one", () => {
      const [piece] = render(said("a"), shown(mediaType), said("b")).filter(({ media }) => media);
      const token = piece?.text ?? "";
      const prompt = render(shown(mediaType), said(`look: ${token}`), shown(mediaType));
      expect(prompt.filter(({ media }) => media)).toHaveLength(2);
      expect(promptText(prompt, { neutralize: true }).split(token)).toHaveLength(3);
    });
  },
);

test.each(cases.filter(({ expected }) => expected === undefined))(
  "$dialect.id/$variant has no placeholder for $kind: the text stays, and the medium is in a piece of its own or left to the engine",
  ({ dialect, variant, mediaType }) => {
    const messages = user(said("first words"), shown(mediaType), said("last words"));
    const prompt = dialect.render({ model: "", messages }, { variant });
    expect(promptText(prompt)).toMatch(/first words[\s\S]*last words/);
    expect(prompt.filter(({ media, text }) => media && text !== "")).toEqual([]);
  },
);
