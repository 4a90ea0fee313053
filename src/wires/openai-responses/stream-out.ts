/** Answers to clients, streamed: `event: response.output_text.delta` and `data: {"type": …, "sequence_number": 7, …}`. */
import type { Request } from "../../core/nouns.ts";
import { sseComment, sseEvent } from "../sse.ts";
import type { EncoderOptions, StreamEncoder } from "../wire.ts";
import { Answer } from "./answer.ts";

export function createStreamEncoder(request: Request, options: EncoderOptions = {}): StreamEncoder {
  let [text, sequence_number] = ["", 0];
  const answer = new Answer(request, options, (type, fields) => {
    text += sseEvent(JSON.stringify({ type, sequence_number: sequence_number++, ...fields }), type);
  });
  const take = (): string => {
    const taken = text;
    text = "";
    return taken;
  };
  return {
    encode(event) {
      answer.add(event);
      return take();
    },
    end() {
      if (!answer.finished) answer.fail({ code: "upstream", message: "the answer ended before its end" });
      return take();
    },
    heartbeat: sseComment,
  };
}
