import { maxTimerMs } from '../send.ts';

/** How many messages a worker begins: at most `limit` in any `windowSeconds`. */
export interface StartRate {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** Counts the starts of a worker. */
export class Starts {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  /** When messages of the last window were begun, oldest first. */
  readonly #begun: number[] = [];

  /** now: milliseconds of a clock that is never set. */
  constructor({ limit, windowSeconds }: StartRate, now = () => performance.now()) {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError('rate.limit must be at least 1');
    if (!(windowSeconds > 0)) throw new RangeError('rate.windowSeconds must be more than 0');
    this.#limit = limit;
    this.#windowMs = windowSeconds * 1000;
    this.#now = now;
  }

  begin(): void {
    this.#begun.push(this.#now());
  }

  /** How many more may begin now. */
  get room(): number {
    const now = this.#now();
    const past = this.#begun.findIndex((at) => at + this.#windowMs > now);
    this.#begun.splice(0, past < 0 ? this.#begun.length : past);
    return Math.max(0, this.#limit - this.#begun.length);
  }

  /** In how many milliseconds one more may begin, or the longest time that a timer takes. */
  get waitMs(): number {
    if (this.room > 0) return 0;
    const next = this.#begun[this.#begun.length - this.#limit] ?? 0;
    return Math.min(maxTimerMs, Math.ceil(next + this.#windowMs - this.#now()));
  }
}
