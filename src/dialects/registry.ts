/** All dialects, by their ids. */
import { apertus } from "./apertus.ts";
import { apriel } from "./apriel.ts";
import { bielik } from "./bielik.ts";
import { cogito } from "./cogito.ts";
import { cohere } from "./cohere.ts";
import { commandR } from "./command-r.ts";
import { commandR7b } from "./command-r7b.ts";
import { deepseekV31 } from "./deepseek-v3.1.ts";
import { deepseekV32 } from "./deepseek-v3.2.ts";
import { deepseekV3 } from "./deepseek-v3.ts";
import { deepseekV4 } from "./deepseek-v4.ts";
import type { Detection } from "./detect.ts";
import type { Dialect } from "./dialect.ts";
import { exaone } from "./exaone.ts";
import { functionaryV31 } from "./functionary-v3.1.ts";
import { functionaryV32 } from "./functionary-v3.2.ts";
import { functiongemma } from "./functiongemma.ts";
import { gemma4 } from "./gemma4.ts";
import { gigachat } from "./gigachat.ts";
import { glm } from "./glm.ts";
import { glm4 } from "./glm4.ts";
import { withGrammar } from "./grammar/formats.ts";
import { granite } from "./granite.ts";
import { harmony } from "./harmony.ts";
import { hermes } from "./hermes.ts";
import { hunyuan } from "./hunyuan.ts";
import { hy3 } from "./hy3.ts";
import { inkling } from "./inkling.ts";
import { internlm } from "./internlm.ts";
import { jamba } from "./jamba.ts";
import { json } from "./json.ts";
import { kimiK2 } from "./kimi-k2.ts";
import { kimiK3 } from "./kimi-k3.ts";
import { laguna } from "./laguna.ts";
import { ling } from "./ling.ts";
import { ling3 } from "./ling3.ts";
import { llama3 } from "./llama3.ts";
import { minicpm5 } from "./minicpm5.ts";
import { minimaxM1 } from "./minimax-m1.ts";
import { minimaxM2 } from "./minimax-m2.ts";
import { minimaxM3 } from "./minimax-m3.ts";
import { mistral } from "./mistral.ts";
import { museGlimmer } from "./muse-glimmer.ts";
import { nemotron } from "./nemotron.ts";
import { phi4Mini } from "./phi4-mini.ts";
import { pythonic } from "./pythonic.ts";
import { qwen3Coder } from "./qwen3-coder.ts";
import { rekaEdge } from "./reka-edge.ts";
import { seedOss } from "./seed-oss.ts";
import { smollm3 } from "./smollm3.ts";
import { solarOpen } from "./solar-open.ts";
import { inVariant } from "./variant.ts";
import { xlam } from "./xlam.ts";

const DIALECTS: readonly Dialect[] = [
  apertus,
  apriel,
  bielik,
  cogito,
  cohere,
  commandR,
  commandR7b,
  deepseekV3,
  deepseekV31,
  deepseekV32,
  deepseekV4,
  exaone,
  functionaryV31,
  functionaryV32,
  functiongemma,
  gemma4,
  gigachat,
  glm,
  glm4,
  granite,
  harmony,
  hermes,
  hunyuan,
  hy3,
  inkling,
  internlm,
  jamba,
  json,
  kimiK2,
  kimiK3,
  laguna,
  ling,
  ling3,
  llama3,
  minicpm5,
  minimaxM1,
  minimaxM2,
  minimaxM3,
  mistral,
  museGlimmer,
  nemotron,
  phi4Mini,
  pythonic,
  qwen3Coder,
  rekaEdge,
  seedOss,
  smollm3,
  solarOpen,
  xlam,
].map(withGrammar);

/** All dialects, with their grammars. */
export function listDialects(): Dialect[] {
  return [...DIALECTS];
}

/** A dialect by its id, with or without a variant (`hermes`, `hermes/qwen2.5-7b-instruct`), or by a detection. Throws if it is unknown. */
export function getDialect(setting: string | Pick<Detection, "id" | "variant">): Dialect {
  const [id, variant] = typeof setting === "string" ? setting.split(/\/(.*)/s) : [setting?.id, setting?.variant];
  const dialect = DIALECTS.find((dialect) => dialect.id === id);
  if (!dialect) throw new Error(`unknown dialect "${id}"; known: ${DIALECTS.map((dialect) => dialect.id).join(", ")}`);
  return variant === undefined ? dialect : inVariant(dialect, variant);
}
