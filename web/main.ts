/** The gateway's page: a playground for the library, which runs entirely in the browser, and the gateway's exchanges. */
import { el } from "./dom.ts";
import { exchangesView } from "./exchanges.ts";
import { promptView, translateView } from "./request.ts";
import { scanView } from "./scan.ts";

const VIEWS: Readonly<Record<string, { readonly title: string; readonly view: () => HTMLElement[] }>> = {
  scan: { title: "Scan", view: scanView },
  prompt: { title: "Prompt", view: promptView },
  translate: { title: "Translate", view: translateView },
  exchanges: { title: "Exchanges", view: exchangesView },
};

/** Views are created once, so that what was typed is still there when the user comes back. */
const made = new Map<string, HTMLElement[]>();

function show(): void {
  const name = Object.hasOwn(VIEWS, location.hash.slice(1)) ? location.hash.slice(1) : "scan";
  const view = made.get(name) ?? VIEWS[name]!.view();
  made.set(name, view);
  const links = Object.entries(VIEWS).map(([id, { title }]) =>
    el("a", { href: `#${id}`, textContent: title, ...(id === name && { ariaCurrent: "page" }) }),
  );
  document.querySelector("nav")?.replaceChildren(...links);
  document.querySelector("main")?.replaceChildren(...view);
}

addEventListener("hashchange", show);
show();
