/** Prepares a request for its upstream: the upstream's name for the model, the defaults of its rule, and a token limit that fits. */
import { BadRequest } from "../core/errors.ts";
import type { Request, ThinkingSettings, Warning } from "../core/nouns.ts";
import { inWindow } from "../engines/again/window.ts";
import { estimateTokens } from "../engines/estimate.ts";
import { boundElsewhere, summarizing, unsearched } from "./bound.ts";
import type { Target } from "./models.ts";

/** Throws `BadRequest` for a request that only a server of its own API can answer. */
export function aimed(given: Request, { model, rule, engine }: Target): Request {
  const bound = boundElsewhere(given, engine.wire);
  if (bound) throw new BadRequest(bound);
  const adapted = unsearched(summarizing(given, engine.wire), engine.wire);
  const request = rule?.context !== undefined && (engine.wire === "ollama" || engine.speaking) ? inWindow(adapted, rule.context) : adapted;
  if (!rule) return model === request.model ? request : { ...request, model };
  const { sampling, thinking, maxTokens } = rule;
  return {
    ...request,
    model,
    ...(sampling ? { sampling: { ...sampling, ...request.sampling } } : {}),
    ...(thinking ? { thinking: { ...defaultThinking(thinking, request.thinking), ...request.thinking } } : {}),
    ...(maxTokens !== undefined && request.maxTokens === undefined ? { maxTokens } : {}),
  };
}

/** `enabled`, `effort` and `budget` are one decision: if the request sets any of them, the rule's defaults for all three are dropped. */
function defaultThinking(rule: ThinkingSettings, given: ThinkingSettings = {}): ThinkingSettings {
  if ((given.enabled ?? given.effort ?? given.budget) === undefined) return rule;
  const { enabled: _enabled, effort: _effort, budget: _budget, ...shown } = rule;
  return shown;
}

/** Tokens that a chat template may add. */
const SLACK = 256;

/**
 * Servers refuse a token limit that does not fit after the prompt, and agents ask for 128,000: the limit is lowered to the estimated room.
 * If the estimate was too high, the server answers with its own numbers and is asked again; if it was too low, no server would tell.
 */
export function fitted(request: Request, context: number | undefined): { request: Request; warnings: Warning[] } {
  const { maxTokens } = request;
  if (maxTokens === undefined || context === undefined) return { request, warnings: [] };
  const room = context - estimateTokens(request) - Math.min(SLACK, context >> 4);
  // If the prompt itself does not fit, the server says so in its own numbers, and the client shortens its history.
  const limit = Math.max(room, Math.min(1024, context >> 3));
  if (maxTokens <= limit) return { request, warnings: [] };
  const message = `the limit of ${maxTokens} tokens was lowered to ${limit}: the model's context has ${context}`;
  return { request: { ...request, maxTokens: limit }, warnings: [{ code: "max-tokens", message }] };
}
