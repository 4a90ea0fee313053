// Servers behind a company's proxy, and URLs with more than a host and path.
import { connect } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { collect } from "../../../src/core/fold.ts";
import { request as fetchOne } from "../../../src/engines/llama/download.ts";
import { createRemote } from "../../../src/engines/remote.ts";
import { probeWire } from "../../../src/gateway/connect.ts";
import { all } from "../../events.ts";
import { answering, closeLater, nobody, startServer, type TestServer } from "../../servers.ts";

const body = JSON.stringify({ id: "1", choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] });
const asking = { model: "m", messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }] };

async function hear(url: string): Promise<unknown> {
  const remote = createRemote({ wire: "openai-chat", url });
  closeLater(() => remote.close());
  const { content, finish } = collect(await all(remote.generate(asking)));
  return finish?.error ?? content;
}

/** Connects every client to the server, wherever it wanted to go. */
async function startProxy(target: TestServer | undefined): Promise<{ url: string; asked: string[] }> {
  const proxy = await startServer((response) => void response.writeHead(502).end());
  const asked: string[] = [];
  proxy.server.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    if (!target) return void socket.end("HTTP/1.1 403 no\r\n\r\n");
    const behind = connect(Number(new URL(target.url).port), "127.0.0.1", () => socket.write("HTTP/1.1 200 ok\r\n\r\n"));
    behind.pipe(socket).pipe(behind);
    for (const end of [behind, socket]) end.on("error", () => {});
    closeLater(() => [behind, socket].map((end) => end.destroy()));
  });
  return { url: proxy.url, asked };
}

afterEach(() => vi.unstubAllEnvs());

describe("a proxy from the environment", () => {
  const clean = () => {
    for (const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"]) vi.stubEnv(name, undefined);
  };

  test("is used for a remote server, its probes, and downloads", async () => {
    clean();
    const server = await startServer(answering(body));
    const proxy = await startProxy(server);
    vi.stubEnv("HTTP_PROXY", proxy.url.replace("http://", "")); // in curl's spelling
    expect(await hear("http://api.corp.example/v1")).toEqual([{ type: "text", text: "Hello" }]);
    await probeWire("http://api.corp.example/v1");
    const { answer } = await fetchOne("http://hub.corp.example/m.gguf", "GET", {}, {});
    expect(await answer.text()).toBe(body);
    expect(new Set(proxy.asked)).toEqual(new Set(["api.corp.example:80", "hub.corp.example:80"]));
  });

  test("is not used for this machine, nor for hosts in NO_PROXY", async () => {
    clean();
    const server = await startServer(answering(body));
    const proxy = await startProxy(server);
    vi.stubEnv("HTTP_PROXY", proxy.url);
    vi.stubEnv("NO_PROXY", "corp.invalid");
    expect(await hear(`${server.url}/v1`)).toEqual([{ type: "text", text: "Hello" }]);
    expect(await hear(`${server.url.replace("127.0.0.1", "localhost")}/v1`)).toBeDefined();
    expect(await hear("http://api.corp.invalid/v1")).toMatchObject({ message: expect.stringContaining("api.corp.invalid") });
    expect(proxy.asked).toEqual([]);
  });

  test("that refuses is named in the error", async () => {
    clean();
    vi.stubEnv("HTTP_PROXY", (await startProxy(undefined)).url);
    expect(await hear("http://api.corp.example/v1")).toMatchObject({
      code: "upstream",
      message: expect.stringContaining("the proxy set in HTTPS_PROXY or HTTP_PROXY did not connect to the upstream (api.corp.example"),
    });
  });

  test("that is not running is named, too, since the upstream may be fine", async () => {
    clean();
    vi.stubEnv("HTTP_PROXY", nobody);
    const note = "a proxy is set in HTTP_PROXY or HTTPS_PROXY";
    expect(await hear("http://api.corp.example/v1")).toMatchObject({ message: expect.stringContaining(note) });
    expect(await hear(`${nobody}/v1`)).toMatchObject({ message: expect.not.stringContaining(note) });
  });

  test.each(["http://", "two words", "ftp://proxy.example"])(
    "that is not a proxy URL, %s, is a mistake, and its value is not repeated",
    (url) => {
      clean();
      vi.stubEnv("https_proxy", url);
      expect(() => createRemote({ wire: "ollama", url: "http://api.corp.example" })).toThrow(
        /^https_proxy must be the URL of a proxy, such as http:\/\/proxy.example:3128$/,
      );
    },
  );
});

describe("the URL of a server", () => {
  test("may have a query, which is sent with every request", async () => {
    const server = await startServer(answering(body));
    await hear(`${server.url}/openai/v1?api-version=2024-10-21`);
    const gemini = createRemote({ wire: "gemini", url: `${server.url}?tenant=a` });
    closeLater(() => gemini.close());
    await gemini.models();
    expect(server.seen.map(({ url }) => url)).toEqual([
      "/openai/v1/chat/completions?api-version=2024-10-21",
      "/v1beta/models?pageSize=1000&tenant=a",
    ]);
  });

  test("may not have a password", () => {
    expect(() => createRemote({ wire: "ollama", url: "http://me:canary@host" })).toThrow(
      /must not contain a name and password.*; it is http:\/\/\[secret\]@host$/,
    );
  });
});
