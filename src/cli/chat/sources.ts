/** Where the models of a chat are: as `--upstream` and `--model` say, or else the embedded model and the servers found on this machine. */
import type { Engine } from "../../engines/index.ts";
import { layered } from "../../gateway/modes.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { Complaint } from "../complaint.ts";
import { hasEmbedded, type ModelFlags, modelHere, NoRuntime, openModel, warningLine } from "../local-model.ts";
import { visible } from "../terminal.ts";
import { connectAll, fromFlags, fromMachine, NOT_FOUND, needUpstream, type UpstreamFlags, type Upstreams } from "../upstreams.ts";

export interface Source {
  readonly name: string;
  /** Where it is and what it speaks, for the user. */
  readonly about: string;
  readonly engine: Engine;
  /** How long a conversation may be, if `--context` is given. */
  readonly context?: number | undefined;
  /** A note for the user. */
  readonly note?: string;
}

/** A model, and where it is. */
export interface Speaker {
  readonly source: Source;
  readonly model: ModelInfo;
}

export interface SourceFlags extends UpstreamFlags, ModelFlags {
  model?: string;
}

/** The conversation begins with the first source. `machine` finds servers on this machine. */
export async function sourcesOf(flags: SourceFlags, machine = fromMachine): Promise<Source[]> {
  const { upstream } = flags;
  if (upstream !== undefined) return connected(fromFlags(upstream, flags), flags);
  needUpstream(flags);
  const here = modelHere(flags);
  if (here !== undefined) return [await inProcess(here, flags)];
  const [embedded, found] = await Promise.all([openEmbedded(flags), machine().then((upstreams) => connected(upstreams, flags))]);
  const sources = [...(typeof embedded === "object" ? [embedded] : []), ...found];
  if (sources.length === 0) throw new Complaint([NOT_FOUND, HERE, ...(typeof embedded === "string" ? [embedded] : [])].join("; "));
  return sources;
}

const connected = async (upstreams: Upstreams, { dialect, context }: ModelFlags): Promise<Source[]> =>
  (await connectAll(upstreams)).map(({ name, urls, wire, engine }) => ({
    name,
    about: `at ${urls.join(", ")} (${wire})`,
    engine: layered(engine, { dialect }),
    context,
  }));

const HERE = "or run a model in this process: --model hf:owner/repo";
const SPEAKER = "a tiny model that can write tool calls but knows nothing; choose another with --model or --upstream";

async function inProcess(model: string, flags: ModelFlags): Promise<Source> {
  const { engine, warnings } = await openModel(model, flags);
  for (const warning of warnings) process.stderr.write(`${warningLine(engine, warning, process.stderr)}\n`);
  const about = `in this process (${engine.facts.dialect})`;
  return { name: "in process", about, engine, ...(model === "embedded" ? { note: SPEAKER } : {}) };
}

/** The embedded model; or, if its runtime is missing, the reason, since there may be other models. */
async function openEmbedded(flags: ModelFlags): Promise<Source | string | undefined> {
  if (!hasEmbedded()) return undefined;
  try {
    return await inProcess("embedded", flags);
  } catch (error) {
    if (error instanceof NoRuntime) return error.message;
    throw error;
  }
}

/** All models of all sources. A source that does not answer has none; throws if no source answers. */
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

/** The model of that name, or the only one whose name begins with it; without a name, the first. */
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
    `there is no model ${visible(name)}; available: ${names.slice(0, 20).join(", ")}${names.length > 20 ? ` and ${names.length - 20} more` : ""}`,
  );
}
