// Downloaded models, against a server of our own: broken connections, wrong checksums, redirects, tokens.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { EngineError } from "../../../src/engines/error.ts";
import { type DownloadOptions, download } from "../../../src/engines/llama/download.ts";
import { cacheFolder, findModel } from "../../../src/engines/llama/source.ts";
import { nobody, startServer, tempFolder } from "../../servers.ts";

const body = Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 251));
const sum = createHash("sha256").update(body).digest("hex");

const home = tempFolder();

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
interface Site {
  url: string;
  seen: { method: string; path: string; range: string | undefined; token: string | undefined }[];
}

async function site(handler: Handler): Promise<Site> {
  const seen: Site["seen"] = [];
  const { url } = await startServer((response, { method, url: path, headers }, request) => {
    seen.push({ method, path, range: headers.range, token: headers.authorization });
    handler(request, response);
  });
  return { url, seen };
}

/** Serves a file, with ranges; `cutAt` breaks the connection there. */
function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { bytes = body, headers = {}, cutAt = Infinity }: { bytes?: Buffer; headers?: Record<string, string>; cutAt?: number } = {},
): void {
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
  const rest = bytes.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { ...headers, "content-length": rest.length });
  if (request.method === "HEAD") return void response.end();
  if (cutAt >= bytes.length) return void response.end(rest);
  response.write(bytes.subarray(from, cutAt), () => response.destroy());
}

let target: string;
let count = 0;
beforeEach(() => {
  target = join(home, String(count++), "model.gguf");
});
const folder = (): string[] => readdirSync(dirname(target));
const get = (url: string, options: DownloadOptions = {}) => download(url, target, { retryMs: 0, ...options });

