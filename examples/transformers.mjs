// A model in transformers.js with tools, in Node or in a web page.
//
//   npm install @huggingface/transformers && node examples/transformers.mjs onnx-community/Qwen3-0.6B-ONNX hermes "What is 17 * 4?"
//
// Three of its defaults break calls and are changed here: it skips special tokens in the output, it "cleans up" blanks around punctuation
// with Llama's configurations, and it adds special tokens to a prompt that already has them.
import { pathToFileURL } from "node:url";
import { getDialect, promptText } from "dragoman";
import { createChat, defineTool } from "dragoman/chat";
import { createTextEngine } from "dragoman/engines";

export const transformersRuntime = ({ tokenizer, model, TextStreamer, StoppingCriteria }) => ({
  takes: ["maxTokens", "temperature", "topP", "topK"],
  async *generate(prompt, { maxTokens = 1024, sampling: { temperature = 0, topP, topK }, stops }) {
    const pieces = [];
    let said = "";
    let [stopped, over] = [false, false];
    let wake = () => {};
    const streamer = new TextStreamer(tokenizer, {
      skip_prompt: true,
      skip_special_tokens: false,
      clean_up_tokenization_spaces: false,
      callback_function: (text) => {
        said += text;
        stopped ||= stops.some((stop) => said.endsWith(stop));
        pieces.push(text);
        wake();
      },
    });
    class Stopped extends StoppingCriteria {
      _call(ids) {
        return ids.map(() => stopped);
      }
    }
    const inputs = tokenizer(promptText(prompt, { neutralize: true }), { add_special_tokens: false });
    const answer = model
      .generate({
        ...inputs,
        max_new_tokens: maxTokens,
        do_sample: temperature > 0,
        ...(temperature > 0 && { temperature, top_p: topP, top_k: topK }),
        streamer,
        stopping_criteria: new Stopped(),
      })
      .finally(() => {
        over = true;
        wake();
      });
    answer.catch(() => {}); // thrown below
    try {
      while (!over || pieces.length > 0) {
        if (pieces.length > 0) yield pieces.shift();
        else {
          await new Promise((resolve) => {
            wake = resolve;
          });
        }
      }
      await answer;
    } finally {
      stopped = true; // if the consumer stops listening, the model stops, too
    }
  },
});

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [name, dialect, question] = process.argv.slice(2);
  const { AutoModelForCausalLM, AutoTokenizer, StoppingCriteria, TextStreamer } = await import("@huggingface/transformers");
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const model = await AutoModelForCausalLM.from_pretrained(name, { dtype: "q4" });
  const engine = createTextEngine(transformersRuntime({ tokenizer, model, TextStreamer, StoppingCriteria }), {
    dialect: getDialect(dialect),
  });
  const multiply = defineTool({
    name: "multiply",
    description: "Multiply two numbers.",
    parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }) => a * b,
  });
  for await (const event of createChat({ engine, tools: [multiply] }).send(question)) {
    if (event.type === "text") process.stdout.write(event.text);
    if (event.type === "tool-end") console.log(event.name, event.arguments);
  }
}
