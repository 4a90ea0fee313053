// The dialect of a model is detected from its name, its template, or a sample of its output.
import { describe, expect, test } from "vitest";
import { type Detection, detectDialect, dialectOfModelType } from "../../src/dialects/detect.ts";
import type { ModelType } from "../../src/dialects/families/family.ts";
import { FAMILIES } from "../../src/dialects/families.ts";
import { listDialects } from "../../src/dialects/registry.ts";

const short = (found: Detection | undefined): string =>
  found ? [found.id, ...(found.variant ? [found.variant] : [])].join(" ") : "nothing";

/** As on the hub, in Ollama, in LM Studio, and on disks. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "functiongemma google-functiongemma-270m-it": [
    "google/functiongemma-270m-it",
    "functiongemma:270m",
    "functiongemma-270M-it.task",
    "unsloth/functiongemma-270m-it-GGUF",
  ],
  "gemma4 google-gemma-4-31b-2026-07-09": [
    "google/gemma-4-31B-it",
    "gemma4:31b",
    "google_gemma-4-26B-A4B-it-Q4_K_M.gguf",
    "dragoman-tiny.gguf",
  ],
  "gemma4 google-gemma-4-e2b-2026-07-09": ["google/gemma-4-E2B-it", "gemma4:e4b-it-q4_K_M", "gemma-4-e4b-it-UD-Q6_K_XL.gguf"],
  "json gemma": [
    "google/gemma-3-4b-it",
    "gemma3:12b",
    "gemma-3n-E4B-it-Q8_0.gguf",
    "google/gemma-3-27b",
    "gemma-2-9b-it-Q4_K_M.gguf",
    "gemma2:2b",
  ],
  "json phi4": ["microsoft/phi-4", "phi4:14b", "microsoft/Phi-4-reasoning-plus", "unsloth/phi-4-GGUF"],
  "json phi": ["microsoft/Phi-3.5-mini-instruct", "phi3:mini"],
  "json chatml": ["MadeAgents/Hammer2.1-1.5b"],
  "deepseek-v3 vllm-deepseekv3": [
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3-0324",
    "deepseek-v3:671b",
    "deepseek-ai/DeepSeek-V2.5",
    "deepseek-v2.5:236b",
  ],
  "deepseek-v3 deepseek-r1": [
    "tngtech/DeepSeek-TNG-R1T2-Chimera",
    "MFDoom/deepseek-r1-tool-calling:8b",
    "deepseek-ai/DeepSeek-R1",
    "DeepSeek-R1-0528-UD-IQ1_S-00001-of-00004.gguf",
    "deepseek-r1:8b",
    "DeepSeek-R1-Distill-Qwen-7B-Q4_K_M.gguf",
    "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
    "lmstudio-community/DeepSeek-R1-0528-Qwen3-8B-GGUF",
  ],
  "deepseek-v3": [
    "deepcogito/cogito-v2-1-671b",
    "deepcogito/cogito-671b-v2.1",
    "deepcogito/cogito-v2-preview-deepseek-671B-MoE",
    "cogito-2.1:671b-cloud",
  ],
  "deepseek-v3.1 deepseek-ai-v3.1": [
    "deepseek-ai/DeepSeek-V3.1",
    "deepseek-ai/DeepSeek-V3.1-Terminus",
    "deepseek-v3.1:671b-cloud",
    "deepseek-ai/DeepSeek-V3.2-Exp",
  ],
  "deepseek-v3.2 deepseek-ai-v3.2": ["deepseek-ai/DeepSeek-V3.2"],
  "deepseek-v4 deepseek-v4": ["deepseek-ai/DeepSeek-V4-Flash"],
  "deepseek-v4 deepseek-v4.1-flash": ["deepseek-ai/DeepSeek-V4.1-Flash", "deepseek-v4.1-flash:cloud", "deepseek/deepseek-v4.1-flash"],
  "deepseek-v4 deepseek-v4-flash-0731": ["deepseek-ai/DeepSeek-V4-Flash-0731", "DeepSeek-V4-Pro-0813-UD-Q2_K_XL.gguf"],
  "kimi-k2 kimi-k2-instruct": ["moonshotai/Kimi-K2-Instruct", "moonshotai/Kimi-K2-Instruct-0905", "kimi-k2:1t-cloud"],
  "kimi-k2 kimi-k2-thinking": ["moonshotai/Kimi-K2-Thinking"],
  "kimi-k2 kimi-k2.5": ["moonshotai/Kimi-K2.5", "Kimi-K2.6-UD-Q2_K_XL.gguf"],
  "kimi-k2 kimi-k2.7-code": ["moonshotai/Kimi-K2.7-Code", "@cf/moonshotai/kimi-k2.7-code"],
  "kimi-k2": ["moonshotai/Kimi-Linear-48B-A3B-Instruct"],
  "minimax-m3 minimax-m3": ["MiniMaxAI/MiniMax-M3", "unsloth/MiniMax-M3-GGUF", "minimax-m3:cloud"],
  "kimi-k3 kimi-k3": ["moonshotai/Kimi-K3", "Kimi-K3-UD-Q2_K_XL.gguf", "kimi-k3:cloud"],
  "jamba jamba-mini-1.7": [
    "ai21labs/AI21-Jamba-1.5-Mini",
    "ai21labs/AI21-Jamba-Large-1.7",
    "ai21labs_AI21-Jamba-Mini-1.7-Q4_K_M.gguf",
    "ai21.jamba-1-5-large-v1:0",
  ],
  "internlm vllm-internlm2": [
    "internlm/internlm2_5-7b-chat",
    "internlm/internlm3-8b-instruct",
    "internlm2_5-20b-chat-q4_k_m.gguf",
    "internlm2:7b",
  ],
  internlm: ["internlm/Intern-S1", "internlm/Intern-S1-mini"],
  apertus: ["swiss-ai/Apertus-1.5-8B-Instruct"],
  "apertus apertus-2509": [
    "swiss-ai/Apertus-8B-Instruct-2509",
    "swiss-ai_Apertus-70B-Instruct-2509-Q4_K_M.gguf",
    "MichelRosselli/apertus:8b-instruct-2509-q4_k_m",
  ],
  "command-r7b command-r7b-12-2024": [
    "CohereLabs/c4ai-command-r7b-12-2024",
    "CohereLabs/c4ai-command-a-03-2025",
    "CohereForAI_c4ai-command-r7b-12-2024-Q4_K_M.gguf",
    "command-r7b:7b",
    "command-r7b-arabic:7b",
    "command-a:111b",
  ],
  "command-r7b command-a-reasoning-08-2025": ["CohereLabs/command-a-reasoning-08-2025"],
  "command-r7b": ["CohereLabs/command-a-vision-07-2025"],
  "command-r command-r-plus": [
    "CohereLabs/c4ai-command-r-v01",
    "CohereLabs/c4ai-command-r-plus-08-2024",
    "CohereForAI_c4ai-command-r-08-2024-Q4_K_M.gguf",
    "command-r:35b",
    "command-r-plus:104b",
    "cohere.command-r-plus-v1:0",
  ],
  cohere: ["CohereLabs/command-a-plus-05-2026"],
  "cohere cohere2-moe": ["CohereLabs/North-Mini-Code-1.0"],
  "muse-glimmer muse-glimmer-30b": [
    "meta-models/Muse-Glimmer-30B",
    "meta-models/Muse-Glimmer-30B-GGUF",
    "Muse-Glimmer-30B-KQuant-17GB-Q4_K_M.gguf",
    "RadixArk/Muse-Glimmer-NVFP4",
  ],
  "solar-open solar-open-100b": ["upstage/Solar-Open-100B", "Solar-Open-100B-Q4_K_M.gguf", "upstage/Solar-Open-100B-GGUF"],
  "functionary-v3.1 functionary-medium-v3.1": ["meetkai/functionary-small-v3.1", "meetkai/functionary-medium-v3.1"],
  "functionary-v3.2 functionary-medium-v3.2": ["meetkai/functionary-small-v3.2-GGUF", "functionary-medium-v3.2-Q4_K_M.gguf"],
  "inkling inkling": [
    "thinkingmachines/Inkling",
    "thinkingmachines/Inkling-NVFP4",
    "thinkingmachines/Inkling-Small",
    "Inkling-Small-Q4_K_M.gguf",
  ],
  "gigachat gigachat3.1-10b-a1.8b": ["ai-sage/GigaChat3.1-10B-A1.8B", "ai-sage/GigaChat3.1-702B-A36B", "GigaChat3.1-10B-A1.8B-q4_K_M.gguf"],
  "gigachat gigachat3-10b-a1.8b": ["ai-sage/GigaChat3-10B-A1.8B", "ai-sage/GigaChat3-702B-A36B-preview", "GigaChat3-10B-A1.8B-bf16"],
  "cogito cogito-v1-llama": ["deepcogito/cogito-v1-preview-llama-8B", "cogito:8b", "cogito", "cogito-v1-preview-llama-3B-Q4_K_M.gguf"],
  "cogito rnj-1": ["EssentialAI/rnj-1-instruct", "rnj-1:latest", "rnj-1-instruct-Q4_K_M.gguf"],
  cogito: ["deepcogito/cogito-v2-preview-llama-70B"],
  "glm4 glm-4-0414": ["z-ai/glm-4-32b", "THUDM/GLM-4-9B-0414", "zai-org/GLM-4-32B-0414", "THUDM_GLM-4-32B-0414-Q4_K_M.gguf"],
  "glm4 glm-4-9b-chat": ["THUDM/glm-4-9b-chat", "zai-org/glm-4-9b-chat-1m-hf", "glm4:9b", "glm4", "glm-4-9b-chat.Q4_K_M.gguf"],
  "glm4 glm-z1-0414": ["zai-org/GLM-Z1-32B-0414", "THUDM/GLM-4-Z1-9B-0414", "GLM-Z1-9B-0414-Q4_K_M.gguf"],
  "glm glm-4.6": ["zai-org/GLM-4.5-Air", "GLM-4.6-UD-Q2_K_XL.gguf", "zai-org/GLM-4.5"],
  "glm glm-4.7-flash": ["zai-org/GLM-4.7", "glm-4.7-flash:q4_K_M", "unsloth/GLM-4.7-Flash-GGUF"],
  "glm glm-5.2": ["zai-org/GLM-5.2", "zai-org/GLM-5.2-FP8", "GLM-5.2-UD-Q2_K_XL.gguf", "glm-5.2:cloud"],
  "glm glm-5.3": ["zai-org/GLM-5.3-Flash", "GLM-5.3-Flash-Q4_K_M.gguf"],
  "glm glm-5.1": ["zai-org/GLM-5.1", "accounts/fireworks/models/glm-5p1", "GLM-5.1-UD-Q2_K_XL.gguf"],
  glm: ["zai-org/GLM-5.4", "meituan-longcat/LongCat-Flash-Chat", "meituan-longcat/LongCat-2.0-Preview"],
  "laguna laguna-s-2.1": ["poolside/Laguna-S-2.1", "Laguna-S-2.1-Q4_K_M.gguf", "poolside/laguna-s-2.1:free"],
  "laguna laguna-xs.2": ["poolside/Laguna-XS.2", "laguna-xs.2:latest", "unsloth/Laguna-XS.2-GGUF", "poolside/Laguna-M.1"],
  "laguna laguna-xs-2.1": ["poolside/Laguna-XS-2.1", "laguna-xs-2.1:q4_K_M"],
  "minicpm5 minicpm5": ["openbmb/MiniCPM5-1B", "openbmb/MiniCPM5-1B-SFT", "MiniCPM5-2B-Q4_K_M.gguf", "minicpm5:1b"],
  "ling3 ling-3.0": ["inclusionAI/Ling-3.0-flash", "Ling-3.0-tiny-Q4_K_M.gguf", "inclusionai/ling-3.0-flash:free"],
  ling3: ["inclusionAI/Ring-2.6-1T"],
  "hy3 hy3": ["tencent/Hy3", "tencent/Hy3-FP8", "Hy3-UD-Q2_K_XL.gguf", "hy3:cloud", "tencent/hy3:free"],
  "hy3 hy3-preview": ["tencent/Hy3-preview"],
  hy3: ["tencent/Hy4-preview"],
  "minimax-m2 minimax-m2": ["MiniMaxAI/MiniMax-M2", "minimax-m2:cloud", "MiniMaxAI/MiniMax-M2-her"],
  "minimax-m2 minimax-m2.1": ["MiniMax-M2.1-Q4_K_M.gguf", "minimax.minimax-m2.1"],
  "minimax-m2 minimax-m2.5": ["MiniMaxAI/MiniMax-M2.5", "minimax/minimax-m2.5:free", "minimax-m2-5"],
  "minimax-m2 minimax-m2.7": ["accounts/fireworks/models/minimax-m2p7", "minimax-m2.7:cloud"],
  "harmony gpt-oss-120b": [
    "openai/gpt-oss-20b",
    "gpt-oss:120b",
    "gpt-oss-20b-mxfp4.gguf",
    "openai/gpt-oss-safeguard-20b",
    "/home/me/.lmstudio/models/lmstudio-community/gpt-oss-20b-GGUF/gpt-oss-20b-MXFP4.gguf",
  ],
  "seed-oss seed-oss": ["ByteDance-Seed/Seed-OSS-36B-Instruct", "Seed-OSS-36B-Instruct-Q4_K_M.gguf"],
  "xlam vllm-xlam-llama": ["Salesforce/Llama-xLAM-2-8b-fc-r"],
  "xlam vllm-xlam-qwen": ["Salesforce/xLAM-2-32b-fc-r", "xLAM-2-3B-fc-r-Q4_K_M.gguf"],
  "phi4-mini vllm-phi4-mini-string-args": ["microsoft/Phi-4-mini-instruct", "phi4-mini:3.8b", "microsoft/Phi-4-multimodal-instruct"],
  "phi4-mini": ["fireworks-ai/llama-3-firefunction-v2", "microsoft/Phi-4-mini-reasoning"],
  "pythonic lfm2.5-8b-a1b": ["lfm2.5:8b", "LiquidAI/LFM2.5-8B-A1B", "LiquidAI/LFM2.5-1.2B-Thinking", "lfm2.5-thinking:1.2b"],
  "pythonic lfm2.5-instruct": ["LiquidAI/LFM2.5-1.2B-Instruct-GGUF", "LiquidAI/LFM2.5-VL-1.6B"],
  "pythonic lfm2-8b-a1b": ["LiquidAI/LFM2-8B-A1B", "LFM2-1.2B-Q4_0.gguf"],
  "pythonic vllm-llama4-pythonic": ["meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4:maverick"],
  "pythonic olmo-3-7b-instruct": ["allenai/Olmo-3-7B-Instruct", "olmo-3.1:32b-instruct", "Olmo-3-7B-Think-Q4_K_M.gguf"],
  pythonic: ["Team-ACE/ToolACE-2-Llama-3.1-8B", "watt-ai/watt-tool-8B", "watt-tool-70B-Q4_K_M.gguf"],
  "granite granite-4.0": ["ibm-granite/granite-4.0-h-tiny", "granite4:micro-h"],
  "granite granite-4.1": ["granite-4.1-8b-Q4_K_M.gguf"],
  "granite granite-3.3": ["ibm-granite/granite-3.3-8b-instruct", "granite3.1-dense:8b"],
  granite: ["ibm-granite/granite-20b-functioncalling"],
  "mistral ministral-3-14b-reasoning-2512": ["mistralai/Ministral-3-14B-Reasoning-2512"],
  "mistral mistral-small-3.2-2506": [
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506",
    "mistral-small3.2:24b",
    "mistralai/mistral-small-3.2",
  ],
  "mistral mistral-nemo-2407": [
    "mistralai/Mistral-Nemo-Instruct-2407",
    "mistral-nemo:12b",
    "mistralai/Mistral-7B-Instruct-v0.3",
    "mistral:7b",
    "mistral",
    "mistral:latest",
    "mistralai/Codestral-22B-v0.1",
    "codestral-22b",
    "codestral:22b",
    "codestral-2501",
    "mistralai/Mistral-Large-Instruct-2407",
    "mistral-small:22b-instruct-2409-q4_0",
    "mistralai/Ministral-8B-Instruct-2410",
  ],
  "mistral mistral-v7": [
    "mistralai/Mistral-Large-Instruct-2411",
    "Mistral-Small-24B-Instruct-2501-Q4_K_M.gguf",
    "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
    "mistral-small3.1:24b",
    "mistral-small:24b",
    "mistral-large:123b",
  ],
  "mistral mistral-v15": ["mistralai/Mistral-Small-4-119B-2603", "Mistral-Medium-3.5-128B-Q4_K_M.gguf", "mistral-small-4:119b"],
  "mistral mistral-v13": [
    "mistral/ministral-14b",
    "mistralai/Ministral-3-8B-Instruct-2512",
    "ministral-3:8b",
    "mistralai_Devstral-Small-2507-Q4_K_M.gguf",
    "mistralai/Voxtral-Small-24B-2507",
    "mistral-medium-latest",
  ],
  mistral: ["mistralai/magistral-small-2509"],
  "hermes qwen2.5-7b-instruct": [
    "Qwen/Qwen2.5-7B-Instruct",
    "qwen2.5:7b-instruct-q4_0",
    "qwen2.5:7b",
    "qwen2.5-coder-32b-instruct",
    "Qwen2.5-0.5B-Instruct-Q8_0.gguf",
    "qwen2.5-coder",
  ],
  "hermes qwen3-0.6b": [
    "Qwen/Qwen3-0.6B",
    "qwen3:30b-a3b",
    "Qwen_Qwen3-8B-Q4_K_M.gguf",
    "baichuan-inc/Baichuan-M2-32B",
    "TeichAI/Qwen3-8B-DeepSeek-v3.2-Speciale-Distill-GGUF",
    "Qwen3-4B-MiniMax-M2.1-Distill.Q8_0.gguf",
    "models--Qwen--Qwen3-14B/snapshots/40c069824f4251a91eefaf281ebe4c544efd3e18/model.safetensors",
  ],
  "hermes qwen3-thinking-2507": [
    "Qwen/Qwen3-4B-Thinking-2507",
    "qwen3-next:80b",
    "qwen3-next",
    "qwen3:30b-a3b-thinking-2507-q4_K_M",
    "Qwen3-VL-8B-Thinking-Q4_K_M.gguf",
  ],
  "hermes qwq-32b": ["Qwen/QwQ-32B", "qwq:32b"],
  hermes: [
    "Groq/Llama-3-Groq-70B-Tool-Use",
    "llama3-groq-tool-use:8b",
    "janhq/Jan-v3-4B-base-instruct",
    "janhq/Jan-v2-VL-high",
    "Hermes-4-70B-Q4_K_M.gguf",
    "NousResearch/DeepHermes-3-Llama-3-8B-Preview",
    "NousResearch/Hermes-4.3-36B",
    "arcee-ai/Trinity-Mini",
    "ai21labs/AI21-Jamba-Reasoning-3B",
    "arcee-ai/trinity-large-preview:free",
    "baidu/ERNIE-4.5-21B-A3B-Thinking",
    "stepfun-ai/Step3-VL-10B",
    "katanemo/Arch-Function-3B",
    "Arch-Function-Chat-7B-Q8_0.gguf",
    "katanemo/Arch-Agent-7B",
    "Nanbeige/Nanbeige4.1-3B",
    "tiiuae/Falcon3-10B-Instruct",
    "falcon3:7b",
    "tencent/Youtu-LLM-2B",
    "HuggingFaceTB/SmolLM2-1.7B-Instruct",
    "smollm2:1.7b",
    "Alibaba-NLP/Tongyi-DeepResearch-30B-A3B",
  ],
  "hermes mimo-vl": ["XiaomiMiMo/MiMo-VL-7B-RL-2508", "MiMo-VL-7B-RL-Q4_K_M.gguf"],
  "hermes hermes-3-llama-3.1-8b": [
    "NousResearch/Hermes-3-Llama-3.1-8B",
    "NousResearch/Hermes-2-Pro-Mistral-7B",
    "hermes3:8b",
    "NousResearch/Hermes-2-Theta-Llama-3-8B",
    "Hermes-3-Llama-3.2-3B-Q4_K_M.gguf",
    "NousResearch_Hermes-3-Llama-3.1-70B-Q4_K_M.gguf",
    "nousresearch/hermes-3-llama-3.1-405b:free",
  ],
  "smollm3 smollm3-3b": ["HuggingFaceTB/SmolLM3-3B", "HuggingFaceTB_SmolLM3-3B-Q4_K_M.gguf", "alibayram/smollm3:latest"],
  "nemotron nemotron-nano-v2": [
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2",
    "nvidia_NVIDIA-Nemotron-Nano-12B-v2-Q4_K_M.gguf",
    "nvidia/nemotron-nano-9b-v2:free",
    "nvidia/NVIDIA-Nemotron-Nano-12B-v2-VL-BF16",
  ],
  "nemotron llama-nemotron-super-v1.5": ["nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "nvidia/llama-3.3-nemotron-super-49b-v1.5"],
  "nemotron llama-nemotron-nano-v1": [
    "nvidia/Llama-3.1-Nemotron-Nano-8B-v1",
    "nvidia/Llama-3.1-Nemotron-Nano-4B-v1.1",
    "nvidia/Llama-3_1-Nemotron-Ultra-253B-v1",
    "nvidia/Llama-3_3-Nemotron-Super-49B-v1",
  ],
  "hunyuan vllm-hunyuan-a13b": ["tencent/Hunyuan-A13B-Instruct", "tencent_Hunyuan-A13B-Instruct-Q4_K_M.gguf"],
  hunyuan: ["tencent/Hunyuan-7B-Instruct", "Hunyuan-0.5B-Instruct-Q8_0.gguf"],
  "apriel apriel-1.6-15b-thinker": ["ServiceNow-AI/Apriel-1.6-15b-Thinker", "ServiceNow-AI_Apriel-1.6-15b-Thinker-Q4_K_M.gguf"],
  "apriel unsloth-apriel-1.5": ["ServiceNow-AI/Apriel-1.5-15b-Thinker", "unsloth/Apriel-1.5-15b-Thinker-GGUF"],
  "ling ling-2.0": ["inclusionAI/Ling-mini-2.0", "inclusionAI/Ling-1T", "Ling-flash-2.0-Q4_K_M.gguf"],
  ling: [
    "inclusionAI/Ring-flash-linear-2.0",
    "inclusionAI/Ling-2.6-flash",
    "inclusionAI/Ring-2.5-1T",
    "inclusionAI/Ring-mini-2.0",
    "inclusionai/ring-1t",
  ],
  "exaone exaone-4.0": ["LGAI-EXAONE/EXAONE-4.0.1-32B", "EXAONE-4.0-1.2B-Q4_K_M.gguf", "LGAI-EXAONE_EXAONE-4.0-32B-Q4_K_M.gguf"],
  exaone: ["LGAI-EXAONE/K-EXAONE-236B-A23B"],
  "bielik bielik-11b-v3.0-instruct": [
    "speakleash/Bielik-Minitron-7B-v3.0-Instruct",
    "speakleash/Bielik-11B-v3.0-Instruct",
    "speakleash/Bielik-4.5B-v3.0-Instruct-GGUF",
  ],
  "minimax-m1 minimax-m1": ["MiniMaxAI/MiniMax-M1-80k", "minimax/minimax-m1"],
  "reka-edge reka-edge": ["RekaAI/reka-edge-2603", "Reka-Edge-Q4_K_M.gguf"],
  "qwen3-coder qwen3-coder": ["Qwen3-Coder-30B-A3B-Q4_K_M.gguf", "qwen3-coder:480b-cloud", "Qwen/Qwen3-Coder-Next", "qwen/qwen3-coder-30b"],
  "qwen3-coder qwen3.5-4b": [
    "Qwen/Qwen3.5-4B",
    "qwen3.5:35b-a3b",
    "Qwen/Qwen3.5-27B",
    "deepreinforce-ai/Ornith-1.0-35B-GGUF",
    "nex-agi/Nex-N2-Pro",
    "internlm/Intern-S2-Preview",
  ],
  "qwen3-coder step-3.5-flash": ["stepfun-ai/Step-3.5-Flash", "stepfun-ai/Step-3.7-Flash", "Step-3.5-Flash-Q4_K_S-00001-of-00003.gguf"],
  "qwen3-coder qwen3.6-35b-a3b": ["Qwen/Qwen3.6-35B-A3B", "Qwen3.6-27B-UD-Q4_K_XL.gguf", "qwen3.6:27b"],
  "hermes qwen3-instruct-2507": [
    "qwen.qwen3-next-80b-a3b",
    "deepcogito/cogito-v1-preview-qwen-32B",
    "cogito:14b",
    "qwen/qwen3-4b-2507",
    "Qwen/Qwen3-4B-Instruct-2507",
    "Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
  ],
  "hermes qwen3-vl-instruct": [
    "qwen25-vl-72b-instruct",
    "Qwen/Qwen3-VL-8B-Instruct",
    "Qwen3-VL-30B-A3B-Instruct-Q4_K_M.gguf",
    "Qwen3VL-8B-Instruct-Q4_K_M.gguf",
    "Qwen/Qwen2.5-VL-7B-Instruct",
    "qwen2.5vl:7b",
    "Qwen/Qwen3-Omni-30B-A3B-Instruct",
  ],
  "qwen3-coder qwen3.5-0.8b": [
    "Qwen/Qwen3.5-0.8B",
    "ggml-org/Qwen3.5-0.8B-GGUF",
    "qwen3.5:2b",
    "Qwen3.5-2B-Q8_0.gguf",
    "openbmb/MiniCPM-V-4_6",
  ],
  "qwen3-coder nemotron-3-nano": [
    "nvidia/Nemotron-Cascade-2-30B-A3B",
    "nemotron-cascade-2:30b",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "nvidia/Nemotron-3-Nano-Omni-30B-A3B-Reasoning-BF16",
  ],
  "qwen3-coder nemotron-3.5-nano": [
    "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4",
    "nvidia/NVIDIA-Nemotron-3.5-Lightning-7B-BF16",
    "nemotron-3.5-nano:30b",
    "nemotron-3.5-super",
  ],
  "qwen3-coder qwen3.8-27b": ["Qwen/Qwen3.8-27B", "qwen3.8:27b", "Qwen3_8-27B-Q4_K_M.gguf"],
  "qwen3-coder": [
    "ibm-granite/granite-4.2-8b",
    "granite4.2:3b",
    "LGAI-EXAONE/K-EXAONE-2.0-750B-A37B",
    "XiaomiMiMo/MiMo-V2.5-Pro",
    "PrimeIntellect/INTELLECT-3",
    "Zyphra/ZAYA1-8B",
  ],
  "llama3 llama-3.1-8b-instruct": [
    "mannix/llama3.1-8b-abliterated:tools-q4_k_m",
    "Orenguteng/Llama-3.1-8B-Lexi-Uncensored-V2-GGUF",
    "meta-llama/Llama-3.1-8B-Instruct",
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
    "llama3.1:8b",
    "llama3.3",
    "meta-llama/llama-3.3-70b-instruct:free",
    "lmstudio-community/Meta-Llama-3.1-70B-Instruct-GGUF",
    "nemotron:70b",
    "hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M",
  ],
  "llama3 llama-3.2-3b-instruct": [
    "meta-llama/Llama-3.2-3B-Instruct",
    "llama3.2:1b",
    "C:\\models\\Llama-3.2-1B-Instruct-f16.gguf",
    "llama-3.2-3b-instruct@q8_0",
  ],
};

/** As APIs spell them: Groq, Together, Fireworks, OpenRouter, Bedrock, Workers AI, Databricks, Vertex, Ollama's cloud. */
const API_NAMES: Readonly<Record<string, string>> = {
  "llama3 llama-3.1-8b-instruct":
    "llama-3.3-70b-versatile llama-3.1-8b-instant llama-3.3-70b us.meta.llama3-3-70b-instruct-v1:0 meta.llama3-1-8b-instruct-v1:0 @cf/meta/llama-3.3-70b-instruct-fp8-fast accounts/fireworks/models/llama-v3p3-70b-instruct meta-llama/Llama-3.3-70B-Instruct-Turbo meta/llama-3.3-70b-instruct-maas cerebras/llama-3.3-70b-cs databricks-meta-llama-3-3-70b-instruct llama3-3-70b",
  "llama3 llama-3.2-3b-instruct":
    "llama-3.2-3b-preview meta-llama/llama-3.2-90b-vision-instruct @cf/meta/llama-3.2-1b-instruct us.meta.llama3-2-3b-instruct-v1:0",
  "pythonic vllm-llama4-pythonic":
    "us.meta.llama4-maverick-17b-instruct-v1:0 meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 @cf/meta/llama-4-scout-17b-16e-instruct meta/llama-4-scout",
  "pythonic lfm2.5-8b-a1b": "liquid/lfm-2.5-1.2b-thinking:free",
  "pythonic lfm2-8b-a1b": "liquid/lfm-2-24b-a2b liquid/lfm2-1.2b",
  "harmony gpt-oss-120b":
    "openai.gpt-oss-120b-1:0 @cf/openai/gpt-oss-20b accounts/fireworks/models/gpt-oss-120b databricks-gpt-oss-20b openai/gpt-oss-120b:free gpt-oss:20b-cloud",
  "deepseek-v3 deepseek-r1":
    "us.deepseek.r1-v1:0 deepseek/deepseek-r1-0528:free @cf/deepseek-ai/deepseek-r1-distill-qwen-32b accounts/fireworks/models/deepseek-r1",
  "deepseek-v3 vllm-deepseekv3": "deepseek/deepseek-chat-v3-0324 accounts/fireworks/models/deepseek-v3-0324",
  "deepseek-v3.1 deepseek-ai-v3.1":
    "deepseek.v3-v1:0 deepseek/deepseek-chat-v3.1 accounts/fireworks/models/deepseek-v3p1-terminus deepseek-ai/deepseek-v3.1-maas deepseek-v3-2-exp deepseek/deepseek-v3.2-exp",
  "deepseek-v3.2 deepseek-ai-v3.2":
    "deepseek.v3.2 accounts/fireworks/models/deepseek-v3p2 deepseek/deepseek-v3.2-speciale nvidia/DeepSeek-V3.2-NVFP4",
  "deepseek-v4 deepseek-v4": "deepseek-v4-pro accounts/fireworks/models/deepseek-v4-flash deepseek/deepseek-v4-flash:thinking",
  "kimi-k2 kimi-k2.5": "moonshotai.kimi-k2.5 accounts/fireworks/models/kimi-k2p6 kimi-k2-6 moonshotai/Kimi-K2.6 kimi-k2.5:cloud",
  "kimi-k2 kimi-k2-instruct": "moonshotai/kimi-k2-instruct-0905 kimi-k2-0905-preview kimi-k2-turbo-preview baseten/Kimi-K2-Instruct-FP4",
  "kimi-k2 kimi-k2-thinking": "moonshot.kimi-k2-thinking kimi-k2-thinking-turbo kimi-k2-thinking:cloud",
  "glm glm-4.6": "z-ai/glm-4.5-air:free accounts/fireworks/models/glm-4p6 zai-org/GLM-4.6V glm-4.5-flash",
  "glm glm-4.7-flash":
    "zai.glm-4.7-flash @cf/zai-org/glm-4.7-flash accounts/fireworks/models/glm-4p7 zai-org/glm-4.7-flash zai-org/GLM-5 z-ai/glm-5 glm-5:cloud zai.glm-5",
  "glm glm-5.2": "accounts/fireworks/models/glm-5p2 z-ai/glm-5.2",
  "minimax-m3 minimax-m3": "accounts/fireworks/models/minimax-m3 minimax/minimax-m3:thinking",
  "qwen3-coder qwen3-coder":
    "accounts/fireworks/models/qwen3-coder-480b-a35b-instruct qwen.qwen3-coder-480b-a35b-v1:0 qwen/qwen3-coder:free qwen3-coder-plus Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 qwen3-coder-next:q4_K_M",
  "qwen3-coder qwen3.5-4b": "Qwen3_5-9B-Q4_K_M qwen3-5-397b-a17b qwen35-397b-a17b Qwen_Qwen3.5-9B-Q4_K_M.gguf",
  "qwen3-coder qwen3.6-35b-a3b":
    "accounts/fireworks/models/qwen3p7-plus qwen/qwen3.6-27b Qwen/Qwen3.6-35B-A3B-FP8 qwen-3-7-max qwen3.6:35b",
  "qwen3-coder nemotron-3-nano":
    "nvidia.nemotron-nano-3-30b nvidia/nemotron-3-super-120b-a12b:free nemotron-3-nano:30b @cf/nvidia/nemotron-3-120b-a12b nvidia_NVIDIA-Nemotron-3-Nano-30B-A3B-Q4_K_M.gguf",
  "hermes qwen3-0.6b": "qwen.qwen3-32b-v1:0 @cf/qwen/qwen3-30b-a3b-fp8 cerebras/qwen3-32b-cs",
  "hermes qwen3-instruct-2507": "accounts/fireworks/models/qwen3-235b-a22b-instruct-2507 qwen-3-235b-a22b-instruct-2507",
  "hermes qwen3-vl-instruct": "qwen3-vl:235b-instruct",
  "hermes qwen2.5-7b-instruct":
    "qwen/qwen-2.5-72b-instruct qwen2-5-coder-32b-instruct @cf/qwen/qwen2.5-coder-32b-instruct Qwen/Qwen2.5-7B-Instruct-Turbo",
  "hermes qwen3-thinking-2507": "qwen/qwen3-235b-a22b-thinking-2507 Qwen/Qwen3-Next-80B-A3B-Thinking",
  "hermes qwq-32b": "@cf/qwen/qwq-32b",
  hermes: "nousresearch/hermes-4-405b NousResearch/DeepHermes-3-Mistral-24B-Preview",
  "mistral ministral-3-14b-reasoning-2512": "mistralai/ministral-3-14b-reasoning",
  "mistral mistral-small-3.2-2506": "mistralai/mistral-small-3.2-24b-instruct:free mistral-small-3-2-24b-instruct mistral-small-2506",
  "mistral mistral-nemo-2407":
    "open-mistral-nemo mistralai/mistral-nemo mistral.pixtral-large-2502-v1:0 mistralai/mistral-7b-instruct-v03 codestral@2405",
  "mistral mistral-v7": "@cf/mistralai/mistral-small-3.1-24b-instruct mistral-small-2501 mistral-large-2411 mistral-large@2411",
  "mistral mistral-v15": "mistralai/Mistral-Medium-3.5-128B mistral-small-4-119b mistral-small-2603",
  "mistral mistral-v13":
    "mistral.ministral-3-14b-instruct ministral-8b-2512 mistralai/ministral-14b-2512 mistral.mistral-large-3-675b-instruct mistral-large-2512 mistralai/devstral-2512:free devstral-small-2:24b ministral-8b-latest codestral-2508",
  mistral: "mistral.magistral-small-2509",
  "granite granite-4.0": "@cf/ibm-granite/granite-4.0-h-micro ibm/granite-4-h-tiny",
  "gemma4 google-gemma-4-31b-2026-07-09": "@cf/google/gemma-4-26b-a4b-it google/gemma-4-31b-it:free",
  "json gemma": "google.gemma-3-27b-it google/gemma-3n-e4b-it:free",
  "phi4-mini vllm-phi4-mini-string-args": "microsoft/phi-4-multimodal-instruct",
  "seed-oss seed-oss": "bytedance/seed-oss-36b-instruct",
};

