/**
 * Which dialect a model speaks: from its chat template, from its name (`Qwen3-Coder-30B-A3B-Q4_K_M.gguf`, `qwen2.5:7b-instruct-q4_0`),
 * or from the beginning of an output. `families.ts` has the facts; this file looks them up.
 */
import type { DialectId } from "./dialect.ts";
import type { Family, Marks, ModelType, SamplingDefaults } from "./families/family.ts";
import { FAMILIES } from "./families.ts";

/** Only a template can be certain: a name may be a fine-tune's, and an output may quote. */
export type Confidence = "certain" | "likely" | "possible";

export interface Clues {
  /** A hub id, an Ollama tag, an LM Studio key, a file's name or path. */
  model?: string | undefined;
  /** The text of its chat template. */
  template?: string | undefined;
  /** The beginning of an output. */
  sample?: string | undefined;
}

export interface Detection {
  /** The dialect. `getDialect` takes the whole detection. */
  id: DialectId;
  /** Present if the family's template is a known revision. */
  variant?: string;
  confidence: Confidence;
  /** The reason, for people to read. */
  why: string;
  /** The sampling that the vendor recommends, if it recommends any. */
  sampling?: SamplingDefaults;
}

/** A template wins over a name, a name over a sample; nothing wins over a name that says the model cannot call tools. */
export function detectDialect(clues: Clues): Detection | undefined {
  if (typeof clues !== "object") throw new TypeError('detectDialect takes an object like { model: "qwen3:8b" }');
  const { model, template, sample } = clues;
  const named = model === undefined ? undefined : byName(model);
  if (named === "no tools") return undefined;
  const templated = template ? byTemplate(template) : undefined;
  if (templated?.id === "json" && named?.confidence === "likely" && named.id !== "json")
    return { ...named, confidence: "possible", why: `${named.why}, but its template has no tools` };
  if (templated) return named && agree(templated, named) ? { ...named, ...templated } : templated;
  if (named) return template ? { ...named, confidence: "possible", why: `${named.why}, but its template is unknown` } : named;
  return sample ? bySample(sample) : undefined;
}

/** The dialect for a model type of flutter_gemma. */
export function dialectOfModelType(type: ModelType): { id: DialectId; variant?: string; sampling?: SamplingDefaults } {
  const family = FAMILIES.find(({ types }) => types?.includes(type));
  if (!family) throw new Error(`unknown model type "${type}"`);
  return answer(family);
}

const answer = ({ id, variant, sampling }: Family) => ({ id, ...(variant !== undefined && { variant }), ...(sampling && { sampling }) });

/** The name may add what the template does not show: the sampling, or the variant. */
const agree = (templated: Detection, named: Detection): boolean =>
  templated.id === named.id && (templated.variant === undefined || templated.variant === named.variant);

// ---- Templates

/** No template is longer; a longer text is hostile. */
const MAX_TEMPLATE = 1 << 20;

function byTemplate(whole: string): Detection | undefined {
  const text = whole.slice(0, MAX_TEMPLATE);
  const fits = (marks: Marks): boolean =>
    marks.every((mark) => (mark.startsWith("!") ? !text.includes(mark.slice(1)) : text.includes(mark)));
  for (const family of FAMILIES) {
    const marks = family.templates?.find(fits);
    if (!marks) continue;
    const shown = marks
      .filter((mark) => !mark.startsWith("!"))
      .map((mark) => `"${mark}"`)
      .join(" and ");
    const why = family.id === "json" ? "but no tools: it must be asked for JSON" : `as in ${family.name}`;
    // The sampling is the model's, not the template's, which fine-tunes share.
    const { sampling: _, ...found } = answer(family);
    return { ...found, confidence: family.doubtful ? "possible" : "certain", why: `the template has ${shown}, ${why}` };
  }
  return undefined;
}

// ---- Names

/** Parts of names that mark a model without tools. */
const WITHOUT_TOOLS =
  /(?:^|[-:.])(?:(?:true)?base(?!-instruct)|pt|pretrain(?:ed)?|text(?!-only)|embed(?:ding|dings)?|e5|bge|gte|colbert|retriev(?:al|er)|rerank(?:er)?|reward|(?:p|gen)?rm|orm|guard(?:ian)?|classifier|judge|clip|siglip|mmproj|captioner|extract|transcript|rag|mt|vae|tts|asr|whisper|ocr|audio|speech|translate|draft(?:er)?|it-(?:qat-)?assistant|dflash|(?<!deepseek-v4.*)dspark|nextn|speculators?|p?eagle3?|pard|prover|forcedaligner|fim|safety|shieldgemma|livetranslate|mistral[-:](?:7b-)?(?:instruct-)?v0\.[12])(?:[-:.\d]|$)/;
/** Parts of names that mark an instruction-tuned model. */
const INSTRUCTED =
  /(?:^|[-:])(?:instruct|inst|chat|it|assistant|thinking|think|reasoning|agent|fc|tools|instant|versatile|preview|abliterated|uncensored)(?:[-:.\d]|$)/;
