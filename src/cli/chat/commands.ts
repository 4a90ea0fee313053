/** The slash commands of a chat. */
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Asking, Chat } from "../../chat/index.ts";
import { isAsked } from "../../chat/run.ts";
import type { Media, Text, ToolResult } from "../../core/nouns.ts";
import { unlessAborted } from "../../engines/bounded.ts";
import { Complaint } from "../complaint.ts";
import { unwritable } from "../input.ts";
import { counted, type Palette, visible, visibleLines } from "../terminal.ts";
import { Prose, row } from "./prose.ts";
import { usageText, wholeResult } from "./screen.ts";
import { loadChat, type Setup, speakerOptions } from "./setup.ts";
import { type Source, type Speaker, speakerOf, speakersOf } from "./sources.ts";

/** The state that commands read and change. */
export interface Talk {
  chat: Chat;
  speaker: Speaker;
  readonly sources: readonly Source[];
  readonly palette: Palette;
  /** The current width of the screen. */
  readonly width: () => number;
  readonly open: Setup["open"];
}

/** `text`: print it; `send`: send it to the model; `leave`: end the chat. */
export interface Outcome {
  readonly text?: string;
  readonly send?: readonly (Text | Media)[];
  readonly leave?: true;
}

interface Command {
  readonly takes?: string;
  readonly does: string;
  run(argument: string, talk: Talk, signal: AbortSignal): Outcome | Promise<Outcome>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  help: { does: "print this list", run: (_, talk) => ({ text: helpText(talk) }) },
  tools: { does: "list the tools that the model may use", run: (_, talk) => ({ text: toolsText(talk) }) },
  prompt: {
    takes: "[turn]",
    does: "print exactly what the model was sent, in the last turn or another",
    run: async (argument, { chat, palette }) => ({ text: promptLines(await chat.promptOf(turnAt(chat, argument)), palette) }),
  },
  show: {
    takes: "[n]",
    does: "print the last tool result in full, or that of the nth call of the last turn",
    run: (argument, { chat }) => ({ text: `${resultAt(chat, argument).join("\n")}\n` }),
  },
  model: {
    takes: "[name]",
    does: "list the models; with a name, continue the conversation with that model",
    run: (argument, talk, signal) => (argument === "" ? modelsText(talk) : changeModel(argument, talk, signal)),
  },
  retry: {
    does: "undo the last turn and send your message again",
    run(_, { chat }) {
      const said = chat.history.findLast(({ role }) => role === "user");
      if (said?.role !== "user" || chat.turns.length === 0) throw new Complaint("there is no message to send again");
      while (chat.history.includes(said) && chat.undo());
      return { send: said.content };
    },
  },
  undo: {
    does: "remove your last message and the answer to it",
    run(_, talk) {
      if (!talk.chat.undo()) throw new Complaint("there is nothing to undo");
      return { text: `${talk.palette.dim(`removed; ${counted(talk.chat.turns.length, "turn")} left`)}\n` };
    },
  },
  new: {
    does: "start a new conversation",
    run(_, talk) {
      const { system } = talk.chat;
      talk.chat = talk.open(talk.speaker, { version: 1, messages: [], turns: [], ...(system === undefined ? {} : { system }) });
      return { text: `${talk.palette.dim(`a new conversation${system === undefined ? "" : ", with the same system text"}`)}\n` };
    },
  },
  save: {
    takes: "[file]",
    does: "save the conversation as JSON",
    run: async (argument, { chat, palette }) => {
      const file = argument || `chat-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.json`;
      const isAnother = existsSync(file) && !(await loadChat(resolve(file)).catch(() => undefined));
      if (isAnother) throw new Complaint(`${visible(file)} exists and is not a saved conversation: give another name`);
      try {
        writeFileSync(file, `${JSON.stringify(chat.save(), null, 2)}\n`, { mode: 0o600 });
      } catch (error) {
        throw unwritable(file, error);
      }
      return { text: `${palette.dim(`saved to ${visible(file)}`)}\n` };
    },
  },
  load: {
    takes: "<file>",
    does: "continue a saved conversation",
    run: async (argument, talk) => {
      if (argument === "") throw new Complaint("give a file, as in /load chat.json");
      const data = await loadChat(resolve(argument)); // "-" is a name here, not stdin
      talk.chat = talk.open(talk.speaker, data);
      return { text: `${talk.palette.dim(`${counted(data.turns.length, "turn")} loaded from ${visible(argument)}`)}\n` };
    },
  },
  exit: { does: "leave (or Ctrl-D)", run: () => ({ leave: true }) },
};

const NAMES = Object.keys(COMMANDS);

export const isCommand = (text: string): boolean => /^\/[a-z]*(\s|$)/.test(text);

