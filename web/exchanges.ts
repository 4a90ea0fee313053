/** The exchanges that went through this gateway, from the recordings of `dragoman serve --record`. */
import type { Listed, Shown } from "../src/gateway/page.ts";
import { card, el, labelled, pre, visible } from "./dom.ts";
import { rows, rowsOf } from "./parts.ts";

/** How often the list is fetched again while it is visible. */
const EVERY_MS = 3000;

export function exchangesView(): HTMLElement[] {
  const key = el("input", { type: "password", autocomplete: "off" });
  const lock = el("form", { className: "fields", hidden: true }, labelled("gateway key", key), el("button", { textContent: "Show" }));
  const problem = el("p", { className: "wrong" });
  const list = el("ul", { className: "list" });
  const detail = el("div", { className: "columns" });
  let chosen = "";
  /** What the list shows now, as JSON. */
  let last = "";

  async function fetched<T>(path: string): Promise<T> {
    const answer = await fetch(path, key.value ? { headers: { authorization: `Bearer ${key.value}` } } : {});
    const body: unknown = await answer.json();
    lock.hidden = answer.status !== 401;
    if (answer.status === 401) throw new Error(key.value ? "That key is wrong." : "Enter the gateway's key to see its exchanges.");
    if (!answer.ok) throw new Error((body as { error?: { message?: string } }).error?.message ?? `status ${answer.status}`);
    return body as T;
  }

  /** Shows a failure above the list, and removes it after the next success. */
  const attempt = (work: () => Promise<void>): Promise<void> =>
    work().then(
      () => problem.replaceChildren(),
      (error: Error) => problem.replaceChildren(error.message),
    );

  const refresh = (): Promise<void> =>
    attempt(async () => {
      const found = await fetched<Listed[]>("web/exchanges");
      const now = JSON.stringify([found, chosen]);
      if (now === last) return;
      last = now;
      const { activeElement } = document;
      const focused = list.contains(activeElement) && activeElement instanceof HTMLButtonElement ? activeElement.value : "";
      list.replaceChildren(...found.map(itemOf));
      if (focused) list.querySelector<HTMLElement>(`[value="${focused}"]`)?.focus({ preventScroll: true });
      if (found.length === 0)
        list.replaceChildren(el("li", {}, el("p", { className: "quiet", textContent: "No exchanges yet. Send the gateway a request." })));
    });

  const itemOf = ({ name, at, exchange, anomalies }: Listed): HTMLElement => {
    const { wire, model = "", upstream = "", status, outcome, ms } = exchange;
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", value: name, ariaPressed: `${name === chosen}`, onclick: () => choose(name) },
        el("strong", { textContent: visible(`${wire} ${model} → ${upstream}`) }),
        el("div", { className: "quiet", textContent: `${status}, ${outcome}, ${ms} ms, at ${new Date(at).toLocaleTimeString()}` }),
        ...paragraphs(anomalies, "wrong"),
      ),
    );
  };

  const choose = (name: string): Promise<void> =>
    attempt(async () => {
      chosen = name;
      const found = await fetched<Shown>(`web/exchanges/${name}`);
      if (chosen !== name) return; // another was chosen meanwhile
      detail.replaceChildren(...shown(found));
      await refresh();
      const { top } = detail.getBoundingClientRect();
      if (top < 0 || top >= innerHeight) detail.scrollIntoView(); // scrolled away, or below the list on a narrow screen
    });

  lock.addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  refresh();
  setInterval(() => {
    if (list.isConnected && !document.hidden) refresh();
  }, EVERY_MS);
  return [lock, problem, el("div", { className: "inspector" }, list, detail)];
}

const paragraphs = (lines: readonly string[], className: string): HTMLElement[] =>
  lines.map((line) => el("p", { className, textContent: visible(line) }));

function shown({ recording, account }: Shown): HTMLElement[] {
  const { client, upstream, exchange } = recording;
  const { text, upstream: said, events, client: got, anomalies } = account;
  const nothing = (): HTMLElement => el("p", { className: "quiet", textContent: "nothing readable" });
  return [
    card("Model output", text !== undefined ? pre(text) : said ? rows(rowsOf(said)) : nothing()),
    card(
      `How Dragoman read it${exchange.dialect === undefined ? "" : ` (${exchange.dialect})`}`,
      rows(rowsOf(events)),
      ...paragraphs(anomalies, "wrong"),
      ...paragraphs(
        exchange.warnings.map(({ message }) => message),
        "quiet",
      ),
    ),
    card(
      client.response ? `What the client got: status ${client.response.status}` : "What the client got: no answer",
      got ? rows(rowsOf(got)) : nothing(),
    ),
    card(
      "Requests",
      body("from the client", client.request),
      ...upstream.map(({ request }, n) => body(n === 0 ? "to the upstream" : "to the upstream, again", request)),
    ),
  ];
}

const body = (title: string, { method, url, body }: Shown["recording"]["client"]["request"]): HTMLElement =>
  el("details", {}, el("summary", { textContent: visible(`${title}: ${method} ${url}`) }), pre(indented(body)));

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