const SIZE = /(?:^|[-:x])e?\d+(?:\.\d+)?[bm](?:[-:.]|$)/;
/** People put the vendor before a file's name; Bedrock puts a region before that, and dots between them. */
const VENDORS =
  /^(?:(?:us|eu|apac|jp|au|global)\.)?(?:(?:meta|qwen|mistral|openai|google|minimax|moonshotai|moonshot|zai|nvidia|cohere|ai21)\.|(?:qwen|google|mistralai|meta-llama|meta|deepseek-ai|ibm-granite|ibm|nousresearch|huggingfacetb|servicenow-ai|tencent|inclusionai|lgai-exaone|speakleash|xiaomimimo|microsoft|openai|nvidia|unsloth|moonshotai|zai-org|minimaxai|liquidai|allenai|salesforce|stepfun-ai|alibaba|zai|z-ai|databricks|cohere(?:forai|labs)?|xiaomi|arcee(?:-ai)?|moonshot|swiss-ai|ai21labs|thudm|bytedance(?:-seed)?)-){0,2}(?=[a-z])/;
const FILE = /\.(?:gguf|ggml|task|litertlm|tflite|safetensors|bin|onnx|json|jinja)$/;

/** No name is longer; the patterns are tried at every position. */
const MAX_NAME = 1024;

const NAMES = FAMILIES.flatMap((family) =>
  family.models ? [{ family, pattern: new RegExp(`(?<![a-z])(?:${family.models.source})`) }] : [],
);

/** Parts of a path from the last to the first: the file's own name says most. `models--org--name` is the hub's cache. */
function byName(model: string): Detection | "no tools" | undefined {
  const parts = model
    .slice(-MAX_NAME)
    .trim()
    .toLowerCase()
    .split(/[/\\]|--/)
    .map(
      (part) =>
        part
          .replace(FILE, "")
          .replace(/[_\s@]+/g, "-") // a revision or a quantization may follow an "@"
          .replace(/(\d)p(?=\d)/g, "$1.") // Fireworks' way to write a dot
          .replace(/(qwen\d(?:\.\d)?)(?=[a-z]{2})/, "$1-"), // Qwen's own files, and Ollama: Qwen3VL, qwen2.5vl
    )
    .filter(Boolean)
    .reverse();
  for (const [i, part] of parts.entries()) {
    const plain = part.replace(VENDORS, "");
    const hits = NAMES.filter(({ pattern }) => pattern.test(plain));
    // A distill's name begins with its base model: `Qwen3-8B-Kimi-K2-Thinking-Distill`.
    const base = plain.includes("distill") ? hits.find(({ pattern }) => plain.search(pattern) === 0) : undefined;
    const hit = base ?? hits[0];
    if ((hit || i === 0) && WITHOUT_TOOLS.test(part)) return "no tools";
    if (!hit) continue;
    const { family, pattern } = hit;
    // Ollama's models are all instruction-tuned, and have the size in their tags.
    const bare = SIZE.test(part.replace(/:.*/, "")) && !INSTRUCTED.test(part) ? family.bare : undefined;
    if (bare === "base") return "no tools";
    const doubts: readonly (readonly [boolean, string])[] = [
      [family.doubtful === true && family.id === "json", "which was not trained on tools and must be asked for JSON"],
      [family.doubtful === true, "whose models do not all use this format"],
      [i > 0 && !model.includes("models--"), "but only in a folder's name"],
      [plain.search(pattern) > 0, "but not at its beginning: a fine-tune may speak another dialect"],
      [bare === "unclear", "but not that it is instruction-tuned: it may be the base model"],
    ];
    const doubt = doubts.find(([applies]) => applies)?.[1];
    return {
      ...answer(family),
      confidence: doubt === undefined ? "likely" : "possible",
      why: `the name says ${[family.name, ...(doubt === undefined ? [] : [doubt])].join(", ")}`,
    };
  }
  return undefined;
}

// ---- Samples

/** Calls come early in an output, after some thinking. */
const MAX_SAMPLE = 1 << 16;

