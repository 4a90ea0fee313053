// The upstream of the benchmark: OpenAI chat. The request's `max_tokens` sets the number of chunks, and its `temperature` the pace: 0 is
// without pauses, each chunk written by itself; 0.5 is all chunks in one piece; 1 is one chunk every 4 ms. As with real servers, every
// answer has its own id and time, and a separate usage chunk on request. With `--obfuscation`, every chunk also has a random number of
// random characters, as OpenAI's do, so that no two chunks are alike.
import { createServer } from "node:http";

const PACE_MS = 4;
const WORDS = ["The", " file", " was", " writ", "ten", " with", " the", " text", " that", " you", " asked", " for", "."];
const obfuscates = process.argv.includes("--obfuscation");

let answers = 0;

class Answer {
  #head = {
    id: `chatcmpl-${(++answers).toString(36).padStart(12, "0")}`,
    object: "chat.completion.chunk",
    created: 1_760_000_000 + answers,
  };
  #words = 0;

  #chunk(rest) {
    const noise = obfuscates
      ? {
          obfuscation: Math.random()
            .toString(36)
            .slice(2, 3 + Math.random() * 9),
        }
      : {};
    return `data: ${JSON.stringify({ ...this.#head, model: "m", ...rest, ...noise })}\n\n`;
  }
  #choice(delta, finish = null) {
    return this.#chunk({ choices: [{ index: 0, delta, finish_reason: finish }] });
  }
  first() {
    return this.#choice({ role: "assistant", content: "" });
  }
  word() {
    return this.#choice({ content: WORDS[this.#words++ % WORDS.length] });
  }
  last(counts) {
    const usage = { prompt_tokens: 80, completion_tokens: this.#words, total_tokens: 80 + this.#words };
    return `${this.#choice({}, "stop")}${counts ? this.#chunk({ choices: [], usage }) : ""}data: [DONE]\n\n`;
  }
}

const models = JSON.stringify({ object: "list", data: [{ id: "m", object: "model", created: 0, owned_by: "bench" }] });

const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(200, { "content-type": "application/json" }).end(models);
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part) => {
    text += part;
  });
  request.on("end", () => {
    const { max_tokens: count, temperature, stream_options } = JSON.parse(text);
    const answer = new Answer();
    const counts = stream_options?.include_usage === true;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.socket.setNoDelay(true);
    if (temperature === 0.5) {
      const words = Array.from({ length: count }, () => answer.word());
      return void response.end(answer.first() + words.join("") + answer.last(counts));
    }
    response.write(answer.first());
    let n = 0;
    if (temperature === 0) {
      while (n++ < count) response.write(answer.word());
      return void response.end(answer.last(counts));
    }
    const timer = setInterval(() => {
      if (n++ < count) return void response.write(answer.word());
      clearInterval(timer);
      response.end(answer.last(counts));
    }, PACE_MS);
    response.on("close", () => clearInterval(timer));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
