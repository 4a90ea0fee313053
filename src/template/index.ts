/** `dragoman/template`: renders prompts with a model's own Jinja template, for fine-tunes and revisions that no dialect knows yet. */
export { type CompareOptions, type Comparison, compareTemplate, type Difference } from "./compare.ts";
export { renderWithTemplate, TemplateError, type TemplateOptions } from "./render.ts";
