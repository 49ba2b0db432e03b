import { Worker } from 'bullmq';
import type { Logger } from 'pino';

/** Until a worker whose store refused it asks again, and until its log repeats itself. */
const refusedMs = 1_000;
const quietMs = 10_000;

/**
 * BullMQ asks for the next job again at once when the store refuses that (it is full, read-only, its disk is full):
 * thousands of times a second, each with a line in the log.
 */
export class SteadyWorker<Data = unknown> extends Worker<Data> {
  protected override async moveToActive(token: string, name?: string): ReturnType<Worker<Data>['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await this.delay(refusedMs);
      throw error;
    }
  }
}

/** Warns of an error (`what` says where), but of the same again only now and then. */
export function nowAndThen(log: Logger, what: string): (error: Error) => void {
  let last = '';
  let quietUntil = 0;
  return (error) => {
    const now = performance.now();
    if (error.message === last && now < quietUntil) return;
    last = error.message;
    quietUntil = now + quietMs;
    log.warn({ error: error.message }, what);
  };
}
