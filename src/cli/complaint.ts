/** The caller's mistake: one line that says what to do, and exit code 2. Everything else that is thrown is our fault. */
export class Complaint extends Error {
  override readonly name = "Complaint";
}
