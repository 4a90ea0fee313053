// The requests of two wires, and a client that reads their streams.
import { Agent, request as ask } from "node:http";

const TOOL = { name: "write_file", description: "Writes a file", parameters: { type: "object", properties: { path: { type: "string" } } } };
const SYSTEM = "You are a helpful assistant with access to tools.";
const QUESTION = "Write test.txt with the content Hello World";

/** `chunks` and `temperature` tell the upstream how many chunks to send, and how fast. */
const chat = ({ chunks, temperature }) => ({
  path: "/v1/chat/completions",
  body: {
    model: "m",
    messages: [
      { role: "system", content: SYSTEM },
      { role: "user", content: QUESTION },
    ],
    tools: [{ type: "function", function: TOOL }],
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: chunks,
    temperature,
  },
});
const gemini = ({ chunks, temperature }) => ({
  path: "/v1beta/models/m:streamGenerateContent?alt=sse",
  body: {
    systemInstruction: { parts: [{ text: SYSTEM }] },
    contents: [{ role: "user", parts: [{ text: QUESTION }] }],
    tools: [{ functionDeclarations: [{ name: TOOL.name, description: TOOL.description, parametersJsonSchema: TOOL.parameters }] }],
    generationConfig: { maxOutputTokens: chunks, temperature },
  },
});
export const WIRES = { chat, gemini };

/** Keeps its connections alive, as a gateway's clients do. */
export class Client {
  #agent = new Agent({ keepAlive: true, maxSockets: 1024 });
  #port;
  #headers;

  constructor(port, headers = {}) {
    this.#port = port;
    this.#headers = headers;
  }

  /** Resolves when the stream has ended, with the milliseconds until its first byte. Rejects if the stream is incomplete. */
  stream({ path, body }) {
    const text = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...this.#headers };
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const request = ask({ host: "127.0.0.1", port: this.#port, method: "POST", path, headers, agent: this.#agent }, (answer) => {
        let [first, tail] = [undefined, ""];
        answer.on("data", (part) => {
          first ??= performance.now() - began;
          tail = (tail + part.toString("latin1")).slice(-400);
        });
        answer.on("end", () => {
          const complete = answer.statusCode === 200 && /\[DONE\]|"finishReason"/.test(tail);
          if (complete) resolve(first);
          else reject(new Error(`${answer.statusCode} ${tail}`));
        });
        answer.on("error", reject);
      });
      request.on("error", (error) => {
        const wasClosed = request.reusedSocket && error.code === "ECONNRESET"; // while it was idle, because other servers were measured
        if (wasClosed) resolve(this.stream({ path, body }));
        else reject(error);
      });
      request.end(text);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
