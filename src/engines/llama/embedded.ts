/**
 * Adapts requests to the embedded model. It learnt results in the object notation of its formats, but most clients send them as JSON:
 *
 *     '{"temperature":18}'   is read as   response:get_weather{temperature:18}
 */
import { isObject } from "../../core/json.ts";
import type { Json, Message, Request } from "../../core/nouns.ts";

export const withObjects = (request: Request): Request => ({ ...request, messages: request.messages.map(withObject) });

function withObject(message: Message): Message {
  if (message.role !== "tool" || typeof message.output !== "string" || !message.output.trimStart().startsWith("{")) return message;
  try {
    const output = JSON.parse(message.output) as Json;
    return isObject(output) ? { ...message, output } : message;
  } catch {
    return message; // text that only begins like an object
  }
}
