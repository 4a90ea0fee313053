/** Appends items one by one: a hundred thousand at once, as arguments of `push`, would overflow the stack. */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
