// docs/wires.md lists what each wire cannot express, from losses.json. `npx vitest run test/wires-page.test.ts -u` rewrites it.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listWires } from "../src/wires/registry.ts";

interface Loss {
  wire: string;
  field?: string;
  event?: string;
  why: string;
  warning: string | null;
}
const losses = JSON.parse(readFileSync("test/losses.json", "utf8")) as Loss[];

/** One row for each reason. */
function tableOf(wire: string): string {
  const rows = new Map<string, { what: string[]; why: string; told: boolean }>();
  for (const { field, event, why, warning } of losses.filter((loss) => loss.wire === wire)) {
    const kind = event === undefined ? "requests" : "answers";
    const row = rows.get(`${kind} ${why} ${warning !== null}`) ?? { what: [`in ${kind}:`], why, told: warning !== null };
    row.what.push(`${row.what.length > 1 ? "· " : ""}${field ?? event}`);
    rows.set(`${kind} ${why} ${warning !== null}`, row);
  }
  const lines = [...rows.values()].map(({ what, why, told }) => `| ${what.join(" ")} | ${why} | ${told ? "yes" : ""} |`);
  return `### ${wire}\n\n| what | why | warning |\n|---|---|---|\n${lines.join("\n")}\n`;
}

test("docs/wires.md has every loss", async () => {
  const page = readFileSync("docs/wires.md", "utf8");
  const tables = listWires().map(({ id }) => tableOf(id));
  const written = page.replace(/(<!-- losses -->\n).*(<!-- \/losses -->)/s, (_, open, close) => `${open}\n${tables.join("\n")}\n${close}`);
  await expect(written).toMatchFileSnapshot("../docs/wires.md");
});
