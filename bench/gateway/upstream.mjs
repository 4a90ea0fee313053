// The upstream of the benchmark: OpenAI chat, a stream of so many chunks as the request's `max_tokens` says, all at once or one every 4 ms (`temperature: 1`).
import { createServer } from "node:http";

const PACE_MS = 4;
const WORDS = ["The", " file", " was", " writ", "ten", " with", " the", " text", " that", " you", " asked", " for", "."];

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "chatcmpl-7", object: "chat.completion.chunk", created: 1_760_000_000, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const pieces = WORDS.map((content) => chunk({ content }));
const first = chunk({ role: "assistant", content: "" });
const last = `${chunk({}, "stop")}data: [DONE]\n\n`;

const models = JSON.stringify({ object: "list", data: [{ id: "m", object: "model", created: 0, owned_by: "bench" }] });

const server = createServer((request, response) => {
  if (request.method !== "POST") return void response.writeHead(200, { "content-type": "application/json" }).end(models);
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part) => {
    text += part;
  });
  request.on("end", () => {
    const { max_tokens: count, temperature } = JSON.parse(text);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.socket.setNoDelay(true);
    if (temperature !== 1) {
      let all = first;
      for (let n = 0; n < count; n++) all += pieces[n % pieces.length];
      return void response.end(all + last);
    }
    response.write(first);
    let n = 0;
    const timer = setInterval(() => {
      if (n < count) return void response.write(pieces[n++ % pieces.length]);
      clearInterval(timer);
      response.end(last);
    }, PACE_MS);
    response.on("close", () => clearInterval(timer));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
