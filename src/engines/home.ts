/** The user's own folder. */
import { homedir } from "node:os";

/**
 * Where the system knows of none (a container whose user is but a number, and without HOME), it is the root, as Docker has it: whoever may
 * not write there is told when it comes to that.
 */
export function home(): string {
  try {
    return homedir() || "/";
  } catch {
    return "/";
  }
}
