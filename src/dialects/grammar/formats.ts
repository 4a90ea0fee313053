/**
 * How the calls of each dialect look to a grammar. This is not in the dialects' own files, so that a page that imports one dialect to scan
 * and render does not load the code that writes grammars.
 */

import type { Dialect } from "../dialect.ts";
import { isBare } from "../gemma-syntax.ts";
import { ascii, attribute, compactJson, quoted, tagName } from "../print.ts";
import { ARGUMENTS, type CallForm, type CallFormat, grammarOf, jsonCall, type Piece, THINK } from "./calls.ts";
import {
  asciiValues,
  elementValues,
  gemmaValues,
  indentedValues,
  jsonValues,
  pythonLiterals,
  pythonValues,
  sortedJsonValues,
  xmlValues,
} from "./values.ts";

const NINE = { pattern: "[a-zA-Z0-9]{9}" };
const NEWLINE = { pattern: "[\\n]{0,1}" };

/** Hermes calls, which other dialects share. */
const TAGGED: CallFormat = {
  values: jsonValues,
  call: (name) => [`<tool_call>\n${jsonCall(name)}`, ARGUMENTS, "}\n</tool_call>"],
  between: "\n",
  loose: true,
  words: ["<tool_call>"],
  thinking: THINK,
};

/** A JSON object that no mark announces. */
const BARE: CallFormat = {
  values: jsonValues,
  call: (name) => [jsonCall(name, "parameters"), ARGUMENTS, "}"],
  between: "\n",
  loose: true,
  words: [], // no mark announces a call
  openers: ['{"name":'],
  thinking: THINK,
};

/** Cohere's calls since Command R7B. */
const COHERE: CallFormat = {
  values: jsonValues,
  call: (name) => ['{"tool_call_id": "', { pattern: "[0-9]{1,5}" }, `", "tool_name": ${compactJson(name)}, "parameters": `, ARGUMENTS, "}"],
  between: ",\n    ",
  loose: true,
  section: { begin: "<|START_ACTION|>[\n    ", end: "\n]<|END_ACTION|>" },
  words: ["<|START_ACTION|>"],
  thinking: { open: "<|START_THINKING|>", close: "<|END_THINKING|>" },
  answer: [["<|START_TEXT|>", "<|START_RESPONSE|>", ""], ARGUMENTS, ["<|END_TEXT|>", "<|END_RESPONSE|>", ""]],
};

const DEEPSEEK = {
  values: jsonValues,
  section: { begin: "<｜tool▁calls▁begin｜>", end: "<｜tool▁calls▁end｜>" },
  words: ["<｜tool▁calls▁begin｜>"],
  openers: ["<｜tool▁call▁begin｜>", "<|tool_calls_begin|>", "<|tool_call_begin|>"],
  thinking: THINK,
};

/** DeepSeek's markup. `blank`: what precedes the word in a tag. */
const dsmlForm = (word: string, blank = ""): CallForm => ({
  values: xmlValues({
    open: (key, kind) => `<｜DSML｜${blank}parameter name=${quoted(key)} string="${kind === "string"}">`,
    close: `</｜DSML｜${blank}parameter>`,
    behind: "\n",
    typed: "string",
    nothing: '"\\n"?',
  }),
  call: (name) => [`<｜DSML｜${blank}invoke name=${quoted(name)}>\n`, ARGUMENTS, `</｜DSML｜${blank}invoke>`],
  between: "\n",
  section: { begin: `<｜DSML｜${word}>\n`, end: `\n</｜DSML｜${word}>` },
  words: [`<｜DSML｜${word}>`],
});
const DSML: Pick<CallFormat, "openers" | "thinking"> = {
  openers: [..."function_calls>,tool_calls>, calls>,invoke, invoke".split(",").map((tag) => `<｜DSML｜${tag}`)],
  thinking: THINK,
};

