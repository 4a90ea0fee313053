// Which model a conversation begins with, where nobody says one.
import { expect, test } from "vitest";
import { type SourceFlags, sourcesOf, speakerOf, speakersOf } from "../../../src/cli/chat/sources.ts";
import { startServer } from "../../servers.ts";
import { startModel } from "./upstream.ts";

/** The models that a chat may speak with, the first one first, where these servers run on the machine. */
async function modelsWith(urls: readonly string[], flags: SourceFlags = {}): Promise<string[]> {
  const found = Object.fromEntries(urls.map((url) => [new URL(url).host, { urls: [url] }]));
  const sources = await sourcesOf(flags, async () => found);
  const speakers = await speakersOf(sources);
  expect(speakerOf(speakers, undefined)).toBe(speakers[0]);
  await Promise.all(sources.map(({ engine }) => engine.close()));
  return speakers.map(({ model }) => model.id);
}

test("what runs on the machine comes before the embedded model, as in `dragoman serve`", async () => {
  const { url } = await startModel(() => ["Hi"]);
  expect(await modelsWith([url])).toEqual(["small", "large"]);
});

test("where nothing runs, or what runs has no model, it is the embedded one", async () => {
  const empty = await startModel(() => [], []);
  const locked = await startServer((response) => void response.writeHead(401).end());
  expect(await modelsWith([])).toEqual(["dragoman-tiny"]);
  expect(await modelsWith([empty.url])).toEqual(["dragoman-tiny"]);
  expect(await modelsWith([`${locked.url}/v1`])).toEqual(["dragoman-tiny"]);
});

test("who asks for the embedded one gets it, whatever runs", async () => {
  const { url } = await startModel(() => ["Hi"]);
  expect(await modelsWith([url], { model: "embedded" })).toEqual(["dragoman-tiny"]);
});
