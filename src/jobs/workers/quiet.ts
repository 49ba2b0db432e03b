import { nowOf } from '../../engine/redis/cluster.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { within } from '../../engine/redis/failures.ts';

/** An organization without work is looked at again after this time at the latest. */
export const quietMs = 600_000;

/** If the store does not answer in time, use the process's clock: a shard that is down must not stop the others. */
const timeoutMs = 500;

/** The organizations in which a job of this process found little to do, and until when, by the store's clock. */
export class Quiet {
  readonly #store: Store;
  readonly #until = new Map<string, number>();
  /** When this round began. */
  #now = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Begins a round. Returns those of `all` that must be looked at. */
  async due(all: Iterable<string>): Promise<string[]> {
    this.#now = await within(timeoutMs, nowOf(this.#store)).catch(() => Date.now());
    // A time further ahead was noted before the clock was set back.
    const isQuiet = (until: number): boolean => until > this.#now && until <= this.#now + quietMs;
    return [...all].filter((org) => !isQuiet(this.#until.get(org) ?? 0));
  }

  /** Notes that the organization has nothing to do for this long after the start of the round. */
  note(org: string, forMs: number): void {
    this.#until.set(org, this.#now + Math.min(forMs, quietMs));
  }
}
