/**
 * Where a model comes from:
 *
 *     ./model.gguf   https://example.org/model.gguf   hf:owner/repo   hf:owner/repo:Q8_0   embedded
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { basename, join, posix, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject } from "../../core/json.ts";
import { EngineError } from "../error.ts";
import { home } from "../home.ts";
import { Cut, download, isSafe, request } from "./download.ts";

export interface SourceOptions {
  /** Where downloads are kept. */
  cacheDir?: string | undefined;
  onDownload?: ((file: string, loaded: number, total: number | undefined) => void) | undefined;
  signal?: AbortSignal | undefined;
  environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The model that comes with Dragoman. */
export const EMBEDDED = fileURLToPath(new URL("../../../models/tiny/dragoman-tiny.gguf", import.meta.url));

/** The path of the model's file, which is downloaded if necessary. */
export async function findModel(model: string, options: SourceOptions = {}): Promise<string> {
  if (!model) throw new EngineError({ code: "bad-request", message: "no model is named: give a path, a URL, hf:owner/repo, or embedded" });
  if (model === "embedded") return EMBEDDED;
  if (model.startsWith("hf:")) return fromHub(model, options);
  if (/^https?:\/\//i.test(model)) return fromUrl(model, options);
  const path = resolve(model);
  if (!existsSync(path)) throw new EngineError({ code: "not-found", message: `there is no file ${model}` });
  return path;
}

/** Dragoman's folder among the system's caches. */
export function cacheFolder(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform: string = process.platform,
): string {
  const { DRAGOMAN_CACHE, XDG_CACHE_HOME, LOCALAPPDATA } = environment;
  if (DRAGOMAN_CACHE) return DRAGOMAN_CACHE;
  if (platform === "win32") return join(LOCALAPPDATA ?? join(home(), "AppData", "Local"), "dragoman", "Cache");
  if (platform === "darwin") return join(home(), "Library", "Caches", "dragoman");
  return join(XDG_CACHE_HOME || join(home(), ".cache"), "dragoman");
}

const modelsIn = ({ cacheDir, environment }: SourceOptions): string => join(cacheDir ?? cacheFolder(environment), "models");

const hubOf = ({ environment = process.env }: SourceOptions): string =>
  (environment.HF_ENDPOINT || "https://huggingface.co").replace(/\/+$/, "");

function tokenFor({ environment = process.env }: SourceOptions, hub: string): { value: string; origin: string } | undefined {
  const { HF_TOKEN } = environment;
  return HF_TOKEN ? { value: HF_TOKEN, origin: new URL(hub).origin } : undefined;
}

// ---- A URL

async function fromUrl(model: string, options: SourceOptions): Promise<string> {
  if (!URL.canParse(model) || !isSafe(new URL(model))) {
    throw new EngineError({ code: "bad-request", message: `a model can be downloaded only over https, not from ${model}` });
  }
  const hub = hubOf(options);
  // The URL of a file's page on the hub, which people copy.
  const url = model.startsWith(`${hub}/`) ? model.replace(/^([^?#]*?)\/blob\//, "$1/resolve/") : model;
  const { host, pathname } = new URL(url);
  const name = posix.basename(decodeURIComponent(pathname)).replace(/[^\w.-]+/g, "_") || "model.gguf";
  const place = createHash("sha256").update(url).digest("hex").slice(0, 12);
  const target = join(modelsIn(options), host.replaceAll(":", "_"), place, name);
  if (!existsSync(target)) await get(url, target, undefined, options);
  return target;
}

async function get(url: string, target: string, sha256: string | undefined, options: SourceOptions): Promise<void> {
  const { onDownload, signal } = options;
  const name = basename(target);
  await download(url, target, {
    sha256,
    token: tokenFor(options, hubOf(options)),
    onProgress: (loaded, total) => onDownload?.(name, loaded, total),
    signal,
  });
}

// ---- The hub

interface HubFile {
  readonly path: string;
  readonly sha256?: string;
}

/** Preferred quantizations, the first available is used: small enough for most machines, and good enough. */
const USUAL = ["Q4_K_M", "Q4_K_S", "Q4_K_XL", "Q4_0", "IQ4_XS", "MXFP4", "Q5_K_M", "Q6_K", "Q8_0", "F16", "BF16"];
const REFERENCE = /^hf:([\w.-]+)\/([\w.-]+)(?::([\w.-]+))?$/;
/** `model-00001-of-00003.gguf`: llama.cpp is given the first part and finds the others beside it. */
const SPLIT = /-(\d{5})-of-(\d{5})\.gguf$/i;

async function fromHub(model: string, options: SourceOptions): Promise<string> {
  const [, owner = "", repo = "", quant] = REFERENCE.exec(model) ?? [];
  if (owner === "")
    throw new EngineError({
      code: "bad-request",
      message: `a model on the hub is named hf:owner/repo or hf:owner/repo:quant, not ${model}`,
    });
  const folder = join(modelsIn(options), "hf", owner, repo);
  const here = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => ({ path: path.replaceAll("\\", "/") }))
    : [];
  const kept = choose(here, quant);
  if (kept && isWhole(kept)) return join(folder, kept[0]!.path);
  const hub = hubOf(options);
  const files = await listHub(`${hub}/api/models/${owner}/${repo}/tree/main?recursive=true`, options);
  const chosen = choose(files, quant);
  if (!chosen) {
    const names = files.filter(isModel).map(({ path }) => path);
    const there = names.length === 0 ? "it has no GGUF" : `it has ${names.slice(0, 12).join(", ")}${names.length > 12 ? " and more" : ""}`;
    throw new EngineError({ code: "not-found", message: `${owner}/${repo} has no ${quant ?? "model"}: ${there}` });
  }
  for (const { path, sha256 } of chosen) {
    const target = join(folder, ...path.split("/"));
    if (!existsSync(target))
      await get(`${hub}/${owner}/${repo}/resolve/main/${path.split("/").map(encodeURIComponent).join("/")}`, target, sha256, options);
  }
  return join(folder, ...chosen[0]!.path.split("/"));
}

const isModel = ({ path }: HubFile): boolean => /\.gguf$/i.test(path) && !/(^|\/)(mmproj|imatrix)/i.test(path);

/** The files of one model, in order; `undefined`: no model was found. */
function choose(files: readonly HubFile[], quant: string | undefined): HubFile[] | undefined {
  const models = files.filter(isModel).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const has = (word: string) => models.find(({ path }) => new RegExp(`(^|[-_./])${word.replaceAll(".", "\\.")}([-_./]|$)`, "i").test(path));
  const first = quant === undefined ? (USUAL.map(has).find(Boolean) ?? models[0]) : has(quant);
  if (!first) return undefined;
  const stem = first.path.replace(SPLIT, "");
  return SPLIT.test(first.path) ? models.filter(({ path }) => SPLIT.test(path) && path.replace(SPLIT, "") === stem) : [first];
}

const isWhole = (files: readonly HubFile[]): boolean => files.length === Number(SPLIT.exec(files[0]?.path ?? "")?.[2] ?? 1);

async function listHub(url: string, options: SourceOptions): Promise<HubFile[]> {
  const { origin, host } = new URL(url);
  const { answer } = await request(url, "GET", {}, { token: tokenFor(options, origin), signal: options.signal }).catch((error: unknown) => {
    if (!(error instanceof Cut)) throw error;
    throw new EngineError({ code: "upstream", message: `${error.message}, and the model is not in the cache` }, { cause: error });
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    const unseen = [401, 403, 404].includes(answer.status);
    const hint = unseen ? ": there is no such model, or it needs a token (HF_TOKEN)" : "";
    throw new EngineError({
      code: unseen ? "not-found" : "upstream",
      message: `${host} answers ${answer.status}${hint}`,
      status: answer.status,
    });
  }
  const list: unknown = await answer.json();
  if (!Array.isArray(list)) throw new EngineError({ code: "upstream", message: `${host} sent no list of files` });
  return list.flatMap((entry): HubFile[] => {
    if (!isObject(entry) || typeof entry.path !== "string" || entry.path.split("/").includes("..")) return [];
    const sha256 = isObject(entry.lfs) && typeof entry.lfs.oid === "string" ? entry.lfs.oid : undefined;
    return [{ path: entry.path, ...(sha256 === undefined ? {} : { sha256 }) }];
  });
}
