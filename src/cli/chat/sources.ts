/** Where the models of a chat are, and which of them speaks: what `--upstream` and `--model` say; else the embedded one, and what runs here. */
import type { Engine } from "../../engines/index.ts";
import { layered } from "../../gateway/modes.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { Complaint } from "../complaint.ts";
import { hasEmbedded, type ModelFlags, modelHere, NoRuntime, openModel, warningLine } from "../local-model.ts";
import { visible } from "../terminal.ts";
import { connectAll, fromFlags, fromMachine, NOT_FOUND, type UpstreamFlags, type Upstreams } from "../upstreams.ts";

export interface Source {
  readonly name: string;
  /** In words: where it is and what it speaks. */
  readonly about: string;
  readonly engine: Engine;
  /** How long a conversation may be, where that was said. */
  readonly context?: number | undefined;
  /** What one should know who talks to it. */
  readonly note?: string;
}

/** A model of a source. */
export interface Speaker {
  readonly source: Source;
  readonly model: ModelInfo;
}

export interface SourceFlags extends UpstreamFlags, ModelFlags {
  model?: string;
}

/** The first of them is where the conversation begins. `machine`: what runs on it. */
export async function sourcesOf(flags: SourceFlags, machine = fromMachine): Promise<Source[]> {
  const { upstream } = flags;
  if (upstream !== undefined) return connected(fromFlags(upstream, flags), flags);
  const here = modelHere(flags);
  if (here !== undefined) return [await inProcess(here, flags)];
  const [embedded, found] = await Promise.all([openEmbedded(flags), machine().then((upstreams) => connected(upstreams))]);
  const sources = [...(typeof embedded === "object" ? [embedded] : []), ...found];
  if (sources.length === 0) throw new Complaint([NOT_FOUND, HERE, ...(typeof embedded === "string" ? [embedded] : [])].join("; "));
  return sources;
}

const connected = async (upstreams: Upstreams, { dialect, context }: ModelFlags = {}): Promise<Source[]> =>
  (await connectAll(upstreams)).map(({ name, urls, wire, engine }) => ({
    name,
    about: `at ${urls.join(", ")} (${wire})`,
    engine: layered(engine, { dialect }),
    context,
  }));

const HERE = "or run a model here: --model hf:owner/repo";
const SPEAKER = "a tiny model that speaks the format of tool calls and knows nothing; --model and --upstream bring another";

async function inProcess(model: string, flags: ModelFlags): Promise<Source> {
  const { engine, warnings } = await openModel(model, flags);
  for (const warning of warnings) process.stderr.write(`${warningLine(engine, warning, process.stderr)}\n`);
  const about = `in this process (${engine.facts.dialect})`;
  return { name: "in process", about, engine, ...(model === "embedded" ? { note: SPEAKER } : {}) };
}

/** Without its runtime there may be other models: then it is only said why it is not there. */
async function openEmbedded(flags: ModelFlags): Promise<Source | string | undefined> {
  if (!hasEmbedded()) return undefined;
  try {
    return await inProcess("embedded", flags);
  } catch (error) {
    if (error instanceof NoRuntime) return error.message;
    throw error;
  }
}

/** All models of all sources. One that does not answer has none; if none answers, that is said. */
export async function speakersOf(sources: readonly Source[]): Promise<Speaker[]> {
  const lists = await Promise.allSettled(sources.map(({ engine }) => engine.models()));
  const speakers = lists.flatMap((list, i) => {
    const source = sources[i]!;
    return list.status === "fulfilled" ? list.value.map((model) => ({ source, model })) : [];
  });
  const failed = lists.find((list) => list.status === "rejected");
  if (speakers.length === 0 && failed) throw new Complaint((failed.reason as Error).message, { cause: failed.reason });
  return speakers;
}

/** The model of that name, or the only one whose name begins so; without a name, the first. */
export function speakerOf(speakers: readonly Speaker[], name: string | undefined): Speaker {
  const [first] = speakers;
  if (!first) throw new Complaint("the upstream has no model");
  if (name === undefined) return first;
  const exact = speakers.find(({ model }) => model.id === name);
  const similar = speakers.filter(({ model }) => model.id.startsWith(name));
  const found = exact ?? (similar.length === 1 ? similar[0] : undefined);
  if (found) return found;
  const names = speakers.map(({ model }) => visible(model.id));
  throw new Complaint(
    `there is no model ${visible(name)}; there is ${names.slice(0, 20).join(", ")}${names.length > 20 ? ` and ${names.length - 20} more` : ""}`,
  );
}
