// Writes docs/dialects.md from the output of `dragoman dialects --json`. `--check` only reports whether the page is up to date.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = "docs/dialects.md";

const { stdout, status } = spawnSync(process.execPath, ["dist/cli/main.js", "dialects", "--json"], { encoding: "utf8" });
if (status !== 0) throw new Error("dragoman dialects --json failed; is dist/ built?");
const dialects = JSON.parse(stdout);

const yes = (is) => (is ? "yes" : "–");
// Indented, because some examples contain code fences.
const block = (text) =>
  text
    .replace(/\n+$/, "")
    .split("\n")
    .map((line) => (line ? `    ${line}` : ""))
    .join("\n");
const inline = (text) => `\`${text.replaceAll("\n", "\\n")}\``;

const names = await Promise.all(
  dialects.map(async ({ id }) => {
    const exported = Object.entries(await import(`../dist/dialects/${id}.js`));
    return [id, exported.find(([, value]) => value.id === id)[0]];
  }),
);
const nameOf = Object.fromEntries(names);

const section = ({ id, title, models, variants, stops, example }) => `## ${id}

${title}. Spoken by ${models.join(", ")}.

${block(example)}

- variants: ${variants.map(inline).join(", ")}
- stops: ${stops.map(inline).join(", ")}
- import: \`import { ${nameOf[id]} } from "dragoman/dialects/${id}"\`
`;

const page = `# The dialects

<!-- Made by \`npm run docs\` from the registry: change the dialects, not this page. -->

What each dialect supports. "Thinking" means that the model's thinking is separated from its text, "parallel calls" that an answer may
have several calls, "grammar" that calls can be forced to fit the tools. \`dragoman dialects\` prints the same table, and
\`dragoman detect\`, or \`detectDialect\` in the library, finds out which dialect a model speaks.

| dialect | models | thinking | parallel calls | grammar |
|---|---|---|---|---|
${dialects.map((d) => `| [${d.id}](#${d.id.replaceAll(".", "")}) | ${d.models.join(", ")} | ${yes(d.thinking)} | ${yes(d.parallelCalls)} | ${yes(d.grammar)} |`).join("\n")}

Each example below is rendered by the dialect itself: thinking, if the dialect has it, and a call of \`get_weather\` with
\`{"city": "Oslo", "days": 2}\`. Variants are revisions of the models' templates, the reference first; stops are the strings at which
generation must stop. \`getDialect\` returns a dialect by its id, or by its id and a variant
(\`getDialect("hermes/qwen2.5-7b-instruct")\`), with its [grammar](grammars.md). A [web page](browser.md) that needs only one dialect can
import it alone, without its grammar.

${dialects.map(section).join("\n")}`;

if (process.argv.includes("--check")) {
  if (readFileSync(PAGE, "utf8") !== page) {
    console.error(`${PAGE} is out of date: run npm run docs`);
    process.exitCode = 1;
  }
} else writeFileSync(PAGE, page);
