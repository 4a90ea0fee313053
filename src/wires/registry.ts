/** The list of all wires. */
import type { WireId } from "../core/nouns.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { ollama } from "./ollama.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";

const WIRES: readonly Wire[] = [openaiChat, openaiResponses, anthropic, gemini, ollama];

/** Throws for an unknown id. */
export function getWire(id: WireId): Wire {
  const wire = WIRES.find((wire) => wire.id === id);
  if (!wire) throw new Error(`unknown wire "${id}"; known: ${WIRES.map((wire) => wire.id).join(", ")}`);
  return wire;
}

/** All wires. */
export const listWires = (): Wire[] => [...WIRES];
