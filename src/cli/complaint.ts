/** A user's mistake: reported as one line that says what to do, with exit code 2. Anything else that is thrown is a bug. */
export class Complaint extends Error {
  override readonly name = "Complaint";
}