describe("names", () => {
  const cases = [
    ...Object.entries(NAMES),
    ...Object.entries(API_NAMES).map(([answer, names]) => [answer, names.split(" ")] as const),
  ].flatMap(([answer, names]) => names.map((name): [string, string] => [name, answer]));

  test("there are enough names", () => expect(cases.length).toBeGreaterThanOrEqual(60));
  test.each(cases)("%s", (model, answer) => {
    const found = detectDialect({ model });
    expect(short(found)).toBe(answer);
    expect(found?.why).toMatch(/^the name says /);
    expect(found?.confidence).not.toBe("certain");
  });

  test.each([
    ["Qwen/Qwen3-0.6B", "likely"],
    ["llama3.1", "likely"],
    ["somebody/my-qwen3-8b-roleplay", "possible"],
    ["/models/qwen3-8b/model.gguf", "possible"],
    ["google/gemma-3-4b-it", "possible"],
    ["google/gemma-4-31b", "possible"],
    ["google/gemma-4-E2B", "possible"],
    ["ibm-granite/granite-4.2-8b", "possible"],
    ["google/gemma-4-E2B-it", "likely"],
    ["MFDoom/deepseek-r1-tool-calling:8b", "possible"],
    ["cohere-command-r-08-2024", "likely"],
    ["xiaomi-mimo-v2.5-pro", "likely"],
    ["gemma4:31b", "likely"],
    ["us.meta.llama3-3-70b-instruct-v1:0", "likely"],
    ["accounts/fireworks/models/glm-5p1", "likely"],
    ["mistral.pixtral-large-2502-v1:0", "possible"],
    ["deepseek/deepseek-v3.2-speciale", "possible"],
    ["deepseek/deepseek-v3.2", "likely"],
    ["poolside/Laguna-S-2.1", "likely"],
    ["poolside/Laguna-M.1", "possible"],
    ["inclusionAI/Ling-3.0-flash", "likely"],
    ["inclusionAI/Ring-2.6-1T", "possible"],
    ["LGAI-EXAONE/EXAONE-4.0-32B", "likely"],
    ["LGAI-EXAONE/K-EXAONE-236B-A23B", "possible"],
    ["NousResearch/Hermes-3-Llama-3.1-8B", "likely"],
    ["NousResearch/Hermes-4-14B", "possible"],
    ["nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "likely"],
    ["nvidia/Llama-3.1-Nemotron-Nano-8B-v1", "possible"],
    ["nvidia/NVIDIA-Nemotron-Nano-9B-v2", "likely"],
    ["nvidia/NVIDIA-Nemotron-Nano-12B-v2-VL-BF16", "possible"],
    ["tencent/Hunyuan-7B-Instruct", "possible"],
    ["inclusionAI/Ring-1T", "possible"],
    ["meituan-longcat/LongCat-Flash-Chat", "possible"],
    ["tencent/Hy3", "likely"],
    ["tencent/Hy3-preview", "likely"],
    ["Qwen/Qwen3.5-0.8B", "likely"],
    ["shisa-ai/shisa-v2-llama3.3-70b", "possible"],
    ["deepseek-ai/DeepSeek-R1-0528", "likely"],
    ["deepseek-r1:671b", "likely"],
    ["deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "possible"],
    ["deepseek-r1:8b", "possible"],
    ["mistralai/Voxtral-Small-24B-2507", "possible"],
    ["Qwen/Qwen2.5-VL-7B-Instruct", "possible"],
    ["/models/Qwen3-8B/", "likely"],
    ["models--Qwen--Qwen3-14B/snapshots/40c069824f4251a91eefaf281ebe4c544efd3e18/model.safetensors", "likely"],
  ])("%s is %s", (model, confidence) => {
    expect(detectDialect({ model })?.confidence).toBe(confidence);
  });
});

describe("models without tools are not guessed", () => {
  const names = [
    "nvidia/Qwen3-Nemotron-235B-A22B-GenRM",
    "meta-llama/Llama-3.1-8B",
    "Meta-Llama-3.1-70B.Q4_K_M.gguf",
    "Qwen/Qwen2.5-7B",
    "Qwen/Qwen3-8B-Base",
    "arcee-ai/Trinity-Large-TrueBase",
    "ai21labs/Jamba-v0.1",
    "Qwen/Qwen2-57B-A14B-Instruct",
    "Qwen/Qwen3-ForcedAligner-0.6B",
    "google/gemma-4-31B-it-assistant",
    "Gemma-4-E2B-it-qat-assistant-MTP-Q8_0.gguf",
    "gemma-4-E4B-mtp-drafter",
    "z-lab/Qwen3-8B-DFlash-b16",
    "Qwen/Qwen3-Embedding-8B",
    "Qwen/Qwen3-Reranker-0.6B",
    "google/gemma-3-4b-pt",
    "google/gemma-2-9b",
    "google/embeddinggemma-300m",
    "google/shieldgemma-2b",
    "google/codegemma-7b",
    "nomic-embed-text:latest",
    "mxbai-embed-large",
    "BAAI/bge-m3",
    "intfloat/multilingual-e5-large",
    "openai/whisper-large-v3",
    "meta-llama/Llama-Guard-3-8B",
    "meta-llama/Prompt-Guard-86M",
    "ibm-granite/granite-embedding-278m-multilingual",
    "ibm-granite/granite-guardian-3.3-8b",
    "ibm-granite/granite-4.0-h-tiny-base",
    "mistralai/Mistral-7B-v0.1",
    "mistralai/Mistral-7B-Instruct-v0.2",
    "mistral:7b-instruct-v0.2-q4_0",
    "mistral:v0.1",
    "Qwen/Qwen3-8B-Base@main",
    "mistralai/Mistral-Nemo-Base-2407",
    "mistralai/Mamba-Codestral-7B-v0.1",
    "deepseek-ai/DeepSeek-V3-Base",
    "deepseek-ai/DeepSeek-OCR",
    "deepseek-coder:6.7b",
    "TheBloke/Llama-2-7B-Chat-GGUF",
    "llama3:8b",
    "meta-llama/Meta-Llama-3-8B-Instruct",
    "tinyllama:1.1b",
    "gpt2",
    "EleutherAI/pythia-160m",
    "stabilityai/stable-diffusion-xl-base-1.0",
    "black-forest-labs/FLUX.1-dev",
    "facebook/bart-large",
    "bigcode/starcoder2-15b",
    "Qwen/Qwen2.5-Math-7B-Instruct",
    "allenai/Olmo-3-1025-7B",
    "llama3.1:8b-text-q4_0",
    "hexgrad/Kokoro-82M",
    "Qwen/Qwen3Guard-Gen-8B",
    "HuggingFaceTB/SmolLM3-3B-Base",
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2-Base",
    "tencent/Hunyuan-7B-Pretrain",
    "tencent/Hunyuan-MT-7B",
    "inclusionAI/Ling-mini-base-2.0",
    "inclusionAI/Ling-lite",
    "speakleash/Bielik-11B-v2.3-Instruct",
    "speakleash/Bielik-11B-v3-Base-20250730",
    "MiniMaxAI/MiniMax-Text-01",
    "RekaAI/reka-flash-3",
    "meituan-longcat/LongCat-Flash-Lite",
    "sibling-1t-chat",
    "ornithology-chat",
    "laguna-beach-chat",
    "sterling-3b-chat",
    "arcee-ai/Trinity-Large-Base",
    "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct",
    "exaone-deep:32b",
    "baidu/ERNIE-4.5-300B-A47B-PT",
    "stepfun-ai/step3",
    "swiss-ai/Apertus-8B-2509",
    "swiss-ai/Apertus-v1.5-8B-2607",
    "upstage/SOLAR-10.7B-Instruct-v1.0",
    "tencent/Hunyuan3D-2",
    "tencent/HY-3D-Bench",
    "ai-sage/GigaChat3-10B-A1.8B-base",
    "meta-models/Muse-Glimmer-30B-assistant",
    "internlm/internlm2_5-7b",
    "internlm/internlm2-7b-reward",
    "internlm/internlm-xcomposer2d5-7b",
    "openbmb/MiniCPM5-1B-Base",
    "openbmb/MiniCPM4.1-8B",
    "openbmb/MiniCPM-Embedding",
    "inklings-chat",
    "my-model-sft-step-3",
    "rednote-hilab/dots.llm1.inst",
    "rednote-hilab/dots.ocr",
    "zai-org/GLM-4.1V-9B-Thinking",
    "THUDM/glm-4-9b",
    "THUDM/glm-4v-9b",
    "THUDM/GLM-4-32B-Base-0414",
    "THUDM/GLM-Z1-Rumination-32B-0414",
    "LiquidAI/LFM2-1.2B-RAG",
    "LiquidAI/LFM2-350M-Extract",
    "LiquidAI/LFM2-350M-ENJP-MT",
    "Qwen/Qwen3-Omni-30B-A3B-Captioner",
    "nvidia/Mistral-NeMo-Minitron-8B-Instruct",
    "dolphin-mistral:7b",
    "yarn-mistral:7b",
    "hf.co/unsloth/Llama-3.2-3B-GGUF:Q4_K_M",
    "allenai/llama-3.1-tulu-3-8b:free",
    "HuggingFaceTB/SmolLM2-360M-Instruct",
    "microsoft/phi-4-mini-flash-reasoning",
    "tiiuae/Falcon3-7B-Base",
    "XiaomiMiMo/MiMo-7B-RL",
    "deepcogito/cogito-v2-preview-llama-109B-MoE",
    "EssentialAI/rnj-1",
    "allenai/OLMo-2-1124-13B-Instruct",
    "meta-llama/Llama-4-Scout-17B-16E",
    "ibm-granite/granite-34b-code-instruct-8k",
    "LiquidAI/LFM2-VL-1.6B",
    "Dolphin3.0-Llama3.1-8B-Q4_K_M.gguf",
    "moonshotai/Moonlight-16B-A3B",
    "CohereLabs/aya-expanse-8b",
    "nvidia/nemotron-3-content-safety",
    "qwen3-livetranslate-flash-realtime",
    "qwen3-asr-flash",
    "@cf/mistral/mistral-7b-instruct-v0.1",
    "mistralai/mistral-nemotron",
    "deepseek/deepseek-ocr-2",
    "meta-llama/llama-guard-4-12b",
    "meta-llama/llama-prompt-guard-2-86m",
    "meta/llama-3.1-8b",
    "EVA-UNIT-01/EVA-LLaMA-3.33-70B-v0.1",
    "amazon.titan-embed-text-v2:0",
    "cohere.rerank-v3-5:0",
    "voyage/voyage-3.5-lite",
    "sha256-dde5aa3fc5ffc17176b5e8bdc82f587b24b2678c6c66101bf7da77af9f7ccdff",
    "model.gguf",
    "",
  ];

  test.each(names)("%s", (model) => {
    expect(detectDialect({ model })).toBeUndefined();
  });
  test("not even by a template, which base and embedding models inherit", () => {
    const template = "<tool_call> <tools> <|im_start|> arguments";
    expect(detectDialect({ template })?.id).toBe("hermes");
    expect(detectDialect({ model: "Qwen/Qwen3-Embedding-8B", template })).toBeUndefined();
    expect(detectDialect({ model: "Qwen3-8B-Base.gguf", template })).toBeUndefined();
  });
});

/** The decisive lines of templates. */
const TEMPLATES: readonly (readonly [string, string])[] = [
  ["functiongemma google-functiongemma-270m-it", "{{ '<start_function_declaration>' }}{{ format_function_declaration(tool) | trim }}"],
  ["functiongemma", "{{ '<start_of_turn>model\\n<start_function_call>call:' + name }}"],
  ["gemma4 google-gemma-4-31b-2026-07-09", "{{ '<|turn>model\\n' }}{{ '<|channel>thought\\n<channel|>' }}{{ '<|tool_call>call:' + name }}"],
  ["gemma4 google-gemma-4-e2b-2026-07-09", "{{ '<|turn>model\\n' }}{{ '<|tool_call>call:' + name + '{' }}"],
  [
    "deepseek-v4 deepseek-v4-flash-0731",
    "{% set dsml_token = '｜DSML｜' %}{% set effort = 'Reasoning Effort: Beyond maximum' %}{{ '<' ~ dsml_token ~ 'tool_calls>' }}",
  ],
  ["deepseek-v4 deepseek-v4.1-flash", "{{ '<｜System｜>' }}{% set dsml_token = '｜DSML｜' %}{{ '<' ~ dsml_token ~ ' calls>' }}"],
  ["deepseek-v4 deepseek-v4", "{% set dsml_token = '｜DSML｜' %}{{ '<' ~ dsml_token ~ 'tool_calls>' }}"],
  ["deepseek-v3.2 deepseek-v3.2", "{% set dsml_token = '｜DSML｜' %}{{ '<' ~ dsml_token ~ 'function_calls>' }}"],
  ["deepseek-v3.1 deepseek-ai-v3.1", "{{ '<｜tool▁call▁begin｜>' + name + '<｜tool▁sep｜>' + args }}{{ '</think>' }}"],
  ["deepseek-v3.1 deepseek-v3.1", "{{ '<｜tool▁call▁begin｜>' + name + '<｜tool▁sep｜>' + args }}{{ '<think></think>' }}"],
  ["deepseek-v3 vllm-deepseekv3", "{{ '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' + name + '\\n```json\\n' }}"],
  ["deepseek-v3 deepseek-r1", "{{ 'function<｜tool▁sep｜>' + name + '\\n```json\\n' }}{% set content = content.split('</think>')[-1] %}"],
  ["kimi-k2 kimi-k2-thinking", "{{ '<think>' + rc + '</think>' }}<|tool_calls_section_begin|>"],
  ["minimax-m3 minimax-m3", "{%- set ns_token = ']<]minimax[>[' -%}"],
  ["kimi-k3 kimi-k3", "{{- '<|open|>' + tag -}} {{- '<|sep|>' -}} {{- '<|close|>' + tag + '<|sep|>' -}}"],
  [
    "cogito cogito-v1-llama",
    "{%- set system_message = 'Enable deep thinking subroutine.' %}{{ '<|start_header_id|>system<|end_header_id|>' }} tools",
  ],
  ["hermes qwen3-instruct-2507", "<|im_start|>system\nEnable deep thinking subroutine. <tools></tools> <tool_call>"],
  ["cogito rnj-1", "{% set base_system = 'You are rnj-1' %}<|start_header_id|>system<|end_header_id|> <tools></tools> <tool_call>"],
  ["cohere cohere2-moe", "<|START_TEXT|>{{ msg }}<|END_TEXT|> <|START_ACTION|>["],
  ["jamba jamba-mini-1.7", "{% set bom_str = bom_str or '<|bom|>' %}{% set tool_calls_prefix = '<tool_calls>' %}"],
  ["internlm vllm-internlm2", "{{- '<|im_start|>assistant\\n' + content }}{{- '<|action_start|><|plugin|>\\n' }}"],
  ["internlm", "{% set default_thinking_sys %}Hm.{% endset %}<|im_start|>assistant <|action_start|><|plugin|>"],
  ["apertus apertus-2509", "{%- set tool_calls_token = '<|tools_prefix|>' -%}{{ '<|assistant_start|>' }}"],
  ["command-r7b command-r7b-12-2024", "<|START_RESPONSE|>{{message.content}}<|END_RESPONSE|> <|START_ACTION|>["],
  [
    "command-r7b command-a-reasoning-08-2025",
    "{% set reasoning = reasoning if reasoning is not undefined else true %}<|START_RESPONSE|>{{message.content}} <|START_ACTION|>[",
  ],
  ["cohere", "{{ opener }}{{ message.content }} <|START_ACTION|>["],
  ["muse-glimmer muse-glimmer-30b", "{{- '<atem:function_calls>\\n<atem:invoke name=\"' -}}{{- '<|eom|>' -}}"],
  ["muse-glimmer vllm-muse-glimmer", "{{- '<atem:function_calls>' -}} To make parallel tool calls, emit each {{- '<|eom|>' -}}"],
  [
    "solar-open solar-open-100b",
    '{{- "You are Solar Open 100B, " }}{{- "<|tool_call:begin|>" + tool_call.id +"<|tool_call:name|>" + name + "<|tool_call:args|>" }}',
  ],
  [
    "functionary-v3.1 functionary-medium-v3.1",
    "{{- '<|start_header_id|>' }} <{start_tag}={function_name}>{parameters}{end_tag} {{ '<function=' + tool_call['function']['name'] + '>' }}",
  ],
  ["functionary-v3.2 functionary-medium-v3.2", "{{ '<|start_header_id|>system' }} Ask for the required input to:recipient==all\\nUse JSON"],
  ["inkling inkling", "{{- '<|message_model|>' + name + '<|content_invoke_tool_json|>' -}}"],
  [
    "gigachat gigachat3.1-10b-a1.8b",
    '{%- set add_tokens = namespace(role_sep="<|role_sep|>\\n", function_call="<|function_call|>") -%} `function descriptions`',
  ],
  ["gigachat gigachat3-10b-a1.8b", "{%- set add_tokens = namespace(role_sep=\"<|role_sep|>\\n\") -%} {'role': 'function descriptions'}"],
  ["nothing", "{{ 'user<|role_sep|>' + content + '<|message_sep|>available functions<|role_sep|>[]<|message_sep|>' }}"],
  ["kimi-k2 kimi-k2-instruct", "<|im_middle|><|tool_calls_section_begin|><|tool_call_begin|>{{ id }}"],
  ["glm4 glm-4-0414", "[gMASK]<sop>{%- if tools -%}<|system|>\n# 可用工具\n{{ function | tojson(indent=4, ensure_ascii=False) }}"],
  ["glm4 glm-4-9b-chat", "[gMASK]<sop>{% if item['tools'] is defined %}<|system|>\n# 可用工具{% set tools = item['tools'] %}"],
  ["glm4 glm-z1-0414", "[gMASK]<sop># 可用工具{%- set visible = content.split('</think>')[-1].strip() %}"],
  ["glm glm-4.6", "[gMASK]<sop>\n<arg_key>{{ k }}</arg_key>\n{{ '/nothink' if not enable_thinking }}"],
  ["glm glm-4.7-flash", "[gMASK]<sop><tool_call>{{ name }}<arg_key>{{ k }}</arg_key>"],
  ["kimi-k2 kimi-k2.5", "<|tool_calls_section_begin|>{% if thinking is false %}<think></think>{% else %}<think>{% endif %}"],
  ["glm glm-5.2", "[gMASK]<sop><|system|>Reasoning Effort: {{ effort }}<tool_call>{{ name }}<arg_key>{{ k }}</arg_key>"],
  [
    "glm glm-5.3",
    "[gMASK]<sop>{%- set effort = e if e in ['low', 'high'] else 'max' -%}<|system|>Reasoning Effort: {{ effort }}<arg_key>{{ k }}</arg_key>",
  ],
  ["glm", "{{ '<tool_call>' ~ name ~ '<arg_key>' ~ k ~ '</arg_key>' }}"],
  ["laguna laguna-s-2.1", "<available_tools>{%- if enable_thinking or preserve_thinking -%}{{ '<arg_key>' ~ k }} made by Poolside"],
  ["laguna laguna-s-2.1", "<available_tools>{%- if enable_thinking -%}{{ '<arg_key>' ~ k ~ '</arg_key>' }} made by Poolside"],
  ["laguna laguna-xs.2", "made by Poolside <available_tools>{{ '<arg_key>' ~ k ~ '</arg_key>\\n' }}"],
  ["laguna laguna-xs-2.1", "<available_tools>{{ '<arg_key>' ~ k ~ '</arg_key>\\n' }}"],
  [
    "minicpm5 minicpm5",
    "<|im_start|>{{- '<function name=\"' ~ name ~ '\">' }}{{- '<param name=\"' ~ key }}{{- '<![CDATA[' + value + ']]>' }}",
  ],
  ["ling3 ling-3.0", "{#- Bailing V3 chat template -#}{{- '<role>HUMAN</role>' + text }}{{- '<arg_key>' + k + '</arg_key>' }}"],
  ["hy3 hy3", "{%- set HYTK = ':opensource' %}{%- set user_token = '<｜hy_User{}｜>'.format(HYTK) %}{{ '<tool_sep{}>'.format(HYTK) }}"],
  ["hy3 hy3-preview", "{{ '<｜hy_User｜>' + text }}{{ '<tool_call>' + name + '<tool_sep>\\n<arg_key>' + key }}"],
  ["hy3", "{{ '<｜hy_User:opensource｜>' + text }}{{ '<arg_key:opensource>' + key }}"],
  ["minimax-m2 minimax-m2", "{% set toolcall_begin_token = '<minimax:tool_call>' %}"],
  ["minimax-m2 minimax-m2.7", "{% set toolcall_begin_token = '<minimax:tool_call>' %}{% set model_identity = 'MiniMax-M2.7 by MiniMax' %}"],
  ["laguna laguna-v8", "{#- laguna_glm_thinking_v8 -#}<available_tools>{{ tool }}</available_tools><arg_key>{{ k }}</arg_key>"],
  ["glm glm-5.1", "[gMASK]<sop>{%- macro tool_to_json(tool) -%}{%- endmacro -%}<tool_call>{{ name }}<arg_key>{{ k }}</arg_key>"],
  ["harmony gpt-oss-120b", "{{ '<|start|>assistant<|channel|>commentary to=functions.' + name + '<|message|>' }}"],
  ["xlam vllm-xlam-llama", "{{ '<|start_header_id|>system' }} make calls in a single JSON array: [{'name': "],
  ["xlam vllm-xlam-qwen", "{{ '<|im_start|>system' }} make calls in a single JSON array: [{'name': "],
  ["phi4-mini", "{{ '<|start_header_id|>' + role }} prefix the output with functools[{\"name\": "],
  ["phi4-mini vllm-phi4-mini-string-args", "{{ '<|system|>' }} a single JSON list formatted as functools[{\"name\": "],
  ["phi4-mini", "{{ '<|' + message['role'] + '|>' }}{{ '<|tool|>' + message['tools'] + '<|/tool|>' }}"],
  ["pythonic lfm2-8b-a1b", "List of tools: <|tool_list_start|>[ {{ '<|im_start|>' }}"],
  ["pythonic lfm2.5-instruct", "{{ 'List of tools: [' }}{{ '<|im_start|>system\\n' }}"],
  ["pythonic lfm2.5-8b-a1b", "List of tools: [ {{ '<|im_start|>' }}{{ '<|tool_call_start|>[' + calls + ']<|tool_call_end|>' }}"],
  ["pythonic vllm-llama4-pythonic", "{{ '<|header_start|>system' }} [func_name1(params_name1=params_value1, func_name2(params)]"],
  ["pythonic olmo-3-7b-instruct", "{{ '<|im_start|>' }} <functions>{{ tools }}</functions> {{ '<function_calls>' + calls }}"],
  [
    "granite granite-4.0",
    "{{ '<|start_of_role|>system<|end_of_role|>' }} Please ensure responses are professional; within <tools></tools> XML tags; <tool_call>",
  ],
  ["granite granite-4.1", "{{ '<|start_of_role|>system<|end_of_role|>' }} within <tools></tools> XML tags; <tool_call>"],
  ["granite granite-3.3", "{{ '<|start_of_role|>available_tools<|end_of_role|>' }} write <|tool_call|> followed by a JSON list"],
  ["mistral ministral-3-14b-reasoning-2512", "[SYSTEM_PROMPT][THINK][AVAILABLE_TOOLS]{{ '[TOOL_CALLS]' + name + '[ARGS]' }}"],
  ["mistral mistral-small-3.2-2506", "[AVAILABLE_TOOLS]{{ '[TOOL_CALLS]' + name + '[CALL_ID]' + id + '[ARGS]' }}"],
  ["mistral mistral-v13", "[SYSTEM_PROMPT][AVAILABLE_TOOLS]{{ '[TOOL_CALLS]' + name + '[ARGS]' }}"],
  ["mistral mistral-nemo-2407", "{{ '[AVAILABLE_TOOLS]' }}{{ '[TOOL_CALLS][' }}{{ '\"id\": ' + id }}"],
  ["mistral mistral-v7", "{{ '[SYSTEM_PROMPT]' }}{{ '[AVAILABLE_TOOLS]' }}{{ '[TOOL_CALLS][' }}"],
  ["mistral mistral-v15", "[SYSTEM_PROMPT][AVAILABLE_TOOLS][MODEL_SETTINGS]{{ '[TOOL_CALLS]' + name + '[ARGS]' }}[THINK]"],
  ["qwen3-coder qwen3.8-27b", "<|im_start|>Reasoning effort is set to xhigh. <think><function=<parameter=<|vision_start|>"],
  ["qwen3-coder", "<|im_start|>You have access to the following functions: <tool_call>\\n<function=<parameter="],
  [
    "qwen3-coder qwen3.5-0.8b",
    "<|im_start|><tool_call>\\n<function=<parameter=<think>{{ '<|vision_start|>' }}{%- if enable_thinking is defined and enable_thinking is true %}",
  ],
  [
    "qwen3-coder nemotron-3-nano",
    "{%- set truncate_history_thinking = True %}<|im_start|><tool_call>\\n<function=' ~ name ~ '>\\n<parameter=<think>",
  ],
  [
    "qwen3-coder nemotron-3.5-nano",
    "{%- set truncate_history_thinking = True %}<|im_start|><tool_call>\\n<function=' ~ name ~ '>\\n<parameter=<think>{reasoning effort: efficient}",
  ],
  [
    "qwen3-coder qwen3.6-35b-a3b",
    "<|im_start|><tool_call>\\n<function=<parameter=<think>{{ '<|vision_start|>' }}{%- if preserve_thinking is defined and preserve_thinking is true %}",
  ],
  [
    "hermes qwen3-instruct-2507",
    '<|im_start|>{{- "# Tools\\n\\nYou may call one or more functions to assist" }}<tools><tool_call>\\n{"name": , "arguments": ',
  ],
  ["hermes qwen3-vl-instruct", '<|im_start|><tools><tool_call>\\n{"name": , "arguments": <|vision_start|><|image_pad|><|vision_end|>'],
  ["hermes", 'return a JSON object "\\n<tool_call>{\\"name\\": function_1_name, \\"arguments\\": {}}</tool_call>"'],
  ["exaone exaone-4.0", '{{ \'[|endofturn|]\\n\' }}{{- "<tool_call>" }}{{- "<tool_result>" }}'],
  ["exaone", "{{ '<|endofturn|>\\n' }}{{- \"<tool_call>\" }}"],
  ["qwen3-coder qwen3.5-4b", "<|im_start|><tool_call>\\n<function={{ name }}><parameter=<think>{{ '<|vision_start|>' }}"],
  ["qwen3-coder qwen3-coder", "<|im_start|><tool_call>\\n<function={{ name }}>\\n<parameter={{ key }}>"],
  ["qwen3-coder", "<|im_start|><tool_call>\\n<function={{ name }}>\\n<parameter={{ key }}><think>"],
  [
    "hermes hermes-3-llama-3.1-8b",
    "{%- macro json_to_python_type(json_spec) %}<|im_start|>system You are a function calling AI model. <tools></tools> <tool_call>",
  ],
  ["hermes", "<|im_start|>system You are a function calling AI model. <tools></tools> <tool_call>"],
  ["hermes", "{%- if not keep_cots is defined %}{{ '<|start_header_id|>' }} <tool_call>"],
  [
    "hermes mimo-vl",
    '<|im_start|>system\\nYou are MiMo, an AI assistant developed by Xiaomi. <tools> <tool_call>\\n{"name": , "arguments": ',
  ],
  ["smollm3 smollm3-3b", "<|im_start|>Today Date: Reasoning Mode: You are a helpful AI assistant named SmolLM <tool_call>"],
  ["smollm3 unsloth-smollm3-3b", "<|im_start|>Reasoning Mode: You are a helpful AI assistant named SmolLM"],
  ["hunyuan vllm-hunyuan-a13b", "{{ '<|startoftext|>' + content_tmp + '<|extra_4|>' }}<tool_calls>[<|extra_0|>"],
  ["ling ling-2.0", "{% set thinking_option = 'off' %}{{ '<role>HUMAN</role>' }}<tool_call>\\n"],
  ["ling", "{{ '<role>HUMAN</role>' }}<tool_call>\\n"],
  ["bielik bielik-11b-v3.0-instruct", "<|im_start|>system <|function_list|> <tool_call>"],
  ["minimax-m1 minimax-m1", "{{ '<beginning_of_sentence>ai name=assistant\\n<tool_calls>\\n' }}"],
  ["reka-edge reka-edge", 'prefix_ns = namespace(value="human: ") ~ "<sep>" "<tool_call>\\n"'],
  ["hermes qwen2.5-7b-instruct", '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. <tool_call>\\n{"name": , "arguments": '],
  ["hermes qwen3-0.6b", '<|im_start|><tools><tool_call>\\n{"name": , "arguments": message.reasoning_content enable_thinking is false'],
  ["hermes qwen3-thinking-2507", "<tools><tool_call>message.reasoning_content {{ '<|im_start|>assistant\\n<think>\\n' }}"],
  ["hermes qwq-32b", "<tools><tool_call> {{ '<|im_start|>assistant\\n<think>\\n' }}"],
  ["hermes", '<|im_start|><tools><tool_call>\\n{"name": , "arguments": '],
  ["hermes", '[|user|]<tool_call>\\n{"name": , "arguments": '],
  ["hermes", "{{ '\\n<tool_calls>[' }}{{ tool_call | tojson }}{{ ']</tool_calls>' }}"],
  ["apriel apriel-1.6-15b-thinker", "<|begin_assistant|>{{ '\\n<tool_calls>[' }}{{ tool_call | tojson }}{{ ']</tool_calls>' }}"],
  ["apriel unsloth-apriel-1.5", "<|assistant|>{{ '\\n<tool_calls>[' }} [BEGIN FINAL RESPONSE] ... [END FINAL RESPONSE]"],
  ["nemotron nemotron-nano-v2", "{{- '<SPECIAL_11>Assistant\\n' -}}{{- '<TOOLCALL>[' -}}"],
  ["nemotron llama-nemotron-super-v1.5", "{{- '<TOOLCALL>[' -}} Response from tool(s) will be returned in this format:"],
  ["nemotron llama-nemotron-nano-v1", "{{- '<AVAILABLE_TOOLS>[' -}}{{- '<TOOLCALL>[' -}}"],
  ["llama3 llama-3.1-8b-instruct", "{{ '<|start_header_id|>' }} please respond with a JSON for a function call with its proper arguments"],
  [
    "llama3 llama-3.2-3b-instruct",
    "{% set date_string = strftime_now('%d %b %Y') %}<|start_header_id|> respond with a JSON for a function call",
  ],
  ["llama3 vllm-llama4-json", "{{ '<|header_start|>' }} 'Separate multiple function calls by \"; \". Do not use variables.'"],
  ["llama3 llama-4", "{{ '<|header_start|>' }} please respond with a JSON for a function call"],
  ["json gemma", "{{ bos_token }}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}"],
  ["json phi4", "{{ '<|im_start|>user<|im_sep|>' + message['content'] + '<|im_end|>' }}"],
  ["json phi", "{{ '<|user|>\\n' + message['content'] + '<|end|>\\n' }}"],
  ["json chatml", "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"],
  ["json llama3", "{{ '<|start_header_id|>' + role + '<|end_header_id|>\\n\\n' + content | trim + '<|eot_id|>' }}"],
  ["llama3", "{{ '<|start_header_id|>' }} respond with a JSON for a function call {{ { \"output\": content } | tojson }}"],
  ["granite", "<|function_call_library|> output \"<function_call> {'name': 'no_function'}\""],
  ["nothing", "<|im_start|>user\n<Query>: {{ query }}\n<Document>: {{ document }}<|im_end|>"],
  ["nothing", "{{ '<tool_call>' ~ name ~ '<tool_sep><arg_key>' ~ k ~ '</arg_key>' }}"],
  ["nothing", "{{ '<|im_start|>' }}<seed:tool_call><function=f><parameter=p> tools"],
  ["nothing", "{% for message in messages %}[INST] {{ message.content }} [/INST]{% endfor %}"],
  ["command-r command-r-plus", "{{ '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Write \\'Action:\\' followed by a json-formatted list' }}"],
  ["command-r command-r-plus", "<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>Write 'Action:' followed by a json-formatted list"],
  ["nothing", "{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }} Action: ```json"],
  ["nothing", "{{ '<|start_header_id|>' }} <function=name>{parameters}</function> tools"],
];

describe("templates", () => {
  test("there are enough templates", () => expect(TEMPLATES.length).toBeGreaterThanOrEqual(30));
  test.each(TEMPLATES)("%s: %s", (answer, template) => {
    const found = detectDialect({ template });
    expect(short(found)).toBe(answer);
    if (found) expect(found.why).toMatch(/^the template has "/);
    if (found?.id === "json") expect(found.confidence).toBe("possible");
  });
  test("a mark in the template is certain", () => {
    expect(detectDialect({ template: "<minimax:tool_call>" })?.confidence).toBe("certain");
  });
});

/** Samples of first outputs. */
const SAMPLES: readonly (readonly [string, string])[] = [
  ["functiongemma", "<start_function_call>call:f{a:<escape>x<escape>}"],
  ["gemma4", '<|channel>thought\nHm.<channel|><|tool_call>call:f{a:<|"|>x<|"|>}'],
  ["deepseek-v4", '<｜DSML｜ calls>\n<｜DSML｜ invoke name="f">'],
  ["deepseek-v4", '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">'],
  ["deepseek-v4", '<｜DSML｜calls>\n<｜DSML｜invoke name="f">'],
  ["deepseek-v4", '<｜｜DSML｜｜ calls>\n<｜｜DSML｜｜ invoke name="f">'],
  ["deepseek-v3.2", '\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">'],
  ["deepseek-v3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}"],
  ["deepseek-v3", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json"],
  ["kimi-k2", "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"],
  ["minimax-m3", ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="f">'],
  ["kimi-k3", "<|close|>think<|sep|><|open|>response<|sep|>Hm."],
  ["cohere", '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "f", "parameters": {}}'],
  ["internlm", '<|action_start|> <|plugin|>\n{"name": "f", "parameters": {}}'],
  ["apertus", '<|tools_prefix|>[{"f": {"a": 1}}]'],
  ["command-r", 'Action: ```json\n[\n    {\n        "tool_name": "f",'],
  ["command-r7b", "<|START_RESPONSE|>It is cold.<|END_RESPONSE|>"],
  ["muse-glimmer", " to=self<|message|>Hm."],
  ["muse-glimmer", ' to=f<|message|><atem:function_calls>\n<atem:invoke name="f">'],
  ["solar-open", "<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>f<|tool_call:args|>{}"],
  ["functionary-v3.1", '<function=get_weather>{"city": "Oslo"}</function>'],
  ["functionary-v3.2", 'all\nI look.>>>get_weather\n{"city": "Oslo"}'],
  ["inkling", "<|content_thinking|>Hm."],
  ["inkling", 'f<|content_invoke_tool_json|>{"name":"f","args":{}}'],
  ["gigachat", '<|function_call|>{"name": "f", "arguments": {}}'],
  ["gigachat", 'I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "f", "arguments": {}}'],
  ["glm", "<tool_call>f<arg_key>a</arg_key>"],
  ["minicpm5", '<think>Hm.</think><function name="f"><param name="a">1</param></function>'],
  ["nothing", 'Write <function name="f"> and so on.'],
  ["hy3", "<tool_calls:opensource>\n<tool_call:opensource>f<tool_sep:opensource>"],
  ["hy3", "<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>a</arg_key>"],
  ["glm", "Hm.</think><tool_call>get_time\n</tool_call>"],
  ["glm4", 'get_weather\n{"city": "Oslo"}<|observation|>'],
  ["glm4", "\nI look.<|assistant|>get_time \n{}"],
  ["minimax-m2", '<minimax:tool_call>\n<invoke name="f">'],
  ["harmony", "<|channel|>analysis<|message|>Hm."],
  ["phi4-mini", 'functools[{"name": "f", "arguments": {}}]'],
  ["granite", '<|tool_call|> [{"name": "f", "arguments": {}}]'],
  ["mistral", '[TOOL_CALLS]f[ARGS]{"a": 1}'],
  ["pythonic", "<|tool_call_start|>[f(a=1)]<|tool_call_end|>"],
  ["pythonic", '[get_weather(city="Oslo"), g()]'],
  ["pythonic", "I will look: [get_weather(city='Oslo')]"],
  ["pythonic", "<function_calls>get_weather(city='Oslo')\nnow()</function_calls>"],
  ["qwen3-coder", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>"],
  ["qwen3-coder", "<tool_call><function=f/></tool_call>"],
  ["qwen3-coder", "<tool_call><function=f<parameter=a>1</parameter>"],
  ["hermes", '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {}}'],
  ["hermes", '<tool_calls>[{"name": "f", "arguments": {}}]'],
  ["hermes", '<longcat_tool_call>\n{"name": "f", "arguments": {}}'],
  ["glm", "<longcat_tool_call>f\n<longcat_arg_key>a</longcat_arg_key>"],
  ["nemotron", '<TOOLCALL>[{"name": "f", "arguments": {}}]'],
  ["apriel", 'Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\n<tool_calls>[{"name": "f", "arguments": {}}]'],
  ["hunyuan", '<think>\nHm.\n</think>\n<answer>\n<tool_calls>[{"name": "f", "arguments": {}}]</tool_calls>\n</answer>'],
  ["minimax-m1", '<tool_calls>\n{"name": "f", "arguments": {}}\n</tool_calls>'],
  ["llama3", '<|python_tag|>{"name": "f", "parameters": {}}'],
  ["granite", '<|tool_call|> {"name": "f", "arguments": {}}'],
  ["granite", '<tool_call>\n[{"name": "f", "arguments": {}}]'],
  ["xlam", '[{"name": "f", "arguments": {"a": 1}}]'],
  ["xlam", '<think>Hm.</think>[{"name": "f", "arguments": {"a": 1}}]'],
  ["xlam", 'I will look.\n```json\n[{"name": "f", "arguments": {"a": 1}}]\n```'],
  ["json", '[{"name": "f", "parameters": {"a": 1}}]'],
  ["json", '{"type": "function", "name": "f", "parameters": {"a": 1}}'],
  ["json", '{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}'],
  ["json", '{"name": "f", "parameters": {"a": 1}}'],
  ["json", 'Sure.\n{"name": "f", "parameters": {"a": 1}}'],
  ["json", '<think>Hm.</think>{"name": "f", "parameters": {"a": 1}}'],
  ["pythonic", "<think>Hm.</think>[f(a=1)]"],
  ["glm4", '<think>Hm.</think>f\n{"a": 1}'],
  ["json", '```json\n{"name": "f", "parameters": {"a": 1}}\n```'],
  ["nothing", "Hello, how can I help?"],
  ["nothing", "Two words\n{}"],
  ["nothing", '{"name": "Ada", "age": 36}'],
  ["nothing", "[1, 2] and [a link](https://example.org)"],
  ["nothing", "Write <function=NAME> and then </function>."],
  ["nothing", '{"type": "function", "name": "Ada"}'],
];

describe("samples", () => {
  test.each(SAMPLES)("%s: %s", (answer, sample) => {
    const found = detectDialect({ sample });
    expect(short(found)).toBe(answer);
    expect(found?.confidence).not.toBe("certain");
  });
});

describe("precedence", () => {
  const template = "[gMASK]<sop><arg_key>";
  test("a template over a name", () => {
    expect(short(detectDialect({ model: "Qwen/Qwen3-8B", template }))).toBe("glm glm-4.7-flash");
  });
  test("a name over a sample", () => {
    expect(short(detectDialect({ model: "Qwen/Qwen3-8B", sample: "[TOOL_CALLS]" }))).toBe("hermes qwen3-0.6b");
  });
  test("the name adds its sampling if both agree", () => {
    expect(detectDialect({ model: "zai-org/GLM-4.7", template })).toMatchObject({
      confidence: "certain",
      sampling: { values: { topP: 0.95 } },
    });
    expect(detectDialect({ template })?.sampling).toBeUndefined();
  });
  test("an unknown template makes the name less certain", () => {
    expect(detectDialect({ model: "Qwen/Qwen3-8B", template: "{{ messages }}" })).toMatchObject({ id: "hermes", confidence: "possible" });
  });
  test("a specific name over a template without tools, as many GGUF files have it", () => {
    const template = "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' }}";
    expect(detectDialect({ model: "Hermes-3-Llama-3.1-70B.Q4_K_M.gguf", template })?.confidence).toBe("possible");
    expect(detectDialect({ model: "Hermes-3-Llama-3.1-70B.Q4_K_M.gguf", template })?.id).toBe(detectDialect({ model: "hermes3:70b" })?.id);
    expect(short(detectDialect({ model: "my-qwen3-8b-roleplay", template }))).toBe("json chatml");
  });
  test("no clues give no dialect", () => {
    expect(detectDialect({})).toBeUndefined();
  });
});

describe("the table of families", () => {
  const known = new Map(listDialects().map((dialect) => [dialect.id, dialect]));
  test.each(FAMILIES.filter(({ id, variant }) => variant && known.has(id)))("$name: the variant is one of $id", ({ id, variant }) => {
    expect(known.get(id)?.variants).toContain(variant);
  });
  test("every registered dialect can be detected", () => {
    const ids = new Set<string>(FAMILIES.map(({ id }) => id));
    expect([...known.keys()].filter((id) => !ids.has(id))).toEqual([]);
  });
  test("every recommended sampling names its source", () => {
    for (const { sampling } of FAMILIES) if (sampling) expect(sampling.source).toMatch(/ of [\w-]+[/]\S+/);
  });
});

test.each<[ModelType, string]>([
  ["gemmaIt", "json gemma"],
  ["gemma", "json plain"],
  ["functionGemma", "functiongemma google-functiongemma-270m-it"],
  ["deepSeek", "deepseek-v3 deepseek-r1"],
  ["qwen", "hermes qwen2.5-7b-instruct"],
  ["llama", "llama3 llama-3.2-3b-instruct"],
  ["hammer", "json chatml"],
  ["phi", "phi4-mini vllm-phi4-mini-string-args"],
  ["general", "json plain"],
])("the model type %s is %s", (type, answer) => {
  const { id, variant } = dialectOfModelType(type);
  expect(`${id} ${variant}`).toBe(answer);
});

test("hostile clues cost little", () => {
  const long = "a-".repeat(1 << 21);
  for (const text of [long, `${" ".repeat(1 << 21)}[`, `{"name": "${long}`, "<tool_call>".repeat(1 << 18), "[a.".repeat(1 << 18)])
    expect(detectDialect({ model: text, sample: text })).toBeUndefined();
});

test("a bare string instead of clues is an error that shows the right form", () => {
  expect(() => detectDialect("qwen3:8b" as never)).toThrow('an object like { model: "qwen3:8b" }');
});
