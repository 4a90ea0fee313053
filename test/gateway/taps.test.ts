// A tap on an exchange gets every byte at both edges, and no credential.
import { expect, test } from "vitest";
import type { OpenTap, Tap } from "../../src/gateway/tap.ts";
import { answering, sse, startServer } from "../servers.ts";
import { ask, askSmallest, json, remote, SMALLEST, STREAMED, scripted, startGateway } from "./start.ts";

const stream = sse({ id: "c", model: "m", choices: [{ index: 0, delta: { content: "Grüße" }, finish_reason: "stop" }] }, "[DONE]");

interface Heard {
  lines: string[];
  in: string;
  out: string;
}

/** What the tap got, in order, with the bytes of each edge. */
function listener(): { tap: Tap; heard: Heard } {
  const heard: Heard = { lines: [], in: "", out: "" };
  const text = new TextDecoder();
  const decode = (bytes: string | Uint8Array): string => (typeof bytes === "string" ? bytes : text.decode(bytes, { stream: true }));
  const tap: Tap = {
    asked: ({ method, url, headers, body }) => heard.lines.push(`asked ${method} ${url} ${JSON.stringify(headers)} ${body}`),
    replied: ({ status, headers }) => heard.lines.push(`replied ${status} ${headers["content-type"]}`),
    wrote: (bytes) => {
      heard.out += decode(bytes);
    },
    event: ({ type }) => heard.lines.push(type),
    ended: ({ outcome }) => heard.lines.push(`ended ${outcome}`),
    upstream: {
      sent: ({ method, url, headers, body }) =>
        heard.lines.push(`sent ${method} ${new URL(url).pathname} ${JSON.stringify(headers)} ${decode(body)}`),
      answered: ({ status }) => heard.lines.push(`answered ${status}`),
      received: (bytes) => {
        heard.in += decode(bytes);
      },
    },
  };
  return { tap, heard };
}

test.each([1, 2])("%i taps get a stream from its beginning to its end", async (count) => {
  const upstream = await startServer((response, { method }) => {
    if (method === "GET") return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
  });
  const listeners = Array.from({ length: count }, listener);
  const gateway = await startGateway({
    keys: ["client-canary"],
    upstreams: { up: remote(upstream.url, "openai-chat", "upstream-canary") },
    taps: listeners.map(
      ({ tap }) =>
        () =>
          tap,
    ),
  });
  const secrets = { "x-goog-api-key": "client-canary", cookie: "cookie-canary", "x-credential": "canary", "x-master-key": "canary" };
  const { body } = await askSmallest(gateway.url, "gemini", STREAMED, { ...secrets, "x-author": "me" });
  await gateway.ended(1);
  for (const { heard } of listeners) {
    expect(heard.out).toBe(body);
    expect(heard.in).toBe(stream);
    const kinds = heard.lines.map((line) => line.split(" ")[0]);
    expect(kinds.filter((kind) => kind !== "replied")).toEqual(["asked", "sent", "answered", "start", "text", "finish", "ended"]);
    expect(kinds.indexOf("replied")).toBeGreaterThan(kinds.indexOf("answered"));
    expect(heard.lines.find((line) => line.startsWith("asked"))).toContain(JSON.stringify(STREAMED.gemini.body));
    expect(heard.lines.find((line) => line.startsWith("sent"))).toContain('"stream":true');
    expect(JSON.stringify(heard)).not.toContain("canary");
  }
});

test("taps get answers that are not streams, errors, and bytes that are passed on", async () => {
  const upstream = await startServer(
    (response) => void response.writeHead(200, { "content-type": "application/json" }).end('{"data":[1]}'),
  );
  const { tap, heard } = listener();
  const gateway = await startGateway({ upstreams: { up: remote(upstream.url) }, taps: [() => tap] });
  const passed = await ask(gateway.url, "POST", "/v1/embeddings?key=canary&access_token=canary&api_key=canary", {
    headers: json,
    body: '{"model":"m","input":"x"}',
  });
  expect([heard.in, heard.out]).toEqual(['{"data":[1]}', passed.body]);
  const wrong = await ask(gateway.url, "POST", "/v1/messages", { headers: json, body: "{" });
  expect(heard.out).toBe(passed.body + wrong.body);
  expect(heard.lines.join()).not.toContain("canary");
});

test("taps get a whole answer", async () => {
  const { tap, heard } = listener();
  const gateway = await startGateway({ upstreams: { up: scripted() }, taps: [() => undefined, () => tap] });
  const { body } = await askSmallest(gateway.url, "anthropic", SMALLEST);
  expect(heard.out).toBe(body);
});

test.each(["opening", "asked", "replied", "wrote", "event", "ended", "sent", "answered", "received", "over"])(
  "a tap that throws in %s is told nothing more, and changes nothing for the client",
  async (broken) => {
    const upstream = await startServer(answering(stream, { "content-type": "text/event-stream" }));
    let told = 0;
    const fail = (method: string) => (): void => {
      if (method !== broken) return;
      told++;
      throw new Error(`broken ${method}`);
    };
    const open: OpenTap = () => {
      fail("opening")();
      const upstream = { sent: fail("sent"), answered: fail("answered"), received: fail("received"), over: fail("over") };
      const own = { asked: fail("asked"), replied: fail("replied"), wrote: fail("wrote"), event: fail("event"), ended: fail("ended") };
      return { ...own, upstream };
    };
    const { tap, heard } = listener();
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url) }, taps: [open, () => tap] });
    const { status, body } = await askSmallest(gateway.url, "anthropic", STREAMED);
    expect([status, body]).toEqual([200, expect.stringContaining("message_stop")]);
    const [exchange] = await gateway.ended(1);
    expect(exchange).toMatchObject({ outcome: "ok", fault: new Error(`broken ${broken}`) });
    expect([told, heard.out]).toEqual([1, body]);
  },
);
