/**
 * Those who are here, in no order. Not a `Set`: one that many enter and leave makes a new table again and again, and each old table points at
 * the next one, so that the collector keeps exchanges which are long over.
 */

export interface Seated {
  /** Where it stands; the roster's own. */
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

  /** Who is not here stays away. */
  delete(one: T): void {
    const list = this.#list;
    if (list[one.seat] !== one) return;
    const last = list.pop()!;
    if (last === one) return;
    last.seat = one.seat;
    list[last.seat] = last;
  }

  /** Also those who leave meanwhile, and not those who come. */
  each(tell: (one: T) => void): void {
    for (const one of [...this.#list]) tell(one);
  }
}
