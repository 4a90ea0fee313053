// Gemini generateContent, from its documentation and the types of @google/genai 2.32. Streams also obey what gemini-cli (genai 1.30) breaks on.
import {
  amount,
  anything,
  base64,
  between,
  both,
  type Check,
  count,
  either,
  filled,
  flag,
  isRecord,
  jsonSchema,
  lazily,
  list,
  listOf,
  mapOf,
  matching,
  object,
  oneOf,
  parsed,
  positive,
  record,
  recordsOf,
  shown,
  text,
  when,
  whole,
} from "./check.ts";

const NAME = matching(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/);
const upper = (...names: string[]): Check => oneOf(...names, ...names.map((name) => name.toLowerCase()));

/** Upper-case types are accepted, too: gemini-cli sends them. */
const looseSchema: Check = (value, at) => jsonSchema(lowered(value), at);
const lowered = (value: unknown): unknown =>
  parsed(JSON.stringify(value, (key, item) => (key === "type" && typeof item === "string" ? item.toLowerCase() : item)));

// Requests

const DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const part = (extra: Record<string, Check>): Check =>
  both(
    object(
      {},
      {
        text,
        thought: flag,
        thoughtSignature: filled,
        inlineData: object({ mimeType: filled, data: base64 }, { displayName: text }),
        fileData: object({ fileUri: filled }, { mimeType: filled, displayName: text }),
        functionCall: object({ name: NAME, args: record }, { id: filled }),
        executableCode: record,
        codeExecutionResult: record,
        toolCall: record,
        toolResponse: record,
        videoMetadata: record,
        partMetadata: record,
        mediaResolution: record,
        ...extra,
      },
    ),
    when((value) => DATA.filter((key) => key in value).length > 1, "holds more than one thing"),
    when((value) => !DATA.some((key) => key in value) && !("thoughtSignature" in value), "holds nothing"),
  );
const image = object({ mimeType: filled, data: base64 }, { displayName: text });
const functionResponse = object(
  { name: NAME, response: record },
  {
    id: filled,
    parts: list(object({}, { inlineData: image, fileData: record })),
    scheduling: oneOf("SILENT", "WHEN_IDLE", "INTERRUPT"),
    willContinue: flag,
  },
);
const asked = part({ functionResponse });
const content = object({ role: oneOf("user", "model"), parts: list(asked, 1) });
const instruction = object({ parts: list(part({}), 1) }, { role: text });

const limit = either(count, matching(/^\d+$/)); // int64: may be a string
const SCHEMA_KEYS = {
  type: upper("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"),
  format: text,
  title: text,
  description: text,
  nullable: flag,
  default: anything,
  enum: list(text, 1),
  example: anything,
  minItems: limit,
  maxItems: limit,
  minProperties: limit,
  maxProperties: limit,
  minLength: limit,
  maxLength: limit,
  minimum: amount,
  maximum: amount,
  pattern: text,
  propertyOrdering: list(text),
  required: list(text),
};
const isType = (schema: Record<string, unknown>, type: string): boolean => String(schema.type).toUpperCase() === type;
const schema: Check = both(
  lazily(() => object({}, { ...SCHEMA_KEYS, items: schema, properties: mapOf(schema), anyOf: list(schema, 1) })),
  when((value) => isType(value, "ARRAY") && !value.items, "is an ARRAY without items"),
  when((value) => "enum" in value && !isType(value, "STRING"), "has an enum and is no STRING"),
  when((value) => !("type" in value) && !("anyOf" in value), "has no type"),
  when(
    (value) => listOf(value.required).some((name) => !(isRecord(value.properties) && Object.hasOwn(value.properties, String(name)))),
    "requires what is no property",
  ),
);
const declaration = both(
  object(
    { name: NAME },
    {
      description: text,
      parameters: schema,
      parametersJsonSchema: looseSchema,
      response: schema,
      responseJsonSchema: looseSchema,
      behavior: text,
    },
  ),
  when((value) => "parameters" in value && "parametersJsonSchema" in value, "has both parameters and parametersJsonSchema"),
  when(
    (value) => isRecord(value.parameters) && isType(value.parameters, "OBJECT") && !Object.keys(Object(value.parameters.properties)).length,
    "has parameters of the type OBJECT without properties",
  ),
);
const SERVER_TOOLS =
  "googleSearch googleSearchRetrieval codeExecution urlContext googleMaps computerUse fileSearch retrieval mcpServers".split(" ");
