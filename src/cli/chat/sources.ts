/** Where the models of a chat are, and which of them speaks: what `--upstream` and `--model` say, or what runs on this machine. */
import type { Engine } from "../../engines/index.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { Complaint } from "../complaint.ts";
import { visible } from "../terminal.ts";
import { connectOne, fromFlags, fromMachine, NOT_FOUND, type UpstreamFlags } from "../upstreams.ts";

export interface Source {
  readonly name: string;
  /** In words: where it is and what it speaks. */
  readonly about: string;
  readonly engine: Engine;
}

/** A model of a source. */
export interface Speaker {
  readonly source: Source;
  readonly model: ModelInfo;
}

export interface SourceFlags extends UpstreamFlags {
  model?: string;
}

export async function sourcesOf(flags: SourceFlags): Promise<Source[]> {
  const upstreams = flags.upstream === undefined ? await fromMachine() : fromFlags(flags.upstream, flags);
  const found = await Promise.all(Object.entries(upstreams).map(([name, settings]) => connectOne(name, settings)));
  if (found.length === 0) throw new Complaint(NOT_FOUND);
  return found.map(({ name, urls, wire, engine }) => ({ name, about: `${urls.join(", ")} (${wire})`, engine }));
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
