// An assistant for the files of one folder.
//
//   node examples/files.mjs ./notes [model]
//
// Every line of stdin is a message. Tools that only read always run. Before a file is written, the call is printed, and it runs only if the
// folder does not have the file yet.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createChat, fileTools } from "dragoman/chat";
import { engineFor } from "./engine.mjs";

const [folder = "notes", model] = process.argv.slice(2);

const chat = createChat({
  engine: await engineFor(model),
  system: "You look after the user's notes. Answer in one or two sentences.",
  tools: fileTools(folder),
  maxSteps: 8,
  approve(call, { readOnly }) {
    if (readOnly) return true;
    console.log(`[${call.name} ${call.arguments.path}]`);
    return existsSync(join(folder, String(call.arguments.path))) ? "the file already exists, choose another name" : true;
  },
});

if (process.stdin.isTTY) console.log(`Type what to do with the notes in ${folder}; Ctrl-D quits.`);
for await (const line of createInterface({ input: process.stdin })) {
  for await (const event of chat.send(line)) {
    if (event.type === "text") process.stdout.write(event.text);
    if (event.type === "tool-result" && event.isError) console.log(`[${event.name}: ${event.output}]`);
    if (event.type === "turn-end") console.log(event.turn.error ? `[${event.turn.error.message}]` : "");
  }
}
