// What every engine that writes prompts itself does to a conversation before it reaches the dialect.
import { describe, expect, test } from "vitest";
import type { Json, Media, Message, Text } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { rendered } from "../../src/engines/rendered.ts";

describe.each(listDialects().map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
  const promptOf = (...messages: Message[]) => promptText(rendered({ model: "", messages }, dialect).prompt);
  const user = (...content: (Text | Media)[]): Message => ({ role: "user", content });
  const text = (text: string): Text => ({ type: "text", text });
  const call = (id: string, city: string) => ({ type: "tool-call" as const, id, name: "get_weather", arguments: { city } });
  const result = (id: string, output: Json, media?: Media[]): Message => ({
    role: "tool",
    id,
    name: "get_weather",
    output,
    ...(media && { media }),
  });

  test("an image becomes a label in its place, with a warning", () => {
    const image: Media = { type: "media", mediaType: "image/png", name: "map", data: "AA==" };
    const said: Message = { role: "assistant", content: [call("a", "Oslo")] };
    const messages = [user(text("Look at"), image, text("and tell")), said, result("a", "A map.", [image])];
    const prompt = promptOf(...messages);
    expect(prompt).toContain("Look at\n[image/png map]\nand tell");
    expect(prompt).toMatch(/A map\.(?:\n|\\n){2}\[image\/png map\]/);
    expect(rendered({ model: "", messages }, dialect).warnings).toEqual([
      { code: "converted", message: "2 images or files became labels: the upstream takes text only" },
    ]);
  });

  test("a text file is included, even without any other text", () => {
    const file: Media = { type: "media", mediaType: "text/markdown", name: "plan.md", data: btoa("Buy milk") };
    expect(promptOf(user(file))).toContain("[text/markdown plan.md]\nBuy milk");
  });

  test("a result in parts is one text, as in other servers", () => {
    const said: Message = { role: "assistant", content: [call("a", "Oslo")] };
    const parts = [
      { type: "text", text: "snow" },
      { type: "text", text: "and ice" },
    ];
    expect(promptOf(user(text("Hi")), said, result("a", parts))).toBe(promptOf(user(text("Hi")), said, result("a", "snow\nand ice")));
  });

  test("results are put in the order of their calls, since some templates match them only by order", () => {
    const said: Message = { role: "assistant", content: [call("a", "Oslo"), call("b", "Rome")] };
    const prompt = promptOf(user(text("Hi")), said, result("z", "nobody asked"), result("b", "sunny there"), result("a", "snow there"));
    expect(prompt).toMatch(/snow there[\s\S]*sunny there[\s\S]*nobody asked/);
  });
});
