/**
 * OpenAI's chat completions (`POST /v1/chat/completions`), of the official API and of the many servers that imitate it:
 *
 *     {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]}
 */
import { decoders } from "./answer-in.ts";
import { encoders } from "./answer-out.ts";
import { errorOutput, openaiError } from "./errors.ts";
import { openaiModels } from "./models.ts";
import { ChatReader } from "./openai-chat/answer-in.ts";
import { ChatAnswer } from "./openai-chat/answer-out.ts";
import { decodeRequest } from "./openai-chat/request-in.ts";
import { encodeRequest } from "./openai-chat/request-out.ts";
import { WIRE } from "./openai-chat/tables.ts";
import type { Wire } from "./wire.ts";

export const openaiChat: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  ...decoders(ChatReader),
  ...encoders(WIRE, ChatAnswer),
  encodeError: (error) => errorOutput(error, openaiError(error)),
  ...openaiModels,
};
