import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';

/** One is a byte sent to another process and back, and a little computing: what a request is made of. */
const steps = 1500;
/** The steps that the measure does not count: until the other process runs, and ours is compiled. */
const warmUpSteps = 300;
/** What the counted ones take on the reference machine: two cores of a rented one on which nothing else runs. */
const referenceMs = 150;
/** What took longer is not measured for as long. */
const mostMs = 5000;

/**
 * Holds a time on the wall clock against what is promised of it. A promise is of the reference machine; where this one
 * is so many times slower at that moment, as measured with work that is none of ours, it may take as many times as long.
 */
export class Pace {
  readonly #slownessBefore: number;
  readonly #begun = performance.now();

  private constructor(slownessBefore: number) {
    this.#slownessBefore = slownessBefore;
  }

  /** Right before what is timed. */
  static async begin(): Promise<Pace> {
    return new Pace(await slowness());
  }

  /** Right after it: what has been done since then was to take so long. */
  async expectDone(promisedMs: number, what?: string): Promise<void> {
    await this.expect(performance.now() - this.#begun, promisedMs, what);
  }

  /**
   * The same of a time measured otherwise. Only what takes longer than promised asks how slow the machine is now, for as
   * long as it took itself, a second at least.
   */
  async expect(tookMs: number, promisedMs: number, what = 'ms'): Promise<void> {
    let times = 1;
    if (tookMs > promisedMs) {
      const forMs = Math.min(Math.max(tookMs, 1000), mostMs);
      times = Math.max(this.#slownessBefore, await slowness(forMs));
    }
    const label = `${what}; of a machine ${times.toFixed(1)} times as slow as the reference, ${promisedMs} promised`;
    expect(tookMs, label).to.be.at.most(promisedMs * times);
  }
}

/**
 * How many times as long as on the reference machine the steps take; never less than once. They are made for at least so
 * long, again and again, and the slowest count: other work comes and goes within the second.
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
