/** Mistral: the tokenizer's version decides. */
import { card, type Family } from "./family.ts";

export const MISTRAL: readonly Family[] = [
  {
    name: "Mistral Small 4, Medium 3.5",
    id: "mistral",
    variant: "mistral-v15",
    models: /mistral-(?:small-?4(?![.\db])|(?:small|medium)-(?:.*26\d\d|latest)|medium-?3[.-]5)|leanstral/,
    templates: [["[TOOL_CALLS]", "[MODEL_SETTINGS]"]],
  },
  {
    name: "Mistral Small 3.2",
    id: "mistral",
    variant: "mistral-small-3.2-2506",
    models: /mistral-small-?(?:3[.-]2|.*2506)/,
    templates: [["[TOOL_CALLS]", "[CALL_ID]"]],
    sampling: card("mistralai/Mistral-Small-3.2-24B-Instruct-2506", { temperature: 0.15 }),
  },
  {
    name: "Ministral 3 Reasoning",
    id: "mistral",
    variant: "ministral-3-14b-reasoning-2512",
    models: /ministral-?3-.*reasoning/,
    templates: [["[TOOL_CALLS]", "[ARGS]", "[THINK]"]],
  },
  {
    name: "Ministral 3",
    id: "mistral",
    variant: "mistral-v13",
    models: /ministral-?(?:3(?![.\db])|14b|\d+b.*(?:25\d\d|latest))/,
  },
  {
    name: "Magistral",
    id: "mistral",
    models: /magistral/,
    sampling: card("mistralai/Magistral-Small-2509", { temperature: 0.7, topP: 0.95 }),
  },
  {
    name: "Devstral",
    id: "mistral",
    variant: "mistral-v13",
    models: /devstral/,
    templates: [["[TOOL_CALLS]", "[ARGS]"]],
    sampling: card("mistralai/Devstral-Small-2507", { temperature: 0.15 }),
  },
  // Ollama's "mistral-small" and "mistral-large" are among these.
  {
    name: "Mistral Small 3.0/3.1, Large 2411",
    id: "mistral",
    variant: "mistral-v7",
    models: /mistral-small(?:-?3[.-][01](?!\d)|-.*250[13]|(?=$|:(?!22b)))|mistral-large(?:-.*2411|(?=$|:(?!.*2407)))/,
    templates: [["[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]"]],
  },
  {
    name: "Mistral Nemo",
    id: "mistral",
    variant: "mistral-nemo-2407",
    models: /mistral-nemo(?!t|-minitron)/,
    templates: [["[TOOL_CALLS]", "[AVAILABLE_TOOLS]"]],
    sampling: card("mistralai/Mistral-Nemo-Instruct-2407", { temperature: 0.3 }),
  },
  { name: "Voxtral Small", id: "mistral", variant: "mistral-v13", doubtful: true, models: /voxtral-small/ },
  { name: "Pixtral", id: "mistral", variant: "mistral-nemo-2407", doubtful: true, models: /pixtral/ },
  { name: "Mixtral 8x22B", id: "mistral", variant: "mistral-nemo-2407", models: /mixtral[-:]8x22b/, bare: "base" },
  {
    name: "Mistral until 2025",
    id: "mistral",
    variant: "mistral-nemo-2407",
    models:
      /(?<!-)mistral(?=:|$)|mistral-7b(?=-instruct-v(?:0\.?)?3|-v0\.3-instruct)|mistral-(?:small|large)[-:].*24\d\d|mistral-small:22b|ministral-8b|codestral[-:](?:22b|24\d\d|2501)/,
  },
  { name: "Mistral", id: "mistral", variant: "mistral-v13", models: /mistral-(?:small|medium|large)/ },
  { name: "Codestral", id: "mistral", variant: "mistral-v13", models: /codestral(?=-(?:2\d{3}|latest)|:latest|$)/ },
];
