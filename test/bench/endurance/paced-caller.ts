import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../../fault/caller.ts';

/** How far calls may fall behind their pace and still catch up. Longer delays are not made up for. */
const catchUpMs = 1_000;

/** A caller that makes at most a given number of calls a second, and records how long each took. */
export class PacedCaller extends Caller {
  #tookMs: number[] = [];
  #betweenMs = 0;
  #nextAt = 0;

  pace(callsPerSecond: number): void {
    this.#betweenMs = 1000 / callsPerSecond;
  }

  /** The milliseconds of each call answered since the last `take`. */
  take(): number[] {
    return this.#tookMs.splice(0);
  }

  override async attempt(...call: Parameters<Caller['attempt']>): ReturnType<Caller['attempt']> {
    const now = performance.now();
    this.#nextAt = Math.max(this.#nextAt, now - catchUpMs) + this.#betweenMs;
    if (this.#nextAt > now) await sleep(this.#nextAt - now);
    const begun = performance.now();
    const heard = await super.attempt(...call);
    if (heard !== null && heard !== 'unmet') this.#tookMs.push(performance.now() - begun);
    return heard;
  }
}