/** Does not wait for the command after an abort. */
export async function runCommand(text: string, talk: Talk, signal: AbortSignal): Promise<Outcome> {
  const [, name = "", argument = ""] = /^\/(\S*)\s*(.*)$/s.exec(text) ?? [];
  const found = Object.hasOwn(COMMANDS, name) ? [name] : NAMES.filter((other) => name !== "" && other.startsWith(name));
  const command = found.length === 1 ? COMMANDS[found[0]!] : undefined;
  if (!command) throw new Complaint(`there is no command /${visible(name)}; /help lists them`);
  return unlessAborted(signal, command.run(argument.trim(), talk, signal));
}

/** Completions for Tab. */
export const completions = (line: string): string[] =>
  line.startsWith("/") ? NAMES.map((name) => `/${name}`).filter((name) => name.startsWith(line)) : [];

// ---- What they print

function helpText({ palette, width }: Talk): string {
  const rows = Object.entries(COMMANDS).map(([name, { takes = "", does }]) => [`/${name} ${takes}`.trimEnd(), does] as const);
  const keys = [
    ["Ctrl-C", "stop the answer; at the prompt, clear the line"],
    ["↑ ↓ Tab", "earlier messages; complete a command"],
    ["\\ at the end", "continue the message on the next line; pasted text is one message"],
  ] as const;
  const line = ([left, right]: readonly [string, string]): string =>
    row(left, palette.bold, right, { palette, width: width(), indent: 19 });
  return `${rows.map(line).join("")}\n${keys.map(line).join("")}`;
}

function toolsText({ chat: { tools }, palette, width }: Talk): string {
  if (tools.length === 0) return "there are no tools\n";
  return tools
    .map(({ tool }) => {
      const { properties = {}, required = [] } = (tool.parameters ?? {}) as { properties?: Record<string, unknown>; required?: string[] };
      const names = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`));
      const prose = new Prose({ palette, width: width(), margin: "    ", style: palette.dim });
      const about = prose.add(tool.description ?? "") + prose.end();
      return `  ${palette.bold(visible(tool.name))}(${visible(names.join(", "))})\n${about}`;
    })
    .join("");
}

function turnAt(chat: Chat, argument: string) {
  if (argument === "") return chat.turns.at(-1);
  const turn = /^\d+$/.test(argument) ? chat.turns[Number(argument) - 1] : undefined;
  if (!turn) throw new Complaint(`there is no turn ${visible(argument)}: the conversation has ${counted(chat.turns.length, "turn")}`);
  return turn;
}

/** Control tokens are coloured, since faults are often there. */
function promptLines({ request, sent }: Asking, { magenta, dim, bold }: Palette): string {
  if (sent && "prompt" in sent) {
    const text = sent.prompt.map(({ text, control }) => (control ? magenta(visible(text)) : visibleLines(text))).join("");
    return `${dim(`the prompt, in the dialect ${sent.dialect}`)}\n${text}\n`;
  }
  const [head, body] = sent ? [`POST ${sent.url}`, sent.body] : ["the request", request];
  return `${bold(head)}\n${visibleLines(JSON.stringify(body, null, 2))}\n`;
}

function resultAt(chat: Chat, argument: string): string[] {
  const { from = 0, to = 0 } = chat.turns.at(-1) ?? {};
  const messages = chat.history.slice(from, to);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content.filter(isAsked) : []));
  const results = calls.map(({ id }) => messages.find((message): message is ToolResult => message.role === "tool" && message.id === id));
  const result = argument === "" ? results.findLast((result) => result !== undefined) : results[Number(argument) - 1];
  if (!result) throw new Complaint(`the last turn has ${counted(results.filter(Boolean).length, "tool result")}`);
  return wholeResult(result.output, result.media);
}

async function modelsText({ sources, speaker, palette: { bold, dim } }: Talk): Promise<Outcome> {
  const speakers = await speakersOf(sources);
  const lines = speakers.map(({ source, model }) => {
    const current = source === speaker.source && model.id === speaker.model.id;
    return `${current ? bold(`• ${visible(model.id)}`) : `  ${visible(model.id)}`}  ${dim(source.name)}\n`;
  });
  return { text: lines.join("") };
}

async function changeModel(name: string, talk: Talk, signal: AbortSignal): Promise<Outcome> {
  const { chat, sources, palette } = talk;
  const speakers = await speakersOf(sources);
  signal.throwIfAborted();
  talk.speaker = speakerOf(speakers, name);
  talk.chat = chat.fork(speakerOptions(talk.speaker));
  return { text: `${palette.dim(`continuing with ${visible(talk.speaker.model.id)} at ${talk.speaker.source.name}`)}\n` };
}

/** The steps and tokens of the last turn, for the line below it. */
export const costOf = (chat: Chat): string => {
  const turn = chat.turns.at(-1);
  return turn ? [...(turn.steps > 1 ? [`${turn.steps} steps`] : []), usageText(turn.usage)].filter(Boolean).join(" · ") : "";
};