/** Newlines are optional: GLM wrote them until 4.6. */
const GLM: CallFormat = {
  values: xmlValues({
    open: (key) => `<arg_key>${key}</arg_key>\n<arg_value>`,
    close: "</arg_value>",
    behind: "\n",
    loose: true,
    unclosed: true,
  }),
  call: (name) => [`<tool_call>${name}`, NEWLINE, ARGUMENTS, "</tool_call>"],
  between: NEWLINE,
  words: ["<tool_call>"],
  thinking: THINK,
};

/** Hy3's tags, with or without a suffix. */
const hy3Form = (suffix: string): CallForm => ({
  values: xmlValues({
    open: (key) => `<arg_key${suffix}>${key}</arg_key${suffix}>\n<arg_value${suffix}>`,
    close: `</arg_value${suffix}>`,
    behind: "\n",
    unclosed: true,
  }),
  call: (name) => [`<tool_call${suffix}>${name}<tool_sep${suffix}>\n`, ARGUMENTS, `</tool_call${suffix}>`],
  between: "\n",
  section: { begin: `<tool_calls${suffix}>\n`, end: `\n</tool_calls${suffix}>` },
  words: [`<tool_calls${suffix}>`],
  thinking: { open: `<think${suffix}>`, close: `</think${suffix}>` },
});

/** The token before every tag of MiniMax-M3's calls. */
const MINIMAX = "]<]minimax[>[";
/** Calls as the members of a list. */
const JSON_LIST: Pick<CallForm, "call" | "between" | "loose"> = {
  call: (name) => [jsonCall(name), ARGUMENTS, "}"],
  between: ", ",
  loose: true,
};

/** Such a list between tags. */
const taggedList = (tag: string): CallFormat => ({
  ...TAGGED,
  ...JSON_LIST,
  section: { begin: `${tag}[`, end: `]${tag.replace("<", "</")}` },
  words: [tag],
});

/** A member that may have an id. */
const withId =
  (id: string): CallForm["call"] =>
  (name) => [jsonCall(name), ARGUMENTS, { pattern: `(", \\"id\\": \\"" ${id} "\\"")?` }, "}"];

const MISTRAL_LIST: Partial<CallForm> = {
  ...JSON_LIST,
  call: withId(NINE.pattern),
  section: { begin: ["[TOOL_CALLS][", "[TOOL_CALLS] ["], end: "]" },
};

const HARMONY_BODY: readonly Piece[] = [
  [" <|constrain|>json", "<|constrain|>json", " json", ""],
  "<|message|>",
  ARGUMENTS,
  ["<|call|>", ""], // llama.cpp ends the answer at this token, so a grammar never sees it
];

/** Inkling's call, after the name that a model may omit. */
const inklingCall = (name: string): readonly Piece[] => [
  `<|content_invoke_tool_json|>{"name":${compactJson(name)},"args":`,
  ARGUMENTS,
  "}<|end_message|>",
];

/** Muse Glimmer's call, after the header. */
const atemCall = (name: string): readonly Piece[] => [
  `<atem:function_calls>\n<atem:invoke name=${quoted(name)}>\n`,
  ARGUMENTS,
  "</atem:invoke>\n</atem:function_calls>",
];

