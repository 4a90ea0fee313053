// The real `ai` package, in the version for Node 20 and in the newest. The tests use what is the same in both.
import * as six from "ai";
import * as seven from "ai-7";

export const versions = [
  { name: "ai 6", version: "v3" as const, ai: six },
  // The tests use both through the types of the first: what they call has not changed.
  { name: "ai 7", version: "v4" as const, ai: seven as unknown as typeof six },
];

export { seven as ai7 };
