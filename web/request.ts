/** Turns a request of any API into a model's prompt, or into another API's request. */
import { BadRequest, getDialect, getWire, listDialects, listWires, type Request, type WireId } from "../src/index.ts";
import { pathOfBody } from "../src/wires/paths.ts";
import { readWarnings } from "../src/wires/warnings.ts";
import { card, choice, editor, el, labelled, live, pre, visible } from "./dom.ts";
import { REQUEST_JSON } from "./examples.ts";

const WIRES = listWires().map(({ id }) => id);

function requestIn(text: string, wire: string, model: string): Request {
  const body: unknown = JSON.parse(text);
  const id = wire as WireId;
  try {
    return getWire(id).decodeRequest({ path: pathOfBody(id, body, model), query: {}, headers: {}, body: text });
  } catch (error) {
    throw error instanceof BadRequest ? new Error(`not a valid ${wire} request: ${error.message}`) : error;
  }
}

const warnings = (messages: readonly string[]): HTMLElement[] =>
  [...new Set(messages)].map((textContent) => el("p", { className: "wrong", textContent: visible(textContent) }));

const VARIANTS = listDialects().flatMap(({ id, variants }) => variants.map((variant) => `${id}/${variant}`));

export function promptView(): HTMLElement[] {
  const wire = choice(WIRES);
  const dialect = choice(VARIANTS, "gemma4/google-gemma-4-31b-2026-07-09");
  const thinking = choice(["as in the request", "on", "off"]);
  const given = editor("the request, as JSON", REQUEST_JSON);
  const prompt = el("div");
  live([wire, dialect, thinking, given], prompt, () => {
    const request = requestIn(given.value, wire.value, "any");
    const options = thinking.value === "on" ? { thinking: true } : thinking.value === "off" ? { thinking: false } : {};
    const spoken = getDialect(dialect.value);
    const pieces = spoken.render(spoken.adapt?.(request) ?? request, options);
    return [
      ...warnings(readWarnings(request).map(({ message }) => message)),
      el("pre", {}, ...pieces.map(({ text, control }) => (control ? el("mark", { textContent: visible(text) }) : visible(text)))),
    ];
  });
  return [
    el("div", { className: "fields" }, labelled("API", wire), labelled("dialect", dialect), labelled("thinking", thinking)),
    el("div", { className: "columns" }, card("Request", given), card("Prompt, with control tokens marked", prompt)),
  ];
}

export function translateView(): HTMLElement[] {
  const from = choice(WIRES);
  const to = choice(WIRES, "anthropic");
  const model = el("input", { value: "any" });
  const given = editor("the request, as JSON", REQUEST_JSON);
  const translated = el("div");
  live([from, to, model, given], translated, () => {
    const request = requestIn(given.value, from.value, model.value);
    const { path, body, context } = getWire(to.value as WireId).encodeRequest({ ...request, model: model.value || request.model });
    return [
      ...warnings([...readWarnings(request), ...context.warnings].map(({ message }) => message)),
      el("p", { className: "quiet", textContent: `POST ${path}` }),
      pre(JSON.stringify(body, undefined, 2)),
    ];
  });
  return [
    el("div", { className: "fields" }, labelled("from", from), labelled("to", to), labelled("model", model)),
    el("div", { className: "columns" }, card("Request", given), card("The same request for the other API", translated)),
  ];
}
