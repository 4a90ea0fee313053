/** Builds elements without a framework. Text from a model or a client is only ever set as text, so it cannot become markup. */

export type Child = Node | string | false | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== undefined && child !== false));
  return node;
}

export const labelled = (label: string, field: HTMLElement): HTMLElement =>
  el("label", {}, label, Object.assign(field, { ariaLabel: label }));
export const card = (title: string, ...children: Child[]): HTMLElement => el("section", {}, el("h2", { textContent: title }), ...children);

export const choice = (names: readonly string[], chosen = names[0]): HTMLSelectElement =>
  el("select", {}, ...names.map((name) => el("option", { textContent: name, value: name, selected: name === chosen })));

export const editor = (label: string, value: string): HTMLTextAreaElement => el("textarea", { ariaLabel: label, value, spellcheck: false });

/** Makes control characters visible, except tabs and line feeds. */
export const visible = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show
  text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (char) => {
    const code = char.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
  });

export const pre = (text: string, className = ""): HTMLElement => el("pre", { textContent: visible(text), className });

/** Shows the result of `work` in `target`, now and after each change of a field. If `work` throws, the error is shown instead. */
export function live(fields: readonly HTMLElement[], target: HTMLElement, work: () => Child[]): void {
  const update = (): void => {
    try {
      target.replaceChildren(...work().filter((child) => child !== undefined && child !== false));
    } catch (error) {
      target.replaceChildren(pre((error as Error).message, "wrong"));
    }
  };
  for (const field of fields) field.addEventListener("input", update);
  update();
}
