/**
 * Downloads a large file over HTTP. An interrupted download is continued; the file gets its name only when it is complete and its
 * checksum right.
 *
 *     model.gguf.3f2a9c01b7d4.part  ->  model.gguf
 */
import { createHash, type Hash } from "node:crypto";
import { constants, createReadStream, existsSync } from "node:fs";
import { mkdir, open, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type RequestInit as ProxiedInit, fetch as proxied } from "undici/index.js";
import type { ErrorInfo } from "../../core/nouns.ts";
import { EngineError } from "../error.ts";
import { proxyTo } from "../http/proxy.ts";

export interface DownloadOptions {
  /** Of the whole file, in hexadecimal, if known. */
  sha256?: string | undefined;
  /** Sent only to this origin, not to the target of a redirect elsewhere. */
  token?: { value: string; origin: string } | undefined;
  onProgress?: ((loaded: number, total: number | undefined) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** The delay before the first retry; doubled with each retry. */
  retryMs?: number | undefined;
}

const TRIES = 5;
const MAX_REDIRECTS = 8;
const RETRY_MS = 1000;

export async function download(url: string, target: string, options: DownloadOptions = {}): Promise<void> {
  const file = await identify(url, options);
  const part = `${target}.${createHash("sha256").update(file.identity).digest("hex").slice(0, 12)}.part`;
  await mkdir(dirname(target), { recursive: true });
  await checkRoom(nameOf(url), dirname(target), (file.size ?? 0) - (await sizeOf(part)));
  let loaded = 0;
  for (let tries = 1; ; tries++) {
    const before = loaded;
    try {
      loaded = await fetchRest(url, part, file, options);
      break;
    } catch (error) {
      loaded = await sizeOf(part);
      if (loaded > before) tries = 1; // there was progress
      if (!(error instanceof Cut) || tries >= TRIES) throw error;
      await pause((options.retryMs ?? RETRY_MS) * 2 ** (tries - 1), undefined, { signal: options.signal });
    }
  }
  await rename(part, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || !existsSync(target)) throw error; // otherwise another process has downloaded it meanwhile
  });
}

/** Checks the free space before many gigabytes are downloaded. */
async function checkRoom(name: string, folder: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [wanted, free] = [needed, bavail * bsize].map((bytes) => `${(bytes / 1e9).toFixed(1)} GB`);
  if (needed > bavail * bsize)
    throw new EngineError({ code: "internal", message: `${name} needs ${wanted}, but ${folder} has only ${free} left` });
}

interface Remote {
  readonly identity: string;
  readonly sha256: string | undefined;
  readonly size: number | undefined;
}

/** Identifies the file, so that a download is never continued with the rest of another file. */
async function identify(url: string, options: DownloadOptions): Promise<Remote> {
  const { answer, linked } = await request(url, "HEAD", {}, options);
  await answer.body?.cancel();
  if (!answer.ok && answer.status !== 405) throw new EngineError(refusalOf(answer, url));
  const etag = linked.etag ?? answer.headers.get("etag") ?? "";
  const sha256 = options.sha256 ?? (/^[0-9a-f]{64}$/i.test(etag) ? etag : undefined);
  const size = linked.size ?? (answer.ok ? lengthOf(answer.headers.get("content-length")) : undefined);
  return { identity: sha256 ?? `${url} ${etag} ${size}`, sha256: sha256?.toLowerCase(), size };
}

/** What was downloaded: its length, the expected length, and its hash. */
interface Fetched {
  readonly loaded: number;
  readonly total: number | undefined;
  readonly hash: Hash;
}

/** Downloads the missing rest. Returns the length of the file; throws if the file is not the expected one. */
async function fetchRest(url: string, part: string, { sha256, size }: Remote, options: DownloadOptions): Promise<number> {
  const there = await sizeOf(part);
  if (size !== undefined && there > size) await rm(part);
  const isThere = there > 0 && there === size;
  const { loaded, total, hash } = isThere
    ? { loaded: there, total: size, hash: await hashOf(part, there) }
    : await append(url, part, size, options);
  if (total !== undefined && loaded < total)
    throw new Cut({ code: "upstream", message: `${hostOf(url)} ended the file after ${loaded} of ${total} bytes` });
  const sum = hash.digest("hex");
  const isOther = sha256 !== undefined && sum !== sha256;
  if (!isOther && (total === undefined || loaded === total)) return loaded;
  await rm(part);
  const what = isOther ? `its checksum is ${sum}, not ${sha256}` : `it has ${loaded} bytes, not ${total}`;
  throw new EngineError({ code: "upstream", message: `what ${hostOf(url)} sent for ${nameOf(url)} is not the expected file: ${what}` });
}

