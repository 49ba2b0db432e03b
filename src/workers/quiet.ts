import { nowOf } from '../redis/cluster.ts';
import type { Store } from '../redis/connection.ts';
import { within } from '../redis/failures.ts';

/** An organization in which there was nothing to do is looked at again after this time, or sooner. */
export const quietMs = 600_000;

/** Go by the process's clock if the store does not answer in time: one shard that is down must not stop the others. */
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

  /** Begins a round: those of `all` to look at. */
  async due(all: Iterable<string>): Promise<string[]> {
    this.#now = await within(timeoutMs, nowOf(this.#store)).catch(() => Date.now());
    // A moment further ahead was noted before the clock was set back.
    const isQuiet = (until: number): boolean => until > this.#now && until <= this.#now + quietMs;
    return [...all].filter((org) => !isQuiet(this.#until.get(org) ?? 0));
  }

  /** There is nothing to do in the organization for so long after the round began. */
  note(org: string, forMs: number): void {
    this.#until.set(org, this.#now + Math.min(forMs, quietMs));
  }
}
