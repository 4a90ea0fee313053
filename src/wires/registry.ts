/** All wires, by their ids. */
import { openaiChat } from "./openai-chat.ts";
import type { Wire } from "./wire.ts";

/** So far a wire reads requests; it does not write them, nor answers. */
type RequestDecoder = Pick<Wire, "id" | "decodeRequest">;

const WIRES: readonly RequestDecoder[] = [openaiChat];

/** Throws for an id that is not known. */
export function getWire(id: string): RequestDecoder {
  const wire = WIRES.find((wire) => wire.id === id);
  if (!wire) throw new Error(`unknown wire "${id}"; known: ${WIRES.map((wire) => wire.id).join(", ")}`);
  return wire;
}
