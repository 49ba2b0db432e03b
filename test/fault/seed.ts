/** Pseudo-random choices, repeatable by their seed. */
export interface Chance {
  /** Below 1. */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  of<T>(list: readonly T[]): T;
  /** The list in another order. */
  shuffled<T>(list: readonly T[]): T[];
}

/** SEED in the environment repeats the choices of a run (but not its timing). */
export function seedOf(title: string): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`      ${title}: SEED=${seed}`);
  return seed;
}

/** Mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const of = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((one) => [next(), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  return { next, below, of, shuffled };
}