describe("a file", () => {
  test("arrives complete under its name, with progress", async () => {
    const { url } = await site((request, response) => serve(request, response));
    const progress: [number, number | undefined][] = [];
    await get(`${url}/model.gguf`, { sha256: sum, onProgress: (loaded, total) => progress.push([loaded, total]) });
    expect(readFileSync(target).equals(body)).toBe(true);
    expect(folder()).toEqual(["model.gguf"]);
    expect(progress.at(-1)).toEqual([body.length, body.length]);
  });

  test("continues where the connection broke", async () => {
    let cut: ServerResponse | undefined;
    const { url, seen } = await site((request, response) => {
      if (request.method === "HEAD" || cut) return serve(request, response);
      cut = response.writeHead(200, { "content-length": body.length });
      cut.write(body.subarray(0, 20_000));
    });
    await get(`${url}/model.gguf`, { sha256: sum, onProgress: (loaded) => void (loaded === 20_000 && cut?.destroy()) });
    expect(readFileSync(target).equals(body)).toBe(true);
    expect(seen.filter(({ method }) => method === "GET").map(({ range }) => range)).toEqual([undefined, "bytes=20000-"]);
  });

  test("continues a partial download of an earlier day, and is checked as a whole", async () => {
    const { url, seen } = await site((request, response) => serve(request, response, { cutAt: seen.length < 2 ? 0 : Infinity }));
    const part = `${target}.${createHash("sha256").update(sum).digest("hex").slice(0, 12)}.part`;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(part, body.subarray(0, 30_000));
    await get(`${url}/model.gguf`, { sha256: sum });
    expect(readFileSync(target).equals(body)).toBe(true);
    expect(seen.at(-1)?.range).toBe("bytes=30000-");
  });

  test("is complete for two processes that fetch it at the same time", async () => {
    const waiting: (() => void)[] = [];
    const { url } = await site((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      if (request.method === "HEAD") return serve(request, response);
      response.writeHead(from > 0 ? 206 : 200, { "content-length": body.length - from });
      const half = from + Math.floor((body.length - from) / 2);
      response.write(body.subarray(from, half));
      waiting.push(() => response.end(body.subarray(half)));
    });
    let later: Promise<void> | undefined;
    const finish = (): void => {
      for (const go of waiting.splice(0)) go();
    };
    const started = (loaded: number): void => {
      if (loaded >= 25_000) later ??= get(`${url}/model.gguf`, { sha256: sum, onProgress: finish });
    };
    await get(`${url}/model.gguf`, { sha256: sum, onProgress: started });
    await later;
    expect(readFileSync(target).equals(body)).toBe(true);
    expect(folder()).toEqual(["model.gguf"]);
  });

  test("is not fetched if the disk has no room", async () => {
    const { url, seen } = await site((request, response) => serve(request, response, { headers: { "x-linked-size": String(2 ** 60) } }));
    await expect(get(`${url}/model.gguf`)).rejects.toThrow(/^model.gguf needs 1152921504.6 GB, but .* has only [\d.]+ GB left$/);
    expect(seen.map(({ method }) => method)).toEqual(["HEAD"]);
  });

  test("is fetched anew if it was complete before and its size is unknown", async () => {
    const { url, seen } = await site((request, response) => {
      if (request.method === "HEAD") return void response.writeHead(405).end();
      if (request.headers.range === `bytes=${body.length}-`) return void response.writeHead(416).end();
      serve(request, response);
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(`${target}.${createHash("sha256").update(sum).digest("hex").slice(0, 12)}.part`, body);
    await get(`${url}/model.gguf`, { sha256: sum });
    expect(readFileSync(target).equals(body)).toBe(true);
    expect(seen.at(-1)?.range).toBeUndefined();
  });

  test("is fetched from the start if the server has no ranges", async () => {
    const { url } = await site((request, response) => {
      delete request.headers.range;
      serve(request, response);
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(`${target}.${createHash("sha256").update(sum).digest("hex").slice(0, 12)}.part`, body.subarray(0, 30_000));
    await get(`${url}/model.gguf`, { sha256: sum });
    expect(readFileSync(target).equals(body)).toBe(true);
  });

  test("that changed on the server is not mixed from both versions", async () => {
    let etag = '"one"';
    const { url } = await site((request, response) =>
      serve(request, response, { headers: { etag }, cutAt: etag === '"one"' ? 20_000 : Infinity }),
    );
    await expect(get(`${url}/model.gguf`)).rejects.toThrow(EngineError);
    etag = '"two"';
    await get(`${url}/model.gguf`);
    expect(readFileSync(target).equals(body)).toBe(true);
  });

  test("with a wrong checksum never gets its name, and its part is deleted", async () => {
    const { url } = await site((request, response) => serve(request, response, { bytes: Buffer.from(body).fill(0, 99, 100) }));
    await expect(get(`${url}/model.gguf`, { sha256: sum })).rejects.toThrow(/is not the expected file: its checksum is [0-9a-f]{64}, not/);
    expect(folder()).toEqual([]);
  });

  test("that keeps breaking off is an error in the end, and its part stays", async () => {
    const { url, seen } = await site((request, response) => serve(request, response, { cutAt: 100 }));
    await expect(get(`${url}/model.gguf`, { sha256: sum })).rejects.toThrow(/broke|ended the file/);
    expect(seen.length).toBeLessThan(12);
    expect(folder()).toEqual([expect.stringMatching(/\.part$/)]);
  });

  test.each([
    [401, "auth", /HF_TOKEN/],
    [403, "permission", /HF_TOKEN/],
    [404, "not-found", /no such file/],
  ])("answered with %i is an error at once: %s", async (status, code, message) => {
    const { url, seen } = await site((_, response) => response.writeHead(status).end());
    const error = await get(`${url}/model.gguf`).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).info).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(seen).toHaveLength(1);
    expect(existsSync(target)).toBe(false);
  });

  test("stops on an abort", async () => {
    const controller = new AbortController();
    const { url } = await site((request, response) => {
      if (request.method === "HEAD") serve(request, response);
      else {
        response.writeHead(200, { "content-length": body.length });
        response.write(body.subarray(0, 1000));
      }
    });
    const running = get(`${url}/model.gguf`, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(running).rejects.toThrow(/abort/i);
  });
});

describe("redirects", () => {
  test("the token is not sent to another host; the hub's checksum counts", async () => {
    const cdn = await site((request, response) => serve(request, response));
    const hub = await site((_, response) =>
      response.writeHead(302, { location: `${cdn.url}/blob`, "x-linked-etag": `"${sum}"`, "x-linked-size": String(body.length) }).end(),
    );
    const token = { value: "secret", origin: new URL(hub.url).origin };
    await get(`${hub.url}/model.gguf`, { token });
    expect(hub.seen.every(({ token }) => token === "Bearer secret")).toBe(true);
    expect(cdn.seen.length).toBeGreaterThan(0);
    expect(cdn.seen.every(({ token }) => token === undefined)).toBe(true);
  });

  test("the hub's checksum is enforced", async () => {
    const cdn = await site((request, response) => serve(request, response, { bytes: Buffer.alloc(body.length) }));
    const hub = await site((_, response) =>
      response.writeHead(302, { location: `${cdn.url}/blob`, "x-linked-etag": `"${sum}"`, "x-linked-size": String(body.length) }).end(),
    );
    await expect(get(`${hub.url}/model.gguf`)).rejects.toThrow(/checksum/);
  });

  test("without end, or to a host without https, are refused", async () => {
    const round = await site((_, response) => response.writeHead(302, { location: "/again" }).end());
    await expect(get(`${round.url}/model.gguf`)).rejects.toThrow(/redirects without end/);
    const down = await site((_, response) => response.writeHead(302, { location: "http://example.invalid/x" }).end());
    await expect(get(`${down.url}/model.gguf`)).rejects.toThrow(/not https/);
  });
});

describe("a model on the hub", () => {
  const files = [
    "README.md",
    "mmproj-F16.gguf",
    "m-Q8_0.gguf",
    "m-Q4_K_M.gguf",
    "big/m-BF16-00001-of-00002.gguf",
    "big/m-BF16-00002-of-00002.gguf",
  ];
  const hub = () =>
    site((request, response) => {
      const path = request.url ?? "";
      if (path.startsWith("/api/models/org/repo/tree/main"))
        return void response.end(
          JSON.stringify(files.map((path) => ({ type: "file", path, size: body.length, lfs: { oid: sum, size: body.length } }))),
        );
      if (path.startsWith("/org/repo/resolve/main/")) return serve(request, response);
      response.writeHead(404).end();
    });
  const options = (url: string, more = {}) => ({
    cacheDir: join(home, String(count)),
    environment: { HF_ENDPOINT: url, HF_TOKEN: "secret", ...more },
  });

  test.each([
    ["hf:org/repo", ["m-Q4_K_M.gguf"]],
    ["hf:org/repo:q8_0", ["m-Q8_0.gguf"]],
    ["hf:org/repo:BF16", ["big/m-BF16-00001-of-00002.gguf", "big/m-BF16-00002-of-00002.gguf"]],
  ])("%s is found, fetched once, and then needs no hub", async (model, expected) => {
    const { url, seen } = await hub();
    const path = await findModel(model, options(url));
    expect(path).toBe(join(home, String(count), "models", "hf", "org", "repo", expected[0]!));
    expect(readFileSync(path).equals(body)).toBe(true);
    const fetched = seen.filter(({ method }) => method === "GET").map(({ path }) => path.split("/main/")[1]);
    expect(fetched.slice(1)).toEqual(expected);
    expect(seen.every(({ token }) => token === "Bearer secret")).toBe(true);
    const asked = seen.length;
    expect(await findModel(model, options(url))).toBe(path);
    expect(seen).toHaveLength(asked);
  });

  test.each([
    ["hf:org/repo:Q2_K", /has no Q2_K: it has m-Q8_0.gguf, m-Q4_K_M.gguf|has no Q2_K/],
    ["hf:org/none", /404: there is no such model, or it needs a token/],
    ["hf:nonsense", /a model on the hub is named hf:owner\/repo/],
    ["hf:../x/../y", /a model on the hub is named/],
    ["http://example.org/m.gguf", /over https/],
    ["./none.gguf", /there is no file/],
  ])("%s is a clear error", async (model, message) => {
    const { url } = await hub();
    await expect(findModel(model, options(url))).rejects.toThrow(message);
  });

  test("without an answer of the hub, the error says that the model is not in the cache", async () => {
    await expect(findModel("hf:org/repo", options(nobody))).rejects.toThrow(/does not answer: .*, and the model is not in the cache$/);
  });

  test("the page of a file on the hub stands for the file, and a URL is fetched once", async () => {
    const { url, seen } = await hub();
    const path = await findModel(`${url}/org/repo/blob/main/m-Q8_0.gguf`, options(url));
    expect(readFileSync(path).equals(body)).toBe(true);
    const asked = seen.length;
    await findModel(`${url}/org/repo/blob/main/m-Q8_0.gguf`, options(url));
    expect(seen).toHaveLength(asked);
  });
});

test("the cache is where the system or the user wants it", () => {
  expect(cacheFolder({ DRAGOMAN_CACHE: "/c" }, "linux")).toBe("/c");
  expect(cacheFolder({ XDG_CACHE_HOME: "/x" }, "linux")).toBe(join("/x", "dragoman"));
  expect(cacheFolder({}, "darwin")).toContain(join("Library", "Caches", "dragoman"));
  expect(cacheFolder({ LOCALAPPDATA: "/l" }, "win32")).toBe(join("/l", "dragoman", "Cache"));
});
