// Paths: what clients send, what users get wrong, and model names that look like paths.
import { describe, expect, test } from "vitest";
import { type Route, readUrl, routeOf } from "../../src/gateway/routes.ts";

const route = (method: string, url: string, headers: Record<string, string> = {}): Route => routeOf({ method, ...readUrl(url), headers });
const generate = (wire: string, path: string) => ({ kind: "generate", wire, path });

test.each<[string, object]>([
  ["POST /v1/chat/completions", generate("openai-chat", "/v1/chat/completions")],
  ["POST /v1/responses", generate("openai-responses", "/v1/responses")],
  ["POST /v1/responses/compact", generate("openai-responses", "/v1/responses/compact")],
  ["POST /backend-api/codex/responses", generate("openai-responses", "/v1/responses")],
  ["POST /codex/responses", generate("openai-responses", "/v1/responses")],
  ["POST /v1/messages?beta=true", generate("anthropic", "/v1/messages")],
  ["POST /v1/messages/count_tokens?beta=true", { kind: "count", wire: "anthropic" }],
  ["POST /v1beta/models/m:generateContent", generate("gemini", "/v1beta/models/m:generateContent")],
  ["POST /v1beta/models/m:countTokens", { kind: "count", wire: "gemini" }],
  ["POST /v1beta/models/m:embedContent", { kind: "pass", model: "m", behind: ":embedContent" }],
  ["POST /api/chat", generate("ollama", "/api/chat")],
  ["POST /api/generate", generate("ollama", "/api/generate")],
  ["POST /api/embed", { kind: "pass", wire: "ollama", path: "/api/embed" }],
  ["POST /v1/embeddings", { kind: "pass", wire: "openai-chat", path: "/v1/embeddings" }],
  ["POST /v1/completions", { kind: "pass", wire: "openai-chat", path: "/v1/completions" }],
  ["GET /api/tags", { kind: "models", wire: "ollama" }],
  ["GET /v1beta/models", { kind: "models", wire: "gemini" }],
  ["GET /v1/models", { kind: "models", wire: "openai-chat" }],
  ["GET /v1/models?client_version=0.166.0", { kind: "catalogue", wire: "openai-chat" }],
  ["GET /health", { kind: "health" }],
  ["HEAD /", { kind: "root" }],
  ["HEAD /api/hello", { kind: "root" }],
])("%s", (line, expected) => {
  const [method = "", url = ""] = line.split(" ");
  expect(route(method, url)).toMatchObject(expected);
});

test.each([
  ["POST", "/v1/messages/batches", "anthropic"],
  ["POST", "/v1/projects/p/locations/us/publishers/google/models/m:streamGenerateContent", "gemini"],
  ["POST", "/v1beta/cachedContents", "gemini"],
  ["GET", "/v1beta/openai/models", "openai-chat"],
])("%s %s is answered in the caller's format", (method, url, wire) => {
  expect(route(method, url)).toMatchObject({ wire });
});

describe("model names may contain slashes and colons", () => {
  test.each([
    ["/v1beta/models/google/gemma-3:free:generateContent", "/v1beta/models/google/gemma-3:free:generateContent"],
    ["/v1beta/models/google%2Fgemma-3%3Afree:generateContent", "/v1beta/models/google%2Fgemma-3%3Afree:generateContent"],
    [`/v1beta/models/${"x".repeat(300)}:generateContent`, `/v1beta/models/${"x".repeat(300)}:generateContent`],
    ["/v1beta/models/m%3AgenerateContent", "/v1beta/models/m:generateContent"],
  ])("POST %s", (url, path) => {
    expect(route("POST", url)).toEqual(generate("gemini", path));
  });
  test("an unknown method is an unknown path", () => {
    expect(route("POST", "/v1beta/models/m:batchGenerateContent")).toMatchObject({ kind: "unknown", wire: "gemini" });
  });
  test.each([
    ["/v1/models/qwen/qwen3:8b", "qwen/qwen3:8b"],
    ["/v1/models/qwen%2Fqwen3:8b", "qwen/qwen3:8b"],
    ["/v1beta/models/a:b", "a:b"],
    ["/v1/models/100%", "100%"],
    ["/v1/models/__proto__", "__proto__"],
  ])("GET %s", (url, id) => {
    expect(route("GET", url)).toMatchObject({ kind: "model", id });
  });
});