async function append(url: string, part: string, size: number | undefined, options: DownloadOptions): Promise<Fetched> {
  let loaded = await sizeOf(part);
  const { answer } = await request(url, "GET", loaded > 0 ? { range: `bytes=${loaded}-` } : {}, options);
  if (!answer.ok || !answer.body) {
    await answer.body?.cancel();
    if (answer.status === 416 && loaded > 0) {
      await rm(part); // nothing follows what is there: it is the whole file, or another one
      return append(url, part, size, options);
    }
    throw answer.status >= 500 || answer.status === 429 ? new Cut(refusalOf(answer, url)) : new EngineError(refusalOf(answer, url));
  }
  if (answer.status !== 206) loaded = 0; // the server ignores the range and sends the whole file
  const hash = await hashOf(part, loaded);
  const rest = lengthOf(answer.headers.get("content-length"));
  const total = size ?? (rest === undefined ? undefined : loaded + rest);
  // Writes at explicit positions: another process that downloads the same file writes the same bytes there.
  const file = await open(part, constants.O_WRONLY | constants.O_CREAT);
  try {
    for await (const chunk of chunksOf(answer.body, url)) {
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at, chunk.length - at, loaded + at)).bytesWritten;
      hash.update(chunk);
      loaded += chunk.length;
      options.onProgress?.(loaded, total);
    }
  } finally {
    await file.close();
  }
  return { loaded, total, hash };
}

/** An error that is worth a retry, such as a broken connection. */
export class Cut extends EngineError {}

async function* chunksOf(body: ReadableStream<Uint8Array>, url: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>;
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new Cut({ code: "upstream", message: `the connection to ${hostOf(url)} broke` }, { cause: error });
  }
}

/** Follows redirects itself, so that the token stays with its host, and since the hub's redirects describe the file. */
export async function request(url: string, method: string, headers: Record<string, string>, { token, signal }: DownloadOptions) {
  const linked: { etag?: string; size?: number } = {};
  let at = new URL(url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const own: Record<string, string> = token && at.origin === token.origin ? { authorization: `Bearer ${token.value}` } : {};
    const answer = await send(at, {
      method,
      headers: { ...headers, ...own, "accept-encoding": "identity" },
      redirect: "manual",
      signal: signal ?? null,
    });
    const etag = answer.headers.get("x-linked-etag")?.replace(/^W\/|"/g, "");
    const size = lengthOf(answer.headers.get("x-linked-size"));
    if (etag) linked.etag = etag;
    if (size !== undefined) linked.size = size;
    const location = answer.headers.get("location");
    if (answer.status < 300 || answer.status >= 400 || location === null) return { answer, linked };
    await answer.body?.cancel();
    const next = new URL(location, at);
    if (!isSafe(next))
      throw new EngineError({ code: "upstream", message: `${at.host} redirects to ${next.protocol}//${next.host}, which is not https` });
    at = next;
  }
  throw new EngineError({ code: "upstream", message: `${hostOf(url)} redirects without end` });
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  const dispatcher = proxyTo(url, { keepAliveTimeout: 1 });
  try {
    // undici's agent needs undici's fetch: Node's built-in one may be of another version.
    return dispatcher ? ((await proxied(url, { ...(init as ProxiedInit), dispatcher })) as unknown as Response) : await fetch(url, init);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    const cause = (error as Error).cause;
    throw new Cut(
      { code: "upstream", message: `${url.host} does not answer: ${cause instanceof Error ? cause.message : String(error)}` },
      { cause: error },
    );
  }
}

/** Whether the URL is https, or on this machine. */
export const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname));

function refusalOf({ status }: Response, url: string): ErrorInfo {
  const what = `${hostOf(url)} answers ${status} for ${nameOf(url)}`;
  if (status === 401 || status === 403) {
    const hint = "the model may be private, or its licence may have to be accepted first: set HF_TOKEN to a token that may read it";
    return { code: status === 401 ? "auth" : "permission", message: `${what}; ${hint}`, status };
  }
  if (status === 404) return { code: "not-found", message: `${what}: there is no such file`, status };
  return { code: "upstream", message: what, status };
}

const hostOf = (url: string): string => new URL(url).host;
const nameOf = (url: string): string => decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");
const lengthOf = (text: string | null): number | undefined => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined);

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Hashes the first `length` bytes of a file. */
async function hashOf(path: string, length: number): Promise<Hash> {
  const hash = createHash("sha256");
  if (length > 0) for await (const chunk of createReadStream(path, { end: length - 1 })) hash.update(chunk as Buffer);
  return hash;
}
