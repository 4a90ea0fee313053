// Generated tests try the same cases in every run, so that a failure comes from the change and not from chance. `SEED=random npm run unit`
// tries others, `SEED=1234` those of a reported failure.
import fc from "fast-check";

const { SEED = "20261115" } = process.env;
const seed = SEED === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(SEED);
if (!Number.isInteger(seed)) throw new Error(`SEED must be an integer or "random", not "${SEED}"`);
fc.configureGlobal({ seed });
