/** `/think` and `/no_think`: words in a message that switch the thinking of some models on and off. */

/** What a text says of it, if it does. */
export function thinkingWord(text: string): boolean | undefined {
  if (text.includes("/no_think")) return false;
  return text.includes("/think") || undefined;
}

export const withoutThinkingWords = (text: string): string => text.replace(/\/(?:no_)?think/g, "");
