/** The colour-changing demo: a model in the page, and tools that change the page. */
import { Wllama } from "@wllama/wllama";
import wasm from "@wllama/wllama/esm/wasm/wllama.wasm?url";
import { type Event, withGrammar } from "dragoman";
import { type ChatEvent, createChat, defineTool } from "dragoman/chat";
import { gemma4 } from "dragoman/dialects/gemma4";
import { createWllama } from "dragoman/engines/wllama";
import model from "dragoman/models/tiny/dragoman-tiny.gguf?url";

const find = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector)!;
const [words, button, answer, raw, events] = [
  find<HTMLInputElement>("#words"),
  find<HTMLButtonElement>("#ask button"),
  find("#answer"),
  find("#raw"),
  find("#events"),
];

const paint = defineTool({
  name: "change_background_color",
  description: "Changes background color",
  parameters: { type: "object", properties: { color: { type: "string", description: "The color name" } }, required: ["color"] },
  run: ({ color }) => {
    const name = color.replaceAll(" ", ""); // CSS writes light blue in one word
    if (!CSS.supports("color", name)) throw new Error(`${color} is not a color`);
    document.body.style.background = name;
    return { status: "success", color };
  },
});

const say = defineTool({
  name: "show_alert",
  description: "Shows a message to the user",
  parameters: { type: "object", properties: { message: { type: "string", description: "The message" } }, required: ["message"] },
  run: ({ message }) => {
    const dialog = find<HTMLDialogElement>("#alert");
    dialog.querySelector("p")!.textContent = message;
    dialog.showModal();
    return { status: "success" };
  },
});

/** Exactly what the model wrote: every character of it is in an event. */
const written = (event: Event): string => {
  if (event.type === "text" || event.type === "thinking-delta") return event.text;
  return "raw" in event ? (event.raw ?? "") : "";
};

const line = (event: ChatEvent): string => {
  const { type, ...rest } = event;
  const shown = Object.entries(rest).filter(([key]) => key !== "raw" && key !== "turn" && key !== "index");
  return `${type.padEnd(12)} ${shown.map(([key, value]) => `${key} ${JSON.stringify(value)}`).join("  ")}`;
};

const wllama = new Wllama({ default: wasm }, { suppressNativeLog: true });
try {
  await wllama.loadModelFromUrl(new URL(model, location.href).href, {
    progressCallback: ({ loaded, total }) => {
      answer.textContent = `Loading the model… ${Math.round((100 * loaded) / total)} %`;
    },
  });
} catch (error) {
  answer.textContent = `The model cannot be loaded: ${(error as Error).message}`;
  throw error;
}
const chat = createChat({
  engine: createWllama(wllama, { dialect: withGrammar(gemma4) }),
  tools: [paint, say],
  sampling: { temperature: 0 },
});

async function send(text: string): Promise<void> {
  for (const element of [answer, raw, events]) element.textContent = "";
  words.placeholder = text; // the message stays visible, and Enter sends it again
  setBusy(true);
  for await (const event of chat.send(text)) {
    if (event.type === "text") answer.textContent += event.text;
    if (event.type === "finish" && event.error) answer.textContent += event.error.message;
    if (event.type !== "tool-run" && event.type !== "tool-result" && event.type !== "left-out" && event.type !== "turn-end") {
      raw.textContent += written(event);
      if (event.type === "finish") raw.textContent += "\n\n";
    }
    const row = document.createElement("div");
    row.textContent = line(event);
    events.append(row);
  }
  setBusy(false);
}

/** A chat runs one turn at a time. */
function setBusy(busy: boolean): void {
  for (const element of [words, button, ...find("#tries").querySelectorAll("button")]) element.disabled = busy;
  if (!busy) words.focus();
}

find("#ask").addEventListener("submit", (submitted) => {
  submitted.preventDefault();
  void send(words.value || words.placeholder);
  words.value = "";
});
for (const text of ["make it red", "change the background color to light blue", 'show an alert that says "hello"', "what can you do?"]) {
  const one = document.createElement("button");
  one.textContent = text;
  one.addEventListener("click", () => void send(text));
  find("#tries").append(one);
}
answer.textContent = "Ready.";
setBusy(false);
document.body.dataset.ready = "yes";
