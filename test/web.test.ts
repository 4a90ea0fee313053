// The gateway's page in a real browser.
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRecorder } from "../src/gateway/recordings/recorder.ts";
import { ask, json, scripted, startGateway } from "./gateway/start.ts";
import { tempFolder } from "./servers.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
const LONG = "n".repeat(300);
const EVIL = "<img src=x onerror=\"document.title='run'\"><b>bold</b>";

describe.skipIf(!CHROMIUM)(`the gateway's page${CHROMIUM ? "" : " (skipped: there is no Chromium)"}`, () => {
  let browser: Browser;
  let page: Page;
  let url: string;
  const faults: string[] = [];

  beforeAll(async () => {
    const folder = tempFolder();
    const recorder = createRecorder({ folder });
    const script = [
      { type: "text", text: EVIL },
      { type: "tool-start", id: "c", index: 0, name: "paint" },
      { type: "tool-delta", id: "c", json: '{"color":"red"}' },
      { type: "tool-end", id: "c", index: 0, name: "paint", arguments: { color: "red" }, json: '{"color":"red"}' },
      { type: "finish", reason: "tool-calls" },
    ] as const;
    const gateway = await startGateway({ upstreams: { up: scripted([...script]) }, taps: [recorder.tap], recordings: folder });
    url = gateway.url;
    for (const model of [LONG, "one", "two"]) {
      const body = JSON.stringify({ model, messages: [{ role: "user", content: EVIL }] });
      await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
    }
    await gateway.ended(3);
    await recorder.flush();
    const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"];
    browser = await chromium.launch({ executablePath: CHROMIUM!, args });
    page = await browser.newPage();
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  }, 60_000);
  afterAll(() => browser?.close());

  /** The page shows another view when the browser reports the change of the address, which may be after the click. */
  const arrived = (view: string): Promise<unknown> => page.waitForSelector(`nav a[href="#${view}"][aria-current="page"]`);
  const open = async (view: string, shows = view): Promise<void> => {
    await page.goto(`${url}/#${view}`);
    await arrived(shows);
  };
  const shown = (title: string): Promise<string> => page.locator("section", { hasText: title }).innerText();

  test("an exchange: the model's output, how Dragoman read it, what the client got, and the requests", async () => {
    await open("exchanges");
    await page.getByRole("button", { name: "openai-chat one → up" }).click();
    await page.waitForSelector("section");
    expect(await shown("How Dragoman read it")).toContain('paint {\n  "color": "red"\n}');
    expect(await shown("What the client got: status 200")).toContain("tool-calls");
    await page.getByText("from the client: POST /v1/chat/completions").click();
    expect(await shown("Requests")).toContain('"model": "one"');
  });

  test("the exchange that was chosen last is shown, whichever arrives first", async () => {
    await open("exchanges");
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    await page.route("**/web/exchanges/*", async (route) => {
      if (asked++ === 0) await released;
      await route.continue();
    });
    await page.getByRole("button", { name: "openai-chat one → up" }).click();
    await page.getByRole("button", { name: "openai-chat two → up" }).click();
    await page.waitForSelector("section");
    const late = page.waitForResponse(/web\/exchanges\/./);
    release();
    await (await late).finished();
    await page.waitForResponse(/web\/exchanges$/); // what came before is shown
    await page.unrouteAll();
    expect(await page.locator("section", { hasText: "Requests" }).textContent()).toContain('"model": "two"');
  });

  test("text from models and clients never becomes markup", async () => {
    await open("exchanges");
    await page.getByRole("button", { name: "openai-chat one → up" }).click();
    await page.waitForSelector("section");
    expect(await shown("What the client got: status 200")).toContain(EVIL);
    expect(await page.locator("main img, main b").count()).toBe(0);
    expect(await page.title()).toBe("Dragoman");
  });

  test("scan: the events follow what is typed, whatever the pieces", async () => {
    await open("scan");
    await page.getByLabel("dialect").selectOption("hermes");
    expect(await shown("Events")).toContain("get_weather");
    await page.getByLabel("what the model wrote").fill('Hi <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>');
    for (const size of ["1", "7", "1000"]) {
      await page.getByLabel("characters per chunk").fill(size);
      expect((await shown("Events")).replaceAll("\t", " ")).toMatch(
        /text\s+Hi .*tool-start\s+f\s+tool-delta\s+\{"a": 1\}\s+tool-end\s+f \{/s,
      );
    }
    await page.getByLabel("dialect").selectOption("detect");
    expect(await shown("Events")).toContain("hermes, ");
  });

  test("scan: the tools may be those of a request, and invalid ones are reported", async () => {
    await open("scan");
    await page.getByLabel("dialect").selectOption("gemma4");
    await page.getByLabel("what the model wrote").fill("<|tool_call>call:f{zip:02134}<tool_call|>");
    const parameters = { type: "object", properties: { zip: { type: "string" } } };
    await page
      .getByLabel("the tools, as JSON")
      .fill(JSON.stringify({ tools: [{ type: "function", function: { name: "f", parameters } }] }));
    expect(await shown("Events")).toContain('{"zip":"02134"}');
    await page.getByLabel("the tools, as JSON").fill("{}");
    expect(await shown("Events")).toContain("must be a list of tools");
    await page.getByLabel("the tools, as JSON").fill("[null]");
    expect(await shown("Events")).toContain("tools[0] must be an object");
  });

  test("what was typed is still there on return, and an unknown view is the first one", async () => {
    await open("prompt");
    await page.getByLabel("the request, as JSON").fill("mine");
    await page.getByRole("link", { name: "Translate" }).click();
    await arrived("translate");
    await page.getByRole("link", { name: "Prompt" }).click();
    await arrived("prompt");
    expect(await page.getByLabel("the request, as JSON").inputValue()).toBe("mine");
    await open("constructor", "scan");
    await expect.poll(() => page.getByLabel("what the model wrote").count()).toBe(1);
  });

  test("a list without news stays as it is, and keeps the keyboard focus", async () => {
    await open("exchanges");
    const button = page.getByRole("button", { name: "openai-chat one → up" });
    await button.focus();
    await page.waitForResponse(/web\/exchanges$/); // the list is looked at again
    await page.waitForResponse(/web\/exchanges$/); // what came before is shown
    expect(await button.evaluate((node) => node === document.activeElement)).toBe(true);
  });

  test("an exchange that is chosen with the keyboard keeps the focus", async () => {
    await open("exchanges");
    const button = page.getByRole("button", { name: "openai-chat two → up" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector('[aria-pressed="true"]:has-text("two")');
    expect(await button.evaluate((node) => [node.ariaPressed, node === document.activeElement])).toEqual(["true", true]);
  });

  test("an exchange that is chosen while another is read is shown from its beginning", async () => {
    await page.setViewportSize({ width: 1000, height: 150 });
    await open("exchanges");
    await page.getByRole("button", { name: "openai-chat one → up" }).click();
    await page.waitForSelector("section");
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByRole("button", { name: LONG }).click();
    await page.waitForSelector('[aria-pressed="true"]:has-text("nnn")');
    const top = () => page.locator(".columns").evaluate((node) => node.getBoundingClientRect().top);
    await expect.poll(top).toBeGreaterThanOrEqual(0);
    expect(await top()).toBeLessThan(150);
  });

  test.each(["scan", "prompt", "translate", "exchanges"])("%s fits on a phone, whatever it shows", async (view) => {
    await page.setViewportSize({ width: 375, height: 700 });
    await open(view);
    if (view === "exchanges") await page.getByRole("button", { name: LONG }).click();
    await page.waitForSelector("section");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  });

  test("prompt: control tokens are told from data that looks like them", async () => {
    await open("prompt");
    await page.getByLabel("dialect").selectOption("hermes/qwen3-0.6b");
    await page.getByLabel("the request, as JSON").fill(JSON.stringify({ model: "m", messages: [{ role: "user", content: "<|im_end|>" }] }));
    const marked = await page.locator("mark").allInnerTexts();
    expect(marked).toEqual(["<|im_start|>", "<|im_end|>", "<|im_start|>"]);
    expect(await shown("Prompt, with control tokens")).toContain("user\n<|im_end|><|im_end|>");
  });

  test("translate: the other API's request, and what it cannot say", async () => {
    await open("translate");
    await page.getByLabel("to", { exact: true }).selectOption("gemini");
    expect(await shown("The same request for the other API")).toContain('"functionCall"');
    const request = { model: "m", messages: [{ role: "user", content: "Hi" }], logit_bias: { 1: 2 } };
    await page.getByLabel("the request, as JSON").fill(JSON.stringify(request));
    expect(await page.locator("section .wrong").allInnerTexts()).not.toEqual([]);
    await page.getByLabel("the request, as JSON").fill("{");
    expect(await shown("The same request for the other API")).toMatch(/JSON/);
  });

  test("nothing was refused by the page's own policy, and nothing was thrown", () => {
    expect(faults).toEqual([]);
  });
});
