/** The durations of one series: plain numbers, so that counting costs nanoseconds. */
export class Tally {
  count = 0;
  sumSeconds = 0;
  /** Observations up to each bound and above the one before it; those above all bounds are only in `count`. */
  readonly buckets: number[];
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.buckets = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.count += 1;
    this.sumSeconds += seconds;
    const bounds = this.#bounds;
    for (let i = 0; i < bounds.length; i++) {
      if (seconds > (bounds[i] as number)) continue;
      this.buckets[i] = (this.buckets[i] as number) + 1;
      return;
    }
  }
}

/** The tally of a key, made at its first use. */
export function tallyOf<Key>(tallies: Map<Key, Tally>, key: Key, bounds: readonly number[]): Tally {
  let tally = tallies.get(key);
  if (!tally) {
    tally = new Tally(bounds);
    tallies.set(key, tally);
  }
  return tally;
}
