// The baseline of all comparisons: node:http on both sides, bytes passed on unchanged.
import { Agent, request as ask, createServer } from "node:http";

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });
const server = createServer((request, response) => {
  const { host: _, ...headers } = request.headers;
  const upstream = ask({ host: "127.0.0.1", port, path: request.url, method: request.method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(upstream);
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