const tools = object(
  {},
  { functionDeclarations: list(declaration, 1), ...Object.fromEntries(SERVER_TOOLS.map((name) => [name, anything])) },
);
const toolConfig = object(
  {},
  {
    functionCallingConfig: both(
      object(
        { mode: oneOf("AUTO", "ANY", "NONE", "VALIDATED") },
        { allowedFunctionNames: list(NAME, 1), streamFunctionCallArguments: flag },
      ),
      when(
        (value) => "allowedFunctionNames" in value && value.mode !== "ANY" && value.mode !== "VALIDATED",
        "allows names outside ANY and VALIDATED",
      ),
    ),
    retrievalConfig: record,
    includeServerSideToolInvocations: flag,
  },
);
const generationConfig = both(
  object(
    {},
    {
      temperature: between(0, 2),
      topP: between(0, 1),
      topK: positive,
      candidateCount: oneOf(1),
      maxOutputTokens: positive,
      stopSequences: list(filled, 1, 5),
      presencePenalty: between(-2, 2),
      frequencyPenalty: between(-2, 2),
      seed: whole,
      responseMimeType: oneOf("application/json", "text/plain", "text/x.enum"),
      responseSchema: schema,
      responseJsonSchema: looseSchema,
      responseModalities: list(text),
      responseLogprobs: flag,
      logprobs: count,
      mediaResolution: text,
      speechConfig: record,
      imageConfig: record,
      thinkingConfig: both(
        object({}, { includeThoughts: flag, thinkingBudget: whole, thinkingLevel: upper("MINIMAL", "LOW", "MEDIUM", "HIGH") }),
        when((value) => "thinkingBudget" in value && "thinkingLevel" in value, "has both thinkingBudget and thinkingLevel"),
      ),
    },
  ),
  when(
    (value) => ("responseSchema" in value || "responseJsonSchema" in value) && value.responseMimeType !== "application/json",
    "has a schema, and is not application/json",
  ),
  when((value) => "responseSchema" in value && "responseJsonSchema" in value, "has both responseSchema and responseJsonSchema"),
);
const fields = {
  systemInstruction: instruction,
  tools: list(tools),
  toolConfig,
  generationConfig,
  safetySettings: list(record),
  cachedContent: text,
  labels: mapOf(text),
  serviceTier: text,
  store: flag,
};
const body = object({ contents: list(content, 1) }, fields);
const countBody = object(
  {},
  { contents: list(content, 1), generateContentRequest: object({ model: filled, contents: list(content, 1) }, fields) },
);

export const geminiRequest: Check = (value, at) => [...body(value, at), ...(isRecord(value) ? rules(value, at) : [])];
export const geminiCount: Check = countBody;

function rules(request: Record<string, unknown>, at: string): string[] {
  const complaints: string[] = [];
  const declared = recordsOf(request.tools).flatMap((tool) => recordsOf(tool.functionDeclarations).map(({ name }) => name));
  complaints.push(...declared.filter((name, i) => declared.indexOf(name) < i).map((name) => `${at}.tools has ${name} twice`));
  const config =
    isRecord(request.toolConfig) && isRecord(request.toolConfig.functionCallingConfig) ? request.toolConfig.functionCallingConfig : {};
  const strangers = listOf(config.allowedFunctionNames).filter((name) => !declared.includes(name));
  complaints.push(...strangers.map((name) => `${at}.toolConfig allows ${name}, which is no tool`));
  if (config.mode === "ANY" && declared.length === 0) complaints.push(`${at}.toolConfig wants a call, and there are no tools`);
  const turns = merged(recordsOf(request.contents));
  if (turns[0]?.role !== "user") complaints.push(`${at}.contents must begin with the user`);
  for (const [i, { role, parts }] of turns.entries()) {
    const calls = parts.filter((part) => "functionCall" in part);
    const answers = parts.filter((part) => "functionResponse" in part);
    if (answers.length > 0 && role !== "user") complaints.push(`${at}.contents: turn ${i} is the model's and holds a functionResponse`);
    if (calls.length > 0 && role !== "model") complaints.push(`${at}.contents: turn ${i} is the user's and holds a functionCall`);
    const next = turns[i + 1]?.parts.filter((part) => "functionResponse" in part) ?? [];
    if (calls.length !== next.length && calls.length > 0)
      complaints.push(`${at}.contents: turn ${i} has ${calls.length} calls, and ${next.length} answers follow`);
    const before = i === 0 ? [] : (turns[i - 1]?.parts.filter((part) => "functionCall" in part) ?? []);
    if (answers.length > 0 && before.length === 0)
      complaints.push(`${at}.contents: turn ${i} answers calls that were not made right before it`);
    const names = (list: readonly Record<string, unknown>[], key: string): string =>
      list
        .map((part) => (isRecord(part[key]) ? String(part[key].name) : ""))
        .sort()
        .join();
    if (calls.length === next.length && names(calls, "functionCall") !== names(next, "functionResponse"))
      complaints.push(`${at}.contents: turn ${i} calls other functions than the next one answers`);
  }
  return complaints;
}

