import { expect, test } from "vitest";
import { merged, SAMPLING, samplingOf } from "../../../src/engines/llama/sampling.ts";

test("a setting that a request leaves open is the model's: undefined does not mean the most probable token", () => {
  const asked = merged(SAMPLING, { temperature: undefined, topP: 0.5, topK: undefined });
  expect(asked).toEqual({ ...SAMPLING, topP: 0.5 });
  expect(samplingOf(asked, [])).toMatchObject({ temperature: 0.8, topP: 0.5, topK: 40, minP: 0.05 });
  expect(merged(SAMPLING)).toEqual(SAMPLING);
});
