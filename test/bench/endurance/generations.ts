import { seedOf } from '../../fault/seed.ts';
import type { Workload } from '../../fault/workload.ts';

/**
 * One workload after the other. Each lets its clients end and then empties its queues while the next one works, so that live
 * work does not grow: a schedule of a workload that never ends would fire for ever.
 */
export class Generations {
  /** What nothing explains in the workloads that have ended. */
  readonly unexpected: string[] = [];
  readonly #begin: (seed: number) => Workload;
  #seed = seedOf('endurance');
  #load: Workload;
  #ended: Promise<void> = Promise.resolve();

  /** begin: makes a workload and starts it. */
  constructor(begin: (seed: number) => Workload) {
    this.#begin = begin;
    this.#load = begin(this.#seed);
  }

  next(): void {
    const before = this.#load;
    const ending = this.#end(before).catch((error) => void this.unexpected.push(String(error)));
    this.#ended = Promise.all([this.#ended, ending]).then(() => undefined);
    this.#load = this.#begin(++this.#seed);
  }

  /** The workload that is running, once all before it have ended. */
  async last(): Promise<Workload> {
    await this.#ended;
    return this.#load;
  }

  async #end(load: Workload): Promise<void> {
    await load.finish();
    await load.drain(Date.now());
    this.unexpected.push(...load.unexpected);
  }
}
