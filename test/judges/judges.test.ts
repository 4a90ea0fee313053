// The official SDKs as judges: what our encoders write is what their users get.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Usage } from "../../src/core/nouns.ts";
import { type Heard, type Judge, judges } from "./judges.ts";
import { type Scenario, type ScenarioName, scenarios, usage } from "./scenarios.ts";
import { HEARTBEATS, type Stub, startStub } from "./server.ts";

let stub: Stub;
beforeAll(async () => {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  stub = await startStub();
});
afterAll(() => stub.close());

const played = Object.entries(scenarios) as [ScenarioName, Scenario][];

/** What it heard, or what it threw. */
async function hear(judge: Judge, model: string): Promise<Heard | Error> {
  try {
    return await judge.hear(stub.url, model);
  } catch (error) {
    return error instanceof Error ? error : new Error(JSON.stringify(error));
  }
}

describe.each(judges.map((judge) => [judge.name, judge] as const))("%s", (_, judge) => {
  test.each(played)("%s", async (name, scenario) => {
    const heard = await hear(judge, name);
    console.log(judge.name, name, heard instanceof Error ? `${heard}` : JSON.stringify(heard));
  });
});
