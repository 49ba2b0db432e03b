import type { Store } from '../redis/connection.ts';
import { within } from '../redis/failures.ts';
import type { Scripts } from '../redis/scripts.ts';
import { type Depths, readDepths, readSweepLag } from './depths.ts';
import { readStoreState, type StoreState } from './store-state.ts';

/** A store that hangs must not keep a scrape waiting. */
const patienceMs = 2_000;

/** What could be read from the store; a part that could not be is undefined. */
export interface Reading {
  readonly isUp: boolean;
  readonly state: StoreState | undefined;
  readonly sweepLagSeconds: number | undefined;
  readonly depths: Depths | undefined;
}

/** Reads the store for the metrics, at most once in `maxAgeMs`: scraping more often costs the store nothing more. */
export class StoreReader {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #ready: () => Promise<boolean>;
  readonly #maxAgeMs: number;
  #latest: Promise<Reading> | undefined;
  #readAt = 0;

  constructor(parts: { store: Store; scripts: Scripts; ready: () => Promise<boolean> }, maxAgeMs: number) {
    this.#store = parts.store;
    this.#scripts = parts.scripts;
    this.#ready = parts.ready;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Never rejects. */
  read(): Promise<Reading> {
    const now = performance.now();
    if (!this.#latest || now - this.#readAt > this.#maxAgeMs) {
      this.#readAt = now;
      this.#latest = this.#read();
    }
    return this.#latest;
  }

  async #read(): Promise<Reading> {
    const [isUp, state, sweepLagSeconds, depths] = await Promise.all([
      inTime(this.#ready()),
      inTime(readStoreState(this.#store)),
      inTime(readSweepLag(this.#store)),
      inTime(readDepths(this.#store, this.#scripts)),
    ]);
    return { isUp: isUp ?? false, state, sweepLagSeconds, depths };
  }
}

/** Undefined where it fails or takes too long. */
function inTime<T>(reading: Promise<T>): Promise<T | undefined> {
  return within(patienceMs, reading).catch(() => undefined);
}
