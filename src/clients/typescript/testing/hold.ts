import { type Hold, HoldLost } from '../pool.ts';
import { TestClock } from './clock.ts';

export interface TestHoldOptions {
  /** Default 1. */
  readonly fence?: number;
  /** Default 1. */
  readonly units?: number;
  /** The clock for its times. */
  readonly clock?: TestClock;
}

/** A hold for the unit test of a body of `muster.pool(…).hold`. */
export class TestHold implements Hold {
  readonly record: Hold['record'];
  readonly fence: number;
  readonly #controller = new AbortController();

  constructor({ fence = 1, units = 1, clock = new TestClock() }: TestHoldOptions = {}) {
    this.fence = fence;
    const id = crypto.randomUUID();
    this.record = {
      id,
      holdId: id,
      poolId: crypto.randomUUID(),
      scopeId: crypto.randomUUID(),
      holder: 'test',
      holderSession: 'test',
      units,
      state: 'HELD',
      fence,
      position: null,
      leaseSeconds: 30,
      leaseExpiresAt: clock.in(30),
      expiresAt: null,
      heldAt: clock.in(0),
      finishedAt: null,
      createdAt: clock.in(0),
    };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Loses the hold: the signal aborts with HoldLost. */
  lose(why = 'the test took it away'): void {
    this.#controller.abort(new HoldLost(why));
  }
}
