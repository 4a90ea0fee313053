// The demo page in a real browser, with the real llama.cpp in WebAssembly and the embedded model.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { build, type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
const MODEL = "models/tiny/dragoman-tiny.gguf";
const missing = [...(CHROMIUM ? [] : ["Chromium"]), ...(existsSync(MODEL) ? [] : [MODEL])];

describe.skipIf(missing.length > 0)(
  `the demo page${missing.length > 0 ? ` (skipped: there is no ${missing.join(" and no ")})` : ""}`,
  () => {
    let outDir: string;
    let server: PreviewServer;
    let browser: Browser;
    let page: Page;
    const faults: string[] = [];

    beforeAll(async () => {
      outDir = await mkdtemp(join(tmpdir(), "dragoman-web-"));
      const configFile = "examples/web/vite.config.mjs";
      await build({ configFile, logLevel: "silent", build: { outDir } });
      server = await preview({ configFile, logLevel: "silent", build: { outDir }, preview: { port: 0, host: "127.0.0.1" } });
      const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run"];
      browser = await chromium.launch({ executablePath: CHROMIUM!, args });
      page = await browser.newPage();
      page.on("pageerror", ({ message }) => faults.push(message));
      await page.goto(server.resolvedUrls!.local[0]!);
      await page.waitForSelector("body[data-ready]", { timeout: 120_000 });
    }, 180_000);

    afterAll(async () => {
      await browser?.close();
      await server?.close();
      await rm(outDir, { recursive: true, force: true });
    });

    const ask = async (words: string): Promise<void> => {
      await page.fill("#words", words);
      await page.press("#words", "Enter");
      await page.waitForSelector("#words:enabled", { timeout: 120_000 });
    };
    const shown = (id: string): Promise<string> => page.locator(`#${id}`).textContent() as Promise<string>;

    test("make it red: a call is made, run and answered in the page", { timeout: 150_000 }, async () => {
      await ask("make it red");
      expect(await page.evaluate(() => document.body.style.background)).toBe("red");
      expect(await shown("raw")).toContain("call:change_background_color{color:");
      expect(await shown("events")).toMatch(/tool-start .*tool-delta .*tool-end .*tool-result .*finish .*"stop"/s);
      expect(await shown("answer")).not.toBe("");
      expect(faults).toEqual([]);
    });

    test("a colour of two words, by a click; meanwhile all input is disabled", { timeout: 150_000 }, async () => {
      const enabled = await page.evaluate(() => {
        const tries = [...document.querySelectorAll<HTMLButtonElement>("#tries button")];
        tries.find(({ textContent }) => textContent?.includes("light blue"))?.click();
        return document.querySelectorAll("#tries :enabled, #ask :enabled").length;
      });
      expect(enabled).toBe(0);
      await page.waitForSelector("#words:enabled", { timeout: 120_000 });
      expect(await page.evaluate(() => document.body.style.background)).toBe("lightblue");
      expect(faults).toEqual([]);
    });

    test("a model that cannot be loaded is reported", { timeout: 60_000 }, async () => {
      const other = await browser.newPage();
      await other.route("**/*.gguf", (route) => route.abort());
      await other.goto(server.resolvedUrls!.local[0]!);
      await other.getByText("The model cannot be loaded").waitFor();
      await other.close();
    });

    test("an alert shows the user's words", { timeout: 150_000 }, async () => {
      await ask('show an alert that says "hello"');
      expect(await page.locator("#alert p").textContent()).toBe("hello");
    });
  },
);
