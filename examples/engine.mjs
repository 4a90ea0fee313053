// Chooses the model an example talks to: the URL of a server that speaks OpenAI's API, a GGUF (a file, a URL, hf:owner/repo), or by default
// the tiny model that comes with Dragoman.
import { createRemote } from "dragoman/engines";
import { createLlama } from "dragoman/engines/llama";

export async function engineFor(model = "embedded") {
  return /^https?:.*(?<!\.gguf)$/.test(model) ? createRemote({ wire: "openai-chat", url: model }) : createLlama({ model });
}
