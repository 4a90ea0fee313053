/** `dragoman/template`: prompts by a model's own Jinja template, for fine-tunes and for revisions that no dialect knows yet. */
export { type CompareOptions, type Comparison, compareTemplate, type Difference } from "./compare.ts";
export { renderWithTemplate, TemplateError, type TemplateOptions } from "./render.ts";
