/** The request as the upstream gets it: under its own name for the model, with what a rule adds, and no longer than its context. */
import { BadRequest } from "../core/errors.ts";
import type { Request, ThinkingSettings, Warning } from "../core/nouns.ts";
import { inWindow } from "../engines/again/window.ts";
import { estimateTokens } from "../engines/estimate.ts";
import { boundElsewhere, summarizing, unsearched } from "./bound.ts";
import type { Target } from "./models.ts";

/** Throws for one that only a server of its own API can answer. */
export function aimed(given: Request, { model, rule, engine }: Target): Request {
  const bound = boundElsewhere(given, engine.wire);
  if (bound) throw new BadRequest(bound);
  const heard = unsearched(summarizing(given, engine.wire), engine.wire);
  const request = rule?.context !== undefined && (engine.wire === "ollama" || engine.speaking) ? inWindow(heard, rule.context) : heard;
  if (!rule) return model === request.model ? request : { ...request, model };
  const { sampling, thinking, maxTokens } = rule;
  return {
    ...request,
    model,
    ...(sampling ? { sampling: { ...sampling, ...request.sampling } } : {}),
    ...(thinking ? { thinking: { ...unsaid(thinking, request.thinking), ...request.thinking } } : {}),
    ...(maxTokens !== undefined && request.maxTokens === undefined ? { maxTokens } : {}),
  };
}

/** Whether, how hard and how long it thinks is one wish: who says one of these means no other. */
function unsaid(rule: ThinkingSettings, said: ThinkingSettings = {}): ThinkingSettings {
  if ((said.enabled ?? said.effort ?? said.budget) === undefined) return rule;
  const { enabled: _enabled, effort: _effort, budget: _budget, ...shown } = rule;
  return shown;
}

/** What a template adds of its own. */
const SLACK = 256;

/**
 * Servers refuse a limit that does not fit behind the prompt, and agents ask for 128,000: it is lowered to what fits, roughly. One that counts
 * more than we do says its own numbers, and is asked again; nobody says that there was more room.
 */
export function fitted(request: Request, context: number | undefined): { request: Request; warnings: Warning[] } {
  const { maxTokens } = request;
  if (maxTokens === undefined || context === undefined) return { request, warnings: [] };
  const room = context - estimateTokens(request) - Math.min(SLACK, context >> 4);
  // Where nothing fits, the server says so in its own numbers, and the client shortens its history.
  const limit = Math.max(room, Math.min(1024, context >> 3));
  if (maxTokens <= limit) return { request, warnings: [] };
  const message = `the limit of ${maxTokens} tokens was lowered to ${limit}: the model's context has ${context}`;
  return { request: { ...request, maxTokens: limit }, warnings: [{ code: "max-tokens", message }] };
}
