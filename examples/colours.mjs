// A web page that changes its colour when it is asked to.
//
//   node examples/colours.mjs [model] [port]
//
// The page sends each message to this server and gets the chat's events back, one line of JSON each. The tools run in the server; the page
// watches for their results and acts on them.
import { createServer } from "node:http";
import { createChat, defineTool } from "dragoman/chat";
import { engineFor } from "./engine.mjs";

const [model, port = "8090"] = process.argv.slice(2);

const paint = defineTool({
  name: "change_background_color",
  description: "Change the background color of the page.",
  parameters: { type: "object", properties: { color: { type: "string", description: "Name of the color" } }, required: ["color"] },
  run: ({ color }) => ({ color }),
});

const alert = defineTool({
  name: "show_alert",
  description: "Show an alert with a message.",
  parameters: { type: "object", properties: { message: { type: "string", description: "Text of the alert" } }, required: ["message"] },
  run: ({ message }) => ({ shown: message }),
});

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Colours</title>
<style>
  body { font: 18px sans-serif; margin: 2em; transition: background 0.5s }
  pre:empty { display: none }
  input, pre { font: inherit; width: 20em; max-width: 100%; box-sizing: border-box; padding: 0.5em; white-space: pre-wrap; background: #fff; color: #111 }
</style>
<form><input name="text" aria-label="What to say to the model" placeholder="make it red" autofocus autocomplete="off"></form>
<pre role="log"></pre>
<script type="module">
  const log = document.querySelector("pre");
  document.querySelector("form").onsubmit = async (event) => {
    event.preventDefault();
    const { text } = event.target;
    const said = text.value;
    log.textContent += "\\n> " + said + "\\n";
    text.value = "";
    const answer = await fetch("/say", { method: "POST", body: said });
    let rest = "";
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\\n");
      rest = lines.pop();
      for (const line of lines) show(JSON.parse(line));
    }
  };
  function show(event) {
    if (event.type === "text") log.textContent += event.text;
    if (event.type === "turn-end" && event.turn.error) log.textContent += event.turn.error.message + "\\n";
    if (event.type === "tool-end") log.textContent += event.name + " " + JSON.stringify(event.arguments) + "\\n";
    if (event.type !== "tool-result" || event.isError) return;
    if (event.name === "change_background_color") document.body.style.background = event.output.color;
    if (event.name === "show_alert") window.alert(event.output.shown);
  }
</script>
`;

const chat = createChat({ engine: await engineFor(model), tools: [paint, alert] });

let last = Promise.resolve(); // a chat runs one turn at a time: later requests wait

const server = createServer(async (request, response) => {
  if (request.url !== "/say") return response.setHeader("content-type", "text/html").end(page);
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const abort = new AbortController();
  response.once("close", () => abort.abort());
  response.setHeader("content-type", "application/x-ndjson");
  last = last.then(async () => {
    for await (const event of chat.send(text, { signal: abort.signal })) response.write(`${JSON.stringify(event)}\n`);
    response.end();
  });
});

server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
