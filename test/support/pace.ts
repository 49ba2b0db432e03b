import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';

/** A step resembles a request: a byte goes to another process and back, and a little is computed. */
const steps = 1500;
/** Uncounted steps, so that the other process runs and our code is compiled. */
const warmUpSteps = 300;
/** How long the counted steps take on the reference machine, two idle rented cores. */
const referenceMs = 150;
/** The limit on a measurement, however long the timed work took. */
const maxMs = 5000;

/**
 * Compares a measured time with its limit, which holds for the reference machine. If this machine is currently slower
 * by some factor, measured with steps of the test's own, the limit is multiplied by that factor.
 */
export class Pace {
  readonly #slownessBefore: number;
  readonly #begun = performance.now();

  private constructor(slownessBefore: number) {
    this.#slownessBefore = slownessBefore;
  }

  /** Call it right before the timed work. */
  static async begin(): Promise<Pace> {
    return new Pace(await slowness());
  }

  /** Call it right after, with the limit. */
  async expectDone(promisedMs: number, what?: string): Promise<void> {
    await this.expect(performance.now() - this.#begun, promisedMs, what);
  }

  /**
   * Checks a time measured elsewhere. The machine is measured only if the time exceeds the limit, for as long as the work
   * took, but at least for a second.
   */
  async expect(tookMs: number, promisedMs: number, what = 'ms'): Promise<void> {
    let times = 1;
    if (tookMs > promisedMs) {
      const forMs = Math.min(Math.max(tookMs, 1000), maxMs);
      times = Math.max(this.#slownessBefore, await slowness(forMs));
    }
    const label = `${what}; of a machine ${times.toFixed(1)} times as slow as the reference, ${promisedMs} promised`;
    expect(tookMs, label).to.be.at.most(promisedMs * times);
  }
}

/**
 * How much slower steps are than on the reference machine, at least 1. They are repeated for at least `forMs`; the slowest
 * ones count, as other load comes and goes within a second.
 */
async function slowness(forMs = 0): Promise<number> {
  const echo = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  const take = async (count: number): Promise<number> => {
    const begun = performance.now();
    for (let step = 0; step < count; step++) {
      echo.stdin.write('x');
      await once(echo.stdout, 'data');
      for (let i = 0; i < 20; i++) text = createHash('sha256').update(text).digest('hex');
    }
    return performance.now() - begun;
  };
  try {
    await take(warmUpSteps);
    let slowestMs = referenceMs;
    const end = performance.now() + forMs;
    do slowestMs = Math.max(slowestMs, await take(steps));
    while (performance.now() < end);
    return slowestMs / referenceMs;
  } finally {
    echo.kill();
  }
}
