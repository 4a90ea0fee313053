import { expect, test } from "vitest";
import { CUT_OFF } from "../../../src/core/errors.ts";
import { LOST, PROBLEMS } from "../../../src/engines/http/problems.ts";
import { CLOSING } from "../../../src/gateway/passage.ts";

test("what may pass is called what clients look for if an error has no status: they ask again", () => {
  const lost = Object.entries(PROBLEMS).flatMap(([code, error]) => (LOST.has(code) || error.code === "timeout" ? error : []));
  expect(lost).toHaveLength(LOST.size + 4);
  for (const { message } of [...lost, CUT_OFF, CLOSING]) expect(message).toMatch(/connection error|timeout|terminated|service unavailable/);
});
