/**
 * Which dialect each model speaks: one row per model family, in one file per vendor or kind. A row recognizes its family by the model's name
 * and by marks in the chat template. A row names a variant if the family's template is that variant, or is closer to it than to the reference.
 */
import { COHERE } from "./families/cohere.ts";
import { DEEPSEEK } from "./families/deepseek.ts";
import type { Family } from "./families/family.ts";
import { GLM } from "./families/glm.ts";
import { GOOGLE } from "./families/google.ts";
import { HERMES } from "./families/hermes.ts";
import { IBM } from "./families/ibm.ts";
import { KIMI } from "./families/kimi.ts";
import { LLAMA } from "./families/llama.ts";
import { MICROSOFT } from "./families/microsoft.ts";
import { MINIMAX } from "./families/minimax.ts";
import { MISTRAL } from "./families/mistral.ts";
import { OPENAI } from "./families/openai.ts";
import { OTHERS } from "./families/others.ts";
import { PYTHONIC } from "./families/pythonic.ts";
import { QWEN } from "./families/qwen.ts";
import { SPECIALISTS } from "./families/specialists.ts";
import { WITHOUT_TOOLS } from "./families/without-tools.ts";

/** The first row that fits wins, so special ones come before general ones: in each file, and here. */
export const FAMILIES: readonly Family[] = [
  ...GOOGLE,
  ...DEEPSEEK,
  ...KIMI,
  ...GLM,
  ...MINIMAX,
  ...OPENAI,
  ...SPECIALISTS, // before their base models
  ...PYTHONIC,
  ...MICROSOFT,
  ...IBM,
  ...MISTRAL,
  ...COHERE,
  ...OTHERS,
  ...QWEN,
  ...HERMES, // ends with any template that has such calls
  ...LLAMA,
  ...WITHOUT_TOOLS, // only after all others
];
