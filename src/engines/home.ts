/** The user's home folder. */
import { homedir } from "node:os";

/**
 * `/` if the system knows none (a container whose user has only a number, and no HOME), as in Docker. If it is not writable, the first
 * write fails with an error.
 */
export function home(): string {
  try {
    return homedir() || "/";
  } catch {
    return "/";
  }
}