/** What only one dialect writes, special forms before general ones. */
const SAMPLES: readonly (readonly [DialectId, RegExp])[] = [
  ["functiongemma", /<start_function_call>/],
  ["gemma4", /<\|tool_call>|<\|channel>|<channel\|>|<\|"\|>/],
  ["deepseek-v4", /<[｜|‖]{1,2}DSML[｜|‖]{1,2}(?:tool_?calls| ?calls| invoke)/],
  ["deepseek-v3.2", /<[｜|‖]{1,2}DSML[｜|‖]/],
  ["deepseek-v3.1", /<｜tool▁call▁begin｜>(?!function)[^<]{1,256}<｜tool▁sep｜>/],
  ["deepseek-v3", /<｜tool▁calls▁begin｜>|<｜tool▁call▁begin｜>/],
  ["kimi-k2", /<\|tool_calls_section_begin\|>|<\|tool_call_argument_begin\|>/],
  ["kimi-k3", /<\|open\|>(?:response|tools|think|call )/],
  ["hy3", /<\/?\w+:(?:opensource|6124c78e)>|<tool_sep>/],
  ["glm", /<(?:longcat_)?arg_key>|<tool_call>\s{0,8}[\w.-]{1,256}\s{0,8}<\/tool_call>/],
  ["minimax-m3", /\]<\]minimax\[>\[|<mm:think>/],
  ["minimax-m2", /<minimax:tool_call>/],
  ["harmony", /<\|channel\|>(?:analysis|commentary|final)|<\|constrain\|>/],
  ["pythonic", /<\|tool_call_start\|>/],
  ["pythonic", /<\|python_start\|>\s*\[|<function_calls>\s{0,8}[a-zA-Z_][\w.]{0,255}\(/],
  ["phi4-mini", /functools\s{0,8}\[\s{0,8}\{/],
  ["granite", /<\|tool_call\|>\s*[[{]/],
  ["mistral", /\[(?:TOOL_CALLS|THINK)]/],
  ["apertus", /<\|tools_prefix\|>|<\|inner_prefix\|>/],
  ["command-r7b", /<\|START_RESPONSE\|>/],
  ["cohere", /<\|START_ACTION\|>|<\|START_TEXT\|>/],
  ["command-r", /Action:\s{0,8}```(?:json)?\s{0,8}\[\s{0,8}\{\s{0,16}"tool_name"/],
  ["internlm", /<\|action_start\|>\s{0,8}<\|plugin\|>/],
  ["minicpm5", /<function name=["'][^"'<>]{1,256}["']>\s*<(?:param name=|\/function>)/],
  ["gigachat", /<\|function_call\|>|function call<\|role_sep\|>/],
  ["inkling", /<\|content_(?:invoke_tool_json|thinking|text)\|>/],
  ["muse-glimmer", /<atem:function_calls>|to=(?:self|user)<\|message\|>/],
  ["seed-oss", /<\/?seed:t\w+>/],
  ["solar-open", /<\|tool_call:(?:begin|name|args)\|>/],
  ["qwen3-coder", /<function=[^<>]{1,256}(?:\/>|>?\s*<parameter=|>\s*<\/function>)/],
  ["nemotron", /<TOOLCALL>\s*\[/],
  ["apriel", /\[BEGIN FINAL RESPONSE\]/],
  ["hunyuan", /<answer>\s*(?:助手：|<tool_calls>)/],
  ["minimax-m1", /<tool_calls>\s*\{\s*"name"/],
  ["hermes", /<(?:longcat_)?tool_call>\s*\{\s*["']?(?:name|arguments)\b|<tool_calls>\s*\[\s*\{/],
  ["llama3", /<\|python_tag\|>/],
];
/** What one dialect writes more often than others. */
const WEAK_SAMPLES: typeof SAMPLES = [
  ["granite", /<tool_call>\s*\[\s*\{|<function_call>\s*\{/],
  ["functionary-v3.1", /<function=[\w.-]{1,256}>\s*\{/],
  ["functionary-v3.2", />>>(?:all\n|[\w.-]{1,256}\n\{)/],
  [
    "xlam",
    /(?:^|\n|<\/think>)\s{0,8}(?:```(?:json)?\s{0,8})?\[\s{0,8}\{\s{0,8}"name"\s{0,8}:\s{0,8}"[^"\n]{1,256}"\s{0,8},\s{0,8}"arguments"/,
  ],
  ["pythonic", /(?:^|\s|<\/think>)\[\s{0,8}[a-zA-Z_][\w.]{0,255}\((?:\)|[a-zA-Z_]\w{0,255}\s*=)/],
  [
    "json",
    /(?:^|\n|<\/think>)\s{0,8}(?:```(?:json|tool_code)?\s{0,8})?(?:\[\s{0,8})?\{\s{0,8}(?:"type"\s{0,8}:\s{0,8}"function"\s{0,8},\s{0,8})?(?:"function"\s{0,8}:\s{0,8}\{\s{0,8})?"name"\s{0,8}:\s{0,8}"[^"\n]{1,256}"\s{0,8},\s{0,8}"(?:parameters|arguments)"/,
  ],
  // The line before such an object may be a word of prose, so a call as JSON comes first.
  ["glm4", /(?:^|<\|assistant\|>|<\/think>)\s{0,8}[a-zA-Z_][\w.-]{0,255} ?\n\{\s{0,8}["}]/],
];

function bySample(whole: string): Detection | undefined {
  const text = whole.slice(0, MAX_SAMPLE);
  return find(text, SAMPLES, "likely") ?? find(text, WEAK_SAMPLES, "possible");
}

function find(text: string, samples: typeof SAMPLES, confidence: Confidence): Detection | undefined {
  for (const [id, pattern] of samples) {
    const [seen] = pattern.exec(text) ?? [];
    if (seen !== undefined)
      return { id, confidence, why: `the output has ${JSON.stringify(seen.trim().slice(0, 80))}, as ${id} writes it` };
  }
  return undefined;
}
