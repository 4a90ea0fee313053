// `--floor`: the least that a gateway of Fastify, undici and JSON can do. It has no routes, no checks, no translation, no log and no
// metrics, but it parses and prints every chunk. What our gateway costs beyond this is our own.
import fastify from "fastify";
import { Pool } from "undici";

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: 256, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const app = fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "string" }, (_, body, done) => done(null, body));
app.post("/*", (request, reply) => {
  reply.hijack();
  const body = JSON.stringify(JSON.parse(request.body));
  const headers = ["content-type", "application/json"];
  pool.dispatch({ path: request.raw.url, method: "POST", headers, body }, new Handler(reply.raw));
});

class Handler {
  #response;
  #rest = "";

  constructor(response) {
    this.#response = response;
  }
  onRequestStart() {}
  onResponseStart(_, status, headers) {
    this.#response.writeHead(status, { "content-type": headers["content-type"] });
  }
  onResponseData(_, bytes) {
    const frames = (this.#rest + bytes.toString("utf8")).split("\n\n");
    this.#rest = frames.pop();
    let text = "";
    for (const frame of frames) {
      const data = frame.slice("data: ".length);
      text += `data: ${data === "[DONE]" ? data : JSON.stringify(JSON.parse(data))}\n\n`;
    }
    this.#response.write(text);
  }
  onResponseEnd() {
    this.#response.end();
  }
  onResponseError(_, error) {
    this.#response.destroy(error);
  }
}

await app.listen({ host: "127.0.0.1", port: 0 });
process.send({ port: app.server.address().port });
