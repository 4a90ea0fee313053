/** Requests to servers: to `/api/chat`, or to `/api/generate` if they came that way. */
import type { Json, Message, Part, Request, ThinkingSettings, Tool } from "../../core/nouns.ts";
import type { Abilities, Out } from "../abilities.ts";
import { adapt } from "../adapt.ts";
import { type Encoded, encoded, told } from "../encoded.ts";
import { mediaKind, outputText } from "../media.ts";
import { ownState, putState } from "../opaque.ts";
import { defined, some, someOf, written } from "../read.ts";
import { ollamaSchema } from "../schema-out.ts";
import type { Warnings } from "../warnings.ts";
import type { Draft, WireProfile } from "../wire.ts";
import { encodeCall, GENERATE, SAMPLING, TOOL, WIRE } from "./common.ts";

const ABLE: Abilities = {
  wire: WIRE,
  systemAnywhere: true,
  resultMedia: true,
  // Only bytes can be sent, and only of images and audio.
  media: (media) => media.data !== undefined && /^(image|audio)$/.test(mediaKind(media)),
  sampling: SAMPLING,
};

export function encodeRequest(given: Request, profile?: WireProfile): Encoded {
  const isPrompt = ownState(WIRE, given.extra, GENERATE) === true;
  const out = adapt({ ...given, extra: given.extra?.filter(({ kind }) => kind !== GENERATE) ?? [] }, ABLE, profile);
  const { request, warnings } = out;
  const { model, messages, output, thinking } = request;
  const prompt = isPrompt ? writePrompt(out) : undefined;
  const body = defined<Draft>({
    model,
    ...(prompt ?? { messages: messages.map(writeMessage), tools: someOf(out.tools.map((tool) => writeTool(tool, warnings))) }),
    stream: !!request.stream, // the default is to stream
    format: output && (output.schema ?? "json"),
    think: writeThinking(thinking, warnings),
    options: some<Draft>({ ...written(request.sampling ?? {}, SAMPLING), num_predict: request.maxTokens, stop: request.stop }),
  });
  return encoded(out, prompt ? GENERATE : "/api/chat", body);
}

/** A request that came as a prompt is sent as one, if it still has that form. */
function writePrompt({ request: { messages }, tools }: Out): Draft | undefined {
  const last = messages.at(-1);
  const user = last?.role === "user" ? last : undefined;
  const [system, ...others] = user ? messages.slice(0, -1) : messages;
  if (tools.length + others.length > 0 || (system && system.role !== "system")) return undefined;
  const { content, images } = writeMessage(user ?? { role: "user", content: [] });
  return { prompt: content, images, system: system && writeMessage(system).content };
}

function writeMessage(message: Message): Draft {
  const { role, state } = message;
  const parts: readonly Part[] = role === "tool" ? (message.media ?? []) : message.content;
  const texts = (type: "text" | "thinking") => parts.flatMap((part) => (part.type === type ? [part.text] : []));
  const calls = parts.filter((part) => part.type === "tool-call");
  const draft = defined<Draft>({
    role,
    // The model's texts are pieces of one text; other messages' texts are paragraphs, as Ollama itself joins messages.
    content: role === "tool" ? outputText(message.output) : texts("text").join(role === "assistant" ? "" : "\n\n"),
    thinking: texts("thinking").join("\n\n") || undefined,
    images: someOf(parts.flatMap((part) => (part.type === "media" && part.data !== undefined ? [part.data] : []))),
    tool_calls: someOf(calls.map((call, i) => encodeCall(call, i, putState(WIRE, {}, call.state)))),
    ...(role === "tool" ? { tool_name: message.name || undefined, tool_call_id: message.id } : {}),
  });
  return putState(WIRE, draft, state);
}

function writeTool(tool: Tool, warnings: Warnings): Draft {
  const { name, parameters: given = { type: "object", properties: {} }, state } = tool;
  const parameters = told(ollamaSchema(given), `the parameters of ${name}`, warnings);
  return putState(WIRE, { type: "function", function: written({ ...tool, parameters }, TOOL) }, state);
}

function writeThinking(thinking: ThinkingSettings | undefined, warnings: Warnings): Json | undefined {
  const { enabled, effort, budget, keep } = thinking ?? {};
  if (budget !== undefined) warnings.dropped("thinking.budget");
  if (keep === false) warnings.dropped("thinking.keep"); // Ollama always keeps it
  if (enabled === false) return false;
  const word = effort === "minimal" ? "low" : effort === "xhigh" ? "high" : effort;
  if (word !== effort) warnings.converted(`the effort ${effort}`, `${word}`);
  return word ?? enabled;
}
