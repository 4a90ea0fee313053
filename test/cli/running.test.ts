// Which port a gateway of the command line gets.
import { expect, test } from "vitest";
import { listen } from "../../src/cli/running.ts";
import type { Gateway } from "../../src/gateway/index.ts";

/** A gateway that may listen from this port on. */
const gatewayFrom = (first: number): Gateway =>
  ({
    async listen(port: number) {
      if (port < first) throw Object.assign(new Error(`listen EACCES: permission denied 127.0.0.1:${port}`), { code: "EACCES" });
      return { url: `http://127.0.0.1:${port}`, port };
    },
  }) as Gateway;

test("ports reserved by the system, as on Windows, are skipped", async () => {
  const said: string[] = [];
  expect(await listen(gatewayFrom(8200), undefined, (line) => said.push(line))).toBe("http://127.0.0.1:8280");
  expect(said).toEqual(["port 8080 is reserved by the system; trying 8180", "port 8180 is reserved by the system; trying 8280"]);
});

test.each([
  ["ENOTFOUND", "the host to listen on has no address"],
  ["EAFNOSUPPORT", "this machine does not support this kind of address"],
])("%s is reported as a fault of the given host", async (code, message) => {
  const gateway = { listen: () => Promise.reject(Object.assign(new Error(code), { code })) } as unknown as Gateway;
  await expect(listen(gateway, undefined, () => {})).rejects.toThrow(message);
});

test.each([
  [9000, "port 9000 is reserved by the system; choose another with --port"],
  [80, "cannot listen on port 80: permission denied; use a port from 1024 on"],
])("a given port, %i, is never changed", async (port, message) => {
  await expect(listen(gatewayFrom(65_000), port, () => {})).rejects.toThrow(message);
});
