/** `/think` and `/no_think`: words in a message that switch the thinking of some models on and off. */

/** Whether a text switches thinking on or off, if it does either. */
export function thinkingWord(text: string): boolean | undefined {
  if (text.includes("/no_think")) return false;
  return text.includes("/think") || undefined;
}

export const withoutThinkingWords = (text: string): string => text.replace(/\/(?:no_)?think/g, "");