const FORMATS: Readonly<Record<string, CallFormat>> = {
  apertus: {
    values: jsonValues,
    call: (name) => [`{${compactJson(name)}: `, ARGUMENTS, "}"],
    between: ", ",
    loose: true,
    section: { begin: "<|tools_prefix|>[", end: "]<|tools_suffix|>" },
    words: ["<|tools_prefix|>"],
    thinking: { open: "<|inner_prefix|>", close: "<|inner_suffix|>" },
  },
  apriel: {
    ...taggedList("<tool_calls>"),
    call: withId("[a-zA-Z0-9_-]{1,64}"),
    thinking: { open: "Here are my reasoning steps:\n", close: "[BEGIN FINAL RESPONSE]\n" },
  },
  bielik: TAGGED,
  cogito: {
    ...BARE,
    ...JSON_LIST,
    call: withId("[a-zA-Z0-9_-]{1,64}"),
    section: { begin: "[", end: "]" },
    variants: { "rnj-1": { call: TAGGED.call, between: "\n", section: undefined } },
  },
  cohere: COHERE,
  "command-r": {
    values: indentedValues,
    call: (name) => [`{\n        "tool_name": ${compactJson(name)},\n        "parameters": `, ARGUMENTS, "\n    }"],
    between: ",\n    ",
    loose: true,
    section: { begin: "Action:\n```json\n[\n    ", end: "\n]```" },
    words: ["Action:"],
  },
  "command-r7b": COHERE,
  "deepseek-v3": {
    ...DEEPSEEK,
    call: (name) => [`<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`, ARGUMENTS, "\n```<｜tool▁call▁end｜>"],
    between: "\n",
  },
  "deepseek-v3.1": {
    ...DEEPSEEK,
    call: (name) => [`<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`, ARGUMENTS, "<｜tool▁call▁end｜>"],
  },
  "deepseek-v3.2": { ...dsmlForm("function_calls"), ...DSML },
  "deepseek-v4": {
    ...dsmlForm("tool_calls"),
    ...DSML,
    variants: { "deepseek-v4.1-flash": dsmlForm(" calls", " ") },
  },
  exaone: { ...TAGGED, call: (name) => [`<tool_call>${jsonCall(name)}`, ARGUMENTS, "}</tool_call>"] },
  "functionary-v3.1": {
    values: jsonValues,
    call: (name) => [`<function=${name}>`, ARGUMENTS, "</function>"],
    words: ["<function="],
    thinking: THINK,
  },
  "functionary-v3.2": {
    values: jsonValues,
    start: ">>>",
    call: (name) => [`${name}\n`, ARGUMENTS],
    between: ">>>",
    words: [], // text for the user begins with the same mark
    bareOpener: (name) => `>>>${name}\n`,
    thinking: THINK,
    answer: [["all\n", ""], ARGUMENTS],
  },
  functiongemma: {
    values: gemmaValues("<escape>", "None", isBare),
    call: (name) => [`<start_function_call>call:${name}`, ARGUMENTS, "<end_function_call>"],
    words: ["<start_function_call>"],
    stop: "<start_function_response>", // llama.cpp does not know that this token ends the answer
  },
  gemma4: {
    values: gemmaValues('<|"|>', "null", isBare),
    call: (name) => [`<|tool_call>call:${name}`, ARGUMENTS, "<tool_call|>"],
    words: ["<|tool_call>"],
    openers: ["<call>"],
    bareOpener: (name) => `call:${name}{`,
    thinking: { open: "<|channel>thought\n", close: "<channel|>" },
    stop: "<|tool_response>",
  },
  gigachat: {
    values: jsonValues,
    call: (name) => [`<|function_call|>${jsonCall(name)}`, ARGUMENTS, "}"],
    loose: true,
    words: ["<|function_call|>"],
    thinking: THINK,
    variants: {
      "gigachat3-10b-a1.8b": {
        call: (name) => [`<|message_sep|>\n\nfunction call<|role_sep|>\n${jsonCall(name)}`, ARGUMENTS, "}"],
        words: ["<|message_sep|>\n\nfunction call"],
      },
    },
  },
  glm: GLM,
  glm4: {
    values: jsonValues,
    start: "<|assistant|>",
    call: (name) => [name, { pattern: '" "? "\\n"' }, ARGUMENTS],
    between: "<|assistant|>",
    words: [], // the first call has no mark
    openers: ["<|assistant|>"],
    bareOpener: (name) => `${name}\n{`,
    thinking: THINK,
  },
  granite: {
    ...TAGGED,
    variants: {
      "granite-3.1": { ...JSON_LIST, section: { begin: "<tool_call> [", end: "]" } },
      "granite-3.3": { ...JSON_LIST, section: { begin: "<|tool_call|> [", end: "]" }, words: ["<|tool_call|>"] },
      "granite-20b": { call: (name) => [`<function_call> ${jsonCall(name)}`, ARGUMENTS, "}"], words: ["<function_call>"] },
    },
  },
  harmony: {
    values: jsonValues,
    start: "<|start|>assistant",
    call: (name) => [
      [
        `<|channel|>commentary to=functions.${name}`,
        ` to=functions.${name}<|channel|>commentary`,
        `<|channel|>analysis to=functions.${name}`,
        ` to=functions.${name}<|channel|>analysis`,
      ],
      ...HARMONY_BODY,
    ],
    // The words before the recipient are text to a structural tag.
    tag: (name) => [` to=functions.${name}`, ["<|channel|>commentary", "<|channel|>analysis", ""], ...HARMONY_BODY],
    between: "<|start|>assistant",
    words: [" to=functions."],
    openers: ["<|start|>assistant to=", "<|channel|>commentary to=", "<|channel|>analysis to="],
    patterns: [
      "^\\s+to$",
      "^<\\|channel\\|>(?:commentary|analysis)\\s+to=functions$",
      "<\\|start\\|>assistant(\\s+to)",
      "<\\|start\\|>assistant(<\\|channel\\|>(?:commentary|analysis)\\s+to)",
    ],
    thinking: { open: "<|channel|>analysis<|message|>", close: "<|end|>" },
    answer: [["<|channel|>final<|message|>", ""], ARGUMENTS],
  },
  hermes: TAGGED,
  hunyuan: taggedList("<tool_calls>"),
  internlm: {
    values: jsonValues,
    call: (name) => [
      `<|action_start|><|plugin|>\n{"name": ${compactJson(name)}, "`,
      ["arguments", "parameters"],
      '": ',
      ARGUMENTS,
      "}<|action_end|>",
    ],
    loose: true,
    words: ["<|action_start|>"],
    thinking: THINK,
  },
  jamba: {
    ...TAGGED,
    ...JSON_LIST,
    between: ",\n    ",
    section: { begin: "<tool_calls>[\n    ", end: "\n]</tool_calls>" },
    words: ["<tool_calls>"],
  },
  hy3: {
    ...hy3Form(":opensource"),
    openers: ["<tool_call:opensource>", "<tool_call>"],
    variants: { "hy3-preview": hy3Form("") },
  },
  inkling: {
    values: sortedJsonValues,
    start: "<|message_model|>",
    call: (name) => [[name, ""], ...inklingCall(name)],
    tag: inklingCall,
    between: "<|message_model|>",
    words: ["<|content_invoke_tool_json|>"],
    thinking: { open: "<|content_thinking|>", close: "<|end_message|>" },
    answer: [["<|content_text|>", ""], ARGUMENTS, ["<|end_message|>", ""]],
  },
  json: BARE,
  "kimi-k2": {
    values: jsonValues,
    call: (name) => [
      `<|tool_call_begin|>functions.${name}:`,
      { pattern: "[0-9]{1,5}" },
      "<|tool_call_argument_begin|>",
      ARGUMENTS,
      "<|tool_call_end|>",
    ],
    section: { begin: "<|tool_calls_section_begin|>", end: "<|tool_calls_section_end|>", optional: true },
    words: ["<|tool_calls_section_begin|>", "<|tool_call_begin|>"],
    thinking: THINK,
  },
  "kimi-k3": {
    values: xmlValues({
      open: (key, kind) => `<|open|>argument key=${attribute(key)} type="${kind}"<|sep|>`,
      close: "<|close|>argument<|sep|>",
      behind: "",
      typed: "type",
    }),
    call: (name) => [
      `<|open|>call tool=${attribute(name)} index="`,
      { pattern: "[0-9]{1,3}" },
      '"<|sep|>',
      ARGUMENTS,
      "<|close|>call<|sep|>",
    ],
    section: { begin: "<|open|>tools<|sep|>", end: "<|close|>tools<|sep|>" },
    words: ["<|open|>tools<|sep|>"],
    openers: ["<|open|>tools", "<|open|>call "],
    thinking: { open: "<|open|>think<|sep|>", close: "<|close|>think<|sep|>" },
    lead: "<|open|>response<|sep|><|close|>response<|sep|>",
    answer: [["<|open|>response<|sep|>", ""], ARGUMENTS, ["<|close|>response<|sep|>", ""]],
  },
  laguna: GLM,
  ling: TAGGED,
  ling3: { ...GLM, call: (name) => [`<tool_call>${name}`, NEWLINE, ARGUMENTS, NEWLINE, "</tool_call>"] },
  llama3: {
    ...BARE,
    between: "; ",
    openers: ['{"name":', "<function="],
    variants: { "llama-4": { between: "" }, "vllm-llama4-json": { between: "" } },
  },
  minicpm5: {
    values: xmlValues({
      open: (key) => `<param name=${quoted(key)}>`,
      close: "</param>",
      section: ["<![CDATA[", "]]>"],
      behind: "",
      literals: pythonLiterals,
    }),
    call: (name) => [`<function name=${quoted(name)}>`, ARGUMENTS, "</function>"],
    between: "\n",
    words: ["<function name="],
    openers: ["<functionname="],
    thinking: THINK,
  },
  "minimax-m1": {
    ...TAGGED,
    call: (name) => [jsonCall(name), ARGUMENTS, "}\n"],
    between: "",
    section: { begin: "<tool_calls>\n", end: "</tool_calls>" },
    words: ["<tool_calls>"],
  },
  "minimax-m2": {
    values: xmlValues({ open: (key) => `<parameter name=${quoted(key)}>`, close: "</parameter>", behind: "\n" }),
    call: (name) => [`<invoke name=${quoted(name)}>\n`, ARGUMENTS, "</invoke>"],
    between: "\n",
    section: { begin: "<minimax:tool_call>\n", end: "\n</minimax:tool_call>" },
    words: ["<minimax:tool_call>"],
    openers: ["<invoke name="],
    thinking: THINK,
  },
  "minimax-m3": {
    values: elementValues(MINIMAX),
    call: (name) => [`${MINIMAX}<invoke name=${quoted(name)}>`, ARGUMENTS, `${MINIMAX}</invoke>`],
    between: "\n",
    section: { begin: `${MINIMAX}<tool_call>\n`, end: `\n${MINIMAX}</tool_call>` },
    words: [`${MINIMAX}<tool_call>`],
    openers: [`${MINIMAX}<invoke `],
    thinking: { open: "<mm:think>", close: "</mm:think>" },
    lead: "</mm:think>", // begins an answer without thinking
  },
  mistral: {
    values: jsonValues,
    call: (name) => [`[TOOL_CALLS]${name}[ARGS]`, ARGUMENTS],
    words: ["[TOOL_CALLS]"],
    thinking: { open: "[THINK]", close: "[/THINK]" },
    variants: {
      "mistral-small-3.2-2506": { call: (name) => [`[TOOL_CALLS]${name}[CALL_ID]`, NINE, "[ARGS]", ARGUMENTS] },
      "mistral-nemo-2407": MISTRAL_LIST,
      "mistral-v7": MISTRAL_LIST,
    },
  },
  "muse-glimmer": {
    values: xmlValues({ open: (key) => `<atem:parameter name=${quoted(key)}>`, close: "</atem:parameter>", behind: "\n" }),
    start: "<|start|>assistant",
    call: (name) => [` to=${name}<|message|>`, ...atemCall(name)],
    tag: atemCall,
    between: "<|eom|><|start|>assistant",
    words: ["<atem:function_calls>"],
    word: (name) => ` to=${name}<|message|>`,
    bareOpener: (name) => ` to=${name}<|message|>`,
    thinking: { open: " to=self<|message|>", close: "<|eom|>" },
    answer: [[" to=user<|message|>", ""], ARGUMENTS],
  },
  nemotron: taggedList("<TOOLCALL>"),
  "phi4-mini": {
    ...TAGGED,
    ...JSON_LIST,
    section: { begin: "functools[", end: "]" },
    words: ["functools"],
    openers: ["<|tool_call|>"],
    variants: { "phi-4-mini-instruct": { section: { begin: "<|tool_call|>[", end: "]<|/tool_call|>" }, words: ["<|tool_call|>"] } },
  },
  pythonic: {
    values: pythonValues,
    call: (name) => [`${name}(`, ARGUMENTS, ")"],
    between: ", ",
    section: { begin: "<|tool_call_start|>[", end: "]<|tool_call_end|>" },
    words: ["<|tool_call_start|>"],
    openers: ["```tool_code"],
    bareOpener: (name) => `[${name}(`,
    thinking: THINK,
    variants: {
      "vllm-llama4-pythonic": {
        section: { begin: ["<|python_start|>[", "["], end: ["]<|python_end|>", "]"] },
        words: ["<|python_start|>"],
      },
      "olmo-3-7b-instruct": {
        between: "\n",
        section: { begin: ["<function_calls>", "<function_calls>\n"], end: ["</function_calls>", "\n</function_calls>"] },
        words: ["<function_calls>"],
      },
    },
  },
  "qwen3-coder": {
    values: xmlValues({
      open: (key) => `<parameter=${tagName(key)}>\n`,
      close: "\n</parameter>",
      behind: "\n",
      python: true,
      unclosed: true,
    }),
    opener: "<tool_call>\n",
    call: (name) => [`<function=${tagName(name)}>`, "\n", ARGUMENTS, "</function>\n</tool_call>"],
    between: "\n",
    words: ["<tool_call>"],
    openers: ["<function="],
    thinking: THINK,
    variants: { "step-3.5-flash": { between: "" } },
  },
  "reka-edge": {
    ...TAGGED,
    values: asciiValues,
    call: (name) => [`<tool_call>\n${ascii(jsonCall(name))}`, ARGUMENTS, "}\n</tool_call>"],
    between: "",
  },
  "seed-oss": {
    values: xmlValues({ open: (key) => `<parameter=${tagName(key)}>`, close: "</parameter>", behind: "\n", python: true, unclosed: true }),
    call: (name) => [`<seed:tool_call>\n<function=${tagName(name)}>`, "\n", ARGUMENTS, "</function>\n</seed:tool_call>"],
    between: "\n",
    words: ["<seed:tool_call>"],
    thinking: { open: "<seed:think>", close: "</seed:think>" },
  },
  smollm3: TAGGED,
  "solar-open": {
    values: jsonValues,
    start: "<|begin|>assistant",
    call: (name) => [
      "<|tool_call:begin|>",
      { pattern: "[a-z0-9_]{1,10}" },
      `<|tool_call:name|>${name}<|tool_call:args|>`,
      ARGUMENTS,
      "<|tool_call:end|>",
    ],
    section: { begin: "<|tool_calls|>", end: ["<|calls|>", ""] }, // llama.cpp ends the answer at this token
    words: ["<|tool_calls|>"],
    openers: ["<|tool_call:begin|>"],
    thinking: { open: "<|think|>", close: "<|end|>" },
    answer: [["<|content|>", ""], ARGUMENTS],
  },
  xlam: { ...BARE, ...JSON_LIST, section: { begin: "[", end: "]" } },
};

/**
 * A dialect with its `grammar`, as `getDialect` returns it. Imported alone (`dragoman/dialects/gemma4`) it has none: the code that writes
 * grammars is nearly as large as the dialect, and only some runtimes can make a model follow one.
 */
export function withGrammar(dialect: Dialect): Dialect {
  const format = FORMATS[dialect.id];
  if (!format) throw new Error(`no grammar is known for "${dialect.id}"`);
  return { ...dialect, grammar: grammarOf(format, dialect) };
}
