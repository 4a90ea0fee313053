/**
 * A set without order. Not a `Set`: with many additions and deletions V8 allocates a new table again and again, each old table points to
 * the next one, and so the garbage collector keeps exchanges that ended long ago.
 */

export interface Seated {
  /** Its index in the list; set by the roster. */
  seat: number;
}

export class Roster<T extends Seated> {
  readonly #list: T[] = [];

  get size(): number {
    return this.#list.length;
  }

  add(one: T): void {
    one.seat = this.#list.push(one) - 1;
  }

  /** Does nothing if it is not in the roster. */
  delete(one: T): void {
    const list = this.#list;
    if (list[one.seat] !== one) return;
    const last = list.pop()!;
    if (last === one) return;
    last.seat = one.seat;
    list[last.seat] = last;
  }

  /** Includes items that are deleted meanwhile, but not those added meanwhile. */
  each(tell: (one: T) => void): void {
    for (const one of [...this.#list]) tell(one);
  }
}
