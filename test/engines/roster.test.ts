// The roster: an unordered collection of members that come and go, as exchanges and listeners do.
import { expect, test } from "vitest";
import { Roster, type Seated } from "../../src/engines/roster.ts";

class One implements Seated {
  seat = 0;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const namesOf = (roster: Roster<One>): string[] => {
  const names: string[] = [];
  roster.each(({ name }) => names.push(name));
  return names.toSorted();
};

test("a member stays until it is deleted, and deleting twice is harmless", () => {
  const roster = new Roster<One>();
  const [a, b, c] = [new One("a"), new One("b"), new One("c")];
  roster.delete(a); // was never added
  for (const one of [a, b, c]) roster.add(one);
  roster.delete(a);
  roster.delete(a);
  expect(namesOf(roster)).toEqual(["b", "c"]);
  roster.delete(c);
  roster.add(a);
  expect(namesOf(roster)).toEqual(["a", "b"]);
  roster.delete(b);
  roster.delete(a);
  expect(roster.size).toBe(0);
});

test("members that come or go during an iteration do not disturb it", () => {
  const roster = new Roster<One>();
  for (const name of ["a", "b", "c"]) roster.add(new One(name));
  const told: string[] = [];
  roster.each((one) => {
    told.push(one.name);
    roster.delete(one);
    roster.add(new One(`${one.name}2`));
  });
  expect(told).toEqual(["a", "b", "c"]);
  expect(namesOf(roster)).toEqual(["a2", "b2", "c2"]);
});
