// The optional package is not installed.
import { expect, test, vi } from "vitest";
import { json } from "../../src/dialects/json.ts";
import { compareTemplate, renderWithTemplate } from "../../src/template/index.ts";

vi.mock("@huggingface/jinja", () => {
  throw new Error("Cannot find package");
});

test("the error says in one line what to install", async () => {
  const message = "templates need the optional package @huggingface/jinja: npm install @huggingface/jinja";
  await expect(renderWithTemplate("", { model: "m", messages: [] })).rejects.toThrow(message);
  await expect(compareTemplate(json, "")).rejects.toThrow(message);
});