function merged(contents: readonly Record<string, unknown>[]): { role: unknown; parts: Record<string, unknown>[] }[] {
  const turns: { role: unknown; parts: Record<string, unknown>[] }[] = [];
  for (const { role, parts } of contents) {
    const last = [turns.at(-1)].find((turn) => turn?.role === role);
    if (last) last.parts.push(...recordsOf(parts));
    else turns.push({ role, parts: recordsOf(parts) });
  }
  return turns;
}

// Streams

const FINISH = `STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL IMAGE_SAFETY
  UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS NO_IMAGE CONTINUATION`.split(/\s+/);
const candidate = object(
  {},
  {
    content: object({ role: oneOf("model"), parts: list(part({}), 1) }),
    finishReason: oneOf(...FINISH),
    finishMessage: text,
    index: oneOf(0),
    safetyRatings: list(record),
    citationMetadata: record,
    groundingMetadata: record,
    urlContextMetadata: record,
    tokenCount: count,
    avgLogprobs: amount,
    logprobsResult: record,
  },
);
const details = list(object({ modality: text, tokenCount: count }));
const usage = both(
  object(
    {},
    {
      promptTokenCount: count,
      candidatesTokenCount: count,
      totalTokenCount: count,
      thoughtsTokenCount: count,
      cachedContentTokenCount: count,
      toolUsePromptTokenCount: count,
      promptTokensDetails: details,
      candidatesTokensDetails: details,
      cacheTokensDetails: details,
      trafficType: text,
    },
  ),
  when((value) => {
    const sum = ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"].map((key) =>
      Number(value[key] ?? 0),
    );
    return "totalTokenCount" in value && value.totalTokenCount !== sum.reduce((a, b) => a + b);
  }, "has a total that is not the sum"),
);
const chunk = object(
  {},
  {
    candidates: list(candidate, 1, 1),
    usageMetadata: usage,
    modelVersion: text,
    responseId: text,
    createTime: text,
    promptFeedback: object({}, { blockReason: filled, blockReasonMessage: text, safetyRatings: list(record) }),
    modelStatus: record,
  },
);
const geminiError = object({
  error: object({ code: whole, message: filled, status: matching(/^[A-Z_]+$/) }, { details: list(record) }),
});

export function geminiStream(stream: string): string[] {
  if (stream.startsWith("[")) {
    const elements = parsed(stream);
    return Array.isArray(elements) ? elementsOf(elements) : ["the stream is no JSON array"];
  }
  const complaints: string[] = [];
  if (/[\u2028\u2029]/.test(stream)) complaints.push("the stream holds a raw U+2028 or U+2029");
  const blocks = stream.split(/\r?\n\r?\n/);
  const end = blocks.pop();
  const elements = blocks.map((block, i) => {
    if (!/^data: \{[^\r\n]*\}$/.test(block)) complaints.push(`event ${i} is not one line "data: {...}"; it is ${shown(block)}`);
    return parsed(block.slice("data: ".length));
  });
  const last = elements.at(-1);
  const due = isRecord(last) && "error" in last ? "data:" : ""; // by an event that has no end, every client knows that something is missing
  if (end !== due) complaints.push(`the stream ends with ${shown(end)} instead of ${shown(due)}`);
  return [...complaints, ...elementsOf(elements)];
}

function elementsOf(elements: readonly unknown[]): string[] {
  const complaints: string[] = [];
  let ended: string | undefined;
  for (const [i, value] of elements.entries()) {
    const at = `chunk ${i}`;
    if (ended) complaints.push(`${at} comes after ${ended}`);
    if (!isRecord(value)) {
      complaints.push(`${at} is no object`);
      continue;
    }
    if ("error" in value) {
      ended = "the error";
      complaints.push(...geminiError(value, at));
      continue;
    }
    complaints.push(...chunk(value, at));
    const [first] = recordsOf(value.candidates);
    if (!first && !isRecord(value.promptFeedback)) complaints.push(`${at} has no candidate`); // genai's chats would drop the whole turn
    if (first && !first.finishReason && !first.content) complaints.push(`${at} has a candidate that says nothing`);
    if (first?.finishReason) ended = "the finishReason";
    if (isRecord(value.promptFeedback) && value.promptFeedback.blockReason) ended ??= "the blockReason";
  }
  if (!ended) complaints.push("the stream ends without finishReason, blockReason or error");
  return complaints;
}
