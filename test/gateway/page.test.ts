// The page for browsers, and who may see recordings through it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRecorder } from "../../src/gateway/recordings/recorder.ts";
import { tempFolder } from "../servers.ts";
import { ask, askSmallest, SMALLEST, scripted, startGateway } from "./start.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const KEY = "sk-page";

async function recording() {
  const folder = tempFolder();
  const recorder = createRecorder({ folder });
  const gateway = await startGateway({ upstreams: { up: scripted() }, taps: [recorder.tap], recordings: folder, keys: [KEY] });
  const get = (path: string, key = KEY) => ask(gateway.url, "GET", path, { headers: { authorization: `Bearer ${key}` } });
  return { folder, gateway, recorder, get };
}

test("a browser gets the page, without a key, and any other client the greeting", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() }, keys: [KEY] });
  const page = await ask(gateway.url, "GET", "/", { headers: BROWSER });
  expect(page.status).toBe(200);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  const files = [...page.body.matchAll(/(?:src|href)="(web\/[^"]+)"/g)].map(([, file]) => file!); // relative URLs: a proxy may add a prefix
  expect(files).toEqual(["web/style.css", "web/main.js"]);
  for (const file of files) expect((await ask(gateway.url, "GET", `/${file}`)).status).toBe(200);
  expect((await ask(gateway.url, "GET", "/")).body).toBe("dragoman is running\n");
  expect(gateway.exchanges).toEqual([]); // page requests are not logged
});

test("only the page's own files may run in it, and no site may frame it", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  for (const path of ["/", "/web/main.js", "/web/style.css"]) {
    const policy = (await ask(gateway.url, "GET", path, { headers: BROWSER })).headers["content-security-policy"];
    expect(policy).toMatch(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
    expect(policy).not.toContain("unsafe");
  }
});

test("recordings are listed, newest first, and shown with their analysis", async () => {
  const { gateway, recorder, get } = await recording();
  for (const [before, wire] of (["anthropic", "gemini"] as const).entries()) {
    await askSmallest(gateway.url, wire, SMALLEST, { authorization: `Bearer ${KEY}` });
    await gateway.ended(before + 1);
    await recorder.flush();
  }
  const listed = JSON.parse((await get("/web/exchanges")).body);
  expect(listed.map((one: { exchange: { wire: string } }) => one.exchange.wire)).toEqual(["gemini", "anthropic"]);
  const { recording: kept, account } = JSON.parse((await get(`/web/exchanges/${listed[1].name}`)).body);
  expect(kept.client.request.url).toBe("/v1/messages");
  expect(account.client.content).toEqual([{ type: "text", text: "Hello" }]);
});

test("recordings are hidden from clients without a key", async () => {
  const { gateway, recorder, get } = await recording();
  await askSmallest(gateway.url, "anthropic", SMALLEST, { authorization: `Bearer ${KEY}` });
  await gateway.ended(1);
  await recorder.flush();
  const [{ name }] = JSON.parse((await get("/web/exchanges")).body);
  for (const path of ["/web/exchanges", `/web/exchanges/${name}`]) expect((await get(path, "wrong")).status).toBe(401);
});

test("an unreadable recording is marked as such, and does not hide the others", async () => {
  const { folder, gateway, recorder, get } = await recording();
  await askSmallest(gateway.url, "anthropic", SMALLEST, { authorization: `Bearer ${KEY}` });
  await gateway.ended(1);
  await recorder.flush();
  const spoilt = "2026-01-31T12-00-00-000Z_anthropic_req_1a2b.json";
  writeFileSync(join(folder, spoilt), "{");
  expect(JSON.parse((await get("/web/exchanges")).body)).toHaveLength(1);
  const { status, body } = await get(`/web/exchanges/${spoilt}`);
  expect(status).toBe(404);
  expect(JSON.parse(body).error.message).toContain("it is not JSON");
});

test("only recordings are read from the folder", async () => {
  const { get } = await recording();
  for (const name of ["package.json", "..%2f..%2fetc%2fpasswd", "%2e%2e", "2026-01-31T12-00-00-000Z_anthropic_req_1a2b.json"]) {
    expect((await get(`/web/exchanges/${name}`)).status).toBe(404);
  }
});

test("without recordings, the page is told how to turn them on", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  const { status, body } = await ask(gateway.url, "GET", "/web/exchanges");
  expect(status).toBe(404);
  expect(JSON.parse(body).error.message).toContain("--record");
  expect((await ask(gateway.url, "POST", "/web/exchanges")).status).toBe(405);
});
