// The page that browsers get, and who gets to see recordings through it.
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

test("a browser gets the page, without a key, and everybody else the greeting", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() }, keys: [KEY] });
  const page = await ask(gateway.url, "GET", "/", { headers: BROWSER });
  expect(page.status).toBe(200);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  const files = [...page.body.matchAll(/(?:src|href)="(web\/[^"]+)"/g)].map(([, file]) => file!); // seen from here: a proxy may have a prefix
  expect(files).toEqual(["web/style.css", "web/main.js"]);
  for (const file of files) expect((await ask(gateway.url, "GET", `/${file}`)).status).toBe(200);
  expect((await ask(gateway.url, "GET", "/")).body).toBe("dragoman is running\n");
  expect(gateway.exchanges).toEqual([]); // no line in the log
});

test("nothing but its own files may run in the page, and nobody may frame it", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  for (const path of ["/", "/web/main.js", "/web/style.css"]) {
    const policy = (await ask(gateway.url, "GET", path, { headers: BROWSER })).headers["content-security-policy"];
    expect(policy).toMatch(/default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/);
    expect(policy).not.toContain("unsafe");
  }
});

test("recordings are listed, the newest first, and shown with what is made of them", async () => {
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

test("who has no key sees none of them", async () => {
  const { gateway, recorder, get } = await recording();
  await askSmallest(gateway.url, "anthropic", SMALLEST, { authorization: `Bearer ${KEY}` });
  await gateway.ended(1);
  await recorder.flush();
  const [{ name }] = JSON.parse((await get("/web/exchanges")).body);
  for (const path of ["/web/exchanges", `/web/exchanges/${name}`]) expect((await get(path, "wrong")).status).toBe(401);
});

test("one that cannot be read is called so, and does not hide the others", async () => {
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

test("where nothing is recorded, the page is told how it would be", async () => {
  const gateway = await startGateway({ upstreams: { up: scripted() } });
  const { status, body } = await ask(gateway.url, "GET", "/web/exchanges");
  expect(status).toBe(404);
  expect(JSON.parse(body).error.message).toContain("--record");
  expect((await ask(gateway.url, "POST", "/web/exchanges")).status).toBe(405);
});