describe("wrong base URLs still work", () => {
  test.each([
    ["/v1/v1/messages", "anthropic"],
    ["/v1/v1/chat/completions", "openai-chat"],
    ["/chat/completions", "openai-chat"],
    ["/responses", "openai-responses"],
    ["/v1/chat/completions/", "openai-chat"],
    ["//v1//chat/completions", "openai-chat"],
    ["/v1/v1beta/models/m:generateContent", "gemini"],
    ["/v1/models/m:generateContent", "gemini"],
    ["/models/m:streamGenerateContent", "gemini"],
    ["/api/api/chat", "ollama"],
    ["/v1/api/chat", "ollama"],
    ["/api/v1/chat/completions", "openai-chat"],
  ])("POST %s", (url, wire) => {
    expect(route("POST", url)).toMatchObject({ kind: "generate", wire });
  });
  test.each(["/v1", "/chat", "/v2/chat/completions", "/constructor", "/api/constructor", "/v1/files", "/etc/passwd", "/v1/../etc", "*"])(
    "%s is not served, and the hint says what to set",
    (url) => {
      expect(route("POST", url)).toMatchObject({ kind: "unknown", hint: expect.stringContaining("base URL") });
    },
  );
  test.each([
    "/v1/files",
    "/v1/batches",
    "/v1/messages/batches",
    "/v1/responses/resp_1",
    "/upload/v1beta/files",
    "/v1beta/cachedContents",
    "/v1beta/models/m:batchGenerateContent",
    "/api/pull",
  ])("%s is something the gateway does not have, and the hint says so first", (url) => {
    expect(route("POST", url)).toMatchObject({ kind: "unknown", hint: expect.stringMatching(/^chats, .*no files, batches/) });
  });
  test("a whole endpoint used as a base URL is recognized", () => {
    const url = "/v1/chat/completions/chat/completions";
    expect(route("POST", url)).toMatchObject({ kind: "unknown", hint: expect.stringMatching(/^set the client's base URL/) });
  });
});

describe("clouds with more in their paths", () => {
  test.each([
    ["/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", "gpt-4o"],
    ["/openai/deployments/team%2Fgpt/chat/completions", "team/gpt"],
  ])("Azure has the model there: %s", (url, model) => {
    expect(route("POST", url)).toEqual({ ...generate("openai-chat", "/v1/chat/completions"), model });
  });
  test.each(["/v1beta1/publishers/google/models/m", "/v1/projects/p-1/locations/global/publishers/google/models/m"])(
    "Vertex: %s",
    (url) => {
      expect(route("POST", `${url}:streamGenerateContent?alt=sse`)).toEqual(generate("gemini", "/v1beta/models/m:streamGenerateContent"));
      expect(route("POST", `${url}:countTokens`)).toMatchObject({ kind: "count", wire: "gemini" });
      expect(route("GET", url)).toMatchObject({ kind: "model", wire: "gemini", id: "m" });
    },
  );
  test("Vertex clients put the part before the slash of a model name into the publisher", () => {
    const url = "/v1beta1/projects/p/locations/us/publishers/meta-llama/models/Llama-4";
    expect(route("POST", `${url}:generateContent`)).toEqual(generate("gemini", "/v1beta/models/meta-llama/Llama-4:generateContent"));
    expect(route("GET", url)).toMatchObject({ kind: "model", wire: "gemini", id: "meta-llama/Llama-4" });
  });
});

test("a client that asks /v1/models is recognized by its SDK's headers", () => {
  expect(route("GET", "/v1/models", { "anthropic-version": "2023-06-01" }).wire).toBe("anthropic");
  expect(route("GET", "/v1/models", { "x-goog-api-key": "k" }).wire).toBe("gemini");
  expect(route("GET", "/models", { authorization: "Bearer k" }).wire).toBe("openai-chat");
  expect(route("GET", "/api/v1/models", { authorization: "Bearer k" }).wire).toBe("openai-chat"); // a base URL like OpenRouter's
});

// @google/genai 3 sends everything to /v1 unless its user says otherwise.
test("Google's SDKs are served under /v1 as under /v1beta", () => {
  for (const version of ["v1", "v1beta"]) {
    const asked = (method: string, path: string) => route(method, `/${version}${path}`, { "x-goog-api-key": "k" });
    expect(asked("POST", "/models/m:streamGenerateContent?alt=sse")).toEqual(generate("gemini", "/v1beta/models/m:streamGenerateContent"));
    expect(asked("POST", "/models/m:countTokens")).toMatchObject({ kind: "count", wire: "gemini" });
    expect(asked("POST", "/models/m:batchEmbedContents")).toMatchObject({ kind: "pass", behind: ":batchEmbedContents" });
    expect(asked("POST", "/models/m:batchGenerateContent")).toMatchObject({ kind: "unknown", wire: "gemini" });
    expect(asked("POST", "/interactions")).toMatchObject({ kind: "unknown", wire: "gemini" });
    expect(asked("GET", "/models/m")).toMatchObject({ kind: "model", wire: "gemini" });
    expect(asked("GET", "/models")).toMatchObject({ kind: "models", wire: "gemini" });
  }
});

test("a WebSocket upgrade is recognized", () => {
  expect(route("GET", "/v1/responses", { upgrade: "websocket" })).toMatchObject({ kind: "upgrade" });
  expect(route("GET", "/v1/responses")).toMatchObject({ kind: "wrong-method", allow: "POST" });
});
